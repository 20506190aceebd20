// SPDX-License-Identifier: Apache-2.0
#include <execcred/hub/change.hpp>

#include <execcred/hub/failure.hpp>

#include <utility>

namespace execcred {
namespace {

using Kind = ChangeOutcome::Kind;

constexpr std::size_t kMaxReply = 4 * 1024 * 1024;  // as of an object that is read

constexpr int kNotFound = 404;
constexpr int kConflict = 409;
constexpr int kTooManyRequests = 429;
constexpr int kUnavailable = 503;

// Whether the hub certainly has not acted on the request. A 503 counts only with a Retry-After or a
// Status: another 503 may be a proxy's, for a connection that broke after the request was
// forwarded.
bool is_put_off(const HttpResponse& reply) {
  if (reply.status == kTooManyRequests) return true;
  return reply.status == kUnavailable &&
         (reply.retry_after > Duration(0) || !reason_of(reply).empty());
}

Verdict judge_change(const HttpRequest& /*request*/, const HttpResponse& reply) {
  return is_put_off(reply) ? Verdict::retry(reply.retry_after) : Verdict::accept();
}

std::string doing(const HubChange& change, const Hub& hub) {
  const std::string verb = change.verb == "create"   ? "creating "
                           : change.verb == "update" ? "updating "
                                                     : "deleting ";
  return verb + subject_of(change.resource) + " on " + shown(hub);
}

Kind kind_of(const HttpResponse& reply, const HubChange& change) {
  if (reply.status >= 200 && reply.status < 300) return Kind::done;
  if (reply.status == kConflict) {
    // The conflict may be that of an admission plugin's own update, for example of a quota.
    const bool is_elsewhere = change.verb == "create" && reason_of(reply) == "Conflict";
    return is_elsewhere ? Kind::unavailable : Kind::conflict;
  }
  const bool is_of_one = !change.resource.name.empty();
  if (is_of_one && is_absent(reply, change.resource)) return Kind::absent;
  if (is_put_off(reply)) return Kind::unavailable;
  return reply.status >= 500 ? Kind::unknown : Kind::refused;
}

// The outcome of a successful reply. A reply without the object counts as lost.
ChangeOutcome done(const HttpResponse& reply, const HubChange& change, const Hub& hub) {
  if (change.method == "DELETE") return {};
  Result<json::Value> object = json::parse(reply.body.reveal(), {.bytes = kMaxReply});
  if (object && object->object() != nullptr) return {.object = std::move(*object)};
  return {.kind = Kind::unknown,
          .error = {.kind = Error::Kind::unavailable,
                    .message = std::string(hub.noun) + "'s reply is no JSON object"}};
}

// The kind of the error: a refusal is final, other failures may pass.
Error::Kind error_kind(Kind kind) {
  const bool may_pass = kind == Kind::unavailable || kind == Kind::unknown;
  return may_pass ? Error::Kind::unavailable : Error::Kind::no_credential;
}

// The outcome of a request without a reply.
ChangeOutcome outcome_of(Error error) {
  if (error.kind == Error::Kind::configuration)
    return {.kind = Kind::refused, .error = std::move(error)};
  const Kind kind = error.is_transient ? Kind::unavailable : Kind::unknown;
  error.kind = error_kind(kind);
  return {.kind = kind, .error = std::move(error)};
}

ChangeOutcome outcome_of(const HttpResponse& reply, const HubChange& change, const Hub& hub) {
  const Kind kind = kind_of(reply, change);
  if (kind == Kind::done) return done(reply, change, hub);
  ChangeOutcome outcome{.kind = kind};
  outcome.error = hub_refusal(reply, change.resource, change.verb, hub);
  outcome.error.kind = error_kind(kind);
  if (kind == Kind::conflict) outcome.error.hint = "another client changed it; read it again";
  if (kind == Kind::refused && reply.status == kNotFound) {
    outcome.error.hint = "is the namespace there?";
  }
  return outcome;
}

}  // namespace

ChangeOutcome change(HubClient& hub, HubChange change) {
  // The path contains the object's name, except for a create, which has the name only in its body.
  std::string target = path_of(change.resource);
  if (!change.query.empty()) target += "?" + change.query;
  HttpRequest request{.method = change.method,
                      .body = std::move(change.body),
                      .secrets = std::move(change.secrets),
                      .is_idempotent = change.may_be_repeated,
                      .max_reply_bytes = kMaxReply,
                      .stop = change.is_ended_by_stop ? hub.retries().stop : nullptr};
  request.add_header("Content-Type", "application/json");
  RetryPolicy policy = hub.retries();
  policy.judge = judge_change;
  Result<HttpResponse> reply = hub.exchange(target, std::move(request), policy);
  ChangeOutcome outcome =
      reply ? outcome_of(*reply, change, hub.hub()) : outcome_of(std::move(reply).error());
  if (outcome.kind == Kind::done) return outcome;
  outcome.error = hub.redacted(std::move(outcome.error));
  outcome.error.context.push_back(doing(change, hub.hub()));
  return outcome;
}

}  // namespace execcred
