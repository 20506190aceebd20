// SPDX-License-Identifier: Apache-2.0
#include <execcred/aws/credentials.hpp>

#include <execcred/base/rfc3339.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/json/json_reader.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace execcred {
namespace {

using std::chrono::seconds;

// STS limits an id to 128 bytes; a session token is limited only by the size of the request.
constexpr std::size_t kMaxKeyId = 128;
constexpr std::size_t kMaxSecret = 1024;
constexpr std::size_t kMaxSessionToken = 16 * 1024;

// The id is part of a header and, between slashes, of a scope.
bool is_key_id(std::string_view text) {
  return !text.empty() && text.size() <= kMaxKeyId && is_alphanumeric_or(text, "_");
}

SecretString text_of(std::optional<std::string_view> text) {
  return SecretString(text.value_or(""));
}

// A null member is treated as absent.
Result<std::string> member_of(const json::Value& object, std::string_view name) {
  const json::Value* const value = object.find(name);
  if (value == nullptr || value->is_null()) return std::string();
  if (value->string() != nullptr) return *value->string();
  return Error::no_credential(in_quotes(name) + " is " + std::string(value->kind()) +
                              ", not a string");
}

Result<SecretString> secret_member_of(const json::Value& object, std::string_view name) {
  std::string text = TRY(member_of(object, name));
  SecretString secret(text);
  wipe(text);
  return secret;
}

Result<AwsCredentials> read_json(const json::Value& object, std::string_view token_member) {
  AwsCredentials credentials;
  credentials.access_key_id = TRY(member_of(object, "AccessKeyId"));
  credentials.secret_access_key = TRY(secret_member_of(object, "SecretAccessKey"));
  credentials.session_token = TRY(secret_member_of(object, token_member));
  const json::Value* const end = object.find("Expiration");
  if (end != nullptr && !end->is_null()) {
    credentials.expires_at = TRY(parse_aws_expiration(*end).context("reading 'Expiration'"));
  }
  TRY(check_aws_credentials(credentials));
  return credentials;
}

}  // namespace

Status check_aws_credentials(const AwsCredentials& credentials) {
  const std::string_view secret = credentials.secret_access_key.reveal();
  const std::string_view token = credentials.session_token.reveal();
  if (credentials.access_key_id.empty()) return Error::no_credential("there is no access key id");
  if (!is_key_id(credentials.access_key_id)) {
    return Error::no_credential("the access key id is not up to 128 letters and digits");
  }
  if (secret.empty()) return Error::no_credential("there is no secret access key");
  if (secret.size() > kMaxSecret || !is_visible_ascii(secret)) {
    return Error::no_credential("the secret access key is no word of visible ASCII, or too long");
  }
  if (token.size() > kMaxSessionToken || !is_visible_ascii(token)) {
    return Error::no_credential("the session token is no word of visible ASCII, or too long");
  }
  return {};
}

Result<std::optional<AwsCredentials>> aws_credentials_of_environment(
    const Environment& environment) {
  const std::optional<std::string_view> id = environment.get("AWS_ACCESS_KEY_ID");
  if (!id) return std::optional<AwsCredentials>();
  AwsCredentials credentials = {
      .access_key_id = std::string(*id),
      .secret_access_key = text_of(environment.get("AWS_SECRET_ACCESS_KEY")),
      .session_token = text_of(environment.get("AWS_SESSION_TOKEN"))};
  if (credentials.session_token.empty()) {
    credentials.session_token = text_of(environment.get("AWS_SECURITY_TOKEN"));
  }
  Status checked = check_aws_credentials(credentials);
  if (const auto end = environment.get("AWS_CREDENTIAL_EXPIRATION"); checked && end) {
    const Result<TimePoint> time = parse_rfc3339(*end);
    if (time) {
      credentials.expires_at = *time;
    } else {
      checked = Error::no_credential("AWS_CREDENTIAL_EXPIRATION: " + time.error().message);
    }
  }
  if (checked) return std::optional(std::move(credentials));
  checked.error().kind = Error::Kind::configuration;
  return std::move(checked)
      .context("reading AWS_ACCESS_KEY_ID and its companions in the environment")
      .hint(
          "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY go together, for a session with "
          "AWS_SESSION_TOKEN")
      .error();
}

Result<TimePoint> parse_aws_expiration(const json::Value& value) {
  if (const std::string* const text = value.string()) {
    Result<TimePoint> time = parse_rfc3339(*text);
    if (time) return *time;
    return Error::no_credential(quoted_time(*text) + " is no RFC 3339 time");
  }
  const json::Number* const number = value.number();
  if (number == nullptr) return Error::no_credential("a time is " + std::string(value.kind()));
  // A later time may not fit into a TimePoint. An end after more than a century makes no
  // difference.
  constexpr double kLast = 9'000'000'000;
  const double exact = std::strtod(number->text.c_str(), nullptr);
  if (!(exact > 0)) return Error::no_credential("a time is before 1970");
  return TimePoint(seconds(static_cast<std::int64_t>(std::min(exact, kLast))));
}

Result<AwsCredentials> aws_credentials_of_json(const json::Value& object,
                                               std::string_view token_member) {
  if (object.object() == nullptr) {
    return Error::no_credential("the credentials are " + std::string(object.kind()) +
                                ", not an object");
  }
  return read_json(object, token_member);
}

SecretString write_aws_credentials(const AwsCredentials& credentials) {
  SecretString text(R"({"AccessKeyId":")");
  // Of the characters that JSON escapes, a part can hold only the quote and the backslash.
  const auto append = [&text](std::string_view part) {
    for (const char c : part) {
      if (c == '"' || c == '\\') text.append("\\");
      text.append(std::string_view(&c, 1));
    }
  };
  append(credentials.access_key_id);
  text.append(R"(","SecretAccessKey":")");
  append(credentials.secret_access_key.reveal());
  if (!credentials.session_token.empty()) {
    text.append(R"(","SessionToken":")");
    append(credentials.session_token.reveal());
  }
  if (credentials.expires_at) {
    text.append(R"(","Expiration":")");
    text.append(format_rfc3339(std::chrono::floor<seconds>(*credentials.expires_at)));
  }
  text.append("\"}");
  return text;
}

}  // namespace execcred
