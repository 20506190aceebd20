// SPDX-License-Identifier: Apache-2.0
// The options of execcred-static-secret, and their result for one cluster.
#pragma once

#include "convention.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/url_pattern.hpp>
#include <execcred/exec/provider.hpp>
#include <execcred/kube/label_selector.hpp>
#include <execcred/kube/stored_secret.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace execcred::static_secret {

// Names as Kubernetes allows them, where they have no placeholder or after these are filled in.
inline constexpr ValueForm kNamespaceForm = {kLabelForm.pattern, kLabelForm.max_size,
                                             is_dns1123_label, "namespace's name (RFC 1123 label)",
                                             "at most 63 of a-z, 0-9 and '-' make one"};
inline constexpr ValueForm kSecretNameForm = {
    kSubdomainForm.pattern, kSubdomainForm.max_size, is_dns1123_subdomain,
    "Secret's name (RFC 1123 subdomain)", "at most 253 of a-z, 0-9, '-' and '.' make one"};
inline constexpr ValueForm kKeyForm = {"^[-._a-zA-Z0-9]+$", 253, is_secret_key,
                                       "key of a Secret ([-._a-zA-Z0-9]+)"};

struct Options {
  Convention convention = kConventions.front();
  // The source.
  std::string kubeconfig = {};  // the hub's
  std::string secret_dir = {};  // template
  std::filesystem::path kubeconfig_file = {};
  std::filesystem::path client_certificate = {};
  std::filesystem::path client_key = {};
  std::filesystem::path credential_bundle_file = {};
  // Settings that replace the convention's.
  std::string name_space = {};   // template
  std::string secret_name = {};  // template
  std::string key = {};          // template
  LabelSelector selector = {};
  std::optional<Format> format = {};
  std::string context = {};
  std::string managed_service_account = {};
  // The conditions.
  std::vector<std::string> allow_namespaces = {};
  std::vector<LabelSelector> require_labels = {};
  std::string server_annotation = {};
  std::vector<UrlPattern> allow_server_mismatch = {};
  std::vector<std::string> allow_fields = {};
  std::string local_cluster = {};
  bool allow_hub_token = false;
  bool allow_insecure = false;
  bool allow_profile_ca = false;
  bool both = false;

  bool is_from_hub() const;
  Format what() const { return format.value_or(convention.format); }
};

void add_options(OptionSet& set, Options& options);

// Fails (configuration) for combinations that make no sense.
Status check_options(const Options& options, const Settings& settings);

}  // namespace execcred::static_secret
