// SPDX-License-Identifier: Apache-2.0
// --audience restricts the token that is given. --allow-audience, if it is set, limits the
// audiences that a ClusterProfile may request.
#include "support/token_file.hpp"

#include <doctest/doctest.h>

using namespace blackbox;

namespace {

std::string jwt_with_audience(const std::string& json) {
  return make_jwt("{\"exp\":" + std::to_string(seconds_since_epoch() + 3600) +
                  (json.empty() ? "" : ",\"aud\":" + json) + "}");
}

}  // namespace

TEST_SUITE_BEGIN("token_file");

TEST_CASE("--audience: the token's aud must hold one of them") {
  struct Case {
    std::string aud;  // JSON; empty for none
    std::vector<std::string> asked;
    bool is_given;
  };
  const std::vector<Case> cases = {
      {R"("a")", {"a"}, true},
      {R"(["a"])", {"a"}, true},
      {R"(["x","a"])", {"a"}, true},
      {R"(["x","a"])", {"b", "a"}, true},
      {R"(["https://h:6443"])", {"https://h:6443"}, true},
      {R"("")", {"a"}, false},
      {R"([])", {"a"}, false},
      {"null", {"a"}, false},
      {"", {"a"}, false},
      {R"("a")", {"b"}, false},
      {R"("a")", {"A"}, false},
      {R"("ab")", {"a"}, false},
      {R"("a")", {"ab"}, false},
      {R"("a,b")", {"a"}, false},
      {R"(["a ","b"])", {"a"}, false},
      {R"(["x","y"])", {"a", "b"}, false},
      {"5", {"5"}, false},
      {R"([5,"a"])", {"a"}, false},
      {R"({"a":1})", {"a"}, false},
  };
  for (const Case& row : cases) {
    CAPTURE(row.aud);
    const TokenFile file(jwt_with_audience(row.aud));
    std::vector<std::string> arguments;
    for (const std::string& audience : row.asked) arguments.push_back("--audience=" + audience);
    const Outcome outcome = file.run(arguments);
    if (row.is_given) {
      CHECK_SUCCESS(outcome);
    } else {
      CHECK_FAILURE(outcome, 1, "the token");
      CHECK(says(outcome, "aud"));
    }
  }
}

TEST_CASE("--audience: a refusal names both audiences, the file that was read, and a remedy") {
  const TokenFile file(jwt_with_audience(R"(["one","two"])"));
  const Outcome outcome = file.run({"--audience=three", "--audience=four"});
  CHECK_REFUSAL(outcome, 1, "the token is for 'one, two'");
  CHECK(says(outcome, "three or four"));
  CHECK(says(outcome, file.path()));
}

TEST_CASE("--audience: a token that is no JWT matches no audience") {
  for (const std::string token : {"opaque", "a.b.c", "..", "bm90IGpzb24.bm90IGpzb24.c2ln",
                                  // a JWE
                                  "eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..aXY.dGV4dA.dGFn"}) {
    CAPTURE(token);
    const TokenFile file(token);
    CHECK_REFUSAL(file.run({"--audience=a"}), 1, "JWT");
    CHECK_SUCCESS(file.run());
  }
}

TEST_CASE("--audience: from flag, environment, ClusterProfile and after --from-profile") {
  const TokenFile file;  // for "server"
  const std::string good = R"({"audience":"server"})";
  const std::string bad = R"({"audience":"other"})";
  CHECK_SUCCESS(file.run({"--audience", "server"}));
  CHECK_SUCCESS(file.run({"-audience", "server"}));
  CHECK_SUCCESS(file.run({"-audience=server"}));
  CHECK_SUCCESS(file.run({}, {"EXECCRED_AUDIENCE=other,server"}));
  CHECK_FAILURE(file.run({}, {"EXECCRED_AUDIENCE=other,another"}), 1, "the token is for 'server'");
  CHECK_SUCCESS(file.run_with_config(good));
  CHECK_SUCCESS(file.run_with_config(R"({"audience":["other","server"],"peer":{"x":1}})"));
  CHECK_FAILURE(file.run_with_config(bad), 1, "the token is for 'server'");
  CHECK_FAILURE(file.run_with_config(R"({"audience":"other,server"})"), 1,
                "the token is for 'server'");
  CHECK_SUCCESS(file.run({"--from-profile", "--audience=server"}));
  CHECK_FAILURE(file.run({"--from-profile", "--audience=other"}), 1, "the token is for 'server'");
  // Each source replaces the next one, and does not extend it.
  CHECK_FAILURE(file.run({"--audience=other"}, {"EXECCRED_AUDIENCE=server"}), 1,
                "the token is for 'server'");
  CHECK_SUCCESS(file.run({"--audience=server"}, {"EXECCRED_AUDIENCE=other"}));
  CHECK_FAILURE(file.run_with_config(good, {"--audience=other"}), 1, "the token is for 'server'");
  CHECK_SUCCESS(file.run_with_config(bad, {"--audience=server"}));
  CHECK_FAILURE(file.run_with_config(good, {}, {"EXECCRED_AUDIENCE=other"}), 1,
                "the token is for 'server'");
  CHECK_SUCCESS(file.run_with_config(bad, {}, {"EXECCRED_AUDIENCE=server"}));
  CHECK_SUCCESS(file.run_with_config(good, {}, {"EXECCRED_AUDIENCE="}));
}

TEST_CASE("--audience: a ClusterProfile's value of another type is a configuration error") {
  const TokenFile file;
  for (const std::string value :
       {"5", "true", "{}", R"({"a":"server"})", "[5]", "[[\"server\"]]", R"(["server",null])",
        R"("server\n")", R"(["a\u0000"])", R"([""])"}) {
    CAPTURE(value);
    const Outcome outcome = file.run_with_config("{\"audience\":" + value + "}");
    CHECK_FAILURE(outcome, 2, "spec.cluster.config.audience");
    CHECK(says(outcome, "spec.cluster.config.audience"));
  }
  CHECK_SUCCESS(file.run_with_config(R"({"audience":null})"));
  // Peers share that object: another spelling is another field.
  CHECK_SUCCESS(file.run_with_config(R"({"Audience":"other","audiences":["other"],"aud":1})"));
}

TEST_CASE("--allow-audience is not needed to restrict a token, and applies if it is given") {
  const TokenFile file;
  struct Case {
    std::string pattern;
    int exit_code;
  };
  for (const Case& row :
       std::vector<Case>{{"server-*", 1}, {"other", 1}, {"serv*", 0}, {"any", 0}, {"Server", 1}}) {
    CAPTURE(row.pattern);
    const std::string flag = "--allow-audience=" + row.pattern;
    for (const Outcome& outcome :
         {file.run_with_config(R"({"audience":"server"})", {flag}),
          file.run_for(kServer, {flag, "--from-profile", "--audience=server"}),
          file.run_with_config(R"({"audience":["server"]})", {},
                               {"EXECCRED_ALLOW_AUDIENCE=x," + row.pattern})}) {
      if (row.exit_code == 0) {
        CHECK_SUCCESS(outcome);
      } else {
        CHECK_REFUSAL(outcome, 1, "--allow-audience");
      }
    }
    // The controller's own audience is not limited.
    CHECK_SUCCESS(file.run({flag, "--audience=server"}));
    CHECK_SUCCESS(file.run({flag}, {"EXECCRED_AUDIENCE=server"}));
  }
}

TEST_CASE("--allow-audience=server: the audience must equal the server") {
  const TokenFile file(jwt_with_audience("[\"" + std::string(kServer) + "\",\"server\"]"));
  CHECK_SUCCESS(
      file.run_with_config(R"({"audience":"https://10.1.2.3:6443"})", {"--allow-audience=server"}));
  CHECK_REFUSAL(file.run_with_config(R"({"audience":"server"})", {"--allow-audience=server"}), 1,
                "--allow-audience");
  CHECK_REFUSAL(file.run_with_config(R"({"audience":["https://10.1.2.3:6443","server"]})",
                                     {"--allow-audience=server"}),
                1, "--allow-audience");
  // Without cluster information there is no server to compare with.
  CHECK_REFUSAL(file.run({"--allow-audience=server", "--from-profile", "--audience=server"}), 2,
                "provideClusterInfo: true");
}

TEST_CASE("--allow-audience: a malformed pattern is a usage error") {
  const TokenFile file;
  for (const std::string pattern : {"a*b", "*a", "**", "a**"}) {
    CAPTURE(pattern);
    CHECK_REFUSAL(file.run({"--allow-audience=" + pattern}), 2, "--allow-audience");
    CHECK_REFUSAL(file.run({}, {"EXECCRED_ALLOW_AUDIENCE=" + pattern}), 2,
                  "EXECCRED_ALLOW_AUDIENCE");
  }
}

TEST_SUITE_END();
