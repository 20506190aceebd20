// SPDX-License-Identifier: Apache-2.0
#include <execcred/spiffe/workload_api.hpp>

#include <execcred/base/duration.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/os/deadline.hpp>
#include <execcred/spiffe/grpc_call.hpp>
#include <execcred/spiffe/workload_messages.hpp>
#include <execcred/spiffe/workload_socket.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <thread>

#include <sys/random.h>
#include <unistd.h>

namespace execcred {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kFirstPause(100);
constexpr milliseconds kLongestPause(2000);
// For an error to be told before the runner's own deadline ends everything, on a busy machine too.
constexpr milliseconds kMargin(200);
// Where less is left, no attempt can be expected to succeed: an agent may hash the caller's
// program.
constexpr milliseconds kShortAttempt(500);

// Half of `longest` to the whole: processes that failed together do not come back together.
Duration jittered(milliseconds longest) {
  std::uint32_t random = 0;
  if (::getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random) random = 0;
  const std::int64_t half = longest.count() / 2;
  return milliseconds(half +
                      static_cast<std::int64_t>(random % static_cast<std::uint32_t>(half + 1)));
}

// One attempt: an error's is_transient says whether another one may succeed.
using Attempt = Result<SecretString>;

Error::Kind kind_of(const GrpcReply& reply) {
  if (reply.is_malformed) return Error::Kind::no_credential;
  switch (reply.code) {
    case GrpcCode::ok:
    case GrpcCode::cancelled:
    case GrpcCode::unknown:
    case GrpcCode::deadline_exceeded:
    case GrpcCode::resource_exhausted:
    case GrpcCode::aborted:
    case GrpcCode::internal:
    case GrpcCode::unavailable:
    case GrpcCode::data_loss:
      return Error::Kind::unavailable;
    case GrpcCode::invalid_argument:
    case GrpcCode::not_found:
    case GrpcCode::already_exists:
    case GrpcCode::permission_denied:
    case GrpcCode::failed_precondition:
    case GrpcCode::out_of_range:
    case GrpcCode::unimplemented:
    case GrpcCode::unauthenticated:
      break;
  }
  return Error::Kind::no_credential;
}

std::string selectors_to_register() {
  return "register an entry whose selectors fit this process, pid " + std::to_string(::getpid()) +
         ": unix:uid:" + std::to_string(::geteuid()) + ", unix:gid:" + std::to_string(::getegid()) +
         ", or in a Pod k8s:ns and k8s:sa; the agent's log names the selectors that it found";
}

std::string hint_of(const GrpcReply& reply) {
  if (reply.is_malformed || reply.code == GrpcCode::unimplemented) {
    return "is this the socket of a SPIFFE Workload API?";
  }
  if (reply.code == GrpcCode::permission_denied) return selectors_to_register();
  if (reply.code == GrpcCode::unavailable && !reply.is_local) return "see the agent's log";
  return {};
}

Error refusal(const GrpcReply& reply, const WorkloadEndpoint& endpoint) {
  const std::string what = reply.is_malformed ? reply.text
                                              : std::string(name_of(reply.code)) +
                                                    (reply.text.empty() ? "" : ": ") + reply.text;
  return Error{
      .kind = kind_of(reply),
      .message = "the SPIFFE Workload API at " + in_quotes(endpoint.text) +
                 (reply.code == GrpcCode::permission_denied ? " has no identity for this process: "
                                                            : " did not answer: ") +
                 what,
      .hint = hint_of(reply),
      .is_transient = !reply.is_malformed && (reply.code == GrpcCode::unavailable ||
                                              reply.code == GrpcCode::permission_denied),
      .is_local = reply.is_local};
}

// Calls until one succeeds, fails for good, or the deadline is near.
class RetriedCall {
 public:
  RetriedCall(const WorkloadEndpoint& endpoint, const WorkloadApiPolicy& policy,
              GrpcRequest request)
      : endpoint_(endpoint), policy_(policy), request_(std::move(request)) {
    const auto left = policy.deadline - steady_clock::now();
    end_ = policy.deadline - std::min<steady_clock::duration>(kMargin, left / 10);
    short_attempt_ = std::min<Duration>(kShortAttempt, left / 5);
  }

  Attempt run() {
    milliseconds pause = kFirstPause;
    for (;;) {
      Attempt attempt = call_once();
      if (attempt || !attempt.error().is_transient || !policy_.may_retry) return attempt;
      tell(attempt.error().message);
      const Duration left = end_ - steady_clock::now();
      if (left <= short_attempt_ / 2) return out_of_time(std::move(attempt.error()));
      // The last attempt is made as late as it can be.
      const Duration wait = std::min<Duration>(jittered(pause), left - short_attempt_ / 2);
      deadline::enter_phase("waiting to ask the SPIFFE Workload API again");
      std::this_thread::sleep_for(wait);
      pause = std::min(2 * pause, kLongestPause);
      last_ = std::move(attempt.error());
    }
  }

 private:
  Attempt call_once() {
    ++attempts_;
    const bool is_short = end_ - steady_clock::now() <= short_attempt_;
    deadline::enter_phase("connecting to the SPIFFE Workload API");
    const FileDescriptor socket = TRY(connect_to(endpoint_, end_));
    tell("connected to " + in_quotes(endpoint_.text));
    deadline::enter_phase("waiting for the SPIFFE Workload API's answer");
    GrpcReply reply = call_grpc(socket.get(), request_, end_);
    if (reply.code == GrpcCode::ok) return std::move(reply.message);
    Error error = refusal(reply, endpoint_);
    if (reply.code != GrpcCode::deadline_exceeded) return error;
    // That an answer did not come in a moment says less than the answers before.
    if (is_short && last_) return out_of_time(*last_);
    error.message = "timed out while waiting for the answer of the SPIFFE Workload API at " +
                    in_quotes(endpoint_.text);
    return out_of_time(std::move(error));
  }

  // Nothing more is tried: whoever answered last, or did not, is to blame.
  Error out_of_time(Error error) const {
    error.is_transient = false;
    if (attempts_ > 1) {
      error.context.push_back(
          "trying for the last of " + std::to_string(attempts_) + " times" +
          (last_ && last_->message != error.message ? "; before that: " + last_->message : ""));
    }
    if (error.kind != Error::Kind::no_credential && error.hint.empty()) {
      error.hint = deadline::kTimeoutHint;
    }
    return error;
  }

  void tell(const std::string& step) const {
    if (policy_.debug) policy_.debug(step);
  }

  const WorkloadEndpoint& endpoint_;
  const WorkloadApiPolicy& policy_;
  GrpcRequest request_;
  steady_clock::time_point end_ = {};
  Duration short_attempt_ = {};
  int attempts_ = 0;
  std::optional<Error> last_ = {};
};

GrpcRequest request_for(std::string_view method, const WorkloadApiPolicy& policy) {
  return {.method = "/SpiffeWorkloadAPI/" + std::string(method),
          .metadata = {{"workload.spiffe.io", "true"}},
          .max_message = policy.max_message};
}

}  // namespace

Result<std::vector<JwtSvidMessage>> WorkloadApi::fetch_jwt_svids(
    const std::vector<std::string>& audiences, const std::string& spiffe_id) const {
  GrpcRequest request = request_for("FetchJWTSVID", policy_);
  request.message = encode_jwt_svid_request(audiences, spiffe_id);
  std::string doing = "asking for a JWT-SVID";
  if (!spiffe_id.empty()) doing += " of " + in_quotes(spiffe_id);
  const SecretString answer =
      TRY(RetriedCall(endpoint_, policy_, std::move(request)).run().context(std::move(doing)));
  return decode_jwt_svid_response(answer.reveal()).context("reading the agent's JWT-SVIDs");
}

Result<std::vector<X509SvidMessage>> WorkloadApi::fetch_x509_svids() const {
  GrpcRequest request = request_for("FetchX509SVID", policy_);
  request.takes_first = true;
  const SecretString answer = TRY(RetriedCall(endpoint_, policy_, std::move(request))
                                      .run()
                                      .context("asking for an X.509-SVID"));
  return decode_x509_svid_response(answer.reveal()).context("reading the agent's X.509-SVIDs");
}

}  // namespace execcred
