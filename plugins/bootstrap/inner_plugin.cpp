// SPDX-License-Identifier: Apache-2.0
#include "inner_plugin.hpp"

#include <execcred/base/cause.hpp>
#include <execcred/base/rfc3339.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/jwt.hpp>
#include <execcred/kube/access.hpp>
#include <execcred/os/deadline.hpp>
#include <execcred/os/process.hpp>
#include <execcred/x509/certificate.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace execcred::bootstrap {
namespace {

constexpr const char* kByHand = "run it by hand, as this user, to see why";
constexpr std::size_t kMaxShown = 500;  // of what the program says
constexpr std::string_view kExecInfo = "KUBERNETES_EXEC_INFO=";

Error rejected(std::string message) {
  return Error{.kind = Error::Kind::no_credential, .message = std::move(message)};
}

// The client's document. A document without a version gets the version of this run, so that the
// program does not choose another one.
std::string document_for_inner(const CredentialRequest& request) {
  const Result<ExecInfo> as_v1 = parse_exec_info(request.document, ApiVersion::v1);
  const Result<ExecInfo> as_v1beta1 = parse_exec_info(request.document, ApiVersion::v1beta1);
  const bool names_version = as_v1 && as_v1beta1 && as_v1->version == as_v1beta1->version;
  return names_version ? request.document : write_exec_info(request.info);
}

std::vector<std::string> environment_for_inner(const CredentialRequest& request,
                                               const Environment& environment) {
  std::vector<std::string> entries = environment.entries();
  entries.push_back(std::string(kExecInfo) + document_for_inner(request));
  return last_of_each_name(entries);
}

std::string_view first_line_of(std::string_view text) {
  text = trim(text);
  return trim(text.substr(0, text.find('\n')));
}

// The text comes from the program, and may contain anything.
std::string shown(std::string_view text) { return shown_text(text, {}, kMaxShown); }

Error failure(const Finished& finished, const std::string& program) {
  const bool is_signal = finished.signal != 0;
  Error said{.message = std::string(first_line_of(finished.error_output))};
  take_error_output(finished.error_output, said);
  Error error{
      // A signal may be a fault of this machine, such as a lack of memory, so it is not cached.
      .kind = is_signal ? Error::Kind::no_credential : kind_of_exit_code(finished.exit_code),
      .message = in_quotes(program) +
                 (is_signal ? " was ended by signal " + std::to_string(finished.signal)
                            : " ended with exit code " + std::to_string(finished.exit_code)),
      .hint = kByHand,
      .is_local = is_signal};
  if (!said.message.empty()) error.message += ": " + shown(said.message);
  if (!said.hint.empty()) error.hint = shown(said.hint);
  return error;
}

void report(const std::string& said, const CallContext& call) {
  for (const std::string_view line : split(said, '\n')) {
    if (!trim(line).empty()) call.debug("the inner plugin: " + shown(line));
  }
}

Status check_token(const SecretString& token, TimePoint now) {
  return token.empty() ? Status() : check_lifetime(token, now);
}

Status check_pair(Credential& credential, TimePoint now) {
  if (credential.client_certificate.empty()) return {};
  ClientCertificate pair =
      TRY(check_client_certificate(credential.client_certificate, credential.client_key, now));
  credential.client_certificate = std::move(pair.chain);
  credential.client_key = std::move(pair.private_key);
  return {};
}

Result<Credential> read_output(const SecretString& output, ApiVersion asked, TimePoint now) {
  Credential credential = TRY(parse_exec_credential(output.reveal(), asked));
  if (credential.expires_at && *credential.expires_at <= now) {
    Error error =
        rejected("status.expirationTimestamp has passed: it ended at " +
                 format_rfc3339(std::chrono::floor<std::chrono::seconds>(*credential.expires_at)));
    error.cause = cause::kSourceExpired;
    return error;
  }
  TRY(check_token(credential.token, now));
  TRY(check_pair(credential, now));
  return credential;
}

}  // namespace

Result<Credential> run_inner_plugin(const TokenCommand& command, const CredentialRequest& request,
                                    const CallContext& call) {
  deadline::enter_phase("running the bootstrap credential's plugin");
  call.debug("running " + in_quotes(command.program) + " for the bootstrap credential");
  std::string said;
  const auto run = [&]() -> Result<Finished> {
    return run_command({.path = command.program,
                        .arguments = command.arguments,
                        .environment = environment_for_inner(request, call.environment),
                        .limit = limit_of_command(call),
                        .on_error_output = [&said](std::string_view text) { said += text; },
                        .ends_with_signals = true});
  };
  const Result<Finished> finished = run();
  report(said, call);
  const std::string doing = "getting the bootstrap credential";
  if (!finished) {
    Error error = finished.error();
    if (error.hint.empty()) error.hint = kByHand;
    return Result<Credential>(std::move(error)).context(doing);
  }
  if (finished->signal != 0 || finished->exit_code != 0) {
    return Result<Credential>(failure(*finished, command.program)).context(doing);
  }
  Result<Credential> credential =
      read_output(finished->output, request.info.version, call.clock.now());
  if (!credential) credential.error().kind = Error::Kind::no_credential;
  return std::move(credential)
      .context("reading what " + in_quotes(command.program) + " printed")
      .context(doing);
}

}  // namespace execcred::bootstrap
