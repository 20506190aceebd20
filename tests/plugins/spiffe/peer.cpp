// SPDX-License-Identifier: Apache-2.0
#include "peer.hpp"
#include "test_paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

namespace execcred::test {
namespace {

// The agent whose answers the cases change.
WorkloadAgent& exemplary_agent() {
  static WorkloadAgent agent({{.spiffe_id = kWorkload}});
  return agent;
}

void remember(const std::vector<std::string>& secrets) {
  for (const std::string& secret : secrets) {
    // A key is binary there, and in base64 wherever it could be printed.
    const bool is_text = secret.find('\0') == std::string::npos;
    blackbox::remember_secret(is_text ? secret : blackbox::base64(secret));
  }
}

}  // namespace

blackbox::Command command_at(const std::string& uri, const Ask& ask) {
  Texts arguments = {"--type=" + ask.type,
                     "--timeout=" + std::to_string(ask.timeout.count()) + "ms"};
  if (!uri.empty()) arguments.push_back("--socket=" + uri);
  if (ask.has_audience && ask.type == "jwt") {
    arguments.push_back("--audience=" + std::string(kAudience));
  }
  if (ask.is_traced) arguments.emplace_back("--debug");
  blackbox::Command command =
      plugin_command("execcred-spiffe", std::move(arguments) + ask.arguments,
                     ask.variables + asked_for(ask.server, ask.config));
  command.before_exec = ask.before_exec;
  return command;
}

Outcome run_at(const std::string& uri, const Ask& ask) {
  return blackbox::run(command_at(uri, ask));
}

Visit Peer::last() const {
  CHECK(blackbox::wait_until([this] {
    const std::vector<Visit> visits = server.visits();
    return !visits.empty() && visits.back().has_gone;
  }));
  return server.visits().back();
}

Outcome AgentPeer::run(const Ask& ask) const {
  Outcome outcome = peer.run(ask);
  remember(agent.secrets());
  return outcome;
}

const std::string& good_jwt() {
  static const std::string message = [] {
    std::string token =
        exemplary_agent().issuer().jwt({.spiffe_id = kWorkload, .audiences = {kAudience}});
    blackbox::remember_secret(token);
    return jwt_svid_response({{.spiffe_id = kWorkload, .svid = std::move(token)}});
  }();
  return message;
}

const std::string& good_x509() {
  static const std::string message = [] {
    const X509SvidWire svid = exemplary_agent().issuer().x509({.spiffe_id = kWorkload});
    remember({svid.private_key});
    return x509_svid_response({svid});
  }();
  return message;
}

std::string good_answer() { return grpc::answer(good_jwt()); }

std::string good_rest() { return h2::data(1, h2::message(good_jwt())) + grpc::trailers("0"); }

void check_in_time(const Outcome& outcome, const Ask& ask) {
  CAPTURE(blackbox::describe(outcome));
  CHECK_FALSE(outcome.was_hanging);
  CHECK(outcome.elapsed < ask.timeout + blackbox::kGrace);
}

void check_at_once(const Outcome& outcome) {
  CAPTURE(blackbox::describe(outcome));
  CHECK_FALSE(blackbox::says(outcome, "times"));
  CHECK(outcome.elapsed < blackbox::kNoWait);
}

void check_refused(const std::string& bytes, int exit_code, const std::string& told) {
  CAPTURE(told);
  const Peer peer(bytes);
  const Outcome outcome = peer.run();
  CHECK_FAILURE(outcome, exit_code, told);
  check_at_once(outcome);
  CHECK(peer.server.connections() == 1);
}

void check_retried(const std::string& bytes) {
  const Peer peer(grpc::first(1, grpc::says(bytes), grpc::says(good_answer())));
  CHECK_SUCCESS(peer.run({.timeout = milliseconds(8000)}));
  CHECK(peer.server.connections() == 2);
}

}  // namespace execcred::test
