// SPDX-License-Identifier: Apache-2.0
// The fields that each flow sends, and the resulting credential.
#include "federation.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace execcred::test {
namespace {

Texts sorted(Texts texts) {
  std::sort(texts.begin(), texts.end());
  return texts;
}

std::string type(const std::string& name) { return kTokenType + name; }
std::string grant(const std::string& name) { return std::string("grant_type=") + name; }
std::string urn_grant(const std::string& name) { return grant(kGrantType + name); }

}  // namespace

TEST_CASE("token-exchange: sends only what RFC 8693 requires") {
  Federation fed;
  const Outcome outcome = fed.run({});
  CHECK_SUCCESS(outcome);
  CHECK(token_of(outcome).starts_with("fr0mTheProvider"));
  REQUIRE(fed.idp.requests().size() == 1);
  const Received sent = fed.idp.last(kToken);
  CHECK(sent.method == "POST");
  CHECK(sent.target == kToken);
  CHECK(sent.fields() == sorted({urn_grant("token-exchange"), "subject_token=" + fed.subject,
                                 "subject_token_type=" + type("jwt")}));
}

TEST_CASE("token-exchange: every option is a field, repeatable ones come as often as given") {
  Federation fed;
  const std::string actor = new_subject();
  const std::string actor_path = fed.sandbox.write("actor", actor + "\n");
  CHECK_SUCCESS(fed.run(
      {.arguments = {"--audience=spoke 1", "--audience=https://b.example/?a=1&b",
                     "--resource=https://r1.example", "--resource=urn:r2", "--scope=openid  groups",
                     "--subject-token-type=id_token", "--requested-token-type=urn:example:own",
                     "--actor-token-file=" + actor_path, "--actor-token-type=access_token",
                     "--param=connector_id=k8s", "--param=x=a=b&c +%41", "--client-id=me&you"}}));
  CHECK(fed.idp.last(kToken).fields() ==
        sorted({urn_grant("token-exchange"), "subject_token=" + fed.subject,
                "subject_token_type=" + type("id_token"), "audience=spoke 1",
                "audience=https://b.example/?a=1&b", "resource=https://r1.example",
                "resource=urn:r2", "scope=openid  groups", "requested_token_type=urn:example:own",
                "actor_token=" + actor, "actor_token_type=" + type("access_token"),
                "connector_id=k8s", "x=a=b&c +%41", "client_id=me&you"}));
}

TEST_CASE("jwt-bearer, client-credentials, refresh-token: exactly their own fields") {
  struct Case {
    std::string flow;
    Texts arguments, fields;
  };
  Federation fed;
  const std::string refresh = new_secret();
  const std::string refresh_path = fed.sandbox.write("refresh", "  " + refresh + "\r\n\n", 0600);
  const std::string secret = new_secret();
  const std::string secret_path = fed.sandbox.write("secret", secret + "\n", 0600);
  for (const Case& c :
       {Case{"jwt-bearer",
             {"--subject-token-file=" + fed.subject_path, "--scope=a b"},
             {urn_grant("jwt-bearer"), "assertion=" + fed.subject, "scope=a b"}},
        Case{"client-credentials",
             {"--client-id=me", "--client-secret-file=" + secret_path,
              "--client-auth=client_secret_post", "--audience=spoke", "--resource=urn:r"},
             {grant("client_credentials"), "client_id=me", "client_secret=" + secret,
              "audience=spoke", "resource=urn:r"}},
        Case{"client-credentials", {}, {grant("client_credentials")}},
        Case{"refresh-token",
             {"--subject-token-file=" + refresh_path, "--client-id=me"},
             {grant("refresh_token"), "refresh_token=" + refresh, "client_id=me"}}}) {
    CAPTURE(c.flow);
    fed.idp.forget();
    const Outcome outcome =
        fed.run_cold({.flow = c.flow, .arguments = c.arguments, .has_subject = false});
    CHECK_SUCCESS(outcome);
    CHECK(token_of(outcome).starts_with("fr0mTheProvider"));
    REQUIRE(fed.idp.requests().size() == 1);
    CHECK(fed.idp.last(kToken).fields() == sorted(c.fields));
  }
}

TEST_CASE("the request is a form that accepts JSON, without unneeded headers") {
  Federation fed;
  CHECK_SUCCESS(fed.run({}));
  const Received sent = fed.idp.last(kToken);
  CHECK(sent.header("Content-Type") == "application/x-www-form-urlencoded");
  CHECK(sent.header("Accept") == "application/json");
  CHECK(sent.header("Content-Length") == std::to_string(sent.body.size()));
  CHECK(sent.header("Host") == fed.idp.authority());
  for (const char* name : {"Authorization", "Proxy-Authorization", "Cookie", "Expect", "Referer",
                           "Accept-Encoding", "Transfer-Encoding", "Origin"}) {
    CAPTURE(name);
    CHECK(sent.header(name) == "");
  }
  CHECK_FALSE(sent.has_certificate);
}

TEST_CASE("answers have the client's API version, with and without cluster information") {
  for (const std::string_view version : {blackbox::kV1, blackbox::kV1Beta1}) {
    CAPTURE(version);
    Federation fed;
    CHECK_SUCCESS(fed.run({.version = version}), version);
    // From the cache too.
    CHECK_SUCCESS(fed.run({.version = version}), version);
    CHECK(fed.idp.calls() == 1);
  }
  Federation fed;
  CHECK_SUCCESS(fed.run({.server = ""}));
  CHECK_SUCCESS(fed.run({.arguments = {"--api-version=v1beta1"}, .server = ""}),
                blackbox::kV1Beta1);
}

TEST_CASE("--param: one with its own option, a repeated one, or one without a name is refused") {
  Federation fed;
  for (const std::string parameters :
       {"subject_token=x", "grant_type=x", "audience=x", "client_id=x", "client_secret=x",
        "client_assertion=x", "scope=x", "refresh_token=x", "assertion=x", "actor_token=x", "=x",
        "novalue"}) {
    CAPTURE(parameters);
    CHECK_FAILURE(fed.run({.arguments = {"--param=" + parameters}}), 2, "parameter");
  }
  CHECK_FAILURE(fed.run({.arguments = {"--param=a=1", "--param=a=2"}}), 2,
                "the parameter 'a' comes twice");
  CHECK_FAILURE(fed.run({.arguments = {"--param=a=1\r\nX-Evil: 1"}}), 2,
                "--param has a control character in its value");
  CHECK(fed.idp.connections() == 0);
}

TEST_CASE("options that the flow does not use, options it lacks, and contradictions are errors") {
  Federation fed;
  const std::string file = "--subject-token-file=" + fed.subject_path;
  const std::string url = "--token-url=" + fed.idp.token_url();
  struct Bad {
    Texts arguments;
    std::string said;
  };
  for (const Bad& bad :
       {Bad{Texts{}, "--flow is required"},
        Bad{Texts{"--flow=password", url}, "--flow: 'password' is no flow"},
        Bad{Texts{"--flow=authorization-code", url, file},
            "--flow: 'authorization-code' is no flow"},
        Bad{Texts{"--flow=token-exchange", url}, "--flow=token-exchange needs a subject token"},
        Bad{Texts{"--flow=token-exchange", file},
            "--flow=token-exchange needs --issuer-url or --token-url"},
        Bad{Texts{"--flow=jwt-bearer", url}, "--flow=jwt-bearer needs a subject token"},
        Bad{Texts{"--flow=refresh-token", url}, "--flow=refresh-token needs a subject token"},
        Bad{Texts{"--flow=client-credentials", url, file},
            "--flow=client-credentials has no use for a subject token"},
        Bad{Texts{"--flow=refresh-token", url, file, "--client-id=me", "--client-auth=federated"},
            "--client-auth=federated has no use with --flow=refresh-token"},
        Bad{Texts{"--flow=pass-through"}, "--flow=pass-through needs a subject token"},
        Bad{Texts{"--flow=pass-through", file, url},
            "--token-url has no use with --flow=pass-through"},
        Bad{Texts{"--flow=token-exchange", url, file, "--subject-token-env=T"},
            "a subject token is given more than once"},
        Bad{Texts{"--flow=token-exchange", url, file, "--subject=github-actions"},
            "a subject token is given more than once"},
        Bad{Texts{"--flow=jwt-bearer", url, file, "--subject-token-type=jwt"},
            "--subject-token-type has no use with --flow=jwt-bearer"},
        Bad{Texts{"--flow=token-exchange", url, file, "--subject-token-header=a=b"},
            "--subject-token-header needs --subject-token-url"},
        Bad{Texts{"--flow=token-exchange", url, file, "--service-account=a/b"},
            "--service-account needs --subject=kubernetes"},
        Bad{Texts{"--flow=token-exchange", url, file, "--actor-token-type=jwt"},
            "--actor-token-type needs --actor-token-file"},
        Bad{Texts{"--flow=token-exchange", url, file, "--concierge-authenticator-name=x"},
            "--concierge-authenticator-name has no use with --flow=token-exchange"},
        Bad{Texts{"--flow=token-exchange", url, file, "--concierge-api-group-suffix=a.b"},
            "--concierge-api-group-suffix has no use with --flow=token-exchange"},
        Bad{Texts{"--flow=token-exchange", url, file, "--client-certificate=" + fed.ca_path},
            "--client-certificate and --client-key go together"},
        Bad{Texts{"--flow=token-exchange", url, file, "--key-id=x"},
            "--key-id needs --private-key-file"},
        Bad{Texts{"--flow=token-exchange", url, file, "--client-auth=client_secret_jwt"},
            "--client-auth: 'client_secret_jwt' is no client authentication"},
        Bad{Texts{"--flow=token-exchange", url, file, "--token=refresh_token"},
            "--token: it is neither access_token nor id_token"},
        Bad{Texts{"--flow=token-exchange", url, file, "--audience="},
            "--audience has an empty value"},
        Bad{Texts{"--flow=token-exchange", url, "--subject-token-file=/nope"}, "'/nope'"},
        Bad{Texts{"--flow=token-exchange", url, file, "--ca-file=/nope"}, "'/nope'"},
        Bad{Texts{"--flow=token-exchange", url, file,
                  "--ca-file=" + fed.sandbox.write("none.pem", "")},
            "holds no certificate"}}) {
    CAPTURE(bad.arguments);
    CHECK_FAILURE(blackbox::run(plugin_of(bad.arguments)), 2, bad.said);
  }
  CHECK(fed.idp.connections() == 0);
}

TEST_CASE("a subject token of the environment is ignored by a client that does not need it") {
  Federation fed;
  for (const Texts& variables :
       {Texts{"EXECCRED_SUBJECT_TOKEN_FILE=/nope"}, Texts{"EXECCRED_SUBJECT_TOKEN_ENV=NOPE"},
        Texts{"EXECCRED_SUBJECT=github-actions"},
        Texts{"EXECCRED_SUBJECT=spiffe", "SPIFFE_ENDPOINT_SOCKET=garbage"},
        Texts{"EXECCRED_SUBJECT=kubernetes", "EXECCRED_SUBJECT_TOKEN_FILE=/nope"}}) {
    CAPTURE(variables);
    Ask ask = {.flow = "client-credentials",
               .arguments = {"--client-id=me"},
               .variables = variables,
               .has_subject = false};
    CHECK_SUCCESS(fed.run_cold(ask));
    CHECK(fed.idp.last(kToken).field("client_assertion") == "(missing)");
    ask.arguments.emplace_back("--subject-token-file=" + fed.subject_path);
    CHECK_FAILURE(fed.run_cold(ask), 2, "has no use for a subject token");
  }
}

}  // namespace execcred::test
