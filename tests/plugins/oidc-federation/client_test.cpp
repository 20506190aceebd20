// SPDX-License-Identifier: Apache-2.0
// Client authentication: what exactly each method sends.
#include "federation.hpp"
#include "support/jws_keys.hpp"

#include <doctest/doctest.h>

namespace execcred::test {
namespace {

constexpr const char* kAssertionType = "urn:ietf:params:oauth:client-assertion-type:";

Ask credentials(Texts arguments, bool by_issuer = false) {
  return {.flow = "client-credentials", .arguments = std::move(arguments), .by_issuer = by_issuer};
}

std::string key_file(const Federation& fed, const KeyPtr& key) {
  const SecretString pem = pkcs8_pem(key);
  blackbox::remember_secret(std::string(pem.reveal()));
  return fed.sandbox.write("key.pem", pem.reveal(), 0600);
}

// Only the allowed kinds of client authentication are sent.
void check_no_other_proof(const Received& sent, const Texts& allowed) {
  for (const std::string name : {"client_secret", "client_assertion", "client_assertion_type"}) {
    const bool is_allowed = std::find(allowed.begin(), allowed.end(), name) != allowed.end();
    CAPTURE(name);
    CHECK((sent.field(name) == "(missing)") != is_allowed);
  }
  const bool may_have_header =
      std::find(allowed.begin(), allowed.end(), "Authorization") != allowed.end();
  CHECK((sent.header("Authorization") == "") != may_have_header);
}

}  // namespace

TEST_CASE("none: a public client sends its ID, and nothing if it has none") {
  Federation fed;
  CHECK_SUCCESS(fed.run_cold(credentials({"--client-id=me"})));
  CHECK(fed.idp.last(kToken).field("client_id") == "me");
  check_no_other_proof(fed.idp.last(kToken), {});
  CHECK_SUCCESS(fed.run_cold(credentials({"--client-auth=none"})));
  CHECK(fed.idp.last(kToken).field("client_id") == "(missing)");
}

TEST_CASE("client_secret_basic: id and secret are form-encoded each, before base64") {
  Federation fed;
  const std::string secret = "p@ss word:%/+é&=";
  blackbox::remember_secret(secret);
  const std::string path = fed.sandbox.write("secret", "\n" + secret + "\r\n", 0600);
  CHECK_SUCCESS(fed.run(credentials({"--client-id=me:you é", "--client-secret-file=" + path})));
  const Received sent = fed.idp.last(kToken);
  CHECK(sent.header("Authorization") ==
        "Basic " + blackbox::base64("me%3Ayou+%C3%A9:p%40ss+word%3A%25%2F%2B%C3%A9%26%3D"));
  CHECK(sent.field("client_id") == "(missing)");
  check_no_other_proof(sent, {"Authorization"});
}

TEST_CASE("client_secret_post: the secret is in the body if an option or the server requires it") {
  Federation fed;
  const std::string secret = new_secret();
  const std::string path = "--client-secret-file=" + fed.sandbox.write("secret", secret, 0600);
  CHECK_SUCCESS(
      fed.run_cold(credentials({"--client-id=me", path, "--client-auth=client_secret_post"})));
  CHECK(fed.idp.last(kToken).field("client_secret") == secret);
  CHECK(fed.idp.last(kToken).field("client_id") == "me");
  check_no_other_proof(fed.idp.last(kToken), {"client_secret"});
  const std::string methods = R"(,"token_endpoint_auth_methods_supported":)";
  fed.idp.on(kDiscovery,
             reply(200, fed.idp.discovery_document(methods + R"(["client_secret_post"])")));
  CHECK_SUCCESS(fed.run_cold(credentials({"--client-id=me", path}, true)));
  check_no_other_proof(fed.idp.last(kToken), {"client_secret"});
  fed.idp.on(kDiscovery,
             reply(200, fed.idp.discovery_document(
                            methods + R"(["client_secret_post","client_secret_basic"])")));
  CHECK_SUCCESS(fed.run_cold(credentials({"--client-id=me", path}, true)));
  check_no_other_proof(fed.idp.last(kToken), {"Authorization"});
}

TEST_CASE("a refused client is not retried with another method") {
  Federation fed;
  const std::string path = fed.sandbox.write("secret", new_secret(), 0600);
  fed.idp.answer(R"({"error":"invalid_client"})", 401, "WWW-Authenticate: Basic realm=x\r\n");
  CHECK_FAILURE(fed.run(credentials({"--client-id=me", "--client-secret-file=" + path})), 1,
                "answered 401 with the error 'invalid_client'");
  CHECK(fed.idp.calls() == 1);
}

TEST_CASE("after an empty secret file is filled, the next run succeeds") {
  Federation fed;
  const std::string path = fed.sandbox.write("secret", "", 0600);
  const Ask ask = credentials({"--client-id=me", "--client-secret-file=" + path});
  CHECK_FAILURE(fed.run(ask), 1, "the client secret is empty");
  fed.sandbox.write("secret", new_secret(), 0600);
  CHECK_SUCCESS(fed.run(ask));
}

TEST_CASE("private_key_jwt: the signature of each algorithm is valid, by default and by name") {
  struct Case {
    std::string algorithm, asked;
    KeyPtr key;
  };
  std::vector<Case> cases;
  cases.push_back({"RS256", "", new_rsa_key(2048)});
  for (const char* name : {"RS384", "RS512", "PS256", "PS384", "PS512"}) {
    cases.push_back({name, name, new_rsa_key(2048)});
  }
  cases.push_back({"ES256", "", new_ec_key("P-256")});
  cases.push_back({"ES384", "", new_ec_key("P-384")});
  cases.push_back({"ES512", "", new_ec_key("P-521")});
  cases.push_back({"EdDSA", "", new_ed25519_key()});
  Federation fed;
  for (const Case& c : cases) {
    CAPTURE(c.algorithm);
    Texts arguments = {"--client-id=me", "--key-id=key 1",
                       "--private-key-file=" + key_file(fed, c.key)};
    if (!c.asked.empty()) arguments.push_back("--signing-alg=" + c.asked);
    CHECK_SUCCESS(fed.run_cold(credentials(arguments)));
    const Received sent = fed.idp.last(kToken);
    const std::string assertion = sent.field("client_assertion");
    CHECK(is_signed_by(assertion, c.algorithm, c.key));
    CHECK(blackbox::json_at(part_of(assertion, 0), "alg") == c.algorithm);
    CHECK(blackbox::json_at(part_of(assertion, 0), "kid") == "key 1");
    CHECK(sent.field("client_assertion_type") == std::string(kAssertionType) + "jwt-bearer");
    CHECK(sent.field("client_id") == "me");
    check_no_other_proof(sent, {"client_assertion", "client_assertion_type"});
  }
}

TEST_CASE("private_key_jwt: the claims, with one audience as a string and a fresh jti each time") {
  Federation fed;
  const std::string key = "--private-key-file=" + key_file(fed, new_ec_key("P-256"));
  const auto claims = [&fed](const Texts& arguments, bool by_issuer) {
    CHECK_SUCCESS(fed.run_cold(credentials(arguments, by_issuer)));
    return part_of(fed.idp.last(kToken).field("client_assertion"), 1);
  };
  const std::string first = claims({"--client-id=me", key}, false);
  CHECK(blackbox::json_at(first, "iss") == "me");
  CHECK(blackbox::json_at(first, "sub") == "me");
  CHECK(blackbox::json_at(first, "aud") == fed.idp.token_url());
  const std::int64_t now = blackbox::seconds_since_epoch();
  const std::int64_t end = std::stoll(blackbox::json_at(first, "exp"));
  CHECK(end > now + 30);
  CHECK(end <= now + 300);
  CHECK(std::stoll(blackbox::json_at(first, "iat")) <= now);
  const std::string second = claims({"--client-id=me", key}, false);
  CHECK(blackbox::json_at(first, "jti").size() >= 16);
  CHECK(blackbox::json_at(first, "jti") != blackbox::json_at(second, "jti"));
  CHECK(blackbox::json_at(claims({"--client-id=me", key}, true), "aud") == fed.idp.issuer());
  CHECK(blackbox::json_at(
            claims({"--client-id=me", key, "--client-assertion-audience=urn:realm"}, true),
            "aud") == "urn:realm");
}

TEST_CASE("private_key_jwt: an unusable key or algorithm is an error, and nothing is sent") {
  Federation fed;
  const std::string rsa = key_file(fed, new_rsa_key(2048));
  const std::string weak =
      fed.sandbox.write("weak.pem", pkcs8_pem(new_rsa_key(1024)).reveal(), 0600);
  const std::string locked = fed.sandbox.write("locked.pem", encrypted_key().reveal(), 0600);
  struct Case {
    std::string path, algorithm;
    int exit_code;
  };
  for (const Case& c :
       {Case{rsa, "ES256", 2}, Case{rsa, "HS256", 2}, Case{rsa, "none", 2}, Case{weak, "", 1},
        Case{locked, "", 1}, Case{fed.subject_path, "", 1}, Case{"/nope", "", 2}}) {
    CAPTURE(c.path);
    CAPTURE(c.algorithm);
    Texts arguments = {"--client-id=me", "--private-key-file=" + c.path};
    if (!c.algorithm.empty()) arguments.push_back("--signing-alg=" + c.algorithm);
    CHECK_FAILURE(fed.run_cold(credentials(arguments)), c.exit_code, "reading --private-key-file");
  }
  CHECK_FAILURE(fed.run_cold(credentials({"--private-key-file=" + rsa})), 2,
                "a client that authenticates needs --client-id");
  CHECK(fed.idp.connections() == 0);
}

TEST_CASE("tls_client_auth: the certificate is presented at the mTLS alias of the discovery") {
  const Identity ca = make_ca("client CA");
  const Identity client =
      make_identity({.common_name = "client", .alternative_names = "DNS:client", .issuer = &ca});
  blackbox::remember_secret(client.key_pem);
  ScriptedServer mtls(ScriptedServer::Transport::tls, &ca);
  mtls.on("/mtls/token", reply(200, token_reply("over-mtls")));
  Federation fed;
  const std::string both = fed.sandbox.write("both-ca.pem", fed.idp.ca_pem() + mtls.ca_pem());
  fed.idp.on(
      kDiscovery,
      reply(200, fed.idp.discovery_document(R"(,"mtls_endpoint_aliases":{"token_endpoint":")" +
                                            mtls.url("/mtls/token") + "\"}")));
  const Texts arguments = {"--flow=client-credentials",
                           "--no-cache",
                           "--issuer-url=" + fed.idp.issuer(),
                           "--ca-file=" + both,
                           "--client-id=me",
                           "--client-certificate=" + fed.sandbox.write("client.pem", client.pem),
                           "--client-key=" + fed.sandbox.write("client.key", client.key_pem, 0600)};
  const Outcome outcome = blackbox::run(plugin_of(arguments));
  CHECK_SUCCESS(outcome);
  CHECK(token_of(outcome) == "over-mtls");
  const Received sent = mtls.last("/mtls/token");
  CHECK(sent.has_certificate);
  CHECK(sent.field("client_id") == "me");
  check_no_other_proof(sent, {});
  CHECK(fed.idp.calls() == 0);
  // Another method uses the usual endpoint.
  CHECK_SUCCESS(fed.run_cold(credentials({"--client-id=me", "--client-auth=none"}, true)));
  CHECK(fed.idp.calls() == 1);
}

TEST_CASE("tls_client_auth: a key of another certificate, or half a pair, is an error") {
  const Identity client = make_identity({.common_name = "client"});
  const Identity other = make_identity({.common_name = "other"});
  Federation fed;
  const std::string certificate = fed.sandbox.write("client.pem", client.pem);
  const std::string key = fed.sandbox.write("other.key", other.key_pem, 0600);
  CHECK_FAILURE(fed.run(credentials({"--client-id=me", "--client-certificate=" + certificate,
                                     "--client-key=" + key})),
                1, "the private key does not belong to the certificate");
  CHECK_FAILURE(fed.run(credentials({"--client-id=me", "--client-certificate=" + certificate})), 2,
                "--client-certificate and --client-key go together");
  CHECK_FAILURE(fed.run(credentials({"--client-id=me", "--client-auth=tls_client_auth"})), 2,
                "--client-auth=tls_client_auth needs --client-certificate");
  CHECK(fed.idp.connections() == 0);
}

TEST_CASE("federated: the subject token is the client's assertion, and an option sets its type") {
  Federation fed;
  const std::string subject = "--subject-token-file=" + fed.subject_path;
  struct Case {
    Texts arguments;
    std::string type;
  };
  for (const Case& c :
       {Case{{}, std::string(kAssertionType) + "jwt-bearer"},
        Case{{"--client-assertion-type=jwt-spiffe"}, std::string(kAssertionType) + "jwt-spiffe"},
        Case{{"--client-assertion-type=urn:example:own"}, "urn:example:own"}}) {
    CAPTURE(c.type);
    CHECK_SUCCESS(fed.run_cold(
        credentials(Texts{"--client-id=me", "--client-auth=federated", subject} + c.arguments)));
    const Received sent = fed.idp.last(kToken);
    CHECK(sent.field("client_assertion") == fed.subject);
    CHECK(sent.field("client_assertion_type") == c.type);
    CHECK(sent.field("client_id") == "me");
    CHECK(sent.field("subject_token") == "(missing)");
    check_no_other_proof(sent, {"client_assertion", "client_assertion_type"});
  }
  CHECK_FAILURE(fed.run_cold(credentials({"--client-id=me", "--client-auth=federated"})), 2,
                "--client-auth=federated needs a subject token");
}

TEST_CASE("a method without its options is an error, and so is a secret without a client ID") {
  Federation fed;
  const std::string secret =
      "--client-secret-file=" + fed.sandbox.write("secret", new_secret(), 0600);
  for (const Texts& arguments :
       {Texts{"--client-auth=client_secret_basic", "--client-id=me"},
        Texts{"--client-auth=client_secret_post", "--client-id=me"},
        Texts{"--client-auth=private_key_jwt", "--client-id=me"}, Texts{secret},
        Texts{"--client-id=me", "--client-secret-file=/nope"},
        Texts{"--client-id=me", secret, "--client-assertion-type=jwt-spiffe"}}) {
    CAPTURE(arguments);
    CHECK_FAILURE(fed.run_cold(credentials(arguments)), 2, "--client-");
  }
  const std::string empty = fed.sandbox.write("empty", " \n", 0600);
  CHECK_FAILURE(fed.run_cold(credentials({"--client-id=me", "--client-secret-file=" + empty})), 1,
                "the client secret is empty");
  CHECK(fed.idp.connections() == 0);
}

TEST_CASE("a secret or a key beside --client-auth with another method is an error") {
  Federation fed;
  const std::string secret =
      "--client-secret-file=" + fed.sandbox.write("secret", new_secret(), 0600);
  const std::string key = "--private-key-file=" + fed.sandbox.at("key");
  struct Case {
    std::string method;
    Texts arguments;
    std::string option;
  };
  for (const Case& c : {Case{"none", {secret}, "--client-secret-file"},
                        Case{"federated", {secret}, "--client-secret-file"},
                        Case{"private_key_jwt", {secret, key}, "--client-secret-file"},
                        Case{"client_secret_post", {secret, key}, "--private-key-file"},
                        Case{"none", {key}, "--private-key-file"}}) {
    CAPTURE(c.method);
    Texts arguments = Texts{"--client-id=me", "--client-auth=" + c.method} + c.arguments;
    if (c.method == "federated") arguments.push_back("--subject-token-file=" + fed.subject_path);
    CHECK_REFUSAL(fed.run_cold(credentials(arguments)), 2, c.option);
  }
  CHECK(fed.idp.connections() == 0);
  Ask by_variable = credentials({"--client-id=me", "--client-auth=none"});
  by_variable.variables = {"EXECCRED_CLIENT_SECRET_FILE=/nope"};
  CHECK_SUCCESS(fed.run_cold(by_variable));
}

TEST_CASE("a secret that other users may write is refused") {
  Federation fed;
  const std::string secret = fed.sandbox.write("secret", new_secret(), 0666);
  CHECK_FAILURE(fed.run(credentials({"--client-id=me", "--client-secret-file=" + secret})), 2,
                "it is writable by other users");
}

TEST_CASE("tls_client_auth: a certificate without a client ID is an error, and nothing is sent") {
  const Identity client = make_identity({.common_name = "client"});
  blackbox::remember_secret(client.key_pem);
  Federation fed;
  const Texts pair = {"--client-certificate=" + fed.sandbox.write("client.pem", client.pem),
                      "--client-key=" + fed.sandbox.write("client.key", client.key_pem, 0600)};
  CHECK_FAILURE(fed.run(credentials(pair, true)), 2,
                "a client that authenticates needs --client-id");
  CHECK(fed.idp.connections() == 0);
  // A proxy in front of the server may ask for the certificate.
  CHECK_SUCCESS(fed.run(credentials(pair + Texts{"--client-auth=none"}, true)));
}

}  // namespace execcred::test
