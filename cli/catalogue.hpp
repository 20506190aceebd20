// SPDX-License-Identifier: Apache-2.0
// config/catalogue.yaml: the access providers' names in use, the plugin for each, and the consumers
// of a mapping. It is a part of the program.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace execcred::cli {

struct KnownProvider {
  std::vector<std::string> names = {};  // one that ends in "*" is a prefix
  std::string plugin = {};              // empty: it needs no entry, for the reason in `note`
  std::vector<std::string> args = {};
  std::vector<std::pair<std::string, std::string>> env = {};
  // Templates of the Secret that the plugin reads: {config.FIELD}. Empty if it reads none.
  std::string secret_name = {};
  std::string secret_namespace = {};
  bool is_projected = false;  // the plugin reads a projected token of each server
  std::string note = {};      // what the Pod needs too
};

struct KnownConsumer {
  std::string name = {};
  std::string name_space = {};
  std::vector<std::string> service_accounts = {};
  std::vector<std::string> built_ins = {};
  bool reads_own_namespace = false;      // ClusterProfiles of other namespaces are not read
  std::vector<std::string> rights = {};  // in the clusters, as for --can; empty: not documented
};

// Runs the API servers whose names are below the domains.
struct KnownPlatform {
  std::string name = {};
  std::vector<std::string> domains = {};
};

struct Catalogue {
  std::vector<KnownProvider> providers = {};
  std::vector<std::pair<std::string, std::string>> fill_ins = {};  // value, what shows it
  std::vector<KnownPlatform> platforms = {};
  std::vector<std::string> customer_domains = {};
  std::vector<KnownConsumer> consumers = {};
  std::vector<std::string> example_rights = {};

  const KnownProvider* find(std::string_view name) const;
  const KnownProvider* find_plugin(std::string_view plugin) const;
  const KnownConsumer* consumer(std::string_view name) const;
  // The names without those that are prefixes.
  std::vector<std::string> provider_names() const;
};

const Catalogue& catalogue();

// The name in use from which this unknown one differs in one letter, or in an exchange of two;
// empty if there is none.
std::string misspelled_provider(std::string_view name);

// What the catalogue says of a provider that a mapping lacks, for a hint; empty if it says nothing.
std::string hint_on_provider(std::string_view name);

// A value of a mapping that a person must replace begins with it.
inline constexpr std::string_view kFillIn = "FILL-IN-";

// The first value of this kind in the text; empty if there is none.
std::string_view fill_in_of(std::string_view text);

// Whether the name equals one of `names`, or begins with one that ends in "*".
bool is_one_of(std::string_view name, const std::vector<std::string>& names);

}  // namespace execcred::cli
