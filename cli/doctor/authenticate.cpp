// SPDX-License-Identifier: Apache-2.0
#include "authenticate.hpp"

#include <execcred/base/cause.hpp>
#include <execcred/base/text.hpp>
#include <execcred/json/json_reader.hpp>

#include <utility>

namespace execcred::doctor {
namespace {

constexpr int kUnauthorized = 401;
constexpr int kForbidden = 403;
constexpr int kNotFound = 404;
constexpr int kTooMany = 429;

bool is_success(const Answer& answer) { return answer.status == 200 || answer.status == 201; }

// The name in a message such as `User "jane" cannot create …`; empty if the message has another
// form.
std::string user_in(const std::string& message) {
  constexpr std::string_view kUser = "User \"";
  const std::size_t start = message.find(kUser);
  if (start == std::string::npos) return {};
  const std::size_t end = message.find('"', start + kUser.size());
  if (end == std::string::npos) return {};
  return message.substr(start + kUser.size(), end - start - kUser.size());
}

// The user that the server assigns to the caller.
struct Identity {
  bool is_known = false;
  std::string user = {};
  std::vector<std::string> groups = {};
};

Identity identity_of(const Answer& answer) {
  Identity identity;
  if (is_success(answer)) {
    const json::Value* const info = json::find_at(answer.body, {"status", "userInfo"});
    if (info == nullptr) return identity;
    identity.user = json::text_or_empty(*info, "username");
    const json::Value* const groups = info->find("groups");
    if (groups != nullptr && groups->array() != nullptr) {
      for (const json::Value& group : *groups->array()) {
        identity.groups.push_back(json::text_or_empty(&group));
      }
    }
  } else if (answer.status == kForbidden && answer.is_status) {
    identity.user = user_in(answer.message);
  }
  identity.is_known = !identity.user.empty();
  return identity;
}

std::string with_groups(const Identity& identity) {
  constexpr std::size_t kShown = 10;
  std::string text = "user " + in_quotes(identity.user);
  if (identity.groups.empty()) return text;
  std::vector<std::string> shown;
  for (const std::string& group : identity.groups) {
    if (shown.size() < kShown) shown.push_back(in_quotes(group));
  }
  return text + ", groups " + join(shown, ", ") + (identity.groups.size() > kShown ? ", …" : "");
}

std::string answered(const Answer& answer) {
  std::string text = "the server answered " + std::to_string(answer.status);
  if (!answer.message.empty()) return text + ": " + answer.message;
  if (!answer.said.empty()) text += ": " + in_quotes(answer.said);
  return text;
}

class ServerRun {
 public:
  ServerRun(const ServerCheck& check, Connection& anonymous, Connection& identified, Item& item)
      : check_(check),
        anonymous_connection_(anonymous),
        identified_connection_(identified),
        anonymous_(anonymous, item),
        identified_(identified, item, check.act_as),
        item_(item) {}

  void run(Result<Answer> first) {
    anonymous_connection_.share_step(identified_connection_);
    if (!ask(std::move(first))) return;
    check_clock();
    judge();
    if (item_.step(StepId::authenticate).verdict != Verdict::ok) {
      const bool is_known = item_.step(StepId::authenticate).cause == cause::kForbidden;
      is_known ? forgive() : refute_times();
      item_.skip(StepId::authorize, is_known ? "the user may not act as another"
                                             : "the server does not know who asks");
      return;
    }
    forgive();
    start_step();
    check_permissions();
  }

 private:
  const SecretString& token() const { return check_.credential.token; }

  // All requests of a step share one time limit.
  void start_step() {
    anonymous_connection_.start_step();
    identified_connection_.start_step();
  }

  // If the server accepts the credential or answers 403, sends the review without the credential
  // too. Returns false if there is no reply.
  bool ask(Result<Answer> first) {
    Result<Answer> with = reviewed(std::move(first), identified_, token());
    if (!with) return unanswered(with.error());
    with_ = std::move(with).value();
    if (!is_success(with_) && with_.status != kForbidden) return true;
    Result<Answer> without = review(anonymous_, SecretString());
    if (without) {
      without_ = std::move(without).value();
      return true;
    }
    // A server that requires a certificate does not answer anonymous callers.
    if (anonymous_connection_.is_refused()) {
      item_.ok(StepId::tls, item_.step(StepId::tls).message +
                                ", with the client certificate, which the server requires");
    }
    const bool may_be_silent = !check_.credential.client_certificate.empty();
    return may_be_silent || unanswered(without.error());
  }

  Result<Answer> review(Api& api, const SecretString& token) {
    return reviewed(is_old_ ? api.post(kAccessReviews, access_review(kProbe), token)
                            : api.post(kSelfSubjectReviews, self_subject_review(), token),
                    api, token);
  }

  Result<Answer> reviewed(Result<Answer> answer, Api& api, const SecretString& token) {
    // Kubernetes before 1.28 has no such review. The other review shows at least whether the server
    // knows the caller. A server may also hide its reviews, from callers without a credential
    // alone.
    if (answer && answer->status == kNotFound && !is_old_) {
      is_old_ = &api == &identified_;
      note_time(*answer);
      answer = api.post(kAccessReviews, access_review(kProbe), token);
    }
    if (answer) note_time(*answer);
    return answer;
  }

  bool unanswered(const Error& error) {
    if (identified_connection_.is_refused()) {
      report_refusal(error, item_);
      return false;
    }
    if (server_time_) {
      check_clock();
    } else {
      item_.skip(StepId::clock, "there is no reply with a Date");
    }
    item_.fail(StepId::authenticate, error, cause::kServerError);
    item_.skip(StepId::authorize, "the server does not answer");
    return false;
  }

  void note_time(const Answer& answer) {
    if (!answer.date || server_time_) return;
    server_time_ = *answer.date;
    skew_ = skew_of(answer);
  }

  void check_clock() {
    if (!server_time_) {
      item_.skip(StepId::clock, "the server sends no Date");
      return;
    }
    compare_clocks(skew_, item_);
  }

  void judge() {
    const int status = with_.status;
    if (status == kUnauthorized && with_.is_status) return judge_unauthorized();
    if (status == kTooMany) {
      item_.fail(StepId::authenticate, cause::kServerThrottled, answered(with_));
    } else if (status >= 500) {
      item_.fail(StepId::authenticate, cause::kServerError, answered(with_));
    } else if (status == kForbidden && with_.is_status) {
      judge_identity();
    } else if (is_success(with_) && is_review(with_)) {
      is_old_ ? judge_old() : judge_identity();
    } else {
      item_.fail(StepId::authenticate, cause::kNotAKubernetesApi, answered(with_),
                 status >= 300 && status < 400
                     ? "a redirect is never followed: name the API server itself"
                     : "is this the address of a Kubernetes API server?");
    }
  }

  bool is_review(const Answer& answer) const {
    const std::string kind = json::text_or_empty(answer.body, "kind");
    return kind == (is_old_ ? "SelfSubjectAccessReview" : "SelfSubjectReview") &&
           answer.body.find("status") != nullptr;
  }

  void judge_identity() {
    const Identity with = identity_of(with_);
    const Identity without = identity_of(without_);
    if (!with.is_known) {
      if (with_.status == kForbidden) {
        item_.fail(StepId::authenticate, cause::kUnauthorizedOther,
                   answered(with_) + ", which names no user");
      } else {
        item_.fail(StepId::authenticate, cause::kNotAKubernetesApi,
                   "the server's SelfSubjectReview names no user");
      }
      return;
    }
    if (!check_.act_as.user.empty()) return judge_impersonation(with);
    if (with.user == kAnonymousUser || (without.is_known && with.user == without.user)) {
      item_.fail(StepId::authenticate, cause::kAnonymous,
                 "the server treats the caller as " + in_quotes(with.user) +
                     ", with the credential and without it" +
                     (with.user == kAnonymousUser ? "" : ", which proves nothing"),
                 "the credential does not reach the server, or the server does not read it");
      return;
    }
    if (!is_anonymous_answered()) return;
    item_.user = item_.shown(with.user);
    item_.ok(StepId::authenticate, with_groups(with));
  }

  // Whether the reply without the credential can be compared. An overloaded server did not refuse
  // the request, so its reply proves nothing.
  bool is_anonymous_answered() {
    const bool is_throttled = without_.status == kTooMany;
    if (!is_throttled && without_.status < 500) return true;
    item_.fail(StepId::authenticate, is_throttled ? cause::kServerThrottled : cause::kServerError,
               "asked without the credential, " + answered(without_));
    return false;
  }

  // The server names the user to act as; if it refuses that, its message names the user who asks.
  void judge_impersonation(const Identity& with) {
    const std::string& as = check_.act_as.user;
    const bool is_refused =
        with_.status == kForbidden &&
        (with.user != as || with_.message.find(" impersonate") != std::string::npos);
    if (is_refused) {
      item_.fail(StepId::authenticate, cause::kForbidden,
                 "the server knows the user " + in_quotes(with.user) + ", who may not act as " +
                     in_quotes(as) + ": " + with_.message,
                 "a ClusterRole must allow that user the verb impersonate, or the kubeconfig must "
                 "not have as");
    } else if (with.user != as) {
      item_.fail(
          StepId::authenticate, cause::kUnauthorizedOther,
          "asked as " + in_quotes(as) + ", the server takes the caller for " + in_quotes(with.user),
          "a proxy before the server may remove the headers Impersonate-User and so on");
    } else {
      item_.user = item_.shown(with.user);
      item_.ok(StepId::authenticate, with_groups(with) + ", by impersonation");
    }
  }

  // Judges the replies of a server without SelfSubjectReview. A SelfSubjectAccessReview is not
  // allowed without a credential, so a caller that may send one is known.
  void judge_old() {
    if (is_success(without_)) {
      item_.fail(StepId::authenticate, cause::kAnonymous,
                 "the server gives the same answer with and without the credential, and is too old "
                 "to name the user",
                 "remove the permission to review access from system:anonymous");
      return;
    }
    if (!is_anonymous_answered()) return;
    item_.ok(
        StepId::authenticate,
        "the server accepts the credential; it is older than 1.28, and does not name the user");
  }

  void judge_unauthorized() {
    const Unauthorized why =
        explain_unauthorized(check_, identified_connection_.peer(), server_time_, anonymous_);
    if (why.cause == cause::kClockSkew) {
      item_.fail(StepId::clock, why.cause, why.message, why.hint);
      item_.fail(StepId::authenticate, std::string_view(), answered(with_));
      return;
    }
    item_.fail(StepId::authenticate, why.cause, answered(with_) + "; " + why.message, why.hint);
  }

  // A credential that the server accepts is not a failure, although this machine's clock says so:
  // the failure becomes a warning.
  void forgive() {
    Step& step = item_.step(StepId::credential);
    if (!check_.facts.is_provisional || step.verdict != Verdict::fail) return;
    step.verdict = Verdict::warn;
    step.cause = {};
    step.message += "; the server accepts it anyway";
  }

  // If the credential is valid by the server's clock, its times are not why the server refused it:
  // the failure becomes a warning.
  void refute_times() {
    Step& step = item_.step(StepId::credential);
    if (!check_.facts.is_provisional || step.verdict != Verdict::fail || !server_time_) return;
    const auto fits = [this](std::optional<TimePoint> begin, std::optional<TimePoint> end) {
      return (!begin || *begin <= *server_time_) && (!end || *end > *server_time_);
    };
    const engine::CredentialFacts& facts = check_.facts;
    if (!fits(std::nullopt, check_.credential.expires_at)) return;
    if (facts.claims && !fits(facts.claims->not_before, facts.claims->expires_at)) return;
    const auto& certificate = facts.certificate;
    if (certificate && !fits(certificate->not_before, certificate->not_after)) return;
    step.verdict = Verdict::warn;
    step.cause = {};
    step.message += "; by the server's clock it is valid";
  }

  void check_permissions() {
    std::vector<std::string> allowed;
    for (const Permission& permission : check_.permissions) {
      const Result<Answer> answer =
          identified_.post(kAccessReviews, access_review(permission), token());
      if (!answer) {
        const Error& error = answer.error();
        refuse(error.cause.empty() ? cause::kServerError : error.cause, error.message, error.hint);
        break;
      }
      const json::Value* const verdict =
          is_success(*answer) ? json::find_at(answer->body, {"status", "allowed"}) : nullptr;
      if (verdict == nullptr || verdict->boolean() == nullptr) {
        report_no_verdict(permission, *answer);
      } else if (*verdict->boolean()) {
        allowed.push_back(permission.text());
      } else {
        report_denied(permission, *answer);
      }
    }
    if (!refusals_.empty()) {
      item_.fail(StepId::authorize, refused_.cause, join(refusals_, "; "), refused_.hint);
    } else if (check_.permissions.empty()) {
      item_.skip(StepId::authorize, "no --can is given");
    } else {
      item_.ok(StepId::authorize, "may " + join(allowed, ", "));
    }
  }

  // Adds a refusal to those of the step `authorize`. The cause is that of the first refusal. If
  // that one may pass, a permanent one replaces it.
  void refuse(std::string_view cause, std::string message, std::string hint = {}) {
    const bool is_worse = is_unavailability(refused_.cause) && !is_unavailability(cause);
    if (refusals_.empty() || is_worse) refused_ = {.cause = cause, .hint = std::move(hint)};
    refusals_.push_back(std::move(message));
  }

  void report_denied(const Permission& permission, const Answer& answer) {
    const std::string reason =
        json::text_or_empty(json::find_at(answer.body, {"status", "reason"}));
    refuse(cause::kForbidden,
           "may not " + permission.text() + (reason.empty() ? "" : ": " + reason),
           "a Role and its binding must allow it to " + in_quotes(item_.user));
  }

  void report_no_verdict(const Permission& permission, const Answer& answer) {
    const std::string message =
        "it is unknown whether it may " + permission.text() + ": " + answered(answer);
    if (answer.status == kTooMany) {
      refuse(cause::kServerThrottled, message);
    } else if (answer.status >= 500) {
      refuse(cause::kServerError, message);
    } else if (answer.status == kForbidden && answer.is_status) {
      refuse(cause::kForbidden, message);
    } else if (answer.status == kForbidden || answer.status == kUnauthorized) {
      refuse(answer.is_status ? cause::kUnauthorizedOther : cause::kNotAKubernetesApi, message);
    } else {
      // Without a cause, no hint is shown.
      refuse({}, message + "; kubectl auth can-i asks the same question");
    }
  }

  static const Permission kProbe;

  const ServerCheck& check_;
  Connection& anonymous_connection_;
  Connection& identified_connection_;
  Api anonymous_;
  Api identified_;
  Item& item_;
  Answer without_;
  Answer with_;
  bool is_old_ = false;  // without SelfSubjectReview
  std::optional<TimePoint> server_time_;
  Duration skew_ = {};  // the server's clock less ours
  // The cause and the hint of the step `authorize`.
  struct Refused {
    std::string_view cause = {};
    std::string hint = {};
  };
  std::vector<std::string> refusals_;
  Refused refused_;
};

const Permission ServerRun::kProbe = {.verb = "get", .resource = "namespaces"};

}  // namespace

void report_refusal(const Error& error, Item& item) {
  item.fail(StepId::tls, error, cause::kTlsFailed);
  for (const StepId id : {StepId::clock, StepId::authenticate, StepId::authorize}) {
    item.skip(id, "there is no connection");
  }
}

Duration skew_of(const Answer& answer) {
  // A Date has whole seconds, so it is half a second early on average.
  constexpr std::chrono::milliseconds kHalf(500);
  return *answer.date + kHalf - answer.received;
}

void compare_clocks(Duration skew, Item& item) {
  constexpr std::chrono::seconds kTolerance(5);
  const auto seconds = std::chrono::round<std::chrono::seconds>(skew);
  const std::string text = seconds.count() == 0
                               ? "as the server's"
                               : "the server's clock is " + format_duration(abs(seconds)) +
                                     (seconds.count() > 0 ? " ahead" : " behind");
  if (abs(skew) > kTolerance) {
    item.warn(StepId::clock, {}, text, "synchronize the clocks of both machines (NTP)");
  } else {
    item.ok(StepId::clock, text);
  }
}

void ask_server(const ServerCheck& check, Result<Answer> first, Connection& anonymous,
                Connection& identified, Item& item) {
  ServerRun(check, anonymous, identified, item).run(std::move(first));
}

}  // namespace execcred::doctor
