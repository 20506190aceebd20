// SPDX-License-Identifier: Apache-2.0
#include "plan.hpp"

#include <execcred/base/cause.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>

namespace execcred::static_secret {
namespace {

std::string or_default(const std::string& given, std::string_view fallback) {
  return given.empty() ? std::string(fallback) : given;
}

// Fails (configuration) if the name contains a template that Argo CD or Helm should have replaced.
Status check_expanded(const std::string& what, std::string_view text) {
  if (text.find("{{") == std::string_view::npos) return {};
  return Error::configuration(
      what + " " + in_quotes(text) + " has a template that nobody expanded",
      "the writer of the ClusterProfile left '{{' in it; execcred replaces {clusterName} "
      "and {server.host}");
}

// The note that the ClusterProfile's field for the option is ""; empty if it is not.
std::string empty_field(const CredentialRequest& request, std::string_view option) {
  if (request.settings == nullptr) return {};
  const std::string_view name = option.substr(2, option.find('=') - 2);
  const std::string& field = request.settings->get(name).empty_field;
  return field.empty() ? field : ": " + std::string(kConfigPath) + "." + field + " is empty";
}

// The error for a name that is missing in this field of a ClusterProfile and in the mapping.
// Without a field, only the option can name it.
Error unnamed(const CredentialRequest& request, std::string problem, std::string_view field,
              const std::string& option) {
  problem += empty_field(request, option);
  if (field.empty()) return Error::configuration(problem, "pass " + option);
  if (!request.info.cluster) {
    Error error = Error::configuration(
        problem,
        "set provideClusterInfo: true where the client runs this plugin, so that "
        "the ClusterProfile can name it; or pass " +
            option);
    error.cause = cause::kClusterInfoMissing;
    return error;
  }
  return Error::configuration(problem,
                              "name it in the ClusterProfile's extension "
                              "client.authentication.k8s.io/exec as '" +
                                  std::string(field) + "', or pass " + option);
}

Result<std::string> expand_name(const CredentialRequest& request, std::string_view option,
                                const std::string& text) {
  TRY(check_expanded(request.as_typed(option), text));
  return request.expand(option, text);
}

bool is_templated(std::string_view text) { return text.find('{') != std::string_view::npos; }

// The name, if it has the form. `what` is what gave it.
Result<std::string> well_formed(const std::string& what, std::string name, const ValueForm& form) {
  Status checked = form.check(name);
  if (checked) return name;
  checked.error().message.insert(0, what + " ");
  return std::move(checked).error();
}

Status check_namespace(const Options& options, const std::string& name, const std::string& own,
                       bool is_literal) {
  if (is_literal || name == own) return {};
  for (const std::string& allowed : options.allow_namespaces) {
    if (allowed == "any" || allowed == name) return {};
  }
  return Error::by_rule(cause::kConfigRefused,
                        "namespace " + in_quotes(name) + " is not this side's own, " +
                            in_quotes(own) + ", and not allowed",
                        "--allow-namespace=" + name +
                            " allows it, if writers of ClusterProfiles may use the Secrets there");
}

Result<std::string> plan_namespace(const Options& options, const CredentialRequest& request,
                                   const std::string& own, bool is_literal) {
  const std::string text = or_default(options.name_space, options.convention.name_space);
  if (text.empty() && options.convention.profile_fields == ProfileFields::token_reader) {
    return unnamed(request, "no namespace of the Secret is named", "secretNamespace",
                   "--namespace=NAMESPACE");
  }
  if (text.empty()) {
    return well_formed("this side's own namespace", own, kNamespaceForm);
  }
  std::string name = TRY(expand_name(request, "--namespace", text));
  name = TRY(well_formed(request.as_typed("--namespace"), std::move(name), kNamespaceForm));
  TRY(check_namespace(options, name, own, is_literal && !is_templated(text)));
  return name;
}

std::string_view name_field(ProfileFields fields) {
  if (fields == ProfileFields::none) return {};
  return fields == ProfileFields::token_reader ? "secretName" : "name";
}

Result<std::string> plan_secret_name(const Options& options, const CredentialRequest& request) {
  std::string text = or_default(options.secret_name, options.convention.secret_name);
  if (text.empty() && !options.managed_service_account.empty()) {
    text = "{clusterName}-" + options.managed_service_account;
  }
  const bool is_found_otherwise = options.convention.lookup != Lookup::by_name;
  if (text.empty() && is_found_otherwise) return text;
  if (text.empty()) {
    return unnamed(request, "no Secret is named", name_field(options.convention.profile_fields),
                   "--secret-name=NAME");
  }
  std::string name = TRY(expand_name(request, "--secret-name", text));
  const bool is_of_account =
      options.secret_name.empty() && !options.managed_service_account.empty();
  const std::string what = is_of_account
                               ? request.as_typed("--managed-serviceaccount") + ": the name"
                               : request.as_typed("--secret-name");
  return well_formed(what, std::move(name), kSecretNameForm);
}

Result<std::string> plan_key(const Options& options, const CredentialRequest& request) {
  std::string text = or_default(options.key, options.convention.key);
  const bool is_readers = options.convention.profile_fields == ProfileFields::kubeconfig_reader ||
                          options.convention.profile_fields == ProfileFields::token_reader;
  if (text.empty() && is_readers) {
    return unnamed(request, "no key of the Secret is named", "key", "--key=KEY");
  }
  if (text.empty()) text = facts_of(options.what()).key;
  std::string key = TRY(expand_name(request, "--key", text));
  return well_formed(request.as_typed("--key"), std::move(key), kKeyForm);
}

Result<LabelSelector> plan_selector(const Options& options, const CredentialRequest& request) {
  const std::string text =
      TRY(request.expand("--selector", std::string(options.convention.selector)));
  const Result<LabelSelector> defaults = LabelSelector::parse(text);
  if (!defaults) {
    return Error::configuration(request.as_typed("--cluster") + " " +
                                    in_quotes(request.cluster_name) + " is no label's value",
                                "--convention=" + std::string(options.convention.name) +
                                    " finds the Secret by a label with the cluster's name, which "
                                    "then has at most 63 characters");
  }
  LabelSelector selector = options.selector.with_defaults(*defaults);
  for (const LabelSelector& required : options.require_labels) selector = selector.with(required);
  if (options.convention.lookup != Lookup::by_labels || !selector.empty()) return selector;
  return Error::configuration("no --selector says which Secret it is");
}

Result<std::string> plan_cluster_name(const Options& options, const CredentialRequest& request) {
  const bool goes_by_it =
      options.convention.lookup == Lookup::istio ||
      (options.convention.lookup == Lookup::argocd && options.secret_name.empty());
  if (!goes_by_it) return request.cluster_name;
  // The template is expanded so that a missing name gives the same message.
  return request.expand("--cluster", "{clusterName}");
}

Status check_local_cluster(const Options& options, const std::string& cluster_name) {
  if (options.local_cluster.empty() || cluster_name != options.local_cluster) return {};
  return Error::by_rule(cause::kConfigRefused,
                        "cluster " + in_quotes(cluster_name) + " is this side's own",
                        "--local-cluster says so; no stored kubeconfig may take its place");
}

}  // namespace

Result<Plan> make_plan(const Options& options, const CredentialRequest& request,
                       const std::string& own_namespace, bool is_namespace_literal) {
  Plan plan{.format = options.what(), .lookup = options.convention.lookup};
  plan.type = options.convention.type;
  TRY(check_expanded("the cluster's name", request.cluster_name));
  plan.cluster_name = TRY(plan_cluster_name(options, request));
  TRY(check_local_cluster(options, plan.cluster_name));
  if (!options.kubeconfig_file.empty() || !options.credential_bundle_file.empty()) return plan;
  plan.key = TRY(plan_key(options, request));
  plan.secret_dir = TRY(expand_name(request, "--secret-dir", options.secret_dir));
  if (!options.is_from_hub()) return plan;
  plan.secret_name = TRY(plan_secret_name(options, request));
  plan.name_space = TRY(plan_namespace(options, request, own_namespace, is_namespace_literal));
  plan.selector = TRY(plan_selector(options, request));
  return plan;
}

}  // namespace execcred::static_secret
