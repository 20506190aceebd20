// SPDX-License-Identifier: Apache-2.0
#include "target.hpp"

#include <execcred/base/cause.hpp>
#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/exec/access_rules.hpp>
#include <execcred/exec/bearer_token.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/kube/kubeconfig.hpp>
#include <execcred/os/file.hpp>
#include <execcred/yaml/documents.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

namespace execcred::doctor {
namespace {

namespace fs = std::filesystem;

using json::ObjectReader;

Error wrong(std::string message, std::string hint = {}) {
  return Error{
      .kind = Error::Kind::configuration, .message = std::move(message), .hint = std::move(hint)};
}

// A kubeconfig. `tree` is the same file, for the parts that Kubeconfig does not contain: exec
// sections, and extensions.
struct Document {
  json::Value tree = {};
  Kubeconfig config;
  fs::path folder = {};  // that relative paths are from
};

Result<Document> read(const std::string& path) {
  const SecretString text =
      TRY(read_secret_file(path, kMaxKubeconfig).hint("--kubeconfig names the file to examine"));
  Kubeconfig config = TRY(Kubeconfig::parse(text.reveal(), Kubeconfig::Source::hub)
                              .context("reading " + in_quotes(path)));
  std::vector<json::Value> documents = TRY(parse_documents(text.reveal(), kMaxKubeconfig));
  std::error_code problem;
  const fs::path folder = fs::absolute(path, problem).parent_path();
  config.resolve_paths(folder);
  Document document{.tree = {}, .config = std::move(config), .folder = folder};
  if (!documents.empty()) document.tree = std::move(documents.front());
  return document;
}

// The member `field` of the list's entry with this name; nullptr if there is none.
const json::Value* find_entry(const json::Value& tree, std::string_view list, std::string_view name,
                              std::string_view field) {
  const json::Value* const entries = tree.find(list);
  if (entries == nullptr || entries->array() == nullptr) return nullptr;
  for (const json::Value& entry : *entries->array()) {
    const json::Value* const entry_name = entry.find("name");
    if (entry_name == nullptr || entry_name->string() == nullptr) continue;
    if (*entry_name->string() == name) return entry.find(field);
  }
  return nullptr;
}

json::Value config_of(const json::Value* cluster) {
  const json::Value* const extensions = cluster == nullptr ? nullptr : cluster->find("extensions");
  if (extensions == nullptr || extensions->array() == nullptr) return {};
  for (const json::Value& extension : *extensions->array()) {
    const json::Value* const name = extension.find("name");
    if (name == nullptr || name->string() == nullptr || *name->string() != kExecExtension) continue;
    const json::Value* const value = extension.find("extension");
    if (value != nullptr) return *value;
  }
  return {};
}

std::optional<std::string> find_in_path(std::string_view name) {
  const char* const path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): one thread so far
  for (const std::string_view folder : split(path == nullptr ? "" : path, ':')) {
    const fs::path candidate = fs::path(folder.empty() ? "." : folder) / name;
    if (access(candidate.c_str(), X_OK) == 0 && !fs::is_directory(candidate)) {
      return fs::absolute(candidate).native();
    }
  }
  return std::nullopt;
}

// Makes the command absolute as client-go does: a name without '/' is looked up in PATH, and
// another relative path begins in the kubeconfig's folder (GetAuthInfoFileReferences in clientcmd).
void make_absolute(std::string& command, const fs::path& folder) {
  if (command.starts_with('/') || command.empty()) return;
  if (command.find('/') == std::string::npos) {
    if (std::optional<std::string> found = find_in_path(command)) command = *std::move(found);
    if (command.starts_with('/')) return;
  }
  command = (folder / command).lexically_normal().native();
}

Status take_cluster(const Document& document, const KubeconfigContext& context, Access& access) {
  access.cluster = context.cluster.cluster;
  access.cluster.config =
      config_of(find_entry(document.tree, "clusters", context.cluster.name, "cluster"));
  if (access.cluster.certificate_authority_data.empty() &&
      !context.cluster.certificate_authority.empty()) {
    const std::string pem = TRY(read_file(context.cluster.certificate_authority, kMaxKubeconfig));
    access.cluster.certificate_authority_data = encode_base64(pem);
  }
  TRY(check_server_is_https(access.cluster.server, "the cluster's server"));
  const bool has_ca = !access.cluster.certificate_authority_data.empty();
  if (!access.cluster.insecure_skip_tls_verify || !has_ca) return {};
  return wrong("insecure-skip-tls-verify is true beside a CA, which clients refuse",
               "remove insecure-skip-tls-verify, so that the CA counts");
}

Result<std::string> data_or_file(std::string_view data, const std::string& path,
                                 std::string_view field) {
  if (data.empty()) {
    if (path.empty()) return std::string();
    const SecretString content = TRY(read_secret_file(path, kMaxKubeconfig));
    return std::string(content.reveal());
  }
  std::optional<std::string> decoded = decode_base64(data);
  if (decoded) return *std::move(decoded);
  Error error = wrong(std::string(field) + " is no base64");
  error.cause = cause::kProfileInvalid;
  return error;
}

Result<Credential> written_credential(const KubeconfigUser& user) {
  Credential credential;
  // client-go rereads the token file, and so prefers it to the token in the kubeconfig.
  if (!user.token_file.empty()) {
    const SecretString content = TRY(read_secret_file(user.token_file));
    credential.token = TRY(bearer_token(content));
  } else if (!user.token.empty()) {
    credential.token = TRY(bearer_token(user.token).cause(cause::kProfileInvalid));
  }
  credential.client_certificate = TRY(data_or_file(
      user.client_certificate_data, user.client_certificate, "client-certificate-data"));
  std::string key =
      TRY(data_or_file(user.client_key_data.reveal(), user.client_key, "client-key-data"));
  credential.client_key = SecretString(key);
  wipe(key);
  if (credential.client_certificate.empty() == credential.client_key.empty()) return credential;
  Error error = wrong("the user has a client certificate or a key, but not both");
  error.cause = cause::kProfileInvalid;
  return error;
}

Status take_exec(const json::Value& user, const fs::path& folder, Target& target) {
  const ObjectReader reader = TRY(ObjectReader::open(user, "user"));
  const ObjectReader exec = TRY(reader.required_object("exec"));
  ExecInspection inspection = inspect_exec_config(exec, CommandRule::any);
  if (!inspection.problems.empty()) return inspection.problems.front();
  target.access->exec = std::move(inspection.exec);
  make_absolute(target.access->exec.command, folder);
  target.item.ok(StepId::mapping,
                 "the user's exec section runs " + in_quotes(target.access->exec.command));
  return {};
}

// What the user has instead of a credential that current clients use.
std::string unusable_field(const KubeconfigUser& user) {
  if (!user.auth_provider.empty()) return "an auth-provider, which clients no longer support";
  if (user.has_password) return "a username and password, which servers no longer accept";
  return "neither a token, a client certificate nor an exec section";
}

void take_user(const Document& document, const KubeconfigContext& context, Target& target) {
  const KubeconfigUser& user = context.user;
  Item& item = target.item;
  // A token or certificate in the user takes precedence over the plugin, as in client-go.
  const bool has_token = !user.token.empty() || !user.token_file.empty();
  const bool has_certificate =
      !user.client_certificate.empty() || !user.client_certificate_data.empty();
  if (user.has_exec && !has_token && !has_certificate) {
    const json::Value* const entry = find_entry(document.tree, "users", user.name, "user");
    const Status taken = entry == nullptr ? Status() : take_exec(*entry, document.folder, target);
    if (taken) return;
    item.fail(StepId::mapping, cause::kMappingInvalid, taken.error().message, taken.error().hint);
    target.access.reset();
    return;
  }
  if (!has_token && !has_certificate) {
    item.fail(StepId::profile, cause::kNoProvider,
              "user " + in_quotes(user.name) + " has " + unusable_field(user),
              "give the user an exec section with one of execcred's plugins");
    target.access.reset();
    return;
  }
  Result<Credential> credential = written_credential(user);
  if (credential) {
    target.written = std::move(credential).value();
    target.is_renewed = has_token ? !user.token_file.empty() : user.client_certificate_data.empty();
    return;
  }
  item.fail(StepId::credential, credential.error(), cause_of(credential.error()));
}

Target target_of_context(const Document& document, const std::string& name) {
  Target target;
  target.item.name = name;
  const Result<KubeconfigContext> context = document.config.context(name);
  if (!context) {
    target.item.fail(StepId::profile, cause::kProfileInvalid, context.error().message,
                     context.error().hint);
    return target;
  }
  target.access.emplace();
  target.access->cluster_profile = name;
  target.access->source = "context " + in_quotes(name);
  const Status taken = take_cluster(document, *context, *target.access);
  if (!taken) {
    target.item.fail(StepId::profile, cause::kProfileInvalid, taken.error().message,
                     taken.error().hint);
    target.access.reset();
    return target;
  }
  target.item.ok(StepId::profile,
                 "context " + in_quotes(name) + ", " + redacted_url(target.access->cluster.server));
  take_user(document, *context, target);
  return target;
}

// The current context. Fails (configuration) if there is none; an empty name counts as none.
Result<std::string> current_context(const Document& document) {
  const json::Value* const current = document.tree.find("current-context");
  if (current != nullptr && current->string() != nullptr && !current->string()->empty()) {
    return *current->string();
  }
  return wrong("the kubeconfig has no current-context",
               "choose one with --context=NAME, or all with --all-contexts");
}

}  // namespace

Result<std::vector<Target>> targets_of_kubeconfig(const KubeconfigQuery& query) {
  const Document document = TRY(read(query.path));
  std::vector<std::string> names = document.config.context_names();
  if (names.empty()) return wrong("the kubeconfig " + in_quotes(query.path) + " has no contexts");
  if (!query.all_contexts) {
    const std::string wanted =
        query.context.empty() ? TRY(current_context(document)) : query.context;
    if (std::find(names.begin(), names.end(), wanted) == names.end()) {
      return wrong("the context " + in_quotes(wanted) + " is not among the kubeconfig's contexts",
                   "execcred doctor --all-contexts examines all");
    }
    names = {wanted};
  }
  std::vector<Target> targets;
  targets.reserve(names.size());
  for (const std::string& name : names) targets.push_back(target_of_context(document, name));
  return targets;
}

}  // namespace execcred::doctor
