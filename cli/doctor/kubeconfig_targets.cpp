// SPDX-License-Identifier: Apache-2.0
#include "kubeconfig_targets.hpp"

#include <execcred/base/cause.hpp>
#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/exec/access_rules.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/kube/cluster_profile.hpp>
#include <execcred/kube/kubeconfig.hpp>
#include <execcred/os/file.hpp>
#include <execcred/x509/certificate.hpp>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace execcred::doctor {
namespace {

namespace fs = std::filesystem;

struct Document {
  Kubeconfig config;
  fs::path folder = {};  // that relative paths are from
};

Result<Document> read(const std::string& path) {
  const SecretString text =
      TRY(read_secret_file(path, kMaxInventory).hint("--kubeconfig names the file to examine"));
  Kubeconfig config = TRY(Kubeconfig::parse(text.reveal(), Kubeconfig::Source::hub)
                              .context("reading " + in_quotes(path)));
  std::error_code problem;
  const fs::path folder = fs::absolute(path, problem).parent_path();
  config.resolve_paths(folder);
  return Document{.config = std::move(config), .folder = folder};
}

// Makes a relative command with '/' absolute as client-go does: it begins in the kubeconfig's
// folder (GetAuthInfoFileReferences in clientcmd). A bare name is looked up when the program is
// examined.
void make_absolute(std::string& command, const fs::path& folder) {
  if (command.starts_with('/') || command.find('/') == std::string::npos) return;
  command = (folder / command).lexically_normal().native();
}

Status take_cluster(const KubeconfigContext& context, Access& access) {
  if (!context.cluster.problems.empty()) return context.cluster.problems.front();
  access.cluster = context.cluster.cluster;
  access.cluster.config = context.cluster.exec_extension;
  std::string& data = access.cluster.certificate_authority_data;
  const std::string& path = context.cluster.certificate_authority;
  if (!data.empty() || !path.empty()) {
    const std::string pem = data.empty() ? TRY(read_file(path, kMaxPemFile))
                                         : decode_base64(data).value_or(std::string());
    Result<std::string> read = go_authorities(pem);
    if (!read)
      return Error::configuration(
          "the cluster's CA " + (path.empty() ? "" : in_quotes(path) + " ") + read.error().message);
    data = encode_base64(*read);
  }
  return check_server_is_https(access.cluster.server, "the cluster's server");
}

Result<std::string> data_or_file(std::string_view data, const std::string& path,
                                 std::string_view field) {
  if (data.empty()) {
    if (path.empty()) return std::string();
    const SecretString content = TRY(read_secret_file(path, kMaxPemFile));
    return std::string(content.reveal());
  }
  std::optional<std::string> decoded = decode_base64(data);
  if (decoded) return *std::move(decoded);
  Error error = Error::configuration(std::string(field) + " is no base64");
  error.cause = cause::kProfileInvalid;
  return error;
}

Result<Credential> written_credential(const KubeconfigUser& user, engine::Target& target) {
  Credential credential;
  KubeconfigToken token =
      TRY(read_token(user, true).cause(user.token_file.empty() ? cause::kProfileInvalid : ""));
  credential.token = std::move(token.text);
  target.is_renewed =
      credential.token.empty() ? user.client_certificate_data.empty() : token.is_from_file;
  if (!user.token_file.empty() && !token.is_from_file) {
    target.item.ok(StepId::profile, target.item.step(StepId::profile).message +
                                        "; clients use its token, because they find none in " +
                                        in_quotes(user.token_file));
  }
  credential.client_certificate = TRY(data_or_file(
      user.client_certificate_data, user.client_certificate, "client-certificate-data"));
  if (credential.client_certificate.empty()) return credential;  // clients use no key alone
  std::string key =
      TRY(data_or_file(user.client_key_data.reveal(), user.client_key, "client-key-data"));
  credential.client_key = SecretString(key);
  wipe(key);
  return credential;
}

Status take_exec(const KubeconfigUser& user, const fs::path& folder, engine::Target& target) {
  const json::ObjectReader exec = TRY(json::ObjectReader::open(user.exec, "exec"));
  target.access->exec = inspect_exec_config(exec, CommandRule::any).exec;
  make_absolute(target.access->exec.command, folder);
  target.item.ok(StepId::mapping,
                 "the user's exec section runs " + in_quotes(target.access->exec.command));
  return {};
}

// What the user has instead of a credential that current clients use.
std::string unusable_field(const KubeconfigUser& user) {
  if (!user.auth_provider.empty()) return "an auth-provider, which controllers no longer support";
  if (user.has_password) return "a username and password, which servers no longer accept";
  return "neither a token, a client certificate nor an exec section";
}

void fail(engine::Target& target, StepId step, std::string_view cause, const Error& error) {
  target.item.fail(step, cause, error.message, error.hint);
  target.access.reset();
}

void take_user(const Document& document, const KubeconfigContext& context, engine::Target& target) {
  const KubeconfigUser& user = context.user;
  if (!user.problems.empty()) {
    return fail(target, StepId::profile, cause::kProfileInvalid, user.problems.front());
  }
  if (!user.exec_problems.empty()) {
    return fail(target, StepId::mapping, cause::kMappingInvalid, user.exec_problems.front());
  }
  // A token or certificate in the user takes precedence over the plugin, as in client-go.
  const bool has_token = !user.token.empty() || !user.token_file.empty();
  const bool has_certificate =
      !user.client_certificate.empty() || !user.client_certificate_data.empty();
  // Beside exec, clients ignore a password without a username.
  const bool has_password = user.has_exec() ? user.has_username : user.has_password;
  const bool is_unusable = !user.auth_provider.empty() || (has_password && !has_certificate);
  if (user.has_exec() && !has_token && !has_certificate && !is_unusable) {
    const Status taken = take_exec(user, document.folder, target);
    if (!taken) fail(target, StepId::mapping, cause::kMappingInvalid, taken.error());
    return;
  }
  if (is_unusable || (!has_token && !has_certificate)) {
    return fail(
        target, StepId::profile, cause::kNoProvider,
        Error::configuration("user " + in_quotes(user.name) + " has " + unusable_field(user),
                             "give the user an exec section with one of execcred's plugins"));
  }
  Result<Credential> credential = written_credential(user, target);
  if (credential) {
    target.written = std::move(credential).value();
    return;
  }
  target.item.fail(StepId::credential, credential.error(), cause_of(credential.error()));
}

engine::Target target_of_context(const Document& document, const std::string& name) {
  engine::Target target;
  target.item.name = name;
  const Result<KubeconfigContext> context = document.config.context(name);
  if (!context) {
    fail(target, StepId::profile, cause::kProfileInvalid, context.error());
    return target;
  }
  target.access.emplace();
  target.access->cluster_profile = name;
  target.access->source = "context " + in_quotes(name);
  const Status taken = take_cluster(*context, *target.access);
  if (!taken) {
    fail(target, StepId::profile, cause::kProfileInvalid, taken.error());
    return target;
  }
  target.act_as = context->user.act_as;
  const std::string& as = target.act_as.user;
  target.item.ok(StepId::profile, "context " + in_quotes(name) + ", " +
                                      redacted_url(target.access->cluster.server) +
                                      (as.empty() ? "" : ", acting as " + in_quotes(as)));
  take_user(document, *context, target);
  return target;
}

}  // namespace

Result<std::vector<engine::Target>> targets_of_kubeconfig(const KubeconfigQuery& query) {
  const Document document = TRY(read(query.path));
  std::vector<std::string> names = document.config.context_names();
  if (names.empty())
    return Error::configuration("the kubeconfig " + in_quotes(query.path) + " has no contexts");
  if (!query.all_contexts) {
    const std::string& wanted =
        query.context.empty() ? document.config.current_context() : query.context;
    if (wanted.empty()) {
      return Error::configuration("the kubeconfig has no current-context",
                                  "choose one with --context=NAME, or all with --all-contexts");
    }
    if (std::find(names.begin(), names.end(), wanted) == names.end()) {
      return Error::configuration(
          "the context " + in_quotes(wanted) + " is not among the kubeconfig's contexts",
          "execcred doctor --all-contexts examines all");
    }
    names = {wanted};
  }
  std::vector<engine::Target> targets;
  targets.reserve(names.size());
  for (const std::string& name : names) targets.push_back(target_of_context(document, name));
  return targets;
}

}  // namespace execcred::doctor
