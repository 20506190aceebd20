// SPDX-License-Identifier: Apache-2.0
#include "signing_request.hpp"

#include <execcred/base/cause.hpp>
#include <execcred/base/encoding.hpp>
#include <execcred/base/pause.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/hub/failure.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/os/deadline.hpp>
#include <execcred/x509/issued_certificate.hpp>

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <utility>

namespace execcred::bootstrap {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::string_view kGroup = "certificates.k8s.io";
constexpr std::string_view kResource = "certificatesigningrequests";
constexpr int kMostMade = 3;                       // in one run, where each vanishes
constexpr int kMostNames = 5;                      // that are another's
constexpr Duration kLastLook = milliseconds(100);  // before a call's end

HubResource resource_of(const std::string& name) {
  return {.group = std::string(kGroup),
          .version = "v1",
          .resource = std::string(kResource),
          .name = name};
}

Result<std::string> new_name() {
  std::array<std::uint64_t, 2> numbers = {};
  if (getrandom(numbers.data(), sizeof numbers, 0) != sizeof numbers) {
    return Error{.message = "the system gives no random numbers", .is_local = true};
  }
  return "execcred-" + hex_digits(numbers[0]) + hex_digits(numbers[1]);
}

KeyType key_type_of(const std::string& name) {
  if (name == "rsa-2048") return KeyType::rsa_2048;
  return name == "ed25519" ? KeyType::ed25519 : KeyType::ecdsa_p256;
}

json::Value body_of(const PendingRequest& pending, const Options& options) {
  json::Value metadata;
  metadata.add("name", json::Value(pending.name));
  json::Value spec;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(options.lifetime).count();
  spec.add("request", json::Value(encode_base64(pending.request)));
  spec.add("signerName", json::Value(options.signer));
  spec.add("expirationSeconds", json::Value(json::Number{.text = std::to_string(seconds)}));
  spec.add("usages",
           json::Value(json::Array{json::Value("digital signature"), json::Value("client auth")}));
  json::Value body;
  body.add("apiVersion", json::Value(std::string(kGroup) + "/v1"));
  body.add("kind", json::Value("CertificateSigningRequest"));
  body.add("metadata", std::move(metadata));
  body.add("spec", std::move(spec));
  return body;
}

// Replaces the hint of a refusal: the names are random, so an RBAC rule cannot list them.
template <class T>
Result<T> with_rule(Result<T> result) {
  if (!result && result.error().cause == cause::kSourceForbidden) {
    result.error().hint = "it needs a ClusterRole with verbs [create, get] on resources [" +
                          std::string(kResource) + "] of apiGroups [" + std::string(kGroup) +
                          "], bound by a ClusterRoleBinding";
  }
  return result;
}

bool is_same_request(const json::Value& object, const PendingRequest& pending,
                     const Options& options) {
  const json::Value* const spec = object.find("spec");
  if (spec == nullptr) return false;
  const std::optional<std::string> request =
      decode_base64(json::text_or_empty(spec->find("request")));
  const std::string signer = json::text_or_empty(spec->find("signerName"));
  return request == pending.request && (signer.empty() || signer == options.signer);
}

// The first condition of the type whose status is neither False nor Unknown; null if there is none.
const json::Value* find_condition(const json::Value& status, std::string_view type) {
  const json::Value* const conditions = status.find("conditions");
  if (conditions == nullptr || conditions->array() == nullptr) return nullptr;
  for (const json::Value& condition : *conditions->array()) {
    const std::string is_true = json::text_or_empty(condition.find("status"));
    if (json::text_or_empty(condition.find("type")) == type && is_true != "False" &&
        is_true != "Unknown") {
      return &condition;
    }
  }
  return nullptr;
}

std::string shown_subject(const std::string& name) {
  return "the certificate signing request " + in_quotes(name);
}

// "…: REASON: MESSAGE" of an approver or signer.
std::string reasons_of(const json::Value& condition) {
  std::string text;
  for (const std::string_view member : {"reason", "message"}) {
    const std::string said = json::text_or_empty(condition.find(member));
    if (!said.empty()) text += ": " + shown_hub_text(said);
  }
  return text;
}

// Whether a request that may have changed something got no reply, so that it is unknown whether the
// cluster has acted on it.
bool is_answer_lost(const Error& error) {
  return error.kind == Error::Kind::unavailable && !error.is_transient;
}

// Releases the lock at the end of a scope.
class Unlocking {
 public:
  explicit Unlocking(PendingRequestStore& store) : store_(store) {}
  Unlocking(const Unlocking&) = delete;
  Unlocking& operator=(const Unlocking&) = delete;
  ~Unlocking() { store_.unlock(); }

 private:
  PendingRequestStore& store_;
};

}  // namespace

CertificateSigning::CertificateSigning(const Options& options, PendingRequestStore& store,
                                       TimePoint began)
    : options_(options), store_(store), began_(began) {}

CertificateSubject CertificateSigning::subject() const {
  return {.common_name = options_.user, .organizations = options_.groups};
}

Result<Issued> CertificateSigning::obtain(HubClient& cluster, const CallContext& call) {
  constexpr Duration kLongestPause = std::chrono::seconds(1);
  deadline::enter_phase("waiting for a certificate signing request's decision");
  is_waiting_ = false;
  std::optional<PendingRequest> pending = stored(call);
  for (Duration pause = milliseconds(50);; pause = std::min(2 * pause, kLongestPause)) {
    Found found;
    if (pending) found = TRY(look(cluster, *pending, call));
    if (!found.ours) {
      pending = TRY(make(cluster, call));
      seen_ = Seen{.name = pending->name};
      found = TRY(look(cluster, *pending, call));
    }
    if (found.ours) {
      std::optional<Issued> fresh = TRY(outcome(*found.ours, *pending, cluster, call));
      if (fresh) return *std::move(fresh);
      const json::Value* const status = found.ours->find("status");
      seen_ =
          Seen{.name = pending->name,
               .is_approved = status != nullptr && find_condition(*status, "Approved") != nullptr};
    }
    const Duration left = call.deadline - steady_clock::now();
    if (!call.is_needed || left <= kLastLook) return waiting(pending->name);
    pause_for(std::min(jittered(pause), left - kLastLook + milliseconds(1)));
  }
}

// Reads the request. If it was made or read before, a read that ends at the call's deadline says
// nothing about the cluster: the error is then that the request waits.
Result<CertificateSigning::Found> CertificateSigning::look(HubClient& cluster,
                                                           const PendingRequest& pending,
                                                           const CallContext& call) {
  Result<Found> found = find(cluster, pending);
  const bool is_out_of_time = !found && found.error().kind == Error::Kind::unavailable && seen_ &&
                              seen_->name == pending.name &&
                              call.deadline - steady_clock::now() <= kLastLook;
  if (is_out_of_time) return waiting(pending.name);
  return found;
}

std::optional<Error> CertificateSigning::still_waiting(const CallContext& call) {
  const std::optional<PendingRequest> pending = stored(call);
  if (!pending || pending->closed) return std::nullopt;
  return waiting(pending->name);
}

void CertificateSigning::finish() {
  if (!issued_.empty()) store_.close(issued_);
}

// The stored request for this call. A closed request is used by runs that began before and wait, so
// that they make no second one. It is not used if its credential is to be replaced.
std::optional<PendingRequest> CertificateSigning::stored(const CallContext& call) const {
  std::optional<PendingRequest> pending = store_.read();
  if (!pending || !pending->closed) return pending;
  return call.is_needed && *pending->closed >= began_ ? pending : std::nullopt;
}

Result<PendingRequest> CertificateSigning::make(HubClient& cluster, const CallContext& call) {
  if (store_.lock_until(call.deadline) == CacheLock::Attempt::busy) {
    Error error = Error::unavailable(
        "another process has been making the certificate signing request", "try again");
    error.is_local = true;
    return error;
  }
  const Unlocking unlocking(store_);
  return make_locked(cluster, call);
}

Result<PendingRequest> CertificateSigning::make_locked(HubClient& cluster,
                                                       const CallContext& call) {
  std::optional<PendingRequest> pending = stored(call);
  bool is_new = !pending;
  if (is_new) {
    CertificateRequest request =
        TRY(make_certificate_request(key_type_of(options_.key_type), subject()));
    std::string name = TRY(new_name());
    pending = PendingRequest{.name = std::move(name),
                             .request = std::move(request.request),
                             .private_key = std::move(request.private_key)};
    store_.write(*pending);
  }
  for (int names = 0; names < kMostNames; ++names) {
    const Found found = is_new ? Found() : TRY(find(cluster, *pending));
    if (found.ours) return *std::move(pending);
    if (found.is_there) {
      call.debug(shown_subject(pending->name) + " is another's; taking another name");
      pending->name = TRY(new_name());
    }
    is_new = false;
    if (made_ == kMostMade) {
      return found.is_there
                 ? Error::unavailable(
                       "the certificate signing requests that were created have other content",
                       "check which programs change certificate signing requests on the cluster")
                 : Error::unavailable(
                       shown_subject(pending->name) + " was deleted each time that it was created",
                       "check which programs delete certificate signing requests on the cluster");
    }
    // The time after which the file may be removed starts again.
    store_.write(*pending);
    call.debug("making " + shown_subject(pending->name));
    const Result<bool> created =
        with_rule(cluster.create_named(resource_of({}), body_of(*pending, options_)));
    if (created && *created) {
      ++made_;
      return *std::move(pending);
    }
    if (created) continue;  // there is one of this name
    if (is_answer_lost(created.error())) {
      const Result<Found> after = find(cluster, *pending);
      if (after && after->ours) return *std::move(pending);
    }
    return created.error();
  }
  return Error::unavailable(
      "each name for a certificate signing request was already in use",
      "check which programs create certificate signing requests on the cluster");
}

Result<CertificateSigning::Found> CertificateSigning::find(HubClient& cluster,
                                                           const PendingRequest& pending) const {
  constexpr int kNotFound = 404;
  Result<std::optional<json::Value>> looked = with_rule(cluster.find(resource_of(pending.name)));
  // If the API is not served at all, creating the request fails and reports that.
  if (!looked && cluster.last_status() == kNotFound) return Found();
  std::optional<json::Value> object = TRY(std::move(looked));
  Found found{.is_there = object.has_value()};
  if (object && is_same_request(*object, pending, options_)) found.ours = std::move(object);
  return found;
}

Result<std::optional<Issued>> CertificateSigning::outcome(const json::Value& object,
                                                          const PendingRequest& pending,
                                                          const HubClient& cluster,
                                                          const CallContext& call) {
  const json::Value* const status = object.find("status");
  if (status == nullptr || status->object() == nullptr) return std::optional<Issued>();
  const auto refused = [&](const json::Value& condition, std::string_view how) {
    store_.close(pending.name);
    Error error = Error::no_credential(shown_subject(pending.name) + std::string(how) +
                                       reasons_of(condition));
    error.cause = cause::kSourceRefused;
    return error;
  };
  if (const auto* denied = find_condition(*status, "Denied"))
    return refused(*denied, " was denied");
  if (const auto* failed = find_condition(*status, "Failed")) return refused(*failed, " failed");
  const bool is_issued = find_condition(*status, "Approved") != nullptr &&
                         !json::text_or_empty(status->find("certificate")).empty();
  if (!is_issued) return std::optional<Issued>();
  Result<Issued> fresh = read_certificate(*status, pending, cluster, call.clock.now())
                             .context("reading the certificate of " + shown_subject(pending.name));
  if (!fresh) {
    // The object does not change any more, so the next run must not use it.
    store_.close(pending.name);
    return std::move(fresh).error();
  }
  issued_ = pending.name;
  return std::optional(std::move(*fresh));
}

Result<Issued> CertificateSigning::read_certificate(const json::Value& status,
                                                    const PendingRequest& pending,
                                                    const HubClient& cluster, TimePoint now) const {
  const std::optional<std::string> chain =
      decode_base64(json::text_or_empty(status.find("certificate")));
  if (!chain) return Error::no_credential("status.certificate is no base64");
  ClientCertificate pair =
      TRY(check_issued_certificate(*chain, pending.private_key, subject(), now));
  Issued fresh{.identity = options_.user, .target = cluster.hub().server};
  fresh.credential.client_certificate = std::move(pair.chain);
  fresh.credential.client_key = std::move(pair.private_key);
  fresh.credential.expires_at = pair.not_after;
  return fresh;
}

Error CertificateSigning::waiting(const std::string& name) {
  is_waiting_ = true;
  const bool is_approved = seen_ && seen_->name == name && seen_->is_approved;
  Error error = Error::unavailable(
      shown_subject(name) + (is_approved
                                 ? " is approved, and its signer has issued no certificate yet"
                                 : " is pending: nobody has approved it yet"),
      (is_approved ? "see whether the signer " + in_quotes(options_.signer) + " works"
                   : "kubectl certificate approve " + name) +
          (store_.is_lasting() ? "; the next run goes on with it"
                               : "; without a cache, the next run makes another one"));
  // This is not a failure of the cluster: the next run must read again at once.
  error.is_local = true;
  return error;
}

}  // namespace execcred::bootstrap
