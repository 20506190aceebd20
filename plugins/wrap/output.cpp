// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include <execcred/base/cause.hpp>
#include <execcred/base/rfc3339.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/bearer_token.hpp>
#include <execcred/exec/exec_credential.hpp>
#include <execcred/exec/jwt.hpp>
#include <execcred/json/json.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/x509/certificate.hpp>

#include <charconv>
#include <chrono>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

namespace execcred::wrap {
namespace {

Error unusable(std::string message, std::string hint = {}) {
  return Error{.kind = Error::Kind::no_credential,
               .message = std::move(message),
               .hint = std::move(hint),
               .cause = cause::kProgramOutputInvalid};
}

Result<SecretString> token_at(const json::Value& document, const std::string& path) {
  const json::Value* const value = json::find_at(document, path);
  if (value == nullptr || value->string() == nullptr) {
    return unusable("the output has no string " + in_quotes(path),
                    "--token-field says where the token is");
  }
  return TRY(bearer_token(SecretString(std::string_view(*value->string())))).take();
}

// Seconds since 1970, whose fraction is cut.
std::optional<double> seconds_of(std::string_view text) {
  double seconds = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool is_whole = end == text.data() + text.size() && !text.empty() &&
                        (is_digit(text.front()) || text.front() == '-');
  if (!is_whole || problem == std::errc::invalid_argument) return std::nullopt;
  return problem == std::errc() ? std::floor(seconds) : HUGE_VAL;
}

Result<TimePoint> time_of(std::string_view text, const std::string& subject) {
  constexpr double kYear10000 = 253402300800;
  if (const std::optional<double> seconds = seconds_of(text)) {
    if (*seconds >= kYear10000) {
      return unusable(subject + " is after the year 9999", "it must be in seconds since 1970");
    }
    // A TimePoint holds the years from 1678 to 2261.
    constexpr double kBound = 9'000'000'000;
    return TimePoint(
        std::chrono::seconds(static_cast<std::int64_t>(std::clamp(*seconds, -kBound, kBound))));
  }
  const Result<TimePoint> time = parse_rfc3339(text);
  if (time) return *time;
  return unusable(subject + ", " + quoted_time(text) +
                      ", is neither RFC 3339 nor a number of seconds since 1970",
                  "a local time without its zone cannot be used; of az, use expires_on");
}

Result<std::optional<TimePoint>> end_at(const json::Value& document, const std::string& path) {
  const json::Value* const value = path.empty() ? nullptr : json::find_at(document, path);
  if (value == nullptr || value->is_null()) return std::optional<TimePoint>();
  const std::string* const text =
      value->number() != nullptr ? &value->number()->text : value->string();
  if (text == nullptr) {
    return unusable(in_quotes(path) + " is " + std::string(value->kind()) + ", no time");
  }
  if (text->empty()) return std::optional<TimePoint>();
  return std::optional(TRY(time_of(*text, "the end in " + in_quotes(path))));
}

Result<Credential> read_json(const Options& options, const SecretString& output) {
  const Result<json::SecretValue> read = json::parse_secret(output.reveal());
  if (!read) return unusable("the output " + read.error().message);
  const json::Value& document = **read;
  if (document.object() == nullptr) return unusable("the output is no JSON object");
  Credential credential;
  credential.token = TRY(token_at(document, options.token_field));
  credential.expires_at = TRY(end_at(document, options.expires_field));
  return credential;
}

Result<Credential> read_by_kind(const Options& options, const SecretString& output) {
  switch (options.output) {
    case Output::token: {
      Credential credential;
      credential.token = TRY(bearer_token(output)).take();
      return credential;
    }
    case Output::json:
      return read_json(options, output);
    case Output::exec_credential:
      break;
  }
  return parse_exec_credential(output.reveal(), std::nullopt);
}

Result<Credential> checked(Credential credential, TimePoint now) {
  if (credential.expires_at && *credential.expires_at <= now) {
    const auto end = std::chrono::floor<std::chrono::seconds>(*credential.expires_at);
    return Error{.kind = Error::Kind::no_credential,
                 .message = "the credential has expired: it ended at " + format_rfc3339(end),
                 .cause = cause::kCredentialExpired};
  }
  const std::optional<UnverifiedClaims> claims = TRY(unverified_claims(credential.token));
  TRY(check_token(claims, now, credential).cause(cause::kCredentialExpired));
  if (!credential.client_certificate.empty()) TRY(check_pair(credential, now));
  return credential;
}

}  // namespace

Result<Credential> read_output(const Options& options, const SecretString& output, TimePoint now) {
  Result<Credential> credential = read_by_kind(options, output.trimmed());
  if (credential) credential = checked(std::move(*credential), now);
  if (credential) return credential;
  Error& error = credential.error();
  error.is_transient = false;  // the program is not run twice
  if (error.cause == cause::kSourceExpired) error.cause = cause::kCredentialExpired;
  if (error.cause.empty()) error.cause = cause::kProgramOutputInvalid;
  return credential;
}

}  // namespace execcred::wrap
