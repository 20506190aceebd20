// SPDX-License-Identifier: Apache-2.0
#include <execcred/spiffe/workload_api.hpp>

#include <execcred/base/cause.hpp>
#include <execcred/base/duration.hpp>
#include <execcred/base/pause.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/os/deadline.hpp>
#include <execcred/spiffe/grpc.hpp>
#include <execcred/spiffe/workload_endpoint.hpp>

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

namespace execcred {
namespace {

constexpr std::size_t kMaxSvids = 1000;

Error rejected(std::string message) {
  return Error::no_credential(std::move(message),
                              "is this a SPIFFE Workload API? its agent's version may not fit");
}

std::string_view view(protozero::pbf_reader& field) {
  const protozero::data_view data = field.get_view();
  return {data.data(), data.size()};
}

// The type is compared as a part of the tag, because protozero does not check it elsewhere.
constexpr std::uint32_t bytes_field(std::uint32_t number) {
  return protozero::tag_and_type(number, protozero::pbf_wire_type::length_delimited);
}

constexpr std::uint32_t kSvids = bytes_field(1);

// A field of an SVID, in its text or in its secret.
template <class Svid>
struct SvidField {
  std::string_view name = {};  // of a mandatory field
  std::string Svid::*text = nullptr;
  SecretString Svid::*secret = nullptr;
};

// By their numbers, from 1.
constexpr std::array<SvidField<JwtSvidMessage>, 3> kJwtFields = {
    {{.name = "spiffe_id", .text = &JwtSvidMessage::spiffe_id},
     {.name = "svid", .secret = &JwtSvidMessage::svid},
     {.text = &JwtSvidMessage::hint}}};
constexpr std::array<SvidField<X509SvidMessage>, 5> kX509Fields = {
    {{.name = "spiffe_id", .text = &X509SvidMessage::spiffe_id},
     {.name = "x509_svid", .text = &X509SvidMessage::certificates},
     {.name = "x509_svid_key", .secret = &X509SvidMessage::private_key},
     {.name = "bundle", .text = &X509SvidMessage::bundle},
     {.text = &X509SvidMessage::hint}}};

// Protocol Buffers do not distinguish a field that is missing from an empty one.
template <class Svid, std::size_t kCount>
Result<Svid> read_svid(protozero::pbf_reader reader,
                       const std::array<SvidField<Svid>, kCount>& fields) {
  Svid svid;
  while (reader.next()) {
    const std::uint32_t number = reader.tag();
    if (number > kCount || reader.tag_and_type() != bytes_field(number)) {
      reader.skip();
    } else if (const SvidField<Svid>& field = fields[number - 1]; field.text != nullptr) {
      svid.*field.text = view(reader);
    } else {
      svid.*field.secret = SecretString(view(reader));
    }
  }
  for (const SvidField<Svid>& field : fields) {
    const bool is_empty =
        field.text != nullptr ? (svid.*field.text).empty() : (svid.*field.secret).empty();
    if (!is_empty || field.name.empty()) continue;
    return rejected("an SVID in the agent's answer has no '" + std::string(field.name) + "'");
  }
  return svid;
}

template <class Svid, std::size_t kCount>
Result<std::vector<Svid>> read_svids(std::string_view message,
                                     const std::array<SvidField<Svid>, kCount>& fields) {
  std::vector<Svid> svids;
  protozero::pbf_reader reader(message.data(), message.size());
  while (reader.next()) {
    if (reader.tag_and_type() != kSvids) {
      reader.skip();
      continue;
    }
    if (svids.size() == kMaxSvids) return rejected("the agent's answer holds more than 1000 SVIDs");
    Svid svid = TRY(read_svid(reader.get_message(), fields));
    svids.push_back(std::move(svid));
  }
  if (svids.empty()) return rejected("the agent's answer holds no SVID");
  return svids;
}

template <class Svid, std::size_t kCount>
Result<std::vector<Svid>> decode(std::string_view message,
                                 const std::array<SvidField<Svid>, kCount>& fields) {
  try {
    return read_svids(message, fields);
  } catch (const protozero::exception&) {
    return rejected("the agent's answer is no Protocol Buffers message");
  }
}

}  // namespace

std::string encode_jwt_svid_request(const std::vector<std::string>& audiences,
                                    const std::string& spiffe_id) {
  std::string message;
  protozero::pbf_writer writer(message);
  for (const std::string& audience : audiences) writer.add_string(1, audience);
  if (!spiffe_id.empty()) writer.add_string(2, spiffe_id);
  return message;
}

Result<std::vector<JwtSvidMessage>> decode_jwt_svid_response(std::string_view message) {
  return decode(message, kJwtFields);
}

Result<std::vector<X509SvidMessage>> decode_x509_svid_response(std::string_view message) {
  return decode(message, kX509Fields);
}

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kFirstPause(100);
constexpr milliseconds kLongestPause(2000);
// Time to report an error before the run's own deadline, on a busy machine too.
constexpr milliseconds kMargin(200);
// If less time is left, no attempt can be expected to succeed: an agent may hash the caller's
// program.
constexpr milliseconds kShortAttempt(500);
constexpr std::size_t kMaxAnswer = 4 * 1024 * 1024;

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
      .is_local = reply.is_local,
      .cause =
          reply.code == GrpcCode::permission_denied ? cause::kSourceForbidden : std::string_view()};
}

// Calls until one succeeds, fails permanently, or the deadline is near.
class RetriedCall {
 public:
  RetriedCall(const WorkloadEndpoint& endpoint, const CallContext& call, GrpcRequest request)
      : endpoint_(endpoint), call_(call), request_(std::move(request)) {
    const auto left = call.deadline - steady_clock::now();
    end_ = call.deadline - std::min<steady_clock::duration>(kMargin, left / 10);
    short_attempt_ = std::min<Duration>(kShortAttempt, left / 5);
  }

  Attempt run() {
    milliseconds pause = kFirstPause;
    for (;;) {
      Attempt attempt = call_once();
      if (attempt || !attempt.error().is_transient || !call_.is_needed) return attempt;
      call_.debug(attempt.error().message);
      const Duration left = end_ - steady_clock::now();
      if (left <= short_attempt_ / 2) return out_of_time(std::move(attempt.error()));
      // The last attempt is made as late as possible.
      const Duration wait = std::min<Duration>(jittered(pause), left - short_attempt_ / 2);
      deadline::enter_phase("waiting to ask the SPIFFE Workload API again");
      pause_for(wait);
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
    call_.debug("connected to " + in_quotes(endpoint_.text));
    deadline::enter_phase("waiting for the SPIFFE Workload API's answer");
    GrpcReply reply = call_grpc(socket.get(), request_, end_);
    if (reply.code == GrpcCode::ok) return std::move(reply.message);
    Error error = refusal(reply, endpoint_);
    if (reply.code != GrpcCode::deadline_exceeded) return error;
    // A time-out shortly before the end says less about the cause than the failures before it.
    if (is_short && last_) return out_of_time(*last_);
    // Before the end, this is the agent's answer.
    if (steady_clock::now() < end_) return error;
    error.message = "timed out while waiting for the answer of the SPIFFE Workload API at " +
                    in_quotes(endpoint_.text);
    return out_of_time(std::move(error));
  }

  // Makes the error of the last attempt the result: no attempt follows.
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

  const WorkloadEndpoint& endpoint_;
  const CallContext& call_;
  GrpcRequest request_;
  steady_clock::time_point end_ = {};
  Duration short_attempt_ = {};
  int attempts_ = 0;
  std::optional<Error> last_ = {};
};

GrpcRequest request_for(std::string_view method) {
  return {.method = "/SpiffeWorkloadAPI/" + std::string(method),
          .metadata = {{"workload.spiffe.io", "true"}},
          .max_message = kMaxAnswer};
}

}  // namespace

Result<std::vector<JwtSvidMessage>> WorkloadApi::fetch_jwt_svids(
    const std::vector<std::string>& audiences, const std::string& spiffe_id) const {
  GrpcRequest request = request_for("FetchJWTSVID");
  request.message = encode_jwt_svid_request(audiences, spiffe_id);
  std::string doing = "asking for a JWT-SVID";
  if (!spiffe_id.empty()) doing += " of " + in_quotes(spiffe_id);
  const SecretString answer =
      TRY(RetriedCall(endpoint_, call_, std::move(request)).run().context(std::move(doing)));
  return decode_jwt_svid_response(answer.reveal()).context("reading the agent's JWT-SVIDs");
}

Result<std::vector<X509SvidMessage>> WorkloadApi::fetch_x509_svids() const {
  GrpcRequest request = request_for("FetchX509SVID");
  request.takes_first = true;
  const SecretString answer = TRY(
      RetriedCall(endpoint_, call_, std::move(request)).run().context("asking for an X.509-SVID"));
  return decode_x509_svid_response(answer.reveal()).context("reading the agent's X.509-SVIDs");
}

}  // namespace execcred
