// SPDX-License-Identifier: Apache-2.0
// Faults, each made in an otherwise working cluster, and the cause that doctor must name. A wrong
// cause is worse than a general one, so the table has only certain causes.
#include "conformance/build_kind.hpp"
#include "rig.hpp"
#include "support/jws_keys.hpp"

#include <doctest/doctest.h>
#include <execcred/base/encoding.hpp>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>

using namespace doctor_test;
using blackbox::jwt_for;
using blackbox::make_jwt;
using blackbox::seconds_since_epoch;
using execcred::test::make_ca;
using execcred::test::make_identity;
using execcred::test::Stream;
using execcred::test::StreamServer;

namespace {

// A plugin must answer in this time, and a server does not.
constexpr const char* kShortTimeout =
    blackbox::kIsSanitized || blackbox::kWithCoverage ? "--timeout=4s" : "--timeout=1s";

struct Fault {
  const char* what;
  std::function<void(Scene&)> make;
  const char* cause;
  int exit_code = 1;
  const char* step = "";  // of the cause
};

// Things that must live as long as the run.
struct Around {
  std::vector<std::unique_ptr<StreamServer>> servers;
  std::vector<execcred::test::Identity> identities;
  std::vector<int> descriptors;

  ~Around() {
    for (const int descriptor : descriptors) close(descriptor);
  }
};
Around* around = nullptr;

// A port of 127.0.0.1 at which nothing listens. It stays bound, so that nothing else takes it.
std::uint16_t closed_port() {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  around->descriptors.push_back(descriptor);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(bind(descriptor, reinterpret_cast<const sockaddr*>(&address), size) == 0);
  REQUIRE(getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  return ntohs(address.sin_port);
}

// A port whose queue of connections is full, so that there is no answer.
std::uint16_t silent_port() {
  const std::uint16_t port = closed_port();
  const int listener = around->descriptors.back();
  listen(listener, 0);
  for (int i = 0; i < 3; ++i) {
    const int filler = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    around->descriptors.push_back(filler);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    // Only the first ones are answered.
    (void)connect(filler, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }
  return port;
}

StreamServer& plain_server(StreamServer::Handler handler) {
  around->servers.push_back(std::make_unique<StreamServer>(std::move(handler)));
  return *around->servers.back();
}

std::string local(std::uint16_t port, std::string_view scheme = "https") {
  return std::string(scheme) + "://127.0.0.1:" + std::to_string(port);
}

void run_script(Scene& scene, std::string_view name, std::string_view body) {
  scene.command = scene.sandbox.script(name, body);
  scene.args = {};
}

std::string printing_credential(std::string_view status) {
  return R"(printf '%s' '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
         R"("status":)" +
         std::string(status) + "}'";
}

std::string indented(std::string text) {
  for (std::size_t at = 0; at != std::string::npos; at = text.find('\n', at + 1)) {
    text.insert(at == 0 ? 0 : at + 1, "  ");
  }
  return text;
}

void give_certificate(Scene& scene, const execcred::test::Identity& certificate,
                      const execcred::test::Identity& key, std::string_view more = "") {
  const std::string pair = R"({"clientCertificateData":)" + blackbox::json_string(certificate.pem) +
                           R"(,"clientKeyData":)" + blackbox::json_string(key.key_pem) +
                           std::string(more) + "}";
  scene.sandbox.write(
      "answer",
      R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":)" +
          pair + "}",
      0600);
  run_script(scene, "give", "cat " + scene.sandbox.at("answer"));
}

execcred::test::Identity& kept(execcred::test::Identity identity) {
  around->identities.reserve(16);
  around->identities.push_back(std::move(identity));
  return around->identities.back();
}

// The server's certificate is one of a CA with this extension.
void serve_below(Scene& scene, const execcred::test::Extension& extension) {
  const auto& ca =
      kept(make_identity({.common_name = "limited", .is_ca = true, .extensions = {extension}}));
  scene.serve({.server = {.issuer = &ca}});
  scene.ca = ca.pem;
}

const char* const kConfig = R"(apiVersion: apiserver.config.k8s.io/v1beta1
kind: AuthenticationConfiguration
jwt:
- issuer: {url: "https://idp.example.com", audiences: [kubernetes]}
  claimMappings: {username: {claim: sub, prefix: ""}}
)";

std::string person_jwt(std::string_view issuer, std::string_view audience) {
  return make_jwt(R"({"iss":")" + std::string(issuer) + R"(","sub":"jane","aud":")" +
                  std::string(audience) + R"(","exp":)" +
                  std::to_string(seconds_since_epoch() + 3600) + "}");
}

void refuse_all(Scene& scene, std::string_view token) {
  scene.write_token(token);
  scene.arguments = {"--authentication-config", scene.sandbox.write("auth.yaml", kConfig)};
}

// Publishes the cluster's own issuer and its keys, as a cluster does for anonymous callers.
// `account` is the reply about the ServiceAccount ns/sa, to everybody.
void publish_issuer(Scene& scene, std::string_view issuer, std::string_view keys,
                    const ApiReply& account = {.status = 0}) {
  scene.api->answer([issuer = std::string(issuer), keys = std::string(keys),
                     account](const ApiRequest& request) -> ApiReply {
    if (request.path == "/api/v1/namespaces/ns/serviceaccounts/sa") return account;
    if (request.path == "/.well-known/openid-configuration") {
      return {.status = 200, .body = R"({"issuer":")" + issuer + R"("})"};
    }
    if (request.path == "/openid/v1/jwks") return {.status = 200, .body = keys};
    return {.status = 0};
  });
}

constexpr std::string_view kBoundToAccount =
    R"(,"kubernetes.io":{"namespace":"ns","serviceaccount":{"name":"sa","uid":"1"}})";

ApiReply gone_account() {
  return status_reply(404, "NotFound", "serviceaccounts \"sa\" not found",
                      R"({"name":"sa","kind":"serviceaccounts"})");
}

ApiReply other_account() {
  return {.status = 200, .body = R"({"metadata":{"name":"sa","uid":"2"}})"};
}

// Signs ServiceAccount tokens with its key, and publishes it.
class Signer {
 public:
  std::string token_of(std::string_view issuer, std::string_view more_claims = "") const {
    const std::string claims = R"({"iss":")" + std::string(issuer) +
                               R"(","sub":"system:serviceaccount:ns:sa","aud":["server"],"exp":)" +
                               std::to_string(seconds_since_epoch() + 3600) +
                               std::string(more_claims) + "}";
    const std::string input = base64url(R"({"alg":"RS256"})") + "." + base64url(claims);
    const std::unique_ptr<EVP_MD_CTX, execcred::test::OpensslDeleter<EVP_MD_CTX_free>> digest(
        EVP_MD_CTX_new());
    std::string signature(kBits / 8, '\0');
    std::size_t size = signature.size();
    execcred::test::require_openssl(
        EVP_DigestSignInit(digest.get(), nullptr, EVP_sha256(), nullptr, key_.get()) == 1 &&
            EVP_DigestSign(digest.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                           reinterpret_cast<const unsigned char*>(input.data()), input.size()) == 1,
        "sign a token");
    return input + "." + base64url(signature);
  }

  std::string keys() const {
    BIGNUM* taken = nullptr;
    EVP_PKEY_get_bn_param(key_.get(), "n", &taken);
    const execcred::test::BignumPtr modulus(taken);
    std::string bytes(kBits / 8, '\0');
    BN_bn2bin(modulus.get(), reinterpret_cast<unsigned char*>(bytes.data()));
    return R"({"keys":[{"kty":"RSA","alg":"RS256","e":"AQAB","n":")" + base64url(bytes) + "\"}]}";
  }

 private:
  static constexpr unsigned kBits = 2048;

  static std::string base64url(std::string_view bytes) {
    return std::string(execcred::encode_base64url(bytes).reveal());
  }

  execcred::test::KeyPtr key_ = execcred::test::new_rsa_key(kBits);
};

void reply_with(Scene& scene, int status, std::string_view body, std::string_view headers = "") {
  scene.api->answer(
      [=, body = std::string(body), headers = std::string(headers)](const ApiRequest&) -> ApiReply {
        return {.status = status, .body = body, .headers = headers};
      });
}

// Asks --can, and gives this reply to the question.
void answer_access_review(Scene& scene, const ApiReply& reply) {
  scene.arguments = {"--can=get/pods"};
  scene.api->answer([reply](const ApiRequest& request) -> ApiReply {
    const bool is_asked = request.path.find("selfsubjectaccess") != std::string::npos;
    return is_asked ? reply : ApiReply{.status = 0};
  });
}

const std::vector<Fault>& faults() {
  static const std::vector<Fault> kFaults = {
      // The ClusterProfile.
      {"the profile has no providers",
       [](Scene& s) {
         s.profile = R"({"apiVersion":"multicluster.x-k8s.io/v1alpha1","kind":"ClusterProfile",)"
                     R"("metadata":{"name":"one","namespace":"fleet"},"status":{}})";
       },
       "no-provider", 1, "profile"},
      {"the mapping knows none of its providers",
       [](Scene& s) {
         s.profile = s.profile_text();
         s.profile.replace(s.profile.find("\"p\""), 3, "\"q\"");
       },
       "provider-unknown", 1, "profile"},
      {"a version that is not read",
       [](Scene& s) {
         s.profile = s.profile_text();
         s.profile.replace(s.profile.find("v1alpha1"), 8, "v1alpha7");
       },
       "profile-invalid", 1, "profile"},
      {"a provider without a server",
       [](Scene& s) {
         s.profile = s.profile_text();
         s.profile.replace(s.profile.find(R"("server":)"), 9, R"("servant":)");
       },
       "profile-invalid", 1, "profile"},
      {"a plain http server", [](Scene& s) { s.server = local(s.api->port(), "http"); },
       "profile-invalid", 1, "profile"},
      {"a CA that is no certificate", [](Scene& s) { s.ca = "no certificate"; }, "profile-invalid",
       1, "profile"},
      {"a CA beside insecure-skip-tls-verify",
       [](Scene& s) { s.more_of_cluster = R"(,"insecure-skip-tls-verify":true)"; },
       "profile-invalid", 1, "profile"},
      {"an invalid tls-server-name",
       [](Scene& s) { s.more_of_cluster = R"(,"tls-server-name":"not a name")"; },
       "profile-invalid", 1, "profile"},
      {"a proxy-url of another scheme",
       [](Scene& s) { s.more_of_cluster = R"(,"proxy-url":"ftp://127.0.0.1:1")"; },
       "profile-invalid", 1, "profile"},
      {"the control plane is not healthy",
       [](Scene& s) { s.conditions = R"([{"type":"ControlPlaneHealthy","status":"False"}])"; },
       "profile-unhealthy", 0, "profile"},
      {"the cluster has left",
       [](Scene& s) {
         s.conditions =
             R"([{"type":"ControlPlaneHealthy","status":"True"},{"type":"Joined","status":"False"}])";
       },
       "profile-unhealthy", 0, "profile"},

      // The mapping.
      {"a relative command", [](Scene& s) { s.command = "execcred-token-file"; }, "mapping-invalid",
       1, "mapping"},
      {"an unknown policy",
       [](Scene& s) { s.more_of_entry = R"(,"profileSourcedCLIArgsPolicy":"Prepend")"; },
       "mapping-invalid", 1, "mapping"},
      {"an option that the plugin does not have",
       [](Scene& s) { s.args.emplace_back("--tokenfile=/x"); }, "mapping-invalid", 1, "run"},
      {"an option with an invalid value", [](Scene& s) { s.args.emplace_back("--max-age=x"); },
       "mapping-invalid", 1, "run"},
      {"the required option is missing", [](Scene& s) { s.args = {}; }, "mapping-invalid", 1,
       "run"},
      {"the profile may append arguments without a boundary",
       [](Scene& s) { s.more_of_entry = R"(,"profileSourcedCLIArgsPolicy":"Append")"; },
       "mapping-unsafe", 1, "mapping"},
      {"the profile may set the plugin's environment",
       [](Scene& s) { s.more_of_entry = R"(,"profileSourcedEnvVarsPolicy":"Replace")"; },
       "mapping-unsafe", 1, "mapping"},

      // The program.
      {"there is no program", [](Scene& s) { s.command = s.sandbox.at("nothing"); },
       "program-missing", 1, "program"},
      {"the program may not be executed",
       [](Scene& s) { s.command = s.sandbox.write("execcred-x", "#!/bin/sh\nexit 0\n", 0644); },
       "program-not-executable", 1, "program"},
      {"the program is a folder", [](Scene& s) { s.command = s.sandbox.path().native(); },
       "program-not-executable", 1, "program"},
      {"the script's interpreter is missing",
       [](Scene& s) { s.command = s.sandbox.write("x", "#!/no/such/shell\n", 0755); },
       "program-missing", 1, "program"},
      {"the script has the line ends of Windows",
       [](Scene& s) { s.command = s.sandbox.write("x", "#!/bin/sh\r\nexit 0\r\n", 0755); },
       "program-missing", 1, "program"},
      {"the script's interpreter may not be executed",
       [](Scene& s) {
         const std::string interpreter = s.sandbox.write("interpreter", "#!/bin/sh\n", 0644);
         s.command = s.sandbox.write("x", "#! " + interpreter + " -x\n", 0755);
       },
       "program-not-executable", 1, "program"},
#ifndef __SANITIZE_THREAD__  // with it, posix_spawn() does not report what execve() refused
      {"the program is for another machine",
       [](Scene& s) {
         std::string elf("\177ELF\x02\x01\x01", 7);
         elf.resize(64, '\0');
         elf[16] = 2;
         elf[18] = '\x16';  // IBM Z
         s.command = s.sandbox.write("x", elf, 0755);
       },
       "program-wrong-architecture", 1, "program"},
      {"the program is empty", [](Scene& s) { s.command = s.sandbox.write("x", "", 0755); },
       "program-not-executable", 1, "program"},
#endif
      {"the program crashes", [](Scene& s) { run_script(s, "x", "kill -SEGV $$"); },
       "program-crashed", 1, "run"},
      {"the program does not end",
       [](Scene& s) {
         run_script(s, "x", "exec sleep 60");
         s.arguments = {"--timeout=300ms"};
       },
       "program-timeout", 3, "run"},
      {"the program prints no credential", [](Scene& s) { run_script(s, "x", "echo hello"); },
       "program-output-invalid", 1, "run"},
      {"the program prints nothing", [](Scene& s) { run_script(s, "x", "exit 0"); },
       "program-output-invalid", 1, "run"},
      {"the program answers in another version",
       [](Scene& s) {
         run_script(s, "x",
                    R"(printf '%s' '{"kind":"ExecCredential","apiVersion":)"
                    R"("client.authentication.k8s.io/v1beta1","status":{"token":"x"}}')");
       },
       "program-output-invalid", 1, "run"},
      {"the program prints without an end", [](Scene& s) { run_script(s, "x", "exec yes"); },
       "program-output-invalid", 1, "run"},
      {"the program prints 100 MB, and ends",
       [](Scene& s) { run_script(s, "x", "head -c 100000000 /dev/zero"); },
       "program-output-invalid", 1, "run"},
      {"the program fails with 100 MB of messages",
       [](Scene& s) { run_script(s, "x", "head -c 100000000 /dev/zero >&2; exit 1"); },
       "program-failed", 1, "run"},
      {"the program waits for input, which nobody writes",
       [](Scene& s) { run_script(s, "x", "read -r line || exit 1; echo \"$line\""); },
       "program-failed", 1, "run"},
      {"the program is killed after it printed a credential",
       [](Scene& s) {
         run_script(s, "x", printing_credential(R"({"token":"t"})") + "\nkill -9 $$");
       },
       "program-crashed", 1, "run"},
      {"the program ignores the signal that ends it, and keeps its child",
       [](Scene& s) {
         run_script(s, "x", "trap '' TERM INT\nsleep 60 &\nwait");
         s.arguments = {"--timeout=300ms"};
       },
       "program-timeout", 3, "run"},
      {"another program fails", [](Scene& s) { run_script(s, "x", "echo no >&2; exit 3"); },
       "program-failed", 1, "run"},
      {"a report of a program that is no execcred plugin does not count",
       [](Scene& s) {
         run_script(s, "x",
                    R"(echo '{"cause":"source-missing"}' >&"${EXECCRED_REPORT_FILE:-3}"; exit 1)");
       },
       "program-failed", 1, "run"},
      {"a program that needs a terminal",
       [](Scene& s) { s.more_of_exec = R"(,"interactiveMode":"Always")"; }, "interaction-needed", 1,
       "run"},

      // Causes that the plugin reports, about its source and its settings.
      {"the token's file is missing",
       [](Scene& s) { s.args = {"--token-file=" + s.sandbox.at("no-token")}; }, "source-missing", 1,
       "run"},
      {"the token's file is empty", [](Scene& s) { s.write_token(""); }, "source-missing", 1,
       "run"},
      {"the token's file may be written by others",
       [](Scene& s) { chmod(s.sandbox.at("token").c_str(), 0666); }, "source-forbidden", 1, "run"},
      {"the token has expired", [](Scene& s) { s.write_token(jwt_for(-60)); }, "source-expired", 1,
       "run"},
      {"a key in the token's place",
       [](Scene& s) { s.write_token("-----BEGIN PRIVATE KEY-----\n"); }, "source-refused", 1,
       "run"},
      {"the token is not valid yet",
       [](Scene& s) {
         s.write_token(jwt_for(7200, ",\"nbf\":" + std::to_string(seconds_since_epoch() + 3600)));
       },
       "credential-not-yet-valid", 1, "run"},
      {"the token is for another audience", [](Scene& s) { s.args.emplace_back("--audience=x"); },
       "credential-wrong-audience", 1, "run"},
      {"the server is not allowed",
       [](Scene& s) { s.args.emplace_back("--allow-server=https://other.example.com"); },
       "server-not-allowed", 1, "run"},
      {"the proxy is not allowed",
       [](Scene& s) {
         s.args.push_back("--allow-server=" + s.server);
         s.more_of_cluster = R"(,"proxy-url":"http://127.0.0.1:9")";
       },
       "server-not-allowed", 1, "run"},
      {"the CA is not the pinned one",
       [](Scene& s) {
         s.args.push_back("--server-ca-file=" +
                          s.sandbox.write("pinned.pem", make_ca("pinned").pem, 0600));
       },
       "server-not-allowed", 1, "run"},
      {"the rule needs cluster information that is not sent",
       [](Scene& s) {
         s.args.push_back("--allow-server=" + s.server);
         s.more_of_exec = R"(,"interactiveMode":"Never")";
       },
       "cluster-info-missing", 1, "run"},
      {"a template needs cluster information that is not sent",
       [](Scene& s) {
         s.args = {"--token-file=/run/{clusterName}/token"};
         s.more_of_exec = R"(,"interactiveMode":"Never")";
       },
       "cluster-info-missing", 1, "run"},
      {"the profile sets an option that it may not set",
       [](Scene& s) {
         s.more_of_cluster = R"(,"extensions":[{"name":"client.authentication.k8s.io/exec",)"
                             R"("extension":{"tokenFile":"/etc/shadow"}}])";
       },
       "config-refused", 1, "run"},
      {"a variable of the environment is wrong",
       [](Scene& s) { s.environment = {"EXECCRED_TIMEOUT=forever"}; }, "config-refused", 1, "run"},

      // The credential.
      {"the certificate has expired, and so has the credential",
       [](Scene& s) {
         const auto& ended =
             kept(make_identity({.common_name = "jane", .begins = -7200, .ends = -3600}));
         give_certificate(s, ended, ended, R"(,"expirationTimestamp":"2020-01-01T00:00:00Z")");
       },
       "certificate-expired", 1, "credential"},
      {"the given credential has expired",
       [](Scene& s) {
         run_script(
             s, "x",
             printing_credential(R"({"token":"x","expirationTimestamp":"2020-01-01T00:00:00Z"})"));
       },
       "credential-expired", 1, "credential"},
      {"the given token has ended",
       [](Scene& s) {
         run_script(s, "x", printing_credential(R"({"token":")" + jwt_for(-5) + R"("})"));
       },
       "credential-expired", 1, "credential"},
      {"the given token begins later",
       [](Scene& s) {
         const std::string begins = std::to_string(seconds_since_epoch() + 3000);
         run_script(
             s, "x",
             printing_credential(R"({"token":")" + jwt_for(3600, ",\"nbf\":" + begins) + R"("})"));
       },
       "credential-not-yet-valid", 1, "credential"},
      {"the key is no PEM",
       [](Scene& s) {
         run_script(s, "x",
                    printing_credential(R"({"clientCertificateData":)" +
                                        blackbox::json_string(make_identity({}).pem) +
                                        R"(,"clientKeyData":"MC4CAQAwBQYDK2Vw"})"));
       },
       "program-output-invalid", 1, "credential"},
      {"the key's PEM is indented, which no client reads",
       [](Scene& s) {
         auto& identity = kept(make_identity({.common_name = "jane"}));
         identity.key_pem = indented(identity.key_pem);
         give_certificate(s, identity, identity);
       },
       "program-output-invalid", 1, "credential"},
      {"the client's key is too weak",
       [](Scene& s) {
         const auto& identity = kept(make_identity({.common_name = "jane", .rsa_bits = 1024}));
         give_certificate(s, identity, identity);
       },
       "program-output-invalid", 1, "credential"},
      {"the key belongs to another certificate",
       [](Scene& s) {
         give_certificate(s, kept(make_identity({.common_name = "jane"})),
                          kept(make_identity({.common_name = "other"})));
       },
       "credential-key-mismatch", 1, "credential"},
      {"the certificate has ended",
       [](Scene& s) {
         s.serve({.tls = {.asks_for_certificate = true}});
         s.api->answer([](const ApiRequest&) { return unauthorized(); });
         const auto& identity =
             kept(make_identity({.common_name = "jane", .begins = -7200, .ends = -3600}));
         give_certificate(s, identity, identity);
       },
       "certificate-expired", 1, "credential"},
      {"a token that no header may hold",
       [](Scene& s) { run_script(s, "x", printing_credential(R"({"token":"a b"})")); },
       "program-output-invalid", 1, "run"},
      {"no request is made, and the server's file has another audience",
       [](Scene& s) {
         refuse_all(s, person_jwt("https://idp.example.com", "other"));
         s.arguments.emplace_back("--no-request");
       },
       "credential-wrong-audience", 1, "credential"},
      {"no request is made, and the server's file has other issuers",
       [](Scene& s) {
         refuse_all(s, person_jwt("https://other.example.com", "kubernetes"));
         s.arguments.emplace_back("--no-request");
       },
       "credential-wrong-issuer", 1, "credential"},

      // The connection.
      {"an unknown host name", [](Scene& s) { s.server = "https://nobody.invalid:6443"; },
       "name-unknown", 3, "name"},
      {"nothing listens", [](Scene& s) { s.server = local(closed_port()); }, "connect-refused", 3,
       "connect"},
      {"an address to which no connection is possible",
       [](Scene& s) { s.server = "https://224.0.0.1:6443"; }, "connect-failed", 3, "connect"},
      {"the server does not answer",
       [](Scene& s) {
         s.server = local(silent_port());
         s.arguments = {kShortTimeout};
       },
       "connect-timeout", 3, "connect"},
      {"the proxy does not listen",
       [](Scene& s) {
         s.more_of_cluster = R"(,"proxy-url":")" + local(closed_port(), "http") + R"(")";
       },
       "proxy-failed", 3, "proxy"},
      {"the proxy cuts the connection before it answers",
       [](Scene& s) {
         const auto port = plain_server([](Stream& stream) { stream.reset(); }).port();
         s.more_of_cluster = R"(,"proxy-url":")" + local(port, "http") + R"(")";
       },
       "proxy-failed", 3, "proxy"},
      {"the https proxy speaks plain http",
       [](Scene& s) {
         const auto port = plain_server([](Stream& stream) {
                             stream.write("HTTP/1.1 400 Bad Request\r\n\r\n");
                             stream.wait_for_close();
                           }).port();
         s.more_of_cluster = R"(,"proxy-url":")" + local(port, "https") + R"(")";
       },
       "proxy-failed", 3, "proxy"},
      {"the proxy's name is unknown",
       [](Scene& s) { s.more_of_cluster = R"(,"proxy-url":"http://proxy.invalid:3128")"; },
       "proxy-failed", 3, "proxy"},
      {"the proxy refuses the connection",
       [](Scene& s) {
         const auto port = plain_server([](Stream& stream) {
                             stream.read_request();
                             stream.write("HTTP/1.1 403 Forbidden\r\n\r\n");
                           }).port();
         s.more_of_cluster = R"(,"proxy-url":")" + local(port, "http") + R"(")";
       },
       "proxy-refused", 1, "proxy"},
      {"the proxy wants a password",
       [](Scene& s) {
         const auto port = plain_server([](Stream& stream) {
                             stream.read_request();
                             stream.write("HTTP/1.1 407 Who\r\n\r\n");
                           }).port();
         s.more_of_cluster = R"(,"proxy-url":")" + local(port, "http") + R"(")";
       },
       "proxy-refused", 1, "proxy"},
      {"the proxy does not reach the server",
       [](Scene& s) {
         const auto port = plain_server([](Stream& stream) {
                             stream.read_request();
                             stream.write("HTTP/1.1 502 Bad Gateway\r\n\r\n");
                           }).port();
         s.more_of_cluster = R"(,"proxy-url":")" + local(port, "http") + R"(")";
       },
       "proxy-failed", 3, "proxy"},
      {"the proxy of the environment is down",
       [](Scene& s) {
         s.environment = {"HTTPS_PROXY=" + local(closed_port(), "http")};
         s.server = "https://10.255.255.1:6443";
       },
       "proxy-failed", 3, "proxy"},
      {"a SOCKS proxy that refuses the connection",
       [](Scene& s) {
         const auto port = plain_server([](Stream& stream) {
                             stream.read(3);
                             stream.write(std::string("\x05\x00", 2));
                             stream.read(64);
                             stream.write(std::string("\x05\x02\x00\x01\0\0\0\0\0\0", 10));
                             stream.wait_for_close();
                           }).port();
         s.more_of_cluster = R"(,"proxy-url":")" + local(port, "socks5") + R"(")";
       },
       "proxy-refused", 1, "proxy"},

      // TLS.
      {"another CA", [](Scene& s) { s.ca = make_ca("another").pem; }, "tls-wrong-ca", 1, "tls"},
      {"another CA of the same name", [](Scene& s) { s.ca = make_ca("cluster CA").pem; },
       "tls-wrong-ca", 1, "tls"},
      {"a certificate for another name",
       [](Scene& s) { s.serve({.server = {.alternative_names = "DNS:other.example.com"}}); },
       "tls-wrong-name", 1, "tls"},
      {"a tls-server-name that the certificate does not have",
       [](Scene& s) { s.more_of_cluster = R"(,"tls-server-name":"other.example.com")"; },
       "tls-wrong-name", 1, "tls"},
      {"the server's certificate has ended",
       [](Scene& s) { s.serve({.server = {.begins = -7200, .ends = -3600}}); }, "tls-expired", 1,
       "tls"},
      {"the server's certificate begins later",
       [](Scene& s) { s.serve({.server = {.begins = 3600, .ends = 7200}}); }, "tls-expired", 1,
       "tls"},
      {"a server's certificate for clients alone",
       [](Scene& s) {
         s.serve({.server = {.extensions = {{NID_ext_key_usage, "clientAuth"}}}});
       },
       "tls-wrong-ca", 1, "tls"},
      {"a server's certificate with an unknown critical extension",
       [](Scene& s) {
         s.serve({.server = {.extensions = {{NID_netscape_comment, "critical,x"}}}});
       },
       "tls-wrong-ca", 1, "tls"},
      {"a server's certificate that is signed with SHA-1",
       [](Scene& s) { s.serve({.server = {.sha1 = true}}); }, "tls-wrong-ca", 1, "tls"},
      {"a server's key that is too weak", [](Scene& s) { s.serve({.server = {.rsa_bits = 1024}}); },
       "tls-wrong-ca", 1, "tls"},
      {"a CA whose key may sign no certificate",
       [](Scene& s) {
         serve_below(s, {NID_key_usage, "critical,digitalSignature"});
       },
       "tls-wrong-ca", 1, "tls"},
      {"a CA for other names",
       [](Scene& s) {
         serve_below(s, {NID_name_constraints, "critical,permitted;IP:10.0.0.0/255.0.0.0"});
       },
       "tls-wrong-ca", 1, "tls"},
      {"a CA below one that allows none",
       [](Scene& s) {
         const auto& root = kept(make_identity(
             {.common_name = "root",
              .is_ca = true,
              .extensions = {{NID_basic_constraints, "critical,CA:TRUE,pathlen:0"}}}));
         const auto& middle =
             kept(make_identity({.common_name = "middle", .is_ca = true, .issuer = &root}));
         s.serve({.server = {.issuer = &middle}, .tls = {.chain = {&middle}}});
         s.ca = root.pem;
       },
       "tls-wrong-ca", 1, "tls"},
      {"a server without TLS",
       [](Scene& s) {
         s.server = local(plain_server([](Stream& stream) {
                            stream.write("HTTP/1.1 400 Bad Request\r\n\r\n");
                            stream.wait_for_close();
                          }).port());
       },
       "tls-no-https", 1, "tls"},
      {"a server of SSH",
       [](Scene& s) {
         s.server = local(plain_server([](Stream& stream) {
                            stream.write("SSH-2.0-OpenSSH_9.2\r\n");
                            stream.wait_for_close();
                          }).port());
       },
       "tls-no-https", 1, "tls"},
      {"a server that closes in the handshake",
       [](Scene& s) {
         s.server = local(plain_server([](Stream& stream) { stream.read(16); }).port());
       },
       "tls-failed", 3, "tls"},
      {"a server that says nothing in the handshake",
       [](Scene& s) {
         s.server = local(plain_server([](Stream& stream) { stream.wait_for_close(); }).port());
         s.arguments = {kShortTimeout};
       },
       "tls-failed", 3, "tls"},
      {"a server of TLS 1.2 that requires a client certificate",
       [](Scene& s) {
         const auto& known = kept(make_ca("known client CA"));
         s.serve({.tls = {.greatest_version = TLS1_2_VERSION, .client_ca = &known}});
       },
       "tls-failed", 3, "tls"},
      {"a server that has only TLS 1.1",
       [](Scene& s) {
         s.serve({.tls = {.least_version = TLS1_VERSION, .greatest_version = TLS1_1_VERSION}});
       },
       "tls-protocol", 3, "tls"},
      {"nothing is verified",
       [](Scene& s) {
         s.ca = "";
         s.more_of_cluster = R"(,"insecure-skip-tls-verify":true)";
       },
       "tls-insecure", 0, "tls"},
      {"the CA ends soon", [](Scene& s) { s.warn_before = "3000d"; }, "ca-expires-soon", 0, "tls"},

      // The server's answers.
      {"a web server", [](Scene& s) { reply_with(s, 404, "<html>no</html>"); },
       "not-a-kubernetes-api", 1, "authenticate"},
      {"a redirect to another server",
       [](Scene& s) { reply_with(s, 302, "", "Location: https://example.com/\r\n"); },
       "not-a-kubernetes-api", 1, "authenticate"},
      {"401 without a Status", [](Scene& s) { reply_with(s, 401, "Unauthorized"); },
       "not-a-kubernetes-api", 1, "authenticate"},
      {"403 without a Status", [](Scene& s) { reply_with(s, 403, "{}"); }, "not-a-kubernetes-api",
       1, "authenticate"},
      {"200 with something else", [](Scene& s) { reply_with(s, 200, R"({"ok":true})"); },
       "not-a-kubernetes-api", 1, "authenticate"},
      {"500", [](Scene& s) { reply_with(s, 500, R"({"kind":"Status"})"); }, "server-error", 3,
       "authenticate"},
      {"503", [](Scene& s) { reply_with(s, 503, "no backend"); }, "server-error", 3,
       "authenticate"},
      {"429", [](Scene& s) { reply_with(s, 429, R"({"kind":"Status"})"); }, "server-throttled", 3,
       "authenticate"},
      {"no reply",
       [](Scene& s) {
         s.serve({.converse = [](Stream& stream) { stream.wait_for_close(); }});
         s.arguments = {kShortTimeout};
       },
       "server-error", 3, "authenticate"},
      {"a reply that trickles",
       [](Scene& s) {
         s.serve({.converse = [](Stream& stream) {
           stream.read_request();
           stream.write("HTTP/1.1 201 Created\r\nContent-Length: 100000\r\n\r\n");
           const timespec pause = {.tv_sec = 0, .tv_nsec = 20'000'000};
           while (stream.write(" ")) nanosleep(&pause, nullptr);
         }});
         s.arguments = {kShortTimeout};
       },
       "server-error", 3, "authenticate"},
      {"a head without an end",
       [](Scene& s) {
         s.serve({.converse = [](Stream& stream) {
           stream.read_request();
           stream.write("HTTP/1.1 200 OK\r\n");
           while (stream.write("X-More: " + std::string(1000, 'x') + "\r\n")) {
           }
         }});
       },
       "not-a-kubernetes-api", 1, "authenticate"},
      {"a reply of 100 MB", [](Scene& s) { reply_with(s, 200, std::string(100'000'000, ' ')); },
       "not-a-kubernetes-api", 1, "authenticate"},
      {"a reply that is cut",
       [](Scene& s) {
         s.serve({.converse = [](Stream& stream) {
           stream.read_request();
           stream.write("HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\n{");
           stream.cut();
         }});
       },
       "server-error", 3, "authenticate"},
      {"not HTTP",
       [](Scene& s) {
         s.serve({.converse = [](Stream& stream) {
           stream.read_request();
           stream.write("220 mail.example.com ESMTP\r\n");
           stream.wait_for_close();
         }});
       },
       "not-a-kubernetes-api", 1, "authenticate"},
      {"the token's issuer is not in the server's file",
       [](Scene& s) { refuse_all(s, person_jwt("https://other.example.com", "kubernetes")); },
       "unauthorized-unknown-issuer", 1, "authenticate"},
      {"the token's audience is not in the server's file",
       [](Scene& s) { refuse_all(s, person_jwt("https://idp.example.com", "other")); },
       "unauthorized-audience", 1, "authenticate"},
      {"the token fits the server's file, and is refused",
       [](Scene& s) { refuse_all(s, person_jwt("https://idp.example.com", "kubernetes")); },
       "unauthorized-other", 1, "authenticate"},
      {"an unknown token without the server's file",
       [](Scene& s) { s.write_token(person_jwt("https://idp.example.com", "kubernetes")); },
       "unauthorized-other", 1, "authenticate"},
      {"an opaque token that is not known", [](Scene& s) { s.write_token("opaque"); },
       "unauthorized-other", 1, "authenticate"},
      {"a ServiceAccount of another cluster's issuer, which the server's file could trust",
       [](Scene& s) {
         publish_issuer(s, "https://this.example.com", R"({"keys":[]})");
         s.write_token(jwt_for(3600));
       },
       "unauthorized-other", 1, "authenticate"},
      {"a ServiceAccount of another cluster's issuer, which the server's file does not have",
       [](Scene& s) {
         publish_issuer(s, "https://this.example.com", R"({"keys":[]})");
         refuse_all(s, jwt_for(3600));
       },
       "unauthorized-unknown-issuer", 1, "authenticate"},
      {"a ServiceAccount's token of a foreign key under the cluster's own issuer",
       [](Scene& s) {
         publish_issuer(s, "https://issuer.example.com", Signer().keys());
         s.write_token(jwt_for(3600));
       },
       "unauthorized-unknown-issuer", 1, "authenticate"},
      {"a ServiceAccount's token, and the cluster does not publish its issuer",
       [](Scene& s) { s.write_token(jwt_for(3600)); }, "unauthorized-other", 1, "authenticate"},
      {"a deleted ServiceAccount, which anonymous callers can see",
       [](Scene& s) {
         publish_issuer(s, "https://issuer.example.com", "{}", gone_account());
         s.write_token(jwt_for(3600, kBoundToAccount));
       },
       "unauthorized-revoked", 1, "authenticate"},
      {"a ServiceAccount that was deleted and created again",
       [](Scene& s) {
         publish_issuer(s, "https://issuer.example.com", "{}", other_account());
         s.write_token(jwt_for(3600, kBoundToAccount));
       },
       "unauthorized-revoked", 1, "authenticate"},
      {"a certificate of a CA that the server does not ask for",
       [](Scene& s) {
         const auto& known = kept(make_ca("known client CA"));
         s.serve({.tls = {.asks_for_certificate = true, .names = {&known}}});
         s.api->answer([](const ApiRequest&) { return unauthorized(); });
         const auto& foreign = kept(make_ca("foreign CA"));
         const auto& identity = kept(make_identity({.common_name = "jane", .issuer = &foreign}));
         give_certificate(s, identity, identity);
       },
       "unauthorized-unknown-ca", 1, "authenticate"},
      {"a certificate of a known CA that is refused",
       [](Scene& s) {
         const auto& known = kept(make_ca("known client CA"));
         s.serve({.tls = {.asks_for_certificate = true, .names = {&known}}});
         s.api->answer([](const ApiRequest&) { return unauthorized(); });
         const auto& identity = kept(make_identity({.common_name = "jane", .issuer = &known}));
         give_certificate(s, identity, identity);
       },
       "unauthorized-other", 1, "authenticate"},
      {"the server's clock is far ahead",
       [](Scene& s) {
         s.write_token(jwt_for(3600));
         s.api->answer([](const ApiRequest&) {
           ApiReply reply = unauthorized();
           reply.headers = "Date: Thu, 01 Jan 2099 00:00:00 GMT\r\n";
           return reply;
         });
       },
       "clock-skew", 1, "clock"},
      {"the server treats every caller as anonymous",
       [](Scene& s) {
         s.api->answer([](const ApiRequest&) { return review_of("system:anonymous"); });
       },
       "anonymous", 1, "authenticate"},
      {"the server's user is the same without the credential",
       [](Scene& s) { s.api->answer([](const ApiRequest&) { return review_of("proxy"); }); },
       "anonymous", 1, "authenticate"},
      {"403 for the anonymous user, with the credential",
       [](Scene& s) { s.api->answer([](const ApiRequest&) { return anonymous_forbidden(); }); },
       "anonymous", 1, "authenticate"},
      {"403 without a Status to the question of --can",
       [](Scene& s) { answer_access_review(s, {.status = 403, .body = "<html>"}); },
       "not-a-kubernetes-api", 1, "authorize"},
      {"401 to the question of --can", [](Scene& s) { answer_access_review(s, unauthorized()); },
       "unauthorized-other", 1, "authorize"},
      {"the user may not do it", [](Scene& s) { s.arguments = {"--can=delete/pods@default"}; },
       "forbidden", 1, "authorize"},
  };
  return kFaults;
}

}  // namespace

TEST_CASE("corpus: each fault has its cause, its step and its exit code" *
          doctest::description("promise 23")) {
  REQUIRE(faults().size() >= 60);
  for (const Fault& fault : faults()) {
    CAPTURE(std::string(fault.what));
    Around here;
    around = &here;
    {
      Scene scene;
      fault.make(scene);
      const Outcome outcome = scene.run({"-o", "json"});
      CAPTURE(outcome.output);
      CAPTURE(outcome.error_output);
      const Found found = read_found(outcome.output);
      CHECK(found.cause == fault.cause);
      CHECK(outcome.exit_code == fault.exit_code);
      CHECK(found.result == (fault.exit_code == 0 ? "warn" : "fail"));
      const auto step = found.steps.find(fault.step);
      CHECK((step != found.steps.end() && step->second == found.result));
      // The output does not have the token.
      CHECK(outcome.output.find(scene.token) == std::string::npos);
    }
    around = nullptr;
  }
}

// A cluster names only the first of its ServiceAccount issuers, but the keys of all. Its
// authentication configuration may trust further https issuers.
TEST_CASE("corpus: unauthorized-unknown-issuer is the cause only if the issuer cannot be trusted") {
  const std::string own = "https://this.example.com";
  const std::string other = "https://other.example.com";
  const std::string legacy = "kubernetes/serviceaccount";
  constexpr const char* kUnknown = "unauthorized-unknown-issuer";
  constexpr const char* kOther = "unauthorized-other";
  const Signer cluster;
  const Signer stranger;
  struct Case {
    std::string issuer;
    const Signer& signer;
    std::string keys;  // that the cluster publishes
    bool has_file;
    const char* cause;
    std::string told;  // part of the message
  };
  const std::string keys = cluster.keys();
  const std::string unreadable = "{}";
  const std::string how = "--authentication-config=PATH, the server's own file, tells it";
  for (const Case& row : std::vector<Case>{
           {own, stranger, keys, false, kUnknown, "no key of the cluster signed the token"},
           {own, stranger, keys, true, kUnknown, "no key of the cluster signed the token"},
           {own, cluster, keys, false, kOther, "the key is the cluster's own"},
           {own, cluster, unreadable, false, kOther, "its issuer is the cluster's own"},
           {other, stranger, keys, false, kOther, "no key of the cluster signed it; whether"},
           {other, stranger, keys, false, kOther, how},
           {other, stranger, unreadable, false, kOther, how},
           {other, stranger, keys, true, kUnknown, "no key of the cluster signed it"},
           {other, stranger, unreadable, true, kUnknown, "does not have the token's issuer"},
           // A second --service-account-issuer.
           {other, cluster, keys, false, kOther, "--service-account-issuer must name that issuer"},
           {other, cluster, keys, true, kOther, "--service-account-issuer must name that issuer"},
           // No authentication configuration can name these.
           {"http://other", stranger, keys, false, kUnknown, "no key of the cluster signed it"},
           {"http://other", stranger, unreadable, false, kOther, "its issuer is 'http://other'"},
           {legacy, stranger, keys, false, kUnknown, "no key of the cluster signed the token"},
           {legacy, cluster, keys, false, kOther, "the key is the cluster's own"}}) {
    CAPTURE(row.issuer);
    CAPTURE(row.has_file);
    CAPTURE(row.keys);
    Scene scene;
    publish_issuer(scene, own, row.keys);
    const std::string token = row.signer.token_of(row.issuer);
    scene.write_token(token);
    if (row.has_file) refuse_all(scene, token);
    const Outcome outcome = scene.run({"-o", "json"});
    CAPTURE(outcome.output);
    const Found found = read_found(outcome.output);
    CHECK(found.cause == row.cause);
    CHECK(outcome.exit_code == 1);
    CHECK(found.messages.at("authenticate").find(row.told) != std::string::npos);
  }
}

// Another cluster has objects of the same names, and tokens of the same issuer's name.
TEST_CASE("corpus: unauthorized-revoked is the cause only of a token that is the cluster's own") {
  const std::string own = "https://this.example.com";
  const std::string other = "https://other.example.com";
  constexpr const char* kRevoked = "unauthorized-revoked";
  constexpr const char* kOther = "unauthorized-other";
  const Signer cluster;
  const Signer stranger;
  const std::string keys = cluster.keys();
  struct Case {
    std::string issuer;  // of the token
    const Signer& signer;
    std::string published;  // the cluster's issuer
    std::string keys;
    const char* cause;
  };
  for (const Case& row :
       std::vector<Case>{{own, cluster, own, keys, kRevoked},
                         {other, cluster, own, keys, kRevoked},
                         {own, cluster, own, "{}", kRevoked},
                         {own, stranger, own, keys, "unauthorized-unknown-issuer"},
                         {other, stranger, own, keys, kOther},
                         {other, stranger, own, "{}", kOther},
                         {other, stranger, own, R"({"keys":[]})", kOther},
                         {"kubernetes/serviceaccount", stranger, own, "{}", kOther},
                         {other, stranger, "", keys, kOther}}) {
    for (const ApiReply& account : {gone_account(), other_account()}) {
      CAPTURE(row.issuer);
      CAPTURE(row.published);
      CAPTURE(row.keys);
      Scene scene;
      publish_issuer(scene, row.published, row.keys, account);
      scene.write_token(row.signer.token_of(row.issuer, kBoundToAccount));
      const Found found = read_found(scene.run({"-o", "json"}).output);
      CHECK(found.cause == row.cause);
    }
  }
}

TEST_CASE("corpus: a question of --can that is not answered is a failure, whose cause is unknown") {
  for (const ApiReply& reply : std::vector<ApiReply>{
           {.status = 404, .body = R"({"kind":"Status","status":"Failure","code":404})"},
           {.status = 422, .body = R"({"kind":"Status","status":"Failure","code":422})"},
           {.status = 302, .body = "", .headers = "Location: https://idp.example.com/\r\n"},
           {.status = 200, .body = "<html>"},
           {.status = 201, .body = "zz"},
           {.status = 201, .body = R"({"kind":"SelfSubjectAccessReview","status":{}})"},
           {.status = 201,
           .body = R"({"kind":"SelfSubjectAccessReview","status":{"allowed":"true"}})"}}) {
    CAPTURE(reply.status);
    CAPTURE(reply.body);
    Scene scene;
    answer_access_review(scene, reply);
    const Outcome outcome = scene.run({"-o", "json"});
    CAPTURE(outcome.output);
    CHECK(outcome.exit_code == 1);
    CHECK(read_found(outcome.output).cause == "");
    CHECK(read_found(outcome.output).steps.at("authorize") == "fail");
    CHECK(outcome.output.find("kubectl auth can-i") != std::string::npos);
  }
}

TEST_CASE("corpus: a server may hide its reviews from callers without a credential") {
  Scene scene;
  scene.arguments = {"--can=get/pods"};
  scene.api->answer([](const ApiRequest& request) -> ApiReply {
    if (!request.token.empty()) return {.status = 0};
    return {.status = 404, .body = R"({"kind":"Status","status":"Failure","code":404})"};
  });
  const Outcome outcome = scene.run({"-o", "json"});
  CAPTURE(outcome.output);
  CHECK(outcome.exit_code == 0);
}

TEST_CASE("corpus: without a key of the token's algorithm, nothing is known of its signature") {
  const std::string own = "https://this.example.com";
  const std::string other_kind = R"({"keys":[{"kty":"OKP","crv":"Ed25519","x":"AA"}]})";
  for (const std::string& keys : {std::string(R"({"keys":[]})"), other_kind}) {
    Scene scene;
    publish_issuer(scene, own, keys);
    scene.write_token(Signer().token_of(own));
    const Found found = read_found(scene.run({"-o", "json"}).output);
    CHECK(found.cause == "unauthorized-other");
  }
}

TEST_CASE("corpus: if a token was sent too, its certificate is not the cause of a 401") {
  Around lifetime;
  around = &lifetime;
  for (const char* const token : {"opaque", ""}) {
    Scene scene;
    const auto& known = kept(make_ca("known client CA"));
    scene.serve({.tls = {.asks_for_certificate = true, .names = {&known}}});
    scene.api->answer([](const ApiRequest&) { return unauthorized(); });
    const auto& foreign = kept(make_ca("foreign CA"));
    const auto& identity = kept(make_identity({.common_name = "jane", .issuer = &foreign}));
    give_certificate(scene, identity, identity,
                     *token == 0 ? "" : R"(,"token":")" + std::string(token) + "\"");
    const Found found = read_found(scene.run({"-o", "json"}).output);
    CHECK(found.cause == (*token == 0 ? "unauthorized-unknown-ca" : "unauthorized-other"));
    CHECK(found.messages.at("authenticate").find("which is none of the 1 CAs") !=
          std::string::npos);
  }
  around = nullptr;
}

// A token that has expired when doctor looks at it is "credential-expired". So a slow machine tries
// again with a token that lives longer.
TEST_CASE("corpus: a token that expires before the server checks it is unauthorized-expired") {
  Found found;
  for (std::int64_t life = 2; life <= 8; life *= 2) {
    Scene scene;
    run_script(scene, "x", printing_credential(R"({"token":")" + jwt_for(life) + R"("})"));
    const std::int64_t end = seconds_since_epoch() + life;
    // Waits a second more: the server's Date comes from a coarser clock, which may still show the
    // second before.
    scene.api->answer([end](const ApiRequest&) {
      blackbox::wait_until([end] { return seconds_since_epoch() > end; });
      return unauthorized();
    });
    const Outcome outcome = scene.run({"-o", "json"});
    found = read_found(outcome.output);
    CAPTURE(outcome.output);
    CHECK(outcome.exit_code == 1);
    if (found.steps["credential"] == "ok") break;
  }
  CHECK(found.cause == "unauthorized-expired");
  CHECK(found.steps["authenticate"] == "fail");
  CHECK(found.messages["authenticate"].find("the token ended at ") != std::string::npos);
}

TEST_CASE("corpus: a cluster that works has no cause") {
  const Scene scene;
  const Outcome outcome = scene.run({"-o", "json", "--can=get/pods@default"});
  const Found found = read_found(outcome.output);
  CAPTURE(outcome.output);
  CHECK(outcome.exit_code == 0);
  CHECK(found.result == "ok");
  CHECK(found.cause.empty());
  CHECK(found.user == "jane");
  CHECK(found.steps.size() == 12);
  CHECK(found.steps.at("authorize") == "ok");
  CHECK(found.steps.at("proxy") == "skipped");
}
