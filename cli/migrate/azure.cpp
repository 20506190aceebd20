// SPDX-License-Identifier: Apache-2.0
// AKS: Azure's kubelogin and argocd-k8s-auth, which is built on it. In both, the environment
// overrides the flags. In execcred-azure a flag overrides the environment, so an overridden flag is
// not carried over.
#include "peers.hpp"

#include <azure/options.hpp>
#include <execcred/base/text.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace execcred::migrate {
namespace {

constexpr std::string_view kLogin = "only for interactive logins";
constexpr std::string_view kOwnCache = "execcred-azure keeps a cache of its own (--cache-dir)";
constexpr std::string_view kManaged = "a managed identity does not use it";
constexpr std::string_view kNoProof = "execcred-azure gives bearer tokens only";

constexpr std::array kFlags = std::to_array<Rule>({
    ask("login").as_short('l'),
    ask("client-id"),
    ask("tenant-id").as_short('t'),
    ask("environment").as_short('e'),
    ask("authority-host"),
    ask("federated-token-file"),
    ask("client-secret"),
    ask("client-certificate"),
    ask("client-certificate-password"),
    ask("use-azurerm-env-vars").as_toggle(),
    ask("disable-environment-override").as_toggle(),
    keep("server-id", "--server-id"),
    ask("identity-resource-id"),
    refuse("legacy", "the audience is spn:ID, for which execcred-azure does not ask").as_toggle(),
    refuse("pop-enabled", kNoProof).as_toggle(),
    refuse("pop-claims", kNoProof),
    drop("token-cache-dir", kOwnCache),
    drop("cache-dir", kOwnCache),
    drop("disable-instance-discovery", "execcred-azure makes no discovery").as_toggle(),
    drop("timeout",
         "it is for the az command; execcred's plugins have --timeout, for the whole run"),
    drop("username", kLogin),
    drop("password", kLogin),
    drop("redirect-url", kLogin),
    drop("login-hint", kLogin),
    drop("subscription", "it is for the az command").as_short('s'),
    drop("azure-pipelines-service-connection-id", "it is for azurepipelines"),
    drop("verbose", "logging; execcred's plugins have --debug").as_toggle(),
});

constexpr std::array kVariables = std::to_array<Rule>({
    ask("AAD_LOGIN_METHOD"),
    ask("AAD_SERVER_APPLICATION_ID"),
    ask("AAD_ENVIRONMENT_NAME"),
    ask("AAD_SERVICE_PRINCIPAL_CLIENT_ID"),
    ask("AZURE_CLIENT_ID"),
    ask("AZURE_TENANT_ID"),
    ask("AZURE_FEDERATED_TOKEN_FILE"),
    ask("AZURE_AUTHORITY_HOST"),
    ask("ARM_CLIENT_ID"),
    ask("ARM_TENANT_ID"),
    keep("AZURE_POD_IDENTITY_AUTHORITY_HOST"),
    keep("IDENTITY_ENDPOINT"),
    keep("IDENTITY_HEADER"),
    ask("IMDS_ENDPOINT"),
    ask("IDENTITY_SERVER_THUMBPRINT"),
    ask("MSI_ENDPOINT"),
    ask("SSL_CERT_FILE"),
});

using Names = std::vector<std::string_view>;

// Carries over one setting: `variables` override the flag, and the first that is set overrides the
// others. A variable that execcred-azure reads too stays a variable. Returns whether only the flag
// sets it.
bool carry(Migration& migration, std::string_view name, const Names& variables) {
  const std::string option = "--" + std::string(name);
  std::string_view winner;
  for (const std::string_view variable : variables) {
    if (migration.variable(variable).empty()) continue;
    if (!winner.empty()) {
      migration.drop_variable(variable, std::string(winner) + " counts");
    } else if (variable.starts_with("AZURE_")) {
      migration.keep_variable(variable);
      winner = variable;
    } else {
      migration.keep(variable_subject(variable), option, migration.variable(variable));
      winner = variable;
    }
  }
  if (!winner.empty()) {
    migration.drop_flag(name, variable_subject(winner) + " counts");
    return false;
  }
  const std::string value = migration.flag(name);
  if (!value.empty()) migration.keep(option, option, value);
  return !value.empty();
}

// The variables that kubelogin reads. Two flags decide which; the other variables are dropped.
Names choose(Migration& migration, const Names& variables, const Names& terraform) {
  const bool is_off = migration.is_on("disable-environment-override");
  const bool is_terraform = migration.is_on("use-azurerm-env-vars");
  Names chosen = is_off ? Names() : is_terraform ? terraform : variables;
  Names all = variables;
  all.insert(all.end(), terraform.begin(), terraform.end());
  for (auto name = all.begin(); name != all.end(); ++name) {
    const bool is_chosen = std::find(chosen.begin(), chosen.end(), *name) != chosen.end();
    const bool is_repeated = std::find(all.begin(), name, *name) != name;
    if (!is_chosen && !is_repeated) {
      migration.drop_variable(*name, "kubelogin does not read it with these flags");
    }
  }
  return chosen;
}

void carry_environment(Migration& migration, std::string_view login, std::string_view subject,
                       const std::string& name) {
  if (name.empty()) return;
  if (login == "msi") return migration.drop(subject, kManaged);
  const std::string lower = ascii_lower(name);
  if (migration.has("--authority-host") || !migration.variable("AZURE_AUTHORITY_HOST").empty()) {
    return migration.drop(subject, "the authority host counts");
  }
  if (lower == "azurepubliccloud" || lower == "azurecloud") {
    return migration.drop(subject, "it is the default");
  }
  if (lower == "azureusgovernment" || lower == "azureusgovernmentcloud") {
    return migration.keep(subject, "--authority-host", "https://login.microsoftonline.us");
  }
  if (lower == "azurechinacloud") {
    return migration.keep(subject, "--authority-host", "https://login.chinacloudapi.cn");
  }
  migration.refuse(subject, "no authority host is known for it; write --authority-host");
}

constexpr std::array<std::string_view, 3> kOtherPlatforms = {
    "IMDS_ENDPOINT", "IDENTITY_SERVER_THUMBPRINT", "MSI_ENDPOINT"};

void carry_workload(Migration& migration) {
  struct Setting {
    std::string_view flag;
    Names variables;
    Names terraform;
  };
  migration.add("--identity", "workload", "the login method");
  bool has_flag = false;
  for (const Setting& setting : std::array<Setting, 4>{
           {{"client-id",
             {"AZURE_CLIENT_ID", "AAD_SERVICE_PRINCIPAL_CLIENT_ID"},
             {"AZURE_CLIENT_ID", "ARM_CLIENT_ID"}},
            {"tenant-id", {"AZURE_TENANT_ID"}, {"ARM_TENANT_ID"}},
            {"federated-token-file",
             {"AZURE_FEDERATED_TOKEN_FILE"},
             {"AZURE_FEDERATED_TOKEN_FILE"}},
            {"authority-host", {"AZURE_AUTHORITY_HOST"}, {"AZURE_AUTHORITY_HOST"}}}}) {
    const Names variables = choose(migration, setting.variables, setting.terraform);
    has_flag = carry(migration, setting.flag, variables) || has_flag;
  }
  if (const std::string ca = migration.variable("SSL_CERT_FILE"); !ca.empty()) {
    migration.keep(variable_subject("SSL_CERT_FILE"), "--ca-file", ca);
  }
  migration.drop_flag("identity-resource-id", "workload identity uses the client ID");
  for (const std::string_view name : kOtherPlatforms) {
    migration.drop_variable(name, "workload identity does not use it");
  }
  if (has_flag && !migration.is_on("disable-environment-override")) {
    migration.note(
        "there AZURE_* of the process override the flags; here the flags override them. For a Pod "
        "with its own AZURE_*, leave the flags out");
  }
}

// In kubelogin a client ID overrides a resource ID.
void carry_resource_id(Migration& migration, bool has_client_id) {
  constexpr std::string_view kOption = "--identity-resource-id";
  const std::string id = migration.flag("identity-resource-id");
  if (id.empty()) return;
  if (has_client_id) return migration.drop(kOption, "the client ID counts");
  migration.keep(kOption, kOption, id);
  if (migration.is_on("disable-environment-override")) return;
  migration.note(
      "there AZURE_CLIENT_ID of the process overrides --identity-resource-id; here the flag "
      "overrides it");
}

void carry_managed(Migration& migration) {
  migration.add("--identity", "managed", "the login method");
  const Names variables =
      choose(migration, {"AZURE_CLIENT_ID", "AAD_SERVICE_PRINCIPAL_CLIENT_ID"}, {"ARM_CLIENT_ID"});
  const bool has_flag = carry(migration, "client-id", variables);
  const bool has_variable = std::any_of(
      variables.begin(), variables.end(),
      [&migration](std::string_view name) { return !migration.variable(name).empty(); });
  carry_resource_id(migration, has_flag || has_variable);
  for (const std::string_view name : kOtherPlatforms) {
    if (migration.variable(name).empty()) continue;
    migration.refuse(variable_subject(name),
                     "execcred-azure does not ask this platform for its managed identities");
  }
  migration.drop_variable("SSL_CERT_FILE", kManaged);
  for (const std::string_view name : {"tenant-id", "authority-host", "federated-token-file"}) {
    migration.drop_flag(name, kManaged);
  }
  for (const std::string_view name :
       {"AZURE_TENANT_ID", "AZURE_FEDERATED_TOKEN_FILE", "AZURE_AUTHORITY_HOST", "ARM_TENANT_ID"}) {
    migration.drop_variable(name, kManaged);
  }
}

void refuse_login(Migration& migration, const std::string& login) {
  const std::string subject = "login method " + in_quotes(login);
  if (login == "azurepipelines") {
    return migration.refuse(subject, "it needs the variables of a job of Azure Pipelines");
  }
  if (login != "spn") {
    return migration.refuse(subject,
                            "it needs a person, or a login of the az or azd command; first run "
                            "'kubelogin convert-kubeconfig -l workloadidentity', or '-l msi'");
  }
  migration.refuse(subject,
                   "execcred-azure has no client secrets and certificates; use workload identity, "
                   "or execcred-oidc-federation --flow=client-credentials");
  if (!migration.flag("client-secret").empty()) {
    migration.refuse("--client-secret",
                     "a secret on the command line; put it into a file, for --client-secret-file");
  }
}

void carry_login(Migration& migration, const std::string& login) {
  if (login != "workloadidentity" && login != "msi") return refuse_login(migration, login);
  if (login == "msi") {
    carry_managed(migration);
  } else {
    carry_workload(migration);
  }
  for (const std::string_view name :
       {"client-secret", "client-certificate", "client-certificate-password"}) {
    migration.drop_flag(name, "this login method does not use it");
  }
  const bool is_terraform = migration.is_on("use-azurerm-env-vars");
  if (is_terraform && migration.variable("ARM_CLIENT_ID").empty()) {
    migration.refuse("--use-azurerm-env-vars",
                     "ARM_* of the process are not read; set AZURE_CLIENT_ID and AZURE_TENANT_ID");
  } else {
    migration.drop_flag("use-azurerm-env-vars", "its variables are options now");
  }
  migration.drop_flag("disable-environment-override", "here flags always override variables");
  migration.drop_variable("AAD_LOGIN_METHOD", "--identity says it");
  migration.drop_flag("login", "--identity says it");
}

void finish_kubelogin(Migration& migration) {
  const bool is_off = migration.is_on("disable-environment-override");
  std::string login = is_off ? "" : migration.variable("AAD_LOGIN_METHOD");
  if (login.empty()) login = migration.flag("login");
  carry_login(migration, login.empty() ? "devicecode" : login);
  carry_environment(migration, login, "--environment", migration.flag("environment"));
  migration.drop_variable("AAD_SERVER_APPLICATION_ID", "kubelogin does not read it");
  migration.drop_variable("AAD_ENVIRONMENT_NAME", "kubelogin does not read it");
  if (migration.has("--server-id") || migration.has_profile_arguments()) return;
  migration.refuse("--server-id", "it is missing");
}

void finish_argo(Migration& migration) {
  const std::string login = migration.variable("AAD_LOGIN_METHOD");
  carry_login(migration, login.empty() ? "workloadidentity" : login);
  carry_environment(migration, login, variable_subject("AAD_ENVIRONMENT_NAME"),
                    migration.variable("AAD_ENVIRONMENT_NAME"));
  const std::string server = migration.variable("AAD_SERVER_APPLICATION_ID");
  if (server.empty()) {
    migration.add("--server-id", azure::kAksServerId, "the default of argocd-k8s-auth");
  } else {
    migration.keep(variable_subject("AAD_SERVER_APPLICATION_ID"), "--server-id", server);
  }
}

constexpr std::array kArgoFlags =
    std::to_array<Rule>({drop("verbose", "logging; execcred's plugins have --debug").as_toggle()});

}  // namespace

std::vector<Peer> azure_peers() {
  return {{.name = "Azure's kubelogin get-token",
           .programs = {"kubelogin"},
           .subcommand = {"get-token"},
           .plugin = "execcred-azure",
           .flags = kFlags,
           .variables = kVariables,
           .is_good_at_many_servers = true,
           .finish = finish_kubelogin},
          {.name = "argocd-k8s-auth azure",
           .programs = {"argocd-k8s-auth"},
           .subcommand = {"azure"},
           .plugin = "execcred-azure",
           .flags = kArgoFlags,
           .variables = kVariables,
           .is_good_at_many_servers = true,
           .finish = finish_argo}};
}

}  // namespace execcred::migrate
