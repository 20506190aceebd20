// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"
#include "subject.hpp"

#include <execcred/base/known_secrets.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/bearer_token.hpp>
#include <execcred/exec/inner_program.hpp>
#include <execcred/exec/jwt.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/oauth/failure.hpp>
#include <execcred/os/file.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace execcred::google {
namespace {

using std::chrono::steady_clock;

constexpr std::string_view kPrefix = "GOOGLE_EXTERNAL_ACCOUNT_";
constexpr std::string_view kTokenTypes = "urn:ietf:params:oauth:token-type:";
constexpr std::string_view kIdToken = "id_token";
constexpr std::string_view kSamlResponse = "saml_response";
constexpr std::size_t kMaxShown = 200;

std::vector<std::string> environment_for(const ExecutableSource& source,
                                         const ExternalAccount& account,
                                         const Environment& environment) {
  constexpr std::array<std::string_view, 7> kOwnVariables = {
      "AUDIENCE", "TOKEN_TYPE", "ID", "INTERACTIVE", "IMPERSONATED_EMAIL", "OUTPUT_FILE", "REVOKE"};
  std::vector<std::string> entries = environment_of_command(environment);
  std::erase_if(entries, [&](const std::string& entry) {
    return std::any_of(kOwnVariables.begin(), kOwnVariables.end(), [&](std::string_view name) {
      return entry.starts_with(std::string(kPrefix).append(name) + "=");
    });
  });
  const auto add = [&](std::string_view name, std::string_view value) {
    entries.push_back(std::string(kPrefix).append(name).append("=").append(value));
  };
  add("AUDIENCE", account.audience);
  add("TOKEN_TYPE", account.subject_token_type);
  add("ID", account.impersonated);
  add("INTERACTIVE", "0");
  add("REVOKE", "0");
  if (!account.impersonated.empty()) add("IMPERSONATED_EMAIL", account.impersonated);
  if (!source.output_file.empty()) add("OUTPUT_FILE", source.output_file.native());
  return entries;
}

// The number of seconds since 1970 until which the token is valid.
Result<std::optional<TimePoint>> expiration_of(const json::Value& document) {
  const json::Value* const value = document.find("expiration_time");
  if (value == nullptr || value->is_null()) return std::optional<TimePoint>();
  constexpr std::int64_t kLast = 9'000'000'000;
  std::int64_t seconds = -1;
  if (const json::Number* number = value->number()) {
    const std::string& text = number->text;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (problem != std::errc() || end != text.data() + text.size()) seconds = -1;
  }
  if (seconds < 0 || seconds > kLast) {
    return Error::no_credential("the reply's 'expiration_time' is no number of seconds since 1970");
  }
  return std::optional(TimePoint(std::chrono::seconds(seconds)));
}

Result<std::string> text_of(const json::Value& document, std::string_view name) {
  const json::Value* const value = document.find(name);
  if (value != nullptr && value->string() != nullptr) return *value->string();
  return Error::no_credential("the reply has no string " + in_quotes(name));
}

Error reported_failure(const json::Value& document) {
  const Result<std::string> code = text_of(document, "code");
  const Result<std::string> message = text_of(document, "message");
  if (!code) return code.error();
  if (!message) return message.error();
  KnownSecrets tokens;  // which the program may repeat
  for (const std::string_view name : {kIdToken, kSamlResponse}) {
    tokens.add(SecretString(std::string_view(json::text_or_empty(document, name))));
  }
  return tokens.redacted(Error::no_credential("the program reports the error '" +
                                              shown_text(*code, kMaxShown) +
                                              "': " + shown_text(*message, kMaxShown)));
}

Status check_reply(const json::Value& document) {
  if (document.object() == nullptr) return Error::no_credential("the reply is no JSON object");
  const json::Value* const version = document.find("version");
  if (version == nullptr || version->number() == nullptr) {
    return Error::no_credential("the reply has no number 'version'");
  }
  if (version->number()->text != "1") {
    return Error::no_credential("the reply is of version " + in_quotes(version->number()->text) +
                                ", and only 1 is known");
  }
  const json::Value* const success = document.find("success");
  if (success == nullptr || success->boolean() == nullptr) {
    return Error::no_credential("the reply does not say 'success', true or false");
  }
  return *success->boolean() ? Status() : reported_failure(document);
}

Result<ExecutableReply> read_reply(const json::Value& document, TimePoint now) {
  TRY(check_reply(document));
  ExecutableReply reply;
  reply.expires_at = TRY(expiration_of(document));
  if (reply.expires_at && *reply.expires_at <= now) {
    return Error::no_credential("the reply's token has ended, by its 'expiration_time'");
  }
  const std::string type = TRY(text_of(document, "token_type"));
  const std::string_view kind =
      type.starts_with(kTokenTypes) ? std::string_view(type).substr(kTokenTypes.size()) : "";
  if (kind != "jwt" && kind != "id_token" && kind != "saml2") {
    return Error::no_credential("the reply's token is of the type " + in_quotes(type) +
                                ", which is none of jwt, id_token and saml2");
  }
  std::string text =
      TRY(text_of(document, std::string(kind == "saml2" ? kSamlResponse : kIdToken)));
  const SecretString secret{std::string_view(text)};
  wipe(text);
  reply.token = TRY(subject_token_of(secret, "", type));
  return reply;
}

// The token in the program's output file; while it is valid, the program is not run. Empty if there
// is none.
Result<SecretString> read_output_file(const ExecutableSource& source, const CallContext& call) {
  if (source.output_file.empty()) return SecretString();
  std::optional<SecretString> text = TRY(read_secret_file_if_there(source.output_file));
  if (!text || !json::parse(text->reveal())) return SecretString();
  Result<ExecutableReply> reply = parse_executable_reply(text->reveal(), call.clock.now());
  Status usable = reply ? check_source_lifetime(reply->token, call.clock.now()) : reply.error();
  if (usable && reply->expires_at) return std::move(reply->token);
  call.debug(in_quotes(source.output_file.native()) + " has no token that is still valid" +
             (usable ? std::string() : ": " + usable.error().message));
  return SecretString();
}

Result<SecretString> output_of(const ExecutableSource& source, const ExternalAccount& account,
                               CallContext call) {
  call.deadline = std::min(call.deadline, steady_clock::now() + source.timeout);
  SecretString output =
      TRY(run_token_command({.program = source.program, .arguments = source.arguments},
                            environment_for(source, account, call.environment), call));
  if (!output.trimmed().empty() || source.output_file.empty()) return output;
  return read_secret_file(source.output_file);
}

}  // namespace

Result<ExecutableReply> parse_executable_reply(std::string_view text, TimePoint now) {
  const Result<json::SecretValue> document = json::parse_secret(text);
  if (!document) return Error::no_credential("the JSON of the reply " + document.error().message);
  return read_reply(**document, now);
}

Result<SecretString> run_executable(const ExecutableSource& source, const ExternalAccount& account,
                                    const CallContext& call) {
  if (call.environment.get(kExecutablesVariable) != "1") {
    return Error::configuration("the credentials file names a program to run, which is not allowed",
                                "if that is meant: " + std::string(kExecutablesVariable) + "=1");
  }
  SecretString stored = TRY(
      read_output_file(source, call).context("reading " + in_quotes(source.output_file.native())));
  if (!stored.empty()) return stored;
  const SecretString output = TRY(output_of(source, account, call));
  ExecutableReply reply =
      TRY(parse_executable_reply(output.reveal(), call.clock.now())
              .context("reading what " + in_quotes(source.program) + " printed"));
  return std::move(reply.token);
}

}  // namespace execcred::google
