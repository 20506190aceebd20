// SPDX-License-Identifier: Apache-2.0
#include "workload_agent.hpp"

#include <ctime>

namespace execcred::test {

namespace grpc {

std::string greeting() { return h2::settings() + h2::settings_ack(); }

std::string head(std::uint32_t stream) {
  return h2::headers(stream, {{":status", "200"}, {"content-type", "application/grpc"}});
}

std::string begin(std::uint32_t stream) { return greeting() + head(stream); }

std::string trailers(const std::string& status, const std::string& message, std::uint32_t stream) {
  h2::Fields fields = {{"grpc-status", status}};
  if (!message.empty()) fields.emplace_back("grpc-message", message);
  return h2::headers(stream, fields, true);
}

std::string answer(std::string_view message, std::uint32_t stream) {
  return stream_answer(message, stream) + trailers("0", {}, stream);
}

std::string stream_answer(std::string_view message, std::uint32_t stream) {
  return begin(stream) + h2::data(stream, h2::message(message));
}

std::string failure(int status, const std::string& message, std::uint32_t stream) {
  h2::Fields fields = {{":status", "200"},
                       {"content-type", "application/grpc"},
                       {"grpc-status", std::to_string(status)}};
  if (!message.empty()) fields.emplace_back("grpc-message", message);
  return greeting() + h2::headers(stream, fields, true);
}

FrameServer::Handler says(std::string bytes) {
  return [bytes = std::move(bytes)](FrameServer::Connection& connection) {
    if (connection.read_call() && connection.write(bytes)) connection.wait_for_close();
  };
}

FrameServer::Handler first(std::size_t count, FrameServer::Handler one,
                           FrameServer::Handler other) {
  return
      [count, one = std::move(one), other = std::move(other)](FrameServer::Connection& connection) {
        (connection.number() < count ? one : other)(connection);
      };
}

}  // namespace grpc

WorkloadAgent::WorkloadAgent(std::vector<Identity> identities)
    : identities_(std::move(identities)) {}

FrameServer::Handler WorkloadAgent::handler() {
  return [this](FrameServer::Connection& connection) {
    if (!connection.read_call()) return;
    if (connection.write(answer(connection.call()))) connection.wait_for_close();
  };
}

std::string WorkloadAgent::answer(const GrpcCall& call) {
  if (h2::field(call.fields, "workload.spiffe.io") != "true") {
    return grpc::failure(grpc::kInvalidArgument, "security header missing from request",
                         call.stream);
  }
  if (call.path() == "/SpiffeWorkloadAPI/FetchJWTSVID") return answer_jwt(call);
  if (call.path() == "/SpiffeWorkloadAPI/FetchX509SVID") return answer_x509(call);
  return grpc::failure(grpc::kUnimplemented, "unknown method", call.stream);
}

std::string WorkloadAgent::answer_jwt(const GrpcCall& call) {
  const JwtSvidRequestWire request = read_jwt_svid_request(call.message());
  if (request.is_malformed || request.audiences.empty() || request.spiffe_ids.size() > 1) {
    return grpc::failure(grpc::kInvalidArgument, "audience must be specified", call.stream);
  }
  std::vector<JwtSvidWire> svids;
  for (const Identity& identity : identities_) {
    if (!request.spiffe_ids.empty() && request.spiffe_ids.front() != identity.spiffe_id) continue;
    svids.push_back({.spiffe_id = identity.spiffe_id,
                     .svid = jwt_of(identity, request.audiences),
                     .hint = identity.hint});
  }
  if (svids.empty()) {
    return grpc::failure(grpc::kPermissionDenied, "no identity issued", call.stream);
  }
  return grpc::answer(jwt_svid_response(svids), call.stream);
}

std::string WorkloadAgent::answer_x509(const GrpcCall& call) {
  std::vector<X509SvidWire> svids;
  for (const Identity& identity : identities_) svids.push_back(x509_of(identity));
  if (svids.empty()) {
    return grpc::failure(grpc::kPermissionDenied, "no identity issued", call.stream);
  }
  return grpc::stream_answer(x509_svid_response(svids), call.stream);
}

std::string WorkloadAgent::jwt_of(const Identity& identity,
                                  const std::vector<std::string>& audiences) {
  const std::scoped_lock lock(mutex_);
  Kept<std::string>& kept = tokens_[{&identity, audiences}];
  const std::int64_t now = std::time(nullptr);
  if (kept.until <= now) {
    kept = {
        .svid = issuer_.jwt(
            {.spiffe_id = identity.spiffe_id, .audiences = audiences, .seconds = identity.seconds}),
        .until = now + identity.seconds / 2};
    secrets_.push_back(kept.svid);
  }
  return kept.svid;
}

X509SvidWire WorkloadAgent::x509_of(const Identity& identity) {
  const std::scoped_lock lock(mutex_);
  Kept<X509SvidWire>& kept = certificates_[&identity];
  const std::int64_t now = std::time(nullptr);
  if (kept.until <= now) {
    kept = {.svid = issuer_.x509({.spiffe_id = identity.spiffe_id,
                                  .common_name = identity.common_name,
                                  .organization = identity.organization,
                                  .seconds = identity.seconds}),
            .until = now + identity.seconds / 2};
    kept.svid.hint = identity.hint;
    secrets_.push_back(kept.svid.private_key);
  }
  return kept.svid;
}

std::vector<std::string> WorkloadAgent::secrets() const {
  const std::scoped_lock lock(mutex_);
  return secrets_;
}

}  // namespace execcred::test
