// SPDX-License-Identifier: Apache-2.0
// The places in which other projects store the credential of a cluster: one table of their
// conventions. Each has the defaults of its project's reader; options of the same names replace
// them.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/exec/option_set.hpp>

#include <span>
#include <string_view>

namespace execcred::static_secret {

// The kind of a stored value.
enum class Format {
  token,        // a bearer token
  kubeconfig,   // the credential of one of its users
  certificate,  // tls.crt and tls.key (kubernetes.io/tls)
  argocd,       // name, server and config, as Argo CD declares clusters
};

struct FormatFacts {
  Format format;
  std::string_view name;  // as --format has it
  std::string_view key;   // of the Secret, unless another is named
};
const FormatFacts& facts_of(Format format);

// How the Secret is found.
enum class Lookup {
  by_name,    // one GET; the selector, if any, must match what came
  by_labels,  // exactly one Secret matches the selector
  istio,      // GET istio-remote-secret-<cluster>, else a list; the key is the cluster's
  argocd,     // a list; the value of `name` is the cluster's
  in_files,   // no Secret: a certificate and its key on disk
};

// The namespace of this process: the first of these that is known.
enum class OwnNamespace {
  kubeconfig_first,   // the kubeconfig's context, the Pod's, "default"
  environment_first,  // NAMESPACE, the Pod's, the kubeconfig's context, "default"
};

// The fields that a ClusterProfile may set besides clusterName, in the spelling of the convention's
// reader.
enum class ProfileFields {
  none,
  kubeconfig_reader,  // name, key, namespace, context
  token_reader,       // secretName, secretNamespace, key
  both,
};

struct Convention {
  std::string_view name;
  Format format = Format::token;
  Lookup lookup = Lookup::by_name;
  std::string_view secret_name = {};  // template; empty: an option or the profile gives it
  std::string_view key = {};          // template; empty: likewise
  std::string_view name_space = {};   // template; empty: this side's own
  std::string_view type = {};         // that the Secret must have
  std::string_view selector = {};     // template
  OwnNamespace own_namespace = OwnNamespace::kubeconfig_first;
  ProfileFields profile_fields = ProfileFields::none;
};

std::span<const Convention> conventions();
std::span<const std::string_view> convention_names();
// Fails (configuration); the hint lists the names.
Result<Convention> parse_convention(std::string_view name);

Result<Format> parse_format(std::string_view name);
std::span<const std::string_view> format_names();

// Declares which options a ClusterProfile may set, by the convention. Fields of other conventions
// are ignored, as the convention's own reader does, so that a fleet can change its convention.
void declare_profile_fields(OptionSet& options, const Convention& convention);

// Declares what --show-config prints for options that are not set.
void declare_defaults(OptionSet& options, const Convention& convention);

}  // namespace execcred::static_secret
