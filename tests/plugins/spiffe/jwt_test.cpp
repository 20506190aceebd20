// SPDX-License-Identifier: Apache-2.0
// JWT-SVIDs: their audience, identity and end, and those that are refused.
#include "peer.hpp"

#include <doctest/doctest.h>

#include <ctime>

namespace execcred::test {
namespace {

const std::vector<WorkloadAgent::Identity> kTwo = {
    {.spiffe_id = "spiffe://example.org/one", .hint = "internal"},
    {.spiffe_id = "spiffe://example.org/two", .hint = "external"}};

Texts asked_audiences(const AgentPeer& agent) {
  return read_jwt_svid_request(agent.last().call.message()).audiences;
}

// An agent that gives this token for the workload's ID.
Outcome run_with_token(const std::string& token, const Ask& ask = {}) {
  blackbox::remember_secret(token);
  return Peer(grpc::answer(jwt_svid_response({{.spiffe_id = kWorkload, .svid = token}}))).run(ask);
}

const SvidIssuer& issuer() {
  static const SvidIssuer made;
  return made;
}

std::string claims_with(const std::string& sub, const std::string& aud, const std::string& exp) {
  return "{\"sub\":" + sub + ",\"aud\":" + aud + ",\"exp\":" + exp + "}";
}

std::string in_seconds(std::int64_t seconds) {
  return std::to_string(std::time(nullptr) + seconds);
}

}  // namespace

TEST_CASE("jwt: the token is the agent's, byte for byte") {
  const AgentPeer agent;
  const Outcome outcome = agent.run();
  CHECK_SUCCESS(outcome);
  REQUIRE(agent.agent.secrets().size() == 1);
  CHECK(token_of(outcome) == agent.agent.secrets().front());
  CHECK(agent.run().output == outcome.output);
}

TEST_CASE("jwt: the claimed end is exp less thirty seconds, or a tenth of what remains") {
  for (const std::int64_t seconds : {60, 200, 300, 3600, 100'000}) {
    CAPTURE(seconds);
    const AgentPeer agent({{.spiffe_id = kWorkload, .seconds = seconds}});
    const std::int64_t claimed = claimed_seconds(agent.run());
    CHECK(claimed <= claim_for(seconds));
    CHECK(claimed >= claim_for(seconds) - 3);
  }
  const std::int64_t claimed = claimed_seconds(run_with_token(
      issuer().jwt({.claims = claims_with("\"spiffe://example.org/workload\"", "\"kubernetes\"",
                                          in_seconds(1000) + ".75")})));
  CHECK(claimed <= 970);
  CHECK(claimed >= 967);
}

TEST_CASE("jwt: --type is required, and is jwt or x509") {
  const AgentPeer agent;
  blackbox::Command command = command_at(agent.peer.server.uri(), {});
  std::erase(command.arguments, "--type=jwt");
  CHECK_REFUSAL(blackbox::run(command), 2, "--type");
  for (const std::string type : {"JWT", "x.509", "token", "jwt,x509"}) {
    CHECK_FAILURE(agent.run({.type = type}), 2, "is neither jwt nor x509");
  }
  CHECK(agent.peer.server.connections() == 0);
}

TEST_CASE("jwt: an audience is required, and not empty, else the agent is not called") {
  const AgentPeer agent;
  CHECK_REFUSAL(agent.run({.has_audience = false}), 2, "--audience");
  CHECK_REFUSAL(agent.run({.server = "", .has_audience = false}), 2, "provideClusterInfo");
  for (const std::string empty : {"", " ", "\t"}) {
    CHECK_FAILURE(agent.run({.arguments = {"--audience=" + empty}, .has_audience = false}), 2,
                  "--audience");
  }
  CHECK_FAILURE(agent.run({.arguments = {"--allow-audience=any"},
                           .config = R"({"audience":""})",
                           .has_audience = false}),
                2, "a JWT-SVID needs an audience, and none is given");
  CHECK_FAILURE(agent.run({.variables = {"EXECCRED_AUDIENCE=a,,b"}, .has_audience = false}), 2,
                "EXECCRED_AUDIENCE has an empty value");
  CHECK(agent.peer.server.connections() == 0);
}

TEST_CASE("jwt: a ClusterProfile's audience is accepted only with --allow-audience") {
  const AgentPeer agent;
  const auto ask = [](Texts arguments, const std::string& audience) {
    return Ask{.arguments = std::move(arguments),
               .config = "{\"audience\":" + audience + "}",
               .has_audience = false};
  };
  CHECK_REFUSAL(agent.run(ask({}, "\"one\"")), 2, "--allow-audience");
  CHECK_REFUSAL(agent.run(ask({}, R"(["one","two"])")), 2, "--allow-audience");
  CHECK_FAILURE(agent.run(ask({"--allow-audience=two"}, "\"one\"")), 1,
                "matches no --allow-audience");
  CHECK_FAILURE(agent.run(ask({"--allow-audience=one"}, R"(["one","two"])")), 1,
                "matches no --allow-audience");
  CHECK_FAILURE(agent.run(ask({"--allow-audience=server"}, "\"one\"")), 1,
                "matches no --allow-audience");
  CHECK_FAILURE(agent.run(ask({"--allow-audience=any"}, "7")), 2,
                "spec.cluster.config.audience must be a string or an array");
  CHECK(agent.peer.server.connections() == 0);

  CHECK_SUCCESS(agent.run(ask({"--allow-audience=one"}, "\"one\"")));
  CHECK(asked_audiences(agent) == Texts{"one"});
  CHECK_SUCCESS(
      agent.run(ask({"--allow-audience=o*", "--allow-audience=two"}, R"(["one","two"])")));
  CHECK(asked_audiences(agent).size() == 2);
  CHECK_SUCCESS(agent.run(ask({"--allow-audience=server"}, "\"" + std::string(kSpoke) + "\"")));
  CHECK(asked_audiences(agent) == Texts{kSpoke});
  CHECK_SUCCESS(agent.run(ask({"--allow-audience=any"}, "\"what it likes\"")));
  CHECK_SUCCESS(agent.run({.variables = {"EXECCRED_ALLOW_AUDIENCE=one"},
                           .config = R"({"audience":"one"})",
                           .has_audience = false}));
}

TEST_CASE(
    "jwt: the mapping's own audience needs no permission, and a profile's does not replace it") {
  const AgentPeer agent;
  CHECK_SUCCESS(agent.run({.config = R"({"audience":"evil"})"}));
  CHECK(asked_audiences(agent) == Texts{kAudience});
}

TEST_CASE("jwt: the KEP's example: an audience after --from-profile, with one dash") {
  const AgentPeer agent;
  const auto behind = [](Texts more, const std::string& allowed) {
    return Ask{.arguments = Texts{"--allow-audience=" + allowed, "--from-profile"} + more,
               .has_audience = false};
  };
  CHECK_SUCCESS(agent.run(behind({"-audience", "one"}, "one")));
  CHECK(asked_audiences(agent) == Texts{"one"});
  CHECK_SUCCESS(agent.run(behind({"--audience=one", "--audience=one"}, "any")));
  CHECK(asked_audiences(agent) == Texts{"one"});
  CHECK_FAILURE(agent.run(behind({"-audience", "two"}, "one")), 1, "matches no --allow-audience");
  CHECK_FAILURE(agent.run(behind({"-audience", "one", "-audience", "two"}, "any")), 2,
                "--audience stands behind --from-profile with two values");
  CHECK_REFUSAL(
      agent.run({.arguments = {"--from-profile", "-audience", "one"}, .has_audience = false}), 2,
      "--allow-audience");
}

TEST_CASE("jwt: no option but the audience may come from a ClusterProfile") {
  const AgentPeer agent(kTwo);
  for (const std::string field :
       {"socket", "type", "spiffeId", "hint", "trustDomain", "allowEmptyCn", "allowAudience",
        "allowServer", "timeout", "maxAge", "apiVersion"}) {
    CAPTURE(field);
    CHECK_REFUSAL(agent.run({.config = "{\"" + field + "\":\"x\"}"}), 2, field);
  }
  for (const std::string option :
       {"--socket=unix:///x", "--type=x509", "--spiffe-id=spiffe://example.org/one",
        "--hint=internal", "--trust-domain=example.org", "--allow-empty-cn", "--allow-audience=any",
        "--timeout=9s"}) {
    CAPTURE(option);
    CHECK_FAILURE(agent.run({.arguments = {"--from-profile", option}}), 2,
                  "stands behind --from-profile, and may not come from a");
  }
  CHECK(agent.peer.server.connections() == 0);
}

TEST_CASE("jwt: several identities without a choice are an error that lists them") {
  const AgentPeer agent(kTwo);
  const Outcome outcome = agent.run();
  CHECK_REFUSAL(outcome, 1, "--spiffe-id");
  for (const WorkloadAgent::Identity& identity : kTwo) {
    CHECK(blackbox::says(outcome, identity.spiffe_id));
    CHECK(blackbox::says(outcome, identity.hint));
  }
  check_at_once(outcome);
  std::vector<WorkloadAgent::Identity> many;
  for (int i = 0; i < 200; ++i) {
    many.push_back(
        {.spiffe_id = "spiffe://example.org/" + std::string(100, 'w') + std::to_string(i)});
  }
  CHECK_FAILURE(AgentPeer(many).run(), 1, "the agent has 200 identities for this process");
}

TEST_CASE("jwt: --spiffe-id and --hint select, and of two with one hint the first is used") {
  const AgentPeer agent(kTwo);
  const Outcome one = agent.run({.arguments = {"--spiffe-id=spiffe://example.org/one"}});
  const Outcome two = agent.run({.arguments = {"--hint=external"}});
  CHECK_SUCCESS(one);
  CHECK_SUCCESS(two);
  CHECK(token_of(one) != token_of(two));
  CHECK(token_of(agent.run({.arguments = {"--hint=internal"}})) == token_of(one));
  CHECK(token_of(agent.run({.arguments = {"--spiffe-id=spiffe://example.org/two",
                                          "--hint=external"}})) == token_of(two));
  CHECK_REFUSAL(agent.run({.arguments = {"--hint=none"}}), 1, "spiffe://example.org/one");
  CHECK_FAILURE(
      agent.run({.arguments = {"--spiffe-id=spiffe://example.org/two", "--hint=internal"}}), 1,
      "the agent has no identity with the SPIFFE ID");
  const AgentPeer same({{.spiffe_id = "spiffe://example.org/a", .hint = "h"},
                        {.spiffe_id = "spiffe://example.org/b", .hint = "h"}});
  const Outcome first = same.run({.arguments = {"--hint=h"}});
  CHECK_SUCCESS(first);
  CHECK(token_of(first) == same.agent.secrets().front());
}

TEST_CASE("jwt: a SPIFFE ID that the agent does not know is requested again until the deadline") {
  const AgentPeer agent(kTwo);
  const Outcome outcome = agent.run(
      {.arguments = {"--spiffe-id=spiffe://example.org/three"}, .timeout = milliseconds(1500)});
  CHECK_FAILURE(outcome, 1, "has no identity for this process: PermissionDenied: no");
  CHECK(agent.peer.server.connections() > 1);
  CHECK(blackbox::says(outcome, "no identity issued"));
}

TEST_CASE("jwt: an SVID of another SPIFFE ID than the requested one is refused") {
  const Peer peer(good_answer());
  CHECK_FAILURE(peer.run({.arguments = {"--spiffe-id=spiffe://example.org/other"}}), 1,
                "the agent has no identity with the SPIFFE ID");
}

TEST_CASE("jwt: a malformed SPIFFE ID or trust domain is refused, and the agent is not called") {
  const AgentPeer agent;
  for (const std::string id :
       {"s", "spiffe:/", "Spiffe://x", "spiffe://", "spiffe:///", "spiffe://td/",
        "spiffe://td//path", "spiffe://td/path/", "spiffe://td/.", "spiffe://td/./p",
        "spiffe://td/p/..", "spiffe://td/%2e", "spiffe://TD/p", "spiffe://td/p?q",
        "https://td/p"}) {
    CAPTURE(id);
    CHECK_FAILURE(agent.run({.arguments = {"--spiffe-id=" + id}}), 2, "--spiffe-id: the SPIFFE ID");
  }
  for (const std::string domain :
       {"Example.org", "example.org/", "a b", "spiffe://example.org/x"}) {
    CAPTURE(domain);
    CHECK_FAILURE(agent.run({.arguments = {"--trust-domain=" + domain}}), 2, "--trust-domain");
  }
  CHECK(agent.peer.server.connections() == 0);
}

TEST_CASE("jwt: --trust-domain refuses an SVID with another trust domain") {
  const AgentPeer agent;
  CHECK_SUCCESS(agent.run({.arguments = {"--trust-domain=example.org"}}));
  CHECK_SUCCESS(agent.run({.arguments = {"--trust-domain=spiffe://example.org"}}));
  for (const std::string domain : {"example.com", "example.or", "ample.org", "sub.example.org"}) {
    CHECK_REFUSAL(agent.run({.arguments = {"--trust-domain=" + domain}}), 1, "example.org");
  }
}

TEST_CASE("jwt: a token that is invalid, or does not match the request, is refused") {
  const std::string sub = "\"" + std::string(kWorkload) + "\"";
  const std::string aud = "[\"kubernetes\"]";
  const std::string exp = in_seconds(300);
  const auto with_claims = [](const std::string& claims) {
    return issuer().jwt({.claims = claims});
  };
  for (const std::string& token :
       {with_claims(claims_with("\"spiffe://example.org/other\"", aud, exp)),
        with_claims(claims_with("\"alice\"", aud, exp)),
        with_claims(claims_with("7", aud, exp)),
        with_claims(claims_with(sub, "[\"other\"]", exp)),
        with_claims(claims_with(sub, "[]", exp)),
        with_claims(claims_with(sub, "\"Kubernetes\"", exp)),
        with_claims(claims_with(sub, aud, in_seconds(-1))),
        with_claims(claims_with(sub, aud, "\"" + exp + "\"")),
        with_claims(claims_with(sub, aud, "0")),
        with_claims("{\"sub\":" + sub + ",\"aud\":" + aud + "}"),
        with_claims("{\"aud\":" + aud + ",\"exp\":" + exp + "}"),
        with_claims("{\"sub\":" + sub + ",\"exp\":" + exp + "}"),
        with_claims("{\"sub\":" + sub + ",\"sub\":" + sub + ",\"aud\":" + aud + ",\"exp\":" + exp +
                    "}"),
        with_claims("{\"nbf\":" + in_seconds(600) + ",\"sub\":" + sub + ",\"aud\":" + aud +
                    ",\"exp\":" + in_seconds(900) + "}"),
        with_claims("[]"),
        with_claims("garbage"),
        issuer().jwt(
            {.spiffe_id = kWorkload, .audiences = {kAudience}, .header = R"({"alg":"none"})"}),
        issuer().jwt(
            {.spiffe_id = kWorkload, .audiences = {kAudience}, .header = R"({"alg":"HS256"})"}),
        issuer().jwt({.spiffe_id = kWorkload,
        .audiences = {kAudience},
        .header = R"({"alg":"ES256","typ":"at+jwt"})"}),
        issuer().jwt({.spiffe_id = kWorkload, .audiences = {kAudience}, .header = "{}"}),
        std::string("opaque-token-of-somebody"),
        std::string("a.b"),
        std::string("a.b.c.d"),
        std::string(R"({"payload":"x","signatures":[]})")}) {
    const Outcome outcome = run_with_token(token);
    CAPTURE(token);
    CHECK_FAILURE(outcome, 1, "looking at the JWT-SVID of 'spiffe://example.org/workload'");
    check_at_once(outcome);
  }
  CHECK_SUCCESS(run_with_token(with_claims(claims_with(sub, "\"kubernetes\"", exp))));
  CHECK_SUCCESS(run_with_token(with_claims(claims_with(sub, R"(["x","kubernetes"])", exp))));
}

TEST_CASE("jwt: every requested audience must be in the token") {
  const std::string token = issuer().jwt({.spiffe_id = kWorkload, .audiences = {kAudience}});
  const Outcome outcome = run_with_token(token, {.arguments = {"--audience=second"}});
  CHECK_FAILURE(outcome, 1, "the JWT-SVID is not for the audience 'second' but for");
  CHECK(blackbox::says(outcome, "second"));
}

TEST_CASE("jwt: --allow-server refuses another or unknown cluster, and the agent is not called") {
  const AgentPeer agent;
  const Texts allowed = {"--allow-server=https://spoke-1.example.com:6443"};
  CHECK_SUCCESS(agent.run({.arguments = allowed}));
  CHECK_FAILURE(agent.run({.arguments = allowed, .server = "https://evil.example:6443"}), 1,
                "matches no --allow-server");
  CHECK_REFUSAL(agent.run({.arguments = allowed, .server = ""}), 2, "provideClusterInfo");
  CHECK(agent.peer.server.connections() == 1);
}

}  // namespace execcred::test
