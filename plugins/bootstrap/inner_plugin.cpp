// SPDX-License-Identifier: Apache-2.0
#include "inner_plugin.hpp"

#include <execcred/base/cause.hpp>
#include <execcred/base/rfc3339.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/jwt.hpp>
#include <execcred/kube/access.hpp>
#include <execcred/os/deadline.hpp>
#include <execcred/x509/certificate.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace execcred::bootstrap {
namespace {

constexpr std::size_t kMaxOutput = 1024 * 1024;
constexpr std::size_t kMaxShown = 500;  // of what the program says

std::vector<std::string> environment_for_inner(const CredentialRequest& request,
                                               const Environment& environment) {
  std::vector<std::string> entries = environment.entries();
  entries.push_back(document_for_program(request));
  return last_of_each_name(entries);
}

std::string_view first_line_of(std::string_view text) {
  text = trim(text);
  return trim(text.substr(0, text.find('\n')));
}

// The text comes from the program, and may contain anything.
std::string shown(std::string_view text) { return shown_text(text, kMaxShown); }

// Adds what the program said to its failure.
Error explained(Error error, const std::string& said) {
  Error words{.message = std::string(first_line_of(said))};
  take_error_output(said, words);
  if (!words.message.empty()) error.message += ": " + shown(words.message);
  if (!words.hint.empty()) error.hint = shown(words.hint);
  return error;
}

void report(const std::string& said, const CallContext& call) {
  for (const std::string_view line : split(said, '\n')) {
    if (!trim(line).empty()) call.debug("the inner plugin: " + shown(line));
  }
}

Result<Credential> read_output(const SecretString& output, ApiVersion asked, TimePoint now) {
  Credential credential = TRY(parse_exec_credential(output.reveal(), asked));
  if (credential.expires_at && *credential.expires_at <= now) {
    Error error = Error::no_credential(
        "status.expirationTimestamp has passed: it ended at " +
        format_rfc3339(std::chrono::floor<std::chrono::seconds>(*credential.expires_at)));
    error.cause = cause::kSourceExpired;
    return error;
  }
  const std::optional<UnverifiedClaims> claims = TRY(unverified_claims(credential.token));
  TRY(of_source(check_token(claims, now, credential)));
  if (!credential.client_certificate.empty()) TRY(check_pair(credential, now));
  return credential;
}

}  // namespace

Result<Credential> run_inner_plugin(const InnerCommand& command, const CredentialRequest& request,
                                    const CallContext& call) {
  deadline::enter_phase("running the bootstrap credential's plugin");
  InnerRun run = run_inner_program({.command = command,
                                    .environment = environment_for_inner(request, call.environment),
                                    .max_output = kMaxOutput,
                                    .passes_exit_codes = true},
                                   call);
  report(run.said, call);
  const std::string doing = "getting the bootstrap credential";
  if (run.failure) {
    return Result<Credential>(explained(*std::move(run.failure), run.said)).context(doing);
  }
  Result<Credential> credential = read_output(run.output, request.info.version, call.clock.now());
  if (!credential) credential.error().kind = Error::Kind::no_credential;
  return std::move(credential)
      .context("reading what " + in_quotes(command.program) + " printed")
      .context(doing);
}

}  // namespace execcred::bootstrap
