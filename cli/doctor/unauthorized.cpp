// SPDX-License-Identifier: Apache-2.0
// A 401 gives no reason, so facts from other sources are compared. If the reason is not certain,
// the cause is "unauthorized-other", and the message has the reasons that were excluded: a wrong
// cause is worse than none.
#include "authenticate.hpp"
#include "json_web_keys.hpp"

#include <execcred/base/cause.hpp>
#include <execcred/base/text.hpp>
#include <execcred/json/json_reader.hpp>

#include <algorithm>
#include <utility>

namespace execcred::doctor {
namespace {

constexpr int kOk = 200;
constexpr int kNotFound = 404;
// Of the tokens in Secrets, which every API server accepts if one of its keys signed them.
constexpr std::string_view kLegacyIssuer = "kubernetes/serviceaccount";

// An object to which a ServiceAccount's token is bound (the claim kubernetes.io).
struct BoundObject {
  std::string what = {};  // "ServiceAccount 'ns/name'"
  std::string path = {};
  std::string name = {};
  std::string uid = {};
};

// Whether an AuthenticationConfiguration can name the issuer: its URLs are https.
bool may_be_configured(std::string_view issuer) {
  return ascii_lower(issuer.substr(0, issuer.find(':'))) == "https";
}

bool is_path_segment(const std::string& text) { return is_dns1123_subdomain(text); }

std::vector<BoundObject> bound_objects(const json::Value& payload) {
  std::vector<BoundObject> objects;
  const json::Value* const claim = payload.find("kubernetes.io");
  if (claim == nullptr) return objects;
  const std::string name_space = json::text_or_empty(*claim, "namespace");
  if (!is_dns1123_label(name_space)) return objects;
  struct Kind {
    std::string_view member;
    std::string_view title;
    std::string_view resource;
  };
  for (const Kind& kind : {Kind{"serviceaccount", "ServiceAccount", "serviceaccounts"},
                           Kind{"pod", "Pod", "pods"}, Kind{"secret", "Secret", "secrets"}}) {
    const json::Value* const object = claim->find(kind.member);
    if (object == nullptr) continue;
    const std::string name = json::text_or_empty(*object, "name");
    if (!is_path_segment(name)) continue;
    std::string qualified = name_space;
    qualified.append("/").append(name);
    std::string what(kind.title);
    what.append(" ").append(in_quotes(qualified));
    std::string path = "/api/v1/namespaces/";
    path.append(name_space).append("/").append(kind.resource).append("/").append(name);
    objects.push_back({.what = std::move(what),
                       .path = std::move(path),
                       .name = name,
                       .uid = json::text_or_empty(*object, "uid")});
  }
  return objects;
}

class Explanation {
 public:
  Explanation(const ServerCheck& check, const PeerFacts& peer, std::optional<TimePoint> server_time,
              Api& anonymous)
      : check_(check), peer_(peer), server_time_(server_time), anonymous_(anonymous) {}

  Unauthorized run() {
    const engine::CredentialFacts& facts = check_.facts;
    if (facts.claims) {
      // API servers accept a token that begins a little later.
      constexpr std::chrono::seconds kLeeway(60);
      if (by_time(facts.claims->not_before, facts.claims->expires_at, kLeeway, "the token")) {
        return found();
      }
      if (by_config()) return found();
      if (is_service_account(*facts.claims) && by_cluster()) return found();
    } else if (!check_.credential.token.empty()) {
      rule_out("no claims of the token can be read, so nothing can be compared");
    }
    if (facts.certificate && by_certificate(*facts.certificate)) {
      if (check_.credential.token.empty()) return found();
      // A server that refuses the certificate may still accept the token.
      rule_out("of the certificate beside the token: " + found_.message);
    }
    return other();
  }

 private:
  Unauthorized found() { return std::move(found_); }

  bool find(std::string_view cause, std::string message, std::string hint = {}) {
    found_ = {.cause = cause, .message = std::move(message), .hint = std::move(hint)};
    return true;
  }

  void rule_out(std::string what) { ruled_out_.push_back(std::move(what)); }

  Unauthorized other() {
    std::string message = "the reason is not known here";
    if (!ruled_out_.empty()) message += "; " + join(ruled_out_, "; ");
    std::string hint = "the API server's log says why";
    if (check_.config == nullptr && check_.facts.claims &&
        !is_service_account(*check_.facts.claims)) {
      hint +=
          "; with --authentication-config=PATH, the server's own file, the token is compared "
          "with it";
    }
    return {.cause = cause::kUnauthorizedOther, .message = message, .hint = hint};
  }

  // Whether the times of the credential are the reason: by the server's clock, or by this machine's
  // if the server's is not known.
  bool by_time(std::optional<TimePoint> begin, std::optional<TimePoint> end,
               std::chrono::seconds leeway, const std::string& what) {
    const TimePoint ours = SystemClock().now();
    if (!server_time_) {
      if (end && *end <= ours) {
        return find(cause::kUnauthorizedExpired, what + " ended at " + text_of(*end));
      }
      return false;
    }
    const std::string hint = "synchronize the clocks of both machines (NTP)";
    if (end && *end <= *server_time_) {
      if (*end > ours) {
        return find(cause::kClockSkew,
                    what + " has ended by the server's clock; this machine's clock is behind",
                    hint);
      }
      return find(cause::kUnauthorizedExpired, what + " ended at " + text_of(*end),
                  "check whatever renews it");
    }
    if (begin && *begin > *server_time_ + leeway) {
      if (*begin <= ours) {
        return find(cause::kClockSkew,
                    what + " is not valid yet by the server's clock, which is behind", hint);
      }
      return false;
    }
    rule_out("its times fit the server's clock");
    return false;
  }

  bool by_config() {
    if (check_.config == nullptr) return false;
    const Mismatch mismatch = compare(*check_.config, *check_.facts.claims, check_.facts.payload);
    switch (mismatch.kind) {
      case Mismatch::Kind::issuer:
        return find(cause::kUnauthorizedUnknownIssuer, mismatch.message, mismatch.hint);
      case Mismatch::Kind::audience:
        return find(cause::kUnauthorizedAudience, mismatch.message, mismatch.hint);
      case Mismatch::Kind::other:
        return find(cause::kUnauthorizedOther, mismatch.message, mismatch.hint);
      case Mismatch::Kind::none:
        break;
    }
    if (check_.config->find(check_.facts.claims->issuer) != nullptr) {
      rule_out("its issuer and audience are in the authentication configuration" +
               (mismatch.hint.empty() ? "" : "; " + mismatch.hint));
    }
    return false;
  }

  // Compares the token with the cluster's own issuer and keys, which the cluster publishes. The
  // first --service-account-issuer is published; the keys are those of all of them. A token of
  // another issuer may be one of a further --service-account-issuer, if a key fits, or one that the
  // authentication configuration trusts, which only the file tells.
  bool by_cluster() {
    const UnverifiedClaims& claims = *check_.facts.claims;
    if (check_.config != nullptr && check_.config->find(claims.issuer) != nullptr) return false;
    const Result<Answer> discovery =
        anonymous_.get("/.well-known/openid-configuration", SecretString());
    const std::string issuer =
        discovery && discovery->status == kOk ? json::text_or_empty(discovery->body, "issuer") : "";
    if (issuer.empty()) {
      rule_out("the cluster does not tell anonymous callers its own issuer");
      return false;
    }
    const Result<Answer> keys = anonymous_.get("/openid/v1/jwks", SecretString());
    const Signature signature = keys && keys->status == kOk
                                    ? check_signature(check_.credential.token, claims, keys->body)
                                    : Signature::unknown;
    const bool is_own = claims.issuer == issuer || claims.issuer == kLegacyIssuer;
    const bool is_foreign = signature == Signature::foreign;
    const std::string origin =
        is_own
            ? "its issuer is the cluster's own"
            : "its issuer is " + in_quotes(claims.issuer) +
                  ", and the ServiceAccount issuer that the cluster names is " + in_quotes(issuer);
    if (is_own && is_foreign) {
      return find(
          cause::kUnauthorizedUnknownIssuer,
          "no key of the cluster signed the token, although the issuer has the same name, " +
              in_quotes(claims.issuer),
          "it is the token of another cluster with that issuer, or its key was removed from the "
          "cluster");
    }
    if (signature == Signature::good) {
      rule_out(origin + ", and the key is the cluster's own" +
               (is_own ? "" : "; the server's --service-account-issuer must name that issuer too"));
      return by_objects();
    }
    const bool may_be_trusted = check_.config == nullptr && may_be_configured(claims.issuer);
    if (!is_own && !may_be_trusted && (is_foreign || check_.config != nullptr)) {
      return find(cause::kUnauthorizedUnknownIssuer,
                  origin + (is_foreign ? "; no key of the cluster signed it"
                                       : "; the server's file does not have the token's issuer"),
                  "it is another cluster's token, or older than a change of the issuer");
    }
    rule_out(origin + (is_foreign ? ", and no key of the cluster signed it" : ""));
    if (!is_own && may_be_trusted) {
      rule_out(
          "whether the server's authentication configuration trusts that issuer is not known: "
          "--authentication-config=PATH, the server's own file, tells it");
    }
    return claims.issuer == issuer && by_objects();
  }

  // Whether an object to which the token is bound was deleted, or replaced by another one of the
  // same name. This is known only if anonymous callers may read the object, and only of a token
  // that is the cluster's own: the objects of another cluster have the same names.
  bool by_objects() {
    for (const BoundObject& object : bound_objects(check_.facts.payload)) {
      const Result<Answer> answer = anonymous_.get(object.path, SecretString());
      if (!answer) continue;
      const std::string hint = "ask for a new token";
      const std::string named =
          json::text_or_empty(json::find_at(answer->body, {"details", "name"}));
      if (answer->status == kNotFound && answer->is_status && answer->reason == "NotFound" &&
          named == object.name) {
        return find(cause::kUnauthorizedRevoked,
                    "the token is bound to " + object.what + ", which is gone", hint);
      }
      const std::string uid = json::text_or_empty(json::find_at(answer->body, {"metadata", "uid"}));
      if (answer->status == kOk && !uid.empty() && !object.uid.empty() && uid != object.uid) {
        return find(cause::kUnauthorizedRevoked,
                    "the token is bound to another " + object.what +
                        " than the one that is there "
                        "now",
                    hint);
      }
    }
    return false;
  }

  bool by_certificate(const engine::CertificateFacts& certificate) {
    if (by_time(certificate.not_before, certificate.not_after, std::chrono::seconds(1),
                "the certificate"))
      return true;
    if (!peer_.asks_for_client_certificate) {
      return find(cause::kUnauthorizedUnknownCa,
                  "the server asks for no client certificate, so it accepts none",
                  "the API server needs --client-ca-file, and no proxy may end TLS before it");
    }
    const bool is_known = std::any_of(
        certificate.issuers.begin(), certificate.issuers.end(), [this](const std::string& issuer) {
          return std::find(peer_.client_cas.begin(), peer_.client_cas.end(), issuer) !=
                 peer_.client_cas.end();
        });
    if (peer_.client_cas.empty()) {
      rule_out("the server does not name the CAs whose certificates it accepts");
      return false;
    }
    if (is_known) {
      rule_out("the server asks for a CA with the name of the certificate's issuer");
      return false;
    }
    return find(cause::kUnauthorizedUnknownCa,
                "the certificate is issued by " + in_quotes(certificate.issuer) +
                    ", which is none of the " + std::to_string(peer_.client_cas.size()) +
                    " CAs that the server asks for",
                "get a certificate of the cluster's client CA");
  }

  const ServerCheck& check_;
  const PeerFacts& peer_;
  std::optional<TimePoint> server_time_;
  Api& anonymous_;
  Unauthorized found_;
  std::vector<std::string> ruled_out_;
};

}  // namespace

Unauthorized explain_unauthorized(const ServerCheck& check, const PeerFacts& peer,
                                  std::optional<TimePoint> server_time, Api& anonymous) {
  return Explanation(check, peer, server_time, anonymous).run();
}

}  // namespace execcred::doctor
