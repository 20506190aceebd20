// SPDX-License-Identifier: Apache-2.0
#include "catalogue.hpp"

#include <execcred/base/digest.hpp>
#include <execcred/base/shell_words.hpp>
#include <execcred/base/text.hpp>
#include <execcred/yaml/yaml_write.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace execcred::grant {
namespace {

using json::Value;

constexpr std::string_view kRbacGroup = "rbac.authorization.k8s.io";
constexpr std::string_view kFillInProject = "FILL-IN-PROJECT";
constexpr std::string_view kFillInCluster = "FILL-IN-CLUSTER-NAME";
constexpr std::string_view kFillInGroup = "FILL-IN-RESOURCE-GROUP";
constexpr std::string_view kFillInAks = "FILL-IN-RESOURCE-ID-OF-THE-CLUSTER";

Value object_with(std::initializer_list<std::pair<std::string_view, Value>> members) {
  Value object((json::Object()));
  for (const auto& [name, value] : members) object.add(name, value);
  return object;
}

Value array_of(const std::vector<std::string>& texts) {
  json::Array array;
  for (const std::string& text : texts) array.emplace_back(text);
  return Value(std::move(array));
}

std::string command_of(std::initializer_list<std::string_view> words) {
  std::vector<std::string> quoted;
  for (const std::string_view word : words) quoted.push_back(shell_word(word));
  return join(quoted, " ");
}

bool reads_only(const Rules& rules) {
  return std::all_of(rules.permissions.begin(), rules.permissions.end(), [](const auto& one) {
    return one.verb == "get" || one.verb == "list" || one.verb == "watch";
  });
}

// The namespaces of the rules in their order; "" stands for the whole cluster.
std::set<std::string> namespaces_of(const Rules& rules) {
  std::set<std::string> names;
  for (const doctor::Permission& one : rules.permissions) names.insert(one.name_space);
  return names;
}

Value metadata_of(const Subject& subject, const std::string& name_space) {
  Value labels = object_with({{"app.kubernetes.io/managed-by", Value("execcred")}});
  Value metadata = object_with({{"name", Value(subject.object_name())}});
  if (!name_space.empty()) metadata.add("namespace", Value(name_space));
  metadata.add("labels", std::move(labels));
  return metadata;
}

// One rule for each resource, with all its verbs.
Value rules_in(const Rules& rules, const std::string& name_space) {
  std::map<std::pair<std::string, std::string>, std::set<std::string>> verbs;
  for (const doctor::Permission& one : rules.permissions) {
    if (one.name_space != name_space) continue;
    const std::string resource =
        one.resource + (one.subresource.empty() ? "" : "/" + one.subresource);
    verbs[{one.group, resource}].insert(one.verb);
  }
  json::Array array;
  for (const auto& [resource, names] : verbs) {
    array.push_back(object_with({{"apiGroups", array_of({resource.first})},
                                 {"resources", array_of({resource.second})},
                                 {"verbs", array_of({names.begin(), names.end()})}}));
  }
  return Value(std::move(array));
}

Value subject_of(std::string_view kind, const std::string& name) {
  return object_with(
      {{"kind", Value(kind)}, {"apiGroup", Value(kRbacGroup)}, {"name", Value(name)}});
}

// Who is bound.
json::Array subjects_of(const Identity& identity, const Subject& subject, const Rules& rules) {
  json::Array subjects;
  if (identity.kind == Kind::service_account) {
    subjects.push_back(object_with({{"kind", Value("ServiceAccount")},
                                    {"name", Value(identity.name)},
                                    {"namespace", Value(identity.name_space)}}));
  } else if (identity.kind == Kind::eks) {
    subjects.push_back(subject_of("Group", subject.object_name()));
  } else {
    subjects.push_back(subject_of("User", identity.user));
  }
  if (!rules.binds_groups) return subjects;
  for (const std::string& group : identity.groups) {
    if (!group.starts_with("system:")) subjects.push_back(subject_of("Group", group));
  }
  return subjects;
}

Value rbac_object(std::string kind, const Subject& subject, const std::string& name_space) {
  if (name_space.empty()) kind = "Cluster" + kind;
  return object_with({{"apiVersion", Value(std::string(kRbacGroup) + "/v1")},
                      {"kind", Value(kind)},
                      {"metadata", metadata_of(subject, name_space)}});
}

Value binding_of(const Subject& subject, const std::string& name_space, std::string_view role_kind,
                 const std::string& role, const json::Array& subjects) {
  Value binding = rbac_object("RoleBinding", subject, name_space);
  binding.add("roleRef", object_with({{"apiGroup", Value(kRbacGroup)},
                                      {"kind", Value(role_kind)},
                                      {"name", Value(role)}}));
  binding.add("subjects", Value(subjects));
  return binding;
}

json::Array objects_of(const Identity& identity, const Subject& subject, const Rules& rules) {
  const json::Array subjects = subjects_of(identity, subject, rules);
  json::Array objects;
  if (!rules.cluster_role.empty()) {
    objects.push_back(binding_of(subject, "", "ClusterRole", rules.cluster_role, subjects));
    return objects;
  }
  for (const std::string& name_space : namespaces_of(rules)) {
    Value role = rbac_object("Role", subject, name_space);
    role.add("rules", rules_in(rules, name_space));
    objects.push_back(std::move(role));
    objects.push_back(binding_of(subject, name_space, name_space.empty() ? "ClusterRole" : "Role",
                                 subject.object_name(), subjects));
  }
  return objects;
}

void remark_on_groups(const Rules& rules, Grant& grant) {
  const std::vector<std::string>& groups = grant.identity.groups;
  if (groups.empty()) return;
  std::vector<std::string> shown;
  shown.reserve(groups.size());
  for (const std::string& group : groups) shown.push_back(in_quotes(group));
  const bool is_all_system = std::all_of(
      groups.begin(), groups.end(), [](const auto& group) { return group.starts_with("system:"); });
  grant.remarks.push_back("Its groups: " + join(shown, ", ") +
                          (is_all_system ? "; groups of system: are never bound."
                           : rules.binds_groups
                               ? "; those that do not begin with system: are bound."
                               : "; --bind-groups binds them too."));
}

Value authentication_of(const Identity& identity, const Rules& rules) {
  Value issuer =
      object_with({{"url", Value(identity.issuer)}, {"audiences", array_of(identity.audiences)}});
  if (identity.audiences.size() > 1) issuer.add("audienceMatchPolicy", Value("MatchAny"));
  Value mappings = object_with({{"username", object_with({{"claim", Value(identity.claim)},
                                                          {"prefix", Value(identity.prefix)}})}});
  if (rules.binds_groups && !identity.groups.empty()) {
    mappings.add("groups",
                 object_with({{"claim", Value("groups")}, {"prefix", Value(identity.prefix)}}));
  }
  json::Array authenticators;
  authenticators.push_back(
      object_with({{"issuer", std::move(issuer)}, {"claimMappings", std::move(mappings)}}));
  return object_with({{"apiVersion", Value("apiserver.config.k8s.io/v1")},
                      {"kind", Value("AuthenticationConfiguration")},
                      {"jwt", Value(std::move(authenticators))}});
}

std::string eks_command(std::string_view action, const Subject& subject, const Url& server) {
  const std::string_view name =
      subject.cluster_id.empty() ? kFillInCluster : std::string_view(subject.cluster_id);
  std::string command = command_of({"aws", "eks", action, "--cluster-name", name});
  const std::string region = cli::region_of(server);
  if (!region.empty()) command += " " + command_of({"--region", region});
  return command;
}

void add_eks(const Subject& subject, const Url& server, Grant& grant) {
  const std::string& role = grant.identity.user;
  const std::string group = subject.object_name();
  grant.commands.push_back(eks_command("create-access-entry", subject, server) + " " +
                           command_of({"--principal-arn", role, "--kubernetes-groups", group}));
  grant.remarks.push_back("An access entry puts the role into the group " + in_quotes(group) +
                          ", which the objects bind.");
  // "arn:aws:iam::123456789012:role/path/name": aws-auth knows no path.
  const std::string plain =
      role.substr(0, role.find(":role/") + 6) + role.substr(role.rfind('/') + 1);
  json::Array roles;
  roles.push_back(object_with({{"rolearn", Value(plain)},
                               {"username", Value(group + ":{{SessionName}}")},
                               {"groups", array_of({group})}}));
  grant.fragment = yaml::to_text(Value(std::move(roles)));
}

void add_eks_issuer(const Subject& subject, const Url& server, const Rules& rules, Grant& grant) {
  const Identity& identity = grant.identity;
  Value oidc = object_with({{"identityProviderConfigName", Value("execcred")},
                            {"issuerUrl", Value(identity.issuer)},
                            {"clientId", Value(identity.audiences.front())},
                            {"usernameClaim", Value(identity.claim)},
                            {"usernamePrefix", Value(identity.prefix)}});
  if (rules.binds_groups && !identity.groups.empty()) {
    oidc.add("groupsClaim", Value("groups"));
    oidc.add("groupsPrefix", Value(identity.prefix));
  }
  grant.commands.push_back(eks_command("associate-identity-provider-config", subject, server) +
                           " " + command_of({"--oidc", json::to_text(oidc)}));
  grant.remarks.emplace_back(
      "EKS takes one issuer for each cluster, and must reach it over the internet.");
  if (identity.audiences.size() > 1) {
    grant.remarks.emplace_back("EKS takes one audience: the token must have that of clientId.");
  }
}

void add_aks_issuer(const Rules& rules, Grant& grant) {
  const Identity& identity = grant.identity;
  // CEL. The prefix and the claim are of this program.
  const auto expression = [&identity](const std::string& claim) {
    return "'" + identity.prefix + "' + claims." + claim;
  };
  Value mappings =
      object_with({{"username", object_with({{"expression", Value(expression(identity.claim))}})}});
  if (rules.binds_groups && !identity.groups.empty()) {
    // Without dyn(), CEL does not know that the claim is a list.
    mappings.add("groups", object_with({{"expression", Value("dyn(claims.groups).map(group, '" +
                                                             identity.prefix + "' + group)")}}));
  }
  const Value config =
      object_with({{"issuer", object_with({{"url", Value(identity.issuer)},
                                           {"audiences", array_of(identity.audiences)}})},
                   {"claimMappings", std::move(mappings)}});
  grant.commands.push_back(command_of({"printf", "%s", json::to_text(config)}) +
                           " >execcred-authenticator.json");
  grant.commands.push_back(command_of(
      {"az", "aks", "jwtauthenticator", "add", "--resource-group", kFillInGroup, "--cluster-name",
       kFillInCluster, "--name", "execcred", "--config-file", "execcred-authenticator.json"}));
  grant.remarks.emplace_back(
      "JWT authenticators of AKS are in preview: the extension aks-preview has the command.");
}

void add_issuer(const Subject& subject, const Url& server, const Rules& rules, Grant& grant) {
  const Platform platform = platform_of(server);
  if (platform == Platform::eks) return add_eks_issuer(subject, server, rules, grant);
  if (platform == Platform::aks) return add_aks_issuer(rules, grant);
  grant.authentication = authentication_of(grant.identity, rules);
  grant.remarks.emplace_back(
      "Every API server needs the AuthenticationConfiguration as a file, named by "
      "--authentication-config (kubeadm: apiServer.extraArgs and extraVolumes; k3s: "
      "kube-apiserver-arg; not possible on GKE). Before Kubernetes 1.34 its version is v1beta1.");
  grant.remarks.emplace_back(
      "The API server must reach the issuer; issuer.certificateAuthority is for a CA of its own.");
  if (!grant.identity.is_default_issuer) return;
  grant.remarks.emplace_back(
      "This issuer is the default of many clusters: here its keys come from issuer.discoveryURL, "
      "and the cluster's own --service-account-issuer must be another one.");
}

void add_gke(const Url& server, const Rules& rules, Grant& grant) {
  const std::string& account = grant.identity.user;
  const bool is_service = account.ends_with(".gserviceaccount.com");
  const std::string member = (is_service ? "serviceAccount:" : "user:") + account;
  const auto bind = [&](std::string_view project, std::string_view role) {
    grant.commands.push_back(command_of({"gcloud", "projects", "add-iam-policy-binding", project,
                                         "--member", member, "--role", role}));
  };
  switch (platform_of(server)) {
    case Platform::gke_dns:
      bind(kFillInProject, "roles/container.clusterViewer");
      grant.remarks.emplace_back(
          "The DNS endpoint needs the permission container.clusters.connect; a role of your own "
          "may have it alone.");
      return;
    case Platform::gke_gateway: {
      // https://connectgateway.googleapis.com/v1/projects/NUMBER/locations/…
      const std::vector<std::string_view> parts = split(server.path, '/');
      const auto projects = std::find(parts.begin(), parts.end(), "projects");
      const bool has_project = projects != parts.end() && std::next(projects) != parts.end();
      bind(has_project ? *std::next(projects) : kFillInProject,
           reads_only(rules) ? "roles/gkehub.gatewayReader" : "roles/gkehub.gatewayEditor");
      grant.remarks.emplace_back(
          "Connect gateway acts as the account: its agent needs the right to impersonate it "
          "(gcloud container fleet memberships generate-gateway-rbac).");
      if (!rules.cluster_role.empty()) {
        grant.remarks.emplace_back(
            "A ClusterRole that writes needs roles/gkehub.gatewayEditor instead.");
      }
      return;
    }
    default:
      grant.remarks.emplace_back("An IP endpoint needs no IAM role beside RBAC.");
  }
}

void remark_on_gke_dns(const Url& server, std::string_view credential, std::string_view setting,
                       Grant& grant) {
  if (platform_of(server) != Platform::gke_dns) return;
  grant.remarks.push_back("The DNS endpoint takes " + std::string(credential) +
                          " only if the cluster's dnsEndpointConfig has " + std::string(setting) +
                          ".");
}

// The built-in role of AKS that has the rules; empty if none of Kubernetes' roles is like it.
std::string aks_role(const Rules& rules) {
  constexpr std::string_view kRole = "Azure Kubernetes Service RBAC ";
  static const std::map<std::string, std::string, std::less<>> kRoles = {
      {"view", "Reader"},
      {"edit", "Writer"},
      {"admin", "Admin"},
      {"cluster-admin", "Cluster Admin"}};
  if (!rules.cluster_role.empty()) {
    const auto found = kRoles.find(rules.cluster_role);
    return found == kRoles.end() ? std::string() : std::string(kRole) + found->second;
  }
  const bool is_plain = std::all_of(
      rules.permissions.begin(), rules.permissions.end(), [](const doctor::Permission& one) {
        return one.resource != "secrets" && one.resource != "*" && one.group != kRbacGroup;
      });
  return std::string(kRole) + (is_plain && reads_only(rules) ? "Reader" : "Writer");
}

void add_aks(const Rules& rules, Grant& grant) {
  grant.remarks.emplace_back(
      "Without Azure RBAC for Kubernetes, the objects are all that is needed. With it, a role "
      "assignment replaces them.");
  const std::string role = aks_role(rules);
  if (role.empty()) {
    grant.remarks.emplace_back("No built-in role of Azure is like this ClusterRole.");
    return;
  }
  std::set<std::string> scopes;
  for (const std::string& name_space : namespaces_of(rules)) {
    scopes.insert(std::string(kFillInAks) +
                  (name_space.empty() ? "" : "/namespaces/" + name_space));
  }
  if (scopes.empty()) scopes.insert(std::string(kFillInAks));
  for (const std::string& scope : scopes) {
    grant.commands.push_back(command_of(
        {"az", "role", "assignment", "create", "--assignee-object-id", grant.identity.user,
         "--assignee-principal-type", grant.identity.is_person ? "User" : "ServicePrincipal",
         "--role", role, "--scope", scope}));
  }
  if (rules.cluster_role.empty()) {
    grant.remarks.emplace_back(
        "The built-in role allows more than the rules; a custom role can allow them alone.");
  }
}

}  // namespace

std::string Subject::object_name() const {
  constexpr std::size_t kMaxSize = 63;
  const auto is_plain = [](std::string_view part) {
    return std::all_of(part.begin(), part.end(), [](char c) {
      return is_alphanumeric(c) || c == '.' || c == '_' || c == '-';
    });
  };
  std::string full = "execcred:" + name_space + ":" + name + ":" + provider;
  if (full.size() <= kMaxSize && is_plain(name_space) && is_plain(name) && is_plain(provider)) {
    return full;
  }
  constexpr std::size_t kDigits = 40;
  // A ClusterProfile's names have no ':', so the text is of these parts alone.
  return "execcred:" + to_hex(sha256(full)).substr(0, kDigits);
}

Grant grant_of(const Identity& identity, const Subject& subject, const Url& server,
               const Rules& rules) {
  Grant grant{.identity = identity};
  remark_on_groups(rules, grant);
  switch (identity.kind) {
    case Kind::service_account:
      remark_on_gke_dns(server, "a ServiceAccount's token", "enableK8sTokensViaDns", grant);
      break;
    case Kind::issuer:
      add_issuer(subject, server, rules, grant);
      break;
    case Kind::certificate:
      grant.remarks.push_back("The API server's --client-ca-file must have the CA " +
                              in_quotes(identity.authority) + ".");
      remark_on_gke_dns(server, "a client certificate", "enableK8sCertsViaDns", grant);
      break;
    case Kind::eks:
      add_eks(subject, server, grant);
      break;
    case Kind::gke:
      add_gke(server, rules, grant);
      break;
    case Kind::aks:
      add_aks(rules, grant);
      break;
  }
  grant.objects = objects_of(identity, subject, rules);
  return grant;
}

}  // namespace execcred::grant
