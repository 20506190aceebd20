// SPDX-License-Identifier: Apache-2.0
// What the subcommands of execcred share: their shape, their input files, their output.
#pragma once

#include "profile_source.hpp"

#include <execcred/access.hpp>
#include <execcred/option_set.hpp>
#include <execcred/result.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::cli {

inline constexpr std::string_view kProgram = "execcred";

struct Outcome {
  SecretString text = {};            // for standard output
  std::string notes = {};            // for standard error: what was done
  std::vector<Error> problems = {};  // told on standard error, one after the other
  int exit_code = 0;
};

class Command {
 public:
  virtual ~Command() = default;
  virtual void add_options(OptionSet& options) = 0;
  virtual Result<Outcome> run() = 0;
};

// -m.
void add_mapping_option(OptionSet& options, std::string& mapping);

// -m, the ClusterProfiles' source, --name and --provider: a mapping, and what to look at.
class AccessOptions {
 public:
  void add_to(OptionSet& options);

  // Fails (configuration) for options that exclude each other; also reads the mapping.
  Result<ProviderMapping> mapping() const;
  // In the source's order; with --name, only those it names. An error of the receiver ends it.
  // Fails (configuration) where there is none.
  using Receive = std::function<Status(const ClusterProfile&)>;
  Status for_each_profile(const Receive& receive) const;
  // Fails (configuration) where there are several, naming them.
  Result<ClusterProfile> one_profile() const;
  const std::string& provider() const { return provider_; }

 private:
  std::string mapping_path_;
  ProfileSource source_;
  std::string name_;
  std::string provider_;
};

Result<ProviderMapping> read_mapping(const std::string& path);

// One of a few words for -o.
Result<std::string> parse_output(const std::string& text, const std::vector<std::string>& choices);

// {"namespace": …, "name": …}
json::Value profile_reference(const ClusterProfile& profile);

}  // namespace execcred::cli
