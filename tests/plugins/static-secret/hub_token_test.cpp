// SPDX-License-Identifier: Apache-2.0
// Which tokens are the hub's own, by each identity that the plugin may have there.
#include "binding.hpp"
#include "pod.hpp"
#include "unit/expect.hpp"

#include <doctest/doctest.h>

#include <map>
#include <utility>

namespace execcred::test {
namespace {

using namespace static_secret;

constexpr const char* kHub = "https://hub.example.com:6443";

std::string jwt(const std::string& key_id, const std::string& claims) {
  const std::string header =
      key_id.empty() ? R"({"alg":"RS256"})" : R"({"alg":"RS256","kid":")" + key_id + "\"}";
  std::string encoded = blackbox::base64(header);
  while (encoded.ends_with('=')) encoded.pop_back();
  const std::string token = blackbox::make_jwt(
      "{" + claims + ",\"exp\":" + std::to_string(blackbox::seconds_since_epoch() + 3600) + "}");
  return encoded + token.substr(token.find('.'));
}

// What kubeadm's clusters have in common.
std::string bound(const std::string& key_id) {
  return jwt(key_id, R"("iss":"https://kubernetes.default.svc","sub":"system:serviceaccount:a:b",)"
                     R"("aud":["https://kubernetes.default.svc"])");
}
std::string legacy(const std::string& key_id) {
  return jwt(key_id, R"("iss":"kubernetes/serviceaccount","sub":"system:serviceaccount:a:b")");
}
std::string user(const std::string& key_id) {
  return jwt(key_id, R"("iss":"https://idp.example.com","sub":"alice","aud":["clusters"])");
}

enum class Answer { given, own, unknown };

std::string text_of(Answer answer) {
  return answer == Answer::own ? "is one of the hub's own" : "may be one of the hub's own";
}

Status check(const std::string& own, const std::string& token, const std::string& target,
             bool is_source = true) {
  std::vector<HubIdentity> identities;
  identities.push_back(
      {.token = SecretString(own), .server = {.server = kHub}, .is_source = is_source});
  StoredCredential stored;
  stored.credential.token = SecretString(token);
  CredentialRequest request;
  if (!target.empty()) request.info.cluster = Cluster{.server = target};
  return check_hub_token(stored, identities, Options(), request);
}

// A Pod whose plugin reads from a hub that knows it by another identity.
struct Rig {
  Plugin hub;  // of which a kubeconfig has the token
  ServiceAccount account = {.token = bound("of-pod"), .ca = hub.hub.ca_pem()};
  Texts in_pod = {"KUBERNETES_SERVICE_HOST=10.96.0.1", "KUBERNETES_SERVICE_PORT=443"};

  Outcome run(const Texts& arguments, bool has_token = true) const {
    ServiceAccount mounted = account;
    if (!has_token) mounted.token.clear();
    return run_in_pod(hub.command({.arguments = arguments, .variables = in_pod}), mounted);
  }
};

}  // namespace

TEST_CASE("defence 5: which tokens are the hub's, by the plugin's own identity there" *
          doctest::description("promise 6")) {
  using enum Answer;
  const std::map<std::string, std::string> tokens = {{"bound", bound("hub")},
                                                     {"bound, another key", bound("spoke")},
                                                     {"legacy", legacy("hub")},
                                                     {"legacy, another key", legacy("spoke")},
                                                     {"legacy, no key", legacy("")},
                                                     {"user", user("idp")},
                                                     {"opaque", "0paque"}};
  struct Case {
    std::string own;  // empty: a certificate
    std::map<std::string, Answer> answers;
  };
  const std::map<std::string, Answer> cannot_tell = {{"bound", unknown},
                                                     {"bound, another key", unknown},
                                                     {"legacy", unknown},
                                                     {"legacy, another key", unknown},
                                                     {"legacy, no key", unknown},
                                                     {"user", given},
                                                     {"opaque", given}};
  std::map<std::string, Answer> as_user = cannot_tell;
  as_user["user"] = own;
  const std::map<std::string, Answer> by_key = {{"bound", own},
                                                {"bound, another key", given},
                                                {"legacy", own},
                                                {"legacy, another key", given},
                                                {"legacy, no key", unknown},
                                                {"user", given},
                                                {"opaque", given}};
  for (const Case& c : {Case{"", cannot_tell}, Case{"0wn-opaque", cannot_tell},
                        Case{user("idp"), as_user}, Case{user("other"), cannot_tell},
                        Case{bound("hub"), by_key}, Case{legacy("hub"), by_key}}) {
    CAPTURE(c.own);
    for (const auto& [key, answer] : c.answers) {
      const std::string& name = key;  // clang 14 captures no structured binding
      CAPTURE(name);
      const std::string& token = tokens.at(name);
      const Status elsewhere = check(c.own, token, kSpoke);
      CHECK(bool(elsewhere) == (answer == given));
      CHECK(check(c.own, token, kHub));
      const Status blind = check(c.own, token, "");
      CHECK(bool(blind) == (answer == given));
      // For a file outside of a Pod, only what is known counts.
      CHECK(bool(check(c.own, token, kSpoke, false)) == (answer != own));
      if (answer == given) continue;
      check_fails(elsewhere, Error::Kind::no_credential, text_of(answer));
      check_fails(elsewhere, Error::Kind::no_credential, "--allow-hub-token");
      CHECK(elsewhere.error().cause == "server-not-allowed");
      check_fails(blind, Error::Kind::no_credential, "provideClusterInfo: true");
      check_fails(blind, Error::Kind::no_credential, "--allow-hub-token");
    }
  }
}

TEST_CASE("defence 5: the token of the Pod is compared too, whatever the identity at the hub is" *
          doctest::description("promise 6")) {
  if (!can_be_pod()) return;
  Rig rig;
  const Texts arguments = {"--secret-name=spoke-1"};
  rig.hub.hub.add({.name = "spoke-1", .data = {{"token", bound("of-pod")}}});
  CHECK_REFUSAL(rig.run(arguments), 1, "is one of the hub's own");
  CHECK_SUCCESS(rig.run({"--secret-name=spoke-1", "--allow-hub-token"}));
  // Without a token in the Pod, the identity at the hub decides.
  CHECK_SUCCESS(rig.run(arguments, false));
  rig.hub.hub.clear();
  rig.hub.hub.add({.name = "spoke-1", .data = {{"token", bound("of-spoke")}}});
  CHECK_SUCCESS(rig.run(arguments));
}

TEST_CASE("defence 5: the token of the Pod is compared too if a kubeconfig names the same server" *
          doctest::description("promise 6")) {
  if (!can_be_pod()) return;
  Rig rig;
  const std::string url = rig.hub.hub.url();
  rig.in_pod = {"KUBERNETES_SERVICE_HOST=127.0.0.1",
                "KUBERNETES_SERVICE_PORT=" + url.substr(url.rfind(':') + 1)};
  rig.hub.hub.add({.name = "spoke-1", .data = {{"token", bound("of-pod")}}});
  rig.hub.sandbox.write("mounted/token", bound("of-pod"), 0600);
  for (const std::string& source :
       {std::string("--secret-name=spoke-1"), "--secret-dir=" + rig.hub.sandbox.at("mounted")}) {
    CHECK_REFUSAL(rig.run({source}), 1, "is one of the hub's own");
  }
}

TEST_CASE("defence 5: a file of a Pod that has no token of its own may hold the hub's" *
          doctest::description("promise 6")) {
  if (!can_be_pod()) return;
  const Rig rig;
  const auto run = [&](const std::string& token, bool has_token, Texts more = {}) {
    rig.hub.sandbox.write("mounted/token", token, 0600);
    more.push_back("--secret-dir=" + rig.hub.sandbox.at("mounted"));
    return rig.run(more, has_token);
  };
  for (const std::string& token : {bound("of-spoke"), legacy("of-spoke")}) {
    CHECK_SUCCESS(run(token, true));
    CHECK_REFUSAL(run(token, false), 1, "may be one of the hub's own");
    CHECK_SUCCESS(run(token, false, {"--allow-hub-token"}));
  }
  CHECK_REFUSAL(run(legacy("of-pod"), true), 1, "is one of the hub's own");
  CHECK_SUCCESS(run(user("idp"), false));
  CHECK_SUCCESS(run(new_opaque_token(), false));
}

}  // namespace execcred::test
