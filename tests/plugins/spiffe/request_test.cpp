// SPDX-License-Identifier: Apache-2.0
// execcred-spiffe's request to an agent, frame by frame.
#include "peer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <regex>
#include <set>

namespace execcred::test {
namespace {

std::size_t count_of(const h2::Fields& fields, std::string_view name) {
  return static_cast<std::size_t>(std::count_if(
      fields.begin(), fields.end(), [&](const auto& field) { return field.first == name; }));
}

// The seconds of a grpc-timeout; -1 if it is invalid.
double seconds_of(const std::string& timeout) {
  static const std::regex form(R"(([1-9][0-9]{0,7})([HMSmun]))");
  std::smatch parts;
  if (!std::regex_match(timeout, parts, form)) return -1;
  const double value = std::stod(parts[1]);
  switch (parts[2].str().front()) {
    case 'H':
      return value * 3600;
    case 'M':
      return value * 60;
    case 'S':
      return value;
    case 'm':
      return value / 1e3;
    case 'u':
      return value / 1e6;
    default:
      return value / 1e9;
  }
}

}  // namespace

TEST_CASE("request: exactly the headers that gRPC and the Workload API require") {
  for (const std::string type : {"jwt", "x509"}) {
    CAPTURE(type);
    const AgentPeer agent;
    CHECK_SUCCESS(agent.run({.type = type}));
    const Visit visit = agent.last();
    h2::Fields fields = visit.call.fields;
    const std::string timeout = h2::field(fields, "grpc-timeout");
    const std::string user_agent = h2::field(fields, "user-agent");
    CHECK(seconds_of(timeout) > 1.0);
    CHECK(seconds_of(timeout) <= 2.0);
    CHECK(user_agent.starts_with("execcred"));
    std::sort(fields.begin(), fields.end());
    CHECK(fields == h2::Fields{{":authority", "localhost"},
                               {":method", "POST"},
                               {":path", type == "jwt" ? "/SpiffeWorkloadAPI/FetchJWTSVID"
                                                       : "/SpiffeWorkloadAPI/FetchX509SVID"},
                               {":scheme", "http"},
                               {"content-type", "application/grpc"},
                               {"grpc-timeout", timeout},
                               {"te", "trailers"},
                               {"user-agent", user_agent},
                               {"workload.spiffe.io", "true"}});
    CHECK(count_of(fields, "workload.spiffe.io") == 1);
  }
}

TEST_CASE("request: pseudo headers come first, as HTTP/2 requires") {
  const AgentPeer agent;
  CHECK_SUCCESS(agent.run());
  bool is_regular = false;
  for (const auto& [name, value] : agent.last().call.fields) {
    is_regular = is_regular || !name.starts_with(':');
    CHECK(is_regular != name.starts_with(':'));
  }
}

TEST_CASE("request: a preface, SETTINGS without push, one HEADERS, one DATA that ends the stream") {
  const AgentPeer agent;
  CHECK_SUCCESS(agent.run());
  const Visit visit = agent.last();
  CHECK(visit.has_preface);
  CHECK(visit.call.is_complete);
  CHECK(visit.call.header_frames == 1);
  CHECK(visit.call.data_frames == 1);
  CHECK(visit.call.stream == 1);
  CHECK(visit.count(h2::Type::settings) == 1);
  CHECK(visit.frames.front().type == h2::Type::settings);
  // ENABLE_PUSH (2) is 0.
  CHECK(visit.frames.front().payload.find(h2::number16(2) + h2::number32(0)) != std::string::npos);
  CHECK(agent.peer.server.connections() == 1);
}

TEST_CASE("request: the message has the audiences and the SPIFFE ID") {
  const AgentPeer agent;
  const auto asked = [&](const Texts& arguments) {
    CHECK_SUCCESS(agent.run({.arguments = arguments, .has_audience = false}));
    const JwtSvidRequestWire request = read_jwt_svid_request(agent.last().call.message());
    CHECK_FALSE(request.is_malformed);
    return request;
  };
  CHECK(asked({"--audience=one"}).audiences == Texts{"one"});
  CHECK(asked({"--audience=one"}).spiffe_ids.empty());
  const JwtSvidRequestWire both = asked({"--audience=one", "--audience=https://two.example/a?b=c",
                                         "--spiffe-id=" + std::string(kWorkload)});
  CHECK(std::set<std::string>(both.audiences.begin(), both.audiences.end()) ==
        std::set<std::string>{"one", "https://two.example/a?b=c"});
  CHECK(both.audiences.size() == 2);
  CHECK(both.spiffe_ids == Texts{kWorkload});
  const std::string long_audience(60'000, 'a');
  CHECK(asked({"--audience=" + long_audience}).audiences == Texts{long_audience});
}

TEST_CASE("request: an X.509 call has an empty message") {
  const AgentPeer agent;
  CHECK_SUCCESS(agent.run({.type = "x509"}));
  CHECK(agent.last().call.body == h2::message(""));
}

TEST_CASE("request: grpc-timeout is what is left of --timeout, in at most eight digits") {
  const AgentPeer agent;
  for (const int timeout : {300, 2000, 8000, 60000}) {
    CAPTURE(timeout);
    CHECK_SUCCESS(agent.run({.timeout = milliseconds(timeout)}));
    const double seconds = seconds_of(h2::field(agent.last().call.fields, "grpc-timeout"));
    CHECK(seconds <= timeout / 1000.0);
    CHECK(seconds >= timeout / 1000.0 - 1.0);
    CHECK(seconds > 0);
  }
  // A second attempt has less.
  const Peer late(
      grpc::first(1, grpc::says(grpc::failure(grpc::kUnavailable)), grpc::says(good_answer())));
  CHECK_SUCCESS(late.run());
  const std::vector<Visit> visits = late.server.visits();
  REQUIRE(visits.size() == 2);
  CHECK(seconds_of(h2::field(visits[1].call.fields, "grpc-timeout")) <
        seconds_of(h2::field(visits[0].call.fields, "grpc-timeout")) - 0.04);
}

TEST_CASE("request: the process that connects is the plugin itself, and it stays for the answer") {
  std::string during;
  const Peer peer([&](Connection& connection) {
    if (!connection.read_call()) return;
    connection.write(good_answer());
    connection.wait_for_close();
  });
  blackbox::Child child(command_at(peer.server.uri(), {}));
  CHECK_SUCCESS(child.wait());
  CHECK(peer.last().pid == child.pid());
}

TEST_CASE("request: an X.509 call ends with RST_STREAM(CANCEL) after the first message") {
  const AgentPeer agent;
  CHECK_SUCCESS(agent.run({.type = "x509"}));
  CHECK(agent.last().was_reset_with(h2::kCancel));
  const AgentPeer other;
  CHECK_SUCCESS(other.run());
  CHECK_FALSE(other.last().was_reset_with(h2::kCancel));
}

TEST_CASE("request: SETTINGS and PING are acknowledged") {
  const Peer peer([](Connection& connection) {
    if (!connection.read_call()) return;
    connection.write(h2::settings({{3, 100}, {4, 65535}}) + h2::ping("12345678"));
    while (const std::optional<h2::Frame> frame = connection.read()) {
      if (frame->type == h2::Type::ping) break;
    }
    connection.write(grpc::begin() + good_rest());
    connection.wait_for_close();
  });
  CHECK_SUCCESS(peer.run());
  bool has_settings_ack = false;
  bool has_ping_ack = false;
  for (const h2::Frame& frame : peer.last().frames) {
    const bool is_ack = (frame.flags & h2::kAck) != 0;
    has_settings_ack |= frame.type == h2::Type::settings && is_ack;
    has_ping_ack |= frame.type == h2::Type::ping && is_ack && frame.payload == "12345678";
  }
  CHECK(has_settings_ack);
  CHECK(has_ping_ack);
}

}  // namespace execcred::test
