// SPDX-License-Identifier: Apache-2.0
// What the program prints, and when the credential ends.
#include "support/tls_identity.hpp"
#include "wrap.hpp"

#include <doctest/doctest.h>

namespace execcred::test {
namespace {

const Texts kToken = {"--output=token"};
const Texts kJson = {"--output=json", "--token-field=a.token", "--expires-field=a.end"};

std::string end_in(std::int64_t seconds) {
  return std::to_string(blackbox::seconds_since_epoch() + seconds);
}

std::string pair_status(const Identity& certificate, const Identity& key) {
  return exec_credential(R"({"clientCertificateData":)" + blackbox::json_string(certificate.pem) +
                         R"(,"clientKeyData":)" + blackbox::json_string(key.key_pem) + "}");
}

}  // namespace

TEST_CASE("output: an ExecCredential of each version is answered in the client's") {
  const Wrap rig;
  for (const std::string version : {"v1", "v1beta1", "v1alpha1"}) {
    for (const std::string_view asked : {blackbox::kV1, blackbox::kV1Beta1}) {
      rig.set_output("\n " + with_token(rig.token, "", "client.authentication.k8s.io/" + version) +
                     "\n\n");
      const Outcome outcome = rig.run({.version = asked});
      CHECK_SUCCESS(outcome, asked);
      CHECK(token_of(outcome) == rig.token);
    }
  }
}

TEST_CASE("output: a bare token and a token in JSON") {
  const Wrap rig;
  rig.set_output(" " + rig.token + "\n");
  CHECK(token_of(rig.run({.arguments = kToken})) == rig.token);
  rig.set_output(R"({"a":{"token":")" + rig.token + R"(","end":null},"b":[1]})");
  CHECK(token_of(rig.run({.arguments = kJson})) == rig.token);
}

TEST_CASE("output: the end is the earliest of all that are known") {
  const Wrap rig;
  struct Case {
    std::string output;
    Texts arguments;
    std::int64_t seconds;
  };
  const auto json = [&](const std::string& end, const std::string& token) {
    return R"({"a":{"token":")" + token + R"(","end":)" + end + "}}";
  };
  const auto until = [&](std::int64_t seconds, const std::string& token) {
    return with_token(token, R"(,"expirationTimestamp":")" + timestamp(seconds) + "\"");
  };
  // Their times count from now, so each run makes them anew.
  const auto cases = [&] {
    const std::string jwt = new_jwt(R"("sub":"a")", 600);
    return std::vector<Case>{
        {until(300, rig.token), {}, claim_for(300)},
        {until(300, jwt), {}, claim_for(300)},
        {until(900, jwt), {}, claim_for(600)},
        {with_token(jwt), {}, claim_for(600)},
        {with_token(rig.token), {}, 600},
        {with_token(rig.token), {"--max-age=1h"}, 3600},
        {until(7200, rig.token), {"--max-age=1m"}, claim_for(7200)},
        {rig.token, kToken, 600},
        {jwt, kToken, claim_for(600)},
        {json(end_in(300), rig.token), kJson, claim_for(300)},
        {json(end_in(300) + ".75", rig.token), kJson, claim_for(300)},
        {json("\"" + end_in(300) + "\"", rig.token), kJson, claim_for(300)},
        {json("\"" + end_in(300) + ".5\"", rig.token), kJson, claim_for(300)},
        {json("\"" + timestamp(300) + "\"", rig.token), kJson, claim_for(300)},
        {json(end_in(300), jwt), kJson, claim_for(300)},
        {json(end_in(900), jwt), kJson, claim_for(600)},
        {json("null", rig.token), kJson, 600},
        {json("\"\"", rig.token), kJson, 600},
    };
  };
  for (std::size_t i = 0; i < cases().size(); ++i) {
    const Case c = cases()[i];
    CAPTURE(c.output);
    rig.set_output(c.output);
    const Outcome outcome = rig.run({.arguments = c.arguments});
    CHECK_SUCCESS(outcome);
    CHECK(is_about(claimed_seconds(outcome), c.seconds));
  }
}

TEST_CASE("output: a certificate with its key is given, until its notAfter") {
  const Wrap rig;
  const Identity client = make_identity({.common_name = "client", .ends = 300});
  blackbox::remember_secret(client.key_pem);
  rig.set_output(pair_status(client, client));
  const Outcome outcome = rig.run();
  CHECK_SUCCESS(outcome);
  CHECK(is_about(claimed_seconds(outcome), claim_for(300)));
}

TEST_CASE("output: what is no usable credential is refused with its cause") {
  const Wrap rig;
  const Identity one = make_identity({.common_name = "one"});
  const Identity other = make_identity({.common_name = "other"});
  const Identity ended = make_identity({.common_name = "ended", .ends = -60});
  for (const Identity* identity : {&one, &other, &ended}) {
    blackbox::remember_secret(identity->key_pem);
  }
  struct Case {
    std::string output;
    Texts arguments;
    std::string_view part;
    std::string_view cause;
  };
  const std::string invalid = "program-output-invalid";
  const std::string expired = "credential-expired";
  const auto status = [&](const std::string& more) { return with_token(rig.token, more); };
  for (const Case& c : std::vector<Case>{
           {"garbage", {}, "printed", invalid},
           {with_token(rig.token, "", "client.authentication.k8s.io/v2"),
            {},
            "apiVersion",
            invalid},
           {"{}", {}, "kind", invalid},
           {exec_credential("{}"), {}, "neither a token nor a certificate", invalid},
           {status(R"(,"token":"x")"), {}, "printed", invalid},
           {exec_credential(R"({"token":"two words"})"), {}, "status.token", invalid},
           {exec_credential(R"({"clientKeyData":"x"})"), {}, "only one of", invalid},
           {status(R"(,"expirationTimestamp":"tomorrow")"), {}, "expirationTimestamp", invalid},
           {status(R"(,"expirationTimestamp":")" + timestamp(-60) + "\""),
            {},
            "has expired",
            expired},
           {with_token(new_jwt(R"("sub":"a")", -60)), {}, "has expired", expired},
           {pair_status(one, other), {}, "does not belong", invalid},
           {pair_status(ended, ended), {}, "has expired", expired},
           {"two words", kToken, "more than one word", invalid},
           {"", kToken, "empty", invalid},
           {R"({"token":"x"})", kToken, "a JSON document", invalid},
           {"[1]", kJson, "no JSON object", invalid},
           {"{", kJson, "line 1", invalid},
           {"{}", kJson, "no string 'a.token'", invalid},
           {R"({"a":{"token":7}})", kJson, "no string 'a.token'", invalid},
           {R"({"a":[{"token":"x"}]})", kJson, "no string 'a.token'", invalid},
           {R"({"a.token":"x"})", kJson, "no string 'a.token'", invalid},
           {R"({"a":{"token":"x y"}})", kJson, "more than one word", invalid},
           {R"({"a":{"token":"x","end":true}})", kJson, "no time", invalid},
           {R"({"a":{"token":"x","end":"2031-01-01 10:00:00.000000"}})", kJson, "neither RFC 3339",
            invalid},
           {R"({"a":{"token":"x","end":"nan"}})", kJson, "neither RFC 3339", invalid},
           {R"({"a":{"token":"x","end":1893456000000}})", kJson, "after the year 9999", invalid},
           {R"({"a":{"token":"x","end":1e999}})", kJson, "after the year 9999", invalid},
           {R"({"a":{"token":"x","end":1000}})", kJson, "has expired", expired},
           {R"({"a":{"token":"x","end":-1}})", kJson, "has expired", expired},
       }) {
    CAPTURE(c.output);
    rig.set_output(c.output);
    CHECK_FAILURE(rig.run({.arguments = c.arguments}), 1, c.part);
    CHECK(rig.log_line("cause") == c.cause);
  }
}

TEST_CASE("output: 128 KiB are read, and one byte more is refused") {
  const Wrap rig;
  constexpr std::size_t kMost = 128 * 1024;
  const std::string pad(kMost - rig.token.size(), ' ');
  rig.set_output(pad + rig.token);
  CHECK(token_of(rig.run({.arguments = kToken})) == rig.token);
  rig.set_output(" " + pad + rig.token);
  CHECK_FAILURE(rig.run({.arguments = kToken}), 1, "printed more than 128 KiB");
}

TEST_CASE("audience: a token without an expected one is refused") {
  const Wrap rig;
  const auto run = [&](const std::string& token) {
    rig.set_output(with_token(token));
    return rig.run({.arguments = {"--expect-audience=a", "--expect-audience=b"}});
  };
  CHECK_SUCCESS(run(new_jwt(R"("aud":["x","b"])", 600)));
  CHECK_REFUSAL(run(new_jwt(R"("aud":"x")", 600)), 1, "the token is for 'x', not for 'a', 'b'");
  CHECK(rig.log_line("cause") == "credential-wrong-audience");
  CHECK_REFUSAL(run(rig.token), 1, "the token is no JWT");
}

TEST_CASE("options: those that make no sense together are refused") {
  const Wrap rig;
  struct Case {
    Texts arguments;
    std::string_view part;
  };
  for (const Case& c : std::vector<Case>{
           {{"--output=json"}, "--output=json needs --token-field"},
           {{"--token-field=a"}, "--token-field needs --output=json"},
           {{"--output=token", "--expires-field=a"}, "--expires-field needs --output=json"},
           {{"--output=json", "--token-field=a..b"}, "has an empty name"},
           {{"--output=yaml"}, "none of exec-credential, token and json"},
           {{"--cache-dir=/x"}, "--cache-dir needs --cache=true"},
           {{"--refresh-before=1s"}, "--refresh-before needs --cache=true"},
           {{"--identity-file=/x"}, "--identity-file needs --cache=true"},
           {{"--cache=false", "--identity-file=/x"}, "--identity-file needs --cache=true"},
           {{"--no-cache"}, "unknown option '--no-cache'"},
       }) {
    CAPTURE(c.arguments.back());
    CHECK_FAILURE(rig.run({.arguments = c.arguments}), 2, c.part);
  }
  const auto with_command = [&](const std::string& text) {
    return rig.run({.arguments = {"--command=" + text}, .has_command = false});
  };
  CHECK_FAILURE(with_command("[\"aws\"]"), 2, "no absolute path");
  CHECK_FAILURE(with_command("[]"), 2, "must be a JSON array of strings");
  CHECK_FAILURE(with_command("/bin/true"), 2, "a JSON array of strings");
  CHECK_FAILURE(rig.run({.has_command = false}), 2, "--command");
  CHECK(rig.runs() == 0);
}

}  // namespace execcred::test
