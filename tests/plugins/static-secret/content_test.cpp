// SPDX-License-Identifier: Apache-2.0
// Valid and invalid content of each format, read from the hub by the program.
#include "material.hpp"
#include "plugin.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace execcred::test {
namespace {

using blackbox::base64;

struct Case {
  std::string content, text;
};

// The outcome for one Secret that is read with these arguments.
Outcome outcome_of(const HubSecret& secret, Texts arguments, const std::string& more = {}) {
  Plugin plugin;
  plugin.hub.add(secret);
  arguments.emplace_back("--secret-name=" + secret.name);
  return plugin.run({.arguments = arguments, .more_of_cluster = more});
}

Outcome of_token(const std::string& content) {
  return outcome_of({.name = "s", .data = {{"token", content}}}, {});
}

Outcome of_kubeconfig(const std::string& content, Texts arguments = {}) {
  arguments.emplace_back("--format=kubeconfig");
  return outcome_of({.name = "s", .data = {{"kubeconfig", content}}}, std::move(arguments));
}

Outcome of_pair(const std::string& certificate, const std::string& key) {
  return outcome_of({.name = "s", .data = {{"tls.crt", certificate}, {"tls.key", key}}},
                    {"--format=certificate"});
}

std::string with_crlf(std::string text) {
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) {
    text.replace(at, 1, "\r\n");
  }
  return text;
}

// Ten levels of ten aliases each.
std::string anchors_bomb() {
  std::string text = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) text += (j == 0 ? "" : ",") + before;
    text += "]\n";
  }
  return text;
}

}  // namespace

TEST_CASE("token: white space around it is removed") {
  const std::string token = new_token();
  for (const std::string& content : {token, token + "\n", token + "\r\n", "\n " + token + "\t\n"}) {
    CHECK(token_of(of_token(content)) == token);
  }
}

TEST_CASE("token: an invalid token is reported, and is not shown") {
  const std::string canary = new_opaque_token();
  const std::string pem = make_pair().key;
  for (const Case& c :
       {Case{"", "is empty"}, Case{" \r\n", "is empty"}, Case{canary + "\n" + canary, "one word"},
        Case{canary + '\0', "no HTTP header"}, Case{"\xef\xbb\xbf" + canary, "no HTTP header"},
        Case{canary + "\x1b[2J", "no HTTP header"},
        Case{stored_kubeconfig("token: t"), "kubeconfig"}, Case{pem, "PEM"},
        Case{"{\"token\":\"" + canary + "\"}", "JSON"},
        Case{std::string(129UL * 1024, 'x'), "larger than 128 KiB"},
        Case{std::string(1'500'000, 'x'), "larger than 128 KiB"}}) {
    CAPTURE(c.text);
    const Outcome outcome = of_token(c.content);
    CHECK_FAILURE(outcome, 1, "reading key 'token' of Secret 'clusters/s'");
    CHECK(says(outcome, c.text));
    CHECK(says(outcome, "'clusters/s'"));
  }
}

TEST_CASE("token: one that was stored half written is refused in every format") {
  const std::string token = new_token();
  const std::string cut = token.substr(0, token.rfind('.') - 1);
  const std::string argocd = R"({"bearerToken":")" + cut + R"("})";
  for (const Outcome& outcome :
       {of_token(cut), of_kubeconfig(stored_kubeconfig("token: " + cut)),
        outcome_of({.name = "s", .data = {{"server", "https://h"}, {"config", argocd}}},
                   {"--format=argocd", "--key=config"})}) {
    CHECK_FAILURE(outcome, 1, "the token begins as a JWT does, but is none");
    CHECK(says(outcome, "try again"));
  }
}

TEST_CASE("token: one that has expired, or is not valid yet, is refused") {
  const std::string expired = new_token(-60);
  CHECK_REFUSAL(of_token(expired), 1, "the token has expired: it ended at 2");
  const std::string now = std::to_string(blackbox::seconds_since_epoch() + 3600);
  CHECK_REFUSAL(of_token(blackbox::make_jwt("{\"nbf\":" + now + "}")), 1, "not valid yet");
  CHECK_REFUSAL(of_token(blackbox::make_jwt("{\"exp\":\"soon\"}")), 1, "'exp'");
}

TEST_CASE("expiry: the credential's end less a margin, but never beyond --max-age") {
  struct Claim {
    std::int64_t lives, least, most;
    std::string max_age;
  };
  for (const Claim& c : {Claim{24L * 3600, 595, 600, "10m"}, Claim{24L * 3600, 3590, 3600, "1h"},
                         Claim{120, 100, 110, "10m"}, Claim{3600, 3560, 3572, "10h"}}) {
    CAPTURE(c.lives);
    const HubSecret secret{.name = "s", .data = {{"token", new_token(c.lives)}}};
    const std::int64_t before = blackbox::seconds_since_epoch();
    const Outcome outcome = outcome_of(secret, {"--max-age=" + c.max_age});
    const std::int64_t claimed = blackbox::read_answer(outcome.output).expiration - before;
    CHECK(claimed >= c.least);
    CHECK(claimed <= c.most + 2);
  }
  const Pair pair = make_pair({.ends = 200});
  const std::int64_t before = blackbox::seconds_since_epoch();
  const std::int64_t claimed =
      blackbox::read_answer(of_pair(pair.certificate, pair.key).output).expiration - before;
  CHECK(claimed >= 170);
  CHECK(claimed <= 185);
}

TEST_CASE("certificate: PEM, base64 of PEM and DER give the same PEM") {
  const Pair pair = make_pair();
  for (const auto& [certificate, key] : std::vector<std::pair<std::string, std::string>>{
           {pair.certificate, pair.key},
           {base64(pair.certificate), base64(pair.key)},
           {pair.certificate_der, pair.key_der},
           {with_crlf(pair.certificate), with_crlf(pair.key)},
           {"\xef\xbb\xbf" + pair.certificate, "\xef\xbb\xbf" + pair.key},
           {pair.certificate.substr(0, pair.certificate.size() - 1),
            pair.key.substr(0, pair.key.size() - 1)}}) {
    const Outcome outcome = of_pair(certificate, key);
    CHECK_SUCCESS(outcome);
    const blackbox::Answer answer = blackbox::read_answer(outcome.output);
    CHECK((answer.certificate == pair.certificate));
    CHECK((answer.key == pair.key));
    CHECK(answer.token.empty());
  }
}

TEST_CASE("certificate: the leaf comes first, and its chain is kept") {
  const Pair authority = make_pair({.usage = "", .is_ca = true});
  const Pair pair = make_pair();
  for (const std::string& chain :
       {pair.certificate + authority.certificate, authority.certificate + pair.certificate}) {
    const blackbox::Answer answer = blackbox::read_answer(of_pair(chain, pair.key).output);
    CHECK((answer.certificate == pair.certificate + authority.certificate));
  }
}

TEST_CASE("certificate: one that no API server would accept is refused with the reason") {
  const Pair pair = make_pair();
  const Pair other = make_pair();
  const Pair expired = make_pair({.begins = -7200, .ends = -3600});
  const Pair early = make_pair({.begins = 3600});
  struct Bad {
    std::string certificate, key, text;
  };
  for (const Bad& c : {Bad{pair.certificate, other.key, "does not belong to the certificate"},
                       Bad{pair.certificate, pair.encrypted_key, "encrypted"},
                       Bad{expired.certificate, expired.key, "has expired: it ended at"},
                       Bad{early.certificate, early.key, "not valid yet"},
                       Bad{pair.certificate, "", "'tls.key' of Secret 'clusters/s' is empty"},
                       Bad{"\n", pair.key, "'tls.crt' of Secret 'clusters/s' is empty"},
                       Bad{pair.key, pair.key, "of 'PRIVATE KEY'"},
                       Bad{pair.certificate, pair.certificate, "of 'CERTIFICATE'"},
                       Bad{pair.certificate.substr(0, 100), pair.key, "END line"},
                       Bad{"no certificate", pair.key, "malformed"},
                       Bad{pair.certificate + '\0', pair.key, "NUL byte"},
                       Bad{std::string(1, '\0'), pair.key, "malformed"}}) {
    CAPTURE(c.text);
    const Outcome outcome = of_pair(c.certificate, c.key);
    CHECK_FAILURE(outcome, 1, "reading Secret 'clusters/s'");
    CHECK(says(outcome, c.text));
  }
}

TEST_CASE("base64: an invalid value is an error, unless it belongs to another key") {
  const std::string token = new_token();
  HubSecret secret{.name = "s", .data = {{"token", token}}};
  for (const std::string bad : {"!!!", "YQ=", "Y", "\xc3\xa9"}) {
    secret.raw_data = {{"other", bad}, {"tls.crt", bad}, {"config", bad}, {"ca.crt", bad}};
    CHECK(token_of(outcome_of(secret, {})) == token);
    CHECK_FAILURE(outcome_of(secret, {"--key=other"}), 1,
                  "key 'other' of Secret 'clusters/s' is no base64");
    CHECK(says(outcome_of(secret, {"--key=other"}),
               "key 'other' of Secret 'clusters/s' is no base64"));
  }
}

TEST_CASE("an invalid value of another data key does not affect the chosen key") {
  const std::string token = new_token();
  const HubSecret secret{.name = "s",
                         .data = {{"spoke-1", stored_kubeconfig("token: " + token)},
                                  {"spoke-2", anchors_bomb()},
                                  {"spoke-3", stored_kubeconfig("exec: {command: /bin/false}")},
                                  {"spoke-4", std::string(1000, '\0')},
                                  {"spoke-5", ""}}};
  CHECK(token_of(outcome_of(secret, {"--format=kubeconfig", "--key=spoke-1"})) == token);
  for (const std::string key : {"spoke-2", "spoke-3", "spoke-4", "spoke-5", "spoke-6"}) {
    CAPTURE(key);
    CHECK_FAILURE(outcome_of(secret, {"--format=kubeconfig", "--key=" + key}), 1,
                  "Secret 'clusters/s'");
  }
}

TEST_CASE("a Secret of 2 MB is accepted if the value of the chosen key is valid") {
  const std::string token = new_token();
  const HubSecret secret{.name = "s",
                         .data = {{"token", token}, {"blob", std::string(2'000'000, 'b')}}};
  // A sanitizer may need longer than the default.
  const std::string patient = "--timeout=60s";
  CHECK(token_of(outcome_of(secret, {patient})) == token);
  CHECK_FAILURE(outcome_of(secret, {patient, "--format=kubeconfig", "--key=blob"}), 1,
                "the kubeconfig is larger than 1024 KiB");
  CHECK_FAILURE(outcome_of(secret, {patient, "--key=blob"}), 1, "the token is larger than 128 KiB");
}

TEST_CASE("kubeconfig: missing or ambiguous contexts, users and clusters are errors") {
  const std::string token = new_token();
  const std::string cluster =
      "clusters: [{name: c, cluster: {server: '" + std::string(kSpoke) + "'}}]\n";
  const std::string user = "users: [{name: u, user: {token: " + token + "}}]\n";
  const std::string context = "contexts: [{name: x, context: {cluster: c, user: u}}]\n";
  const std::string two =
      "contexts: [{name: x, context: {cluster: c, user: u}}, {name: w, context: "
      "{cluster: c, user: u}}]\n";
  for (const Case& c :
       {Case{cluster + user, "no contexts"}, Case{cluster + user + two, "2 contexts"},
        Case{cluster + context, "names the user 'u', which is not among its users"},
        Case{user + context, "names the cluster 'c', which is not among its clusters"},
        Case{cluster + user + context + "current-context: z\n", "'z' is not among"},
        Case{cluster + "users: [{name: u, user: {}}]\n" + context, "neither a token nor"},
        Case{cluster + "users: [{name: u, user: {token: a}}, {name: u, user: {token: b}}]\n" +
                 context,
             "like that of an entry before it"},
        Case{anchors_bomb(), "kubeconfig"}, Case{"", "is empty"}, Case{"[]", "not a mapping"},
        Case{"a: 1\n---\nb: 2\n", "more than one document"},
        Case{std::string("a: \0b", 5), "kubeconfig"}}) {
    CAPTURE(c.text);
    const Outcome outcome = of_kubeconfig(c.content);
    CHECK_FAILURE(outcome, 1, "reading key 'kubeconfig' of Secret 'clusters/s'");
    CHECK(says(outcome, c.text));
  }
  CHECK(token_of(of_kubeconfig(cluster + user + context)) == token);
  CHECK(token_of(of_kubeconfig(cluster + user + two, {"--context=w"})) == token);
  CHECK(token_of(of_kubeconfig("\xef\xbb\xbf" + with_crlf(cluster + user + context))) == token);
  CHECK_REFUSAL(of_kubeconfig(cluster + user + two, {"--context=z"}), 1, "'x', 'w'");
}

}  // namespace execcred::test
