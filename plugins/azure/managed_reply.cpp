// SPDX-License-Identifier: Apache-2.0
#include "managed_reply.hpp"

#include <execcred/base/rfc3339.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/json/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace execcred::azure {
namespace {

constexpr std::size_t kMaxReply = 1024 * 1024;
constexpr std::size_t kMaxDescription = 300;  // of what a failing endpoint says

bool is_passing(int status, ManagedEndpoint::Kind kind) {
  if (is_passing_status(status)) return true;
  return kind == ManagedEndpoint::Kind::imds && (status == 404 || status == 410);
}

std::string_view hint_of(int status, const ManagedReplyRules& rules) {
  if (is_passing(status, rules.kind)) return {};
  if (status == 400 && rules.selector.name.empty()) {
    return "the machine must have a managed identity; where it has several, name one by "
           "--client-id";
  }
  if (status == 400) return "the identity that is asked for must be assigned to the machine";
  if (status == 401) return "check IDENTITY_HEADER";
  return "check that this is the endpoint of Azure's managed identities";
}

void add_text(const json::Value& document, std::string_view name, std::string& description) {
  const json::Value* const value = document.find(name);
  if (value == nullptr || value->string() == nullptr || value->string()->empty()) return;
  description += (description.empty() ? "" : ": ") + *value->string();
}

// The failure as the endpoint describes it. IMDS has error and error_description; App Service has
// message; others have an object named error.
std::string description_in(const HttpResponse& reply) {
  const Result<json::SecretValue> read =
      json::parse_secret(reply.body.reveal(), {.bytes = kMaxReply});
  if (!read) return {};
  const json::Value& document = **read;
  std::string description;
  for (const std::string_view name : {"error", "error_description", "message"}) {
    add_text(document, name, description);
  }
  if (const json::Value* const error = document.find("error")) {
    add_text(*error, "code", description);
    add_text(*error, "message", description);
  }
  return description;
}

// A number of seconds since 1970, which may be in a string, or a date (RFC 3339).
Result<TimePoint> parse_expires_on(const json::Value& value) {
  const auto no_time = [] { return Error::no_credential("the reply's 'expires_on' is no time"); };
  const std::string* const text = value.string();
  const Result<json::Value> quoted = text != nullptr ? json::parse(*text) : Result(value);
  const json::Number* const number = quoted ? quoted->number() : nullptr;
  if (number == nullptr) {
    if (text == nullptr) return no_time();
    const Result<TimePoint> date = parse_rfc3339(*text);
    return date ? date : Result<TimePoint>(no_time());
  }
  constexpr double kLast = 9'000'000'000;  // in 2255: a TimePoint holds no more than 2262
  const double seconds = std::clamp(std::strtod(number->text.c_str(), nullptr), 0.0, kLast);
  return TimePoint(std::chrono::seconds(static_cast<std::int64_t>(seconds)));
}

Status bound_end(const json::Value& document, TimePoint now, TokenReply& reply) {
  const json::Value* const value = document.find("expires_on");
  if (value == nullptr || value->is_null()) return {};
  const TimePoint end = TRY(parse_expires_on(*value));
  if (end <= now) {
    return Error::no_credential("the reply's token has ended already, by its 'expires_on'",
                                "check this machine's clock");
  }
  reply.expires_at = std::min({reply.expires_at.value_or(end), end, now + kLongestLifetime});
  return {};
}

// IMDS returns the identity of the token. On a machine with several identities, it must be the
// requested one.
Status check_identity(const json::Value& document, const ManagedReplyRules& rules) {
  const IdentitySelector& asked = rules.selector;
  const json::Value* const value = asked.name.empty() ? nullptr : document.find(asked.name);
  if (value == nullptr || value->is_null()) return {};
  if (value->string() == nullptr) {
    return Error::no_credential("the reply's " + in_quotes(asked.name) + " is " +
                                std::string(value->kind()) + ", not a string");
  }
  if (value->string()->empty()) return {};
  if (ascii_lower(*value->string()) == ascii_lower(asked.value)) return {};
  return Error::no_credential("the reply's token is for the " + asked.name + " '" +
                                  shown_text(*value->string(), kMaxDescription) + "', not for " +
                                  in_quotes(asked.value),
                              "the endpoint gave another identity's token, which is not passed on");
}

Result<TokenReply> read_reply(const json::Value& document, const HttpResponse& response,
                              const ManagedReplyRules& rules) {
  TokenReply reply = TRY(parse_token_reply(response, {.now = rules.now, .server = rules.server}));
  TRY(check_identity(document, rules).context("reading the reply of " + rules.server));
  TRY(bound_end(document, rules.now, reply).context("reading the reply of " + rules.server));
  return reply;
}

}  // namespace

std::optional<Error> managed_failure(const HttpResponse& reply, const ManagedReplyRules& rules) {
  if (reply.status == 200) return std::nullopt;
  Error failure = status_failure(reply, rules.server);
  const std::string description = description_in(reply);
  if (!description.empty()) failure.message += ": " + shown_text(description, kMaxDescription);
  const bool may_pass = is_passing(reply.status, rules.kind);
  failure.kind = may_pass ? Error::Kind::unavailable : Error::Kind::no_credential;
  failure.is_transient = may_pass;
  failure.hint = hint_of(reply.status, rules);
  return failure;
}

Verdict judge_managed_reply(const HttpResponse& reply, const ManagedReplyRules& rules) {
  std::optional<Error> failure = managed_failure(reply, rules);
  return failure ? judge_failure(*std::move(failure), reply) : Verdict::accept();
}

Result<TokenReply> parse_managed_reply(const HttpResponse& reply, const ManagedReplyRules& rules) {
  const json::SecretValue document = TRY(json_object_of(reply, rules.server));
  return read_reply(*document, reply, rules);
}

}  // namespace execcred::azure
