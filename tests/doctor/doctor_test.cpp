// SPDX-License-Identifier: Apache-2.0
// execcred doctor: what it examines, what it writes, and its exit codes.
#include "build_kind.hpp"
#include "plugin_under_test.hpp"
#include "rig.hpp"

#include <doctest/doctest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>

using namespace doctor_test;
using blackbox::Command;
using blackbox::jwt_for;
using blackbox::read_text;

namespace {

namespace fs = std::filesystem;

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// A list of `count` ClusterProfiles, which are like that of the scene.
std::string many(const Scene& scene, std::size_t count) {
  const nlohmann::json one = nlohmann::json::parse(scene.profile_text());
  nlohmann::json list = {
      {"apiVersion", "v1"}, {"kind", "List"}, {"items", nlohmann::json::array()}};
  for (std::size_t i = 0; i < count; ++i) {
    list["items"].push_back(one);
    list["items"].back()["metadata"]["name"] = "c" + std::to_string(i);
  }
  return list.dump();
}

Outcome run_doctor(std::vector<std::string> arguments) {
  Command command;
  command.arguments = {kCli, "doctor"};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  command.environment = {"PATH=/usr/bin:/bin"};
  return blackbox::run(command);
}

std::string http_date(long seconds_from_now) {
  const std::time_t time = std::time(nullptr) + seconds_from_now;
  std::tm parts = {};
  gmtime_r(&time, &parts);
  std::array<char, 64> text = {};
  std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return text.data();
}

std::string kubeconfig(const Scene& scene, std::string_view user, std::string_view current) {
  return R"({"apiVersion":"v1","kind":"Config","current-context":")" + std::string(current) +
         R"(","clusters":[{"name":"c","cluster":{"server":")" + scene.server +
         R"(","certificate-authority-data":")" + blackbox::base64(scene.ca) + "\"" +
         scene.more_of_cluster + R"(}}],"users":[{"name":"u","user":)" + std::string(user) +
         R"(}],"contexts":[{"name":"one","context":{"cluster":"c","user":"u"}},)"
         R"({"name":"two","context":{"cluster":"none","user":"u"}}]})";
}

}  // namespace

TEST_CASE("doctor: the text has a line for each step, and no secret") {
  const Scene scene;
  const Outcome outcome = scene.run({"--debug"});
  CHECK(outcome.exit_code == 0);
  for (const char* const step : {"profile", "mapping", "program", "run", "credential", "name",
                                 "connect", "proxy", "tls", "clock", "authenticate", "authorize"}) {
    CHECK(has(outcome.output, "\n  " + std::string(step) + " "));
  }
  CHECK(has(outcome.output, "user 'jane'"));
  CHECK(has(outcome.output, "POST /apis/authentication.k8s.io/v1/selfsubjectreviews"));
  CHECK_FALSE(has(outcome.output + outcome.error_output, scene.token));
}

TEST_CASE("doctor: the token is sent only to the verified server") {
  Scene scene;
  const FakeApi thief(scene.token);
  scene.api->answer([&thief](const ApiRequest&) -> ApiReply {
    return {.status = 307, .headers = "Location: " + thief.url() + "/\r\n"};
  });
  CHECK(read_found(scene.run({"-o", "json"}).output).cause == "not-a-kubernetes-api");
  CHECK(thief.requests().empty());

  Scene insecure;
  insecure.ca = "";
  insecure.more_of_cluster = R"(,"insecure-skip-tls-verify":true)";
  const Found found = read_found(insecure.run({"-o", "json"}).output);
  CHECK(found.steps.at("authenticate") == "skipped");
  for (const ApiRequest& request : insecure.api->requests()) CHECK(request.token.empty());
}

TEST_CASE("doctor: SSLKEYLOGFILE has no effect" * doctest::description("promise 17")) {
  Scene scene;
  const std::string log = scene.sandbox.at("keys");
  scene.environment = {"SSLKEYLOGFILE=" + log};
  CHECK(scene.run().exit_code == 0);
  CHECK_FALSE(fs::exists(log));
}

TEST_CASE("doctor: --no-request sends no request") {
  const Scene scene;
  const Outcome outcome = scene.run({"--no-request", "-o", "json"});
  const Found found = read_found(outcome.output);
  CHECK(outcome.exit_code == 0);
  CHECK(found.steps.at("tls") == "ok");
  CHECK(found.steps.at("clock") == "skipped");
  CHECK(found.steps.at("authenticate") == "skipped");
  CHECK(scene.api->requests().empty());
}

TEST_CASE("doctor: a credential that the server accepts is no failure, even if it looks expired") {
  Scene scene;
  const std::string old = jwt_for(-3600);
  scene.sandbox.write("answer",
                      R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
                      R"("status":{"token":")" +
                          old + "\"}}",
                      0600);
  scene.command = scene.sandbox.script("give", "cat " + scene.sandbox.at("answer"));
  scene.args = {};
  scene.token = old;
  scene.serve({});
  const Outcome outcome = scene.run({"-o", "json"});
  const Found found = read_found(outcome.output);
  CHECK(outcome.exit_code == 0);
  CHECK(found.steps.at("authenticate") == "ok");
  CHECK(found.steps.at("credential") == "warn");
}

TEST_CASE("doctor: a client certificate is presented to the server, and its key is not shown") {
  Scene scene;
  const execcred::test::Identity ca = execcred::test::make_ca("client CA");
  const execcred::test::Identity jane =
      execcred::test::make_identity({.common_name = "jane", .issuer = &ca});
  scene.serve({.tls = {.asks_for_certificate = true, .names = {&ca}}});
  scene.sandbox.write("answer",
                      R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
                      R"("status":{"clientCertificateData":)" +
                          blackbox::json_string(jane.pem) + R"(,"clientKeyData":)" +
                          blackbox::json_string(jane.key_pem) + "}}",
                      0600);
  scene.command = scene.sandbox.script("give", "cat " + scene.sandbox.at("answer"));
  scene.args = {};
  const Outcome outcome = scene.run({"-o", "json"});
  CAPTURE(outcome.output);
  CHECK(outcome.exit_code == 0);
  CHECK(read_found(outcome.output).user == "jane");
  CHECK_FALSE(has(outcome.output, "PRIVATE KEY"));
}

TEST_CASE("doctor: requests go through the proxy, whose password is not shown") {
  Scene scene;
  const std::uint16_t port = scene.api->port();
  std::mutex mutex;
  std::string asked;  // under mutex
  execcred::test::StreamServer proxy([&mutex, &asked, port](execcred::test::Stream& stream) {
    const std::string request = stream.read_request();
    {
      const std::scoped_lock lock(mutex);
      asked = request;
    }
    stream.write("HTTP/1.1 200 Connection established\r\n\r\n");
    const int server = execcred::test::connect_to(port);
    stream.join(server);
    close(server);
  });
  scene.more_of_cluster =
      R"(,"proxy-url":"http://me:word@127.0.0.1:)" + std::to_string(proxy.port()) + "\"";
  const Outcome outcome = scene.run({"-o", "json"});
  CAPTURE(outcome.output);
  CHECK(outcome.exit_code == 0);
  CHECK(read_found(outcome.output).steps.at("proxy") == "ok");
  const std::string path = scene.sandbox.write(
      "config", kubeconfig(scene, R"({"token":")" + scene.token + "\"}", "one"), 0600);
  const Outcome other = run_doctor({"--kubeconfig", path, "-o", "json"});
  CAPTURE(other.output);
  CHECK(other.exit_code == 0);
  CHECK(read_found(other.output).steps.at("proxy") == "ok");
  const std::scoped_lock lock(mutex);
  CHECK(has(asked, "Proxy-Authorization: Basic " + blackbox::base64("me:word")));
  CHECK_FALSE(has(outcome.output + other.output, "word@"));
}

TEST_CASE("doctor: what is wrong in a proxy's URL is told, with the field or the variable") {
  Scene scene;
  scene.more_of_cluster = R"(,"proxy-url":"http://127.0.0.1:9/?path")";
  CHECK(read_found(scene.run({"-o", "json"}).output).messages.at("profile") ==
        "its proxy-url has a query");
  scene.more_of_cluster.clear();
  scene.environment = {"HTTPS_PROXY=http://proxy:9/?path"};
  scene.server = "https://api.example.com";
  CHECK_REFUSAL(scene.run({"-o", "json"}), 2, "HTTPS_PROXY has a query");
}

TEST_CASE("doctor: before Kubernetes 1.28, no user is known, an anonymous answer is no success") {
  const Scene scene;
  const auto old = [](bool is_open) {
    return [is_open](const ApiRequest& request) -> ApiReply {
      if (request.path.ends_with("/selfsubjectreviews")) {
        return status_reply(404, "NotFound", "the server could not find the requested resource");
      }
      if (request.token.empty() && !is_open) return anonymous_forbidden();
      return {.status = 201,
              .body = R"({"kind":"SelfSubjectAccessReview","status":{"allowed":false}})"};
    };
  };
  scene.api->answer(old(false));
  const Outcome closed = scene.run({"-o", "json"});
  CHECK(closed.exit_code == 0);
  CHECK(read_found(closed.output).user.empty());
  scene.api->answer(old(true));
  CHECK(read_found(scene.run({"-o", "json"}).output).cause == "anonymous");
}

TEST_CASE("doctor: a 403 that names the user is an identity") {
  const Scene scene;
  scene.api->answer([](const ApiRequest& request) -> ApiReply {
    if (request.token.empty()) return {.status = 0};
    return status_reply(403, "Forbidden", "forbidden: User \"mary\" cannot create resource");
  });
  const Found found = read_found(scene.run({"-o", "json"}).output);
  CHECK(found.result == "ok");
  CHECK(found.user == "mary");
}

TEST_CASE("doctor: a program's messages are shown without escapes and tokens, and are cut") {
  Scene scene;
  scene.command = scene.sandbox.script(
      "x", "printf '\\033[31mred " + scene.token + " %05000d\\n' 1 >&2; exit 1");
  scene.args = {};
  for (const char* const format : {"text", "json", "html", "wide"}) {
    const Outcome outcome = scene.run({"-o", format});
    CHECK(has(outcome.output, "red"));
    CHECK_FALSE(has(outcome.output, "\x1b"));
    CHECK_FALSE(has(outcome.output, scene.token));
    CHECK_FALSE(has(outcome.output, std::string(1100, '0')));
  }
}

TEST_CASE("doctor: what a plugin of execcred warns of is a warning of its run") {
  Scene scene;
  const std::string print =
      "printf '%s' '" +
      std::string(R"({"kind":"ExecCredential","apiVersion":)"
                  R"("client.authentication.k8s.io/v1","status":{"token":")") +
      scene.token + "\"}}'";
  scene.args = {};
  for (const std::string name : {"execcred-aws", "another"}) {
    CAPTURE(name);
    scene.command = scene.sandbox.script(
        name, "echo '" + name + ": warning: no credential is cached' >&2\n" + print);
    const Outcome outcome = scene.run();
    CHECK(outcome.exit_code == 0);
    CHECK((outcome.output.find("no credential is cached") != std::string::npos) ==
          (name == "execcred-aws"));
  }
}

TEST_CASE("doctor: the words of a program that execcred-wrap runs are in the failure of its run") {
  struct Run {
    std::string body;
    std::string cause;
    std::string said;  // by the program
  };
  for (const Run& wrapped : std::vector<Run>{
           {"echo first >&2; echo 'AccessDenied: not yours' >&2; exit 4", "program-failed",
            "AccessDenied: not yours"},
           {"echo 'waits for its login' >&2; exec /bin/sleep 300", "program-timeout",
            "waits for its login"},
           {"echo 'out of luck' >&2; kill -ABRT $$", "program-crashed", "out of luck"},
           {"echo 'no session' >&2; echo none", "program-output-invalid", "no session"},
           {"", "program-missing", ""},
       }) {
    if (wrapped.body.empty() && !blackbox::kSaysWhyNotStarted) continue;
    CAPTURE(wrapped.cause);
    Scene scene;
    const std::string program = wrapped.body.empty() ? scene.sandbox.at("absent")
                                                     : scene.sandbox.script("login", wrapped.body);
    scene.command = EXECCRED_BIN "/execcred-wrap";
    scene.args = {"--command=[\"" + program + "\"]", "--timeout=2s",
                  "--allow-server=" + scene.server};
    const Outcome outcome = scene.run({"-o", "json"});
    CAPTURE(outcome.output);
    const Found found = read_found(outcome.output);
    CHECK(found.cause == wrapped.cause);
    CHECK(found.steps.at("run") == "fail");
    CHECK(has(found.messages.at("run"), wrapped.said));
    CHECK(has(found.messages.at("run"), program));
    CHECK_FALSE(has(found.messages.at("run"), "first"));
  }
}

TEST_CASE("doctor: many clusters are a table, failures first, with a summary") {
  Scene scene;
  nlohmann::json list = nlohmann::json::parse(many(scene, 3));
  list["items"][2]["status"] = nlohmann::json::object();
  scene.profile = list.dump();
  const Outcome outcome = scene.run();
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.output.starts_with("CLUSTER   PROVIDER  RESULT  CAUSE        USER  EXPIRES"));
  CHECK(outcome.output.find("fleet/c2") < outcome.output.find("fleet/c0"));
  CHECK(has(outcome.output, "3 clusters: 2 ok, 0 warn, 1 fail"));
  CHECK(has(outcome.output, "1  no-provider"));
  CHECK(outcome.error_output.empty());
}

TEST_CASE("doctor: permanent failures come before temporary ones, and these before warnings") {
  Scene scene;
  nlohmann::json list = nlohmann::json::parse(many(scene, 3));
  list["items"][0]["status"]["conditions"].push_back({{"type", "Joined"}, {"status", "False"}});
  list["items"][1]["status"]["accessProviders"][0]["cluster"]["server"] =
      "https://server.invalid:6443";
  list["items"][2]["status"] = nlohmann::json::object();
  scene.profile = list.dump();
  const Outcome all = scene.run({"-o", "json"});
  CAPTURE(all.output);
  CHECK(all.exit_code == 1);
  CHECK(read_found(all.output, 0).cause == "profile-unhealthy");
  CHECK(read_found(all.output, 1).cause == "name-unknown");
  CHECK(read_found(all.output, 2).cause == "no-provider");
  const nlohmann::json yaml_like = nlohmann::json::parse(all.output);
  const std::string yaml = scene.run({"-o", "yaml"}).output;
  for (const nlohmann::json& item : yaml_like["items"]) {
    CHECK(has(yaml, "name: " + item["name"].get<std::string>() + "\n"));
    CHECK(has(yaml, "cause: " + item["cause"].get<std::string>() + "\n"));
  }
  CHECK(scene.run({"-o", "name"}).output == "fleet/c1\nfleet/c2\nfleet/c0\n");
  const std::string wide = scene.run({"-o", "wide"}).output;
  CHECK(has(wide.substr(0, wide.find('\n')), "MESSAGE"));
  CHECK(has(wide, "cannot be resolved"));
  list["items"].erase(2);
  scene.profile = list.dump();
  CHECK(scene.run().exit_code == 3);
  list["items"].erase(1);
  scene.profile = list.dump();
  CHECK(scene.run().exit_code == 0);
}

TEST_CASE("doctor: a thousand clusters are all in the output, in the order of the source") {
  constexpr std::size_t kClusters = blackbox::kWithTsan ? 200 : 1000;
  Scene scene;
  scene.profile = many(scene, kClusters);
  const Outcome outcome = scene.run({"-o", "json", "--parallel=32", "--no-request"});
  CHECK(outcome.exit_code == 0);
  const nlohmann::json items = nlohmann::json::parse(outcome.output)["items"];
  REQUIRE(items.size() == kClusters);
  for (std::size_t i = 0; i < items.size(); ++i) {
    CHECK(items[i]["name"] == "c" + std::to_string(i));
    CHECK(items[i]["result"] == "ok");
  }
}

TEST_CASE("doctor: an invalid document with a name is an item, one without is an error on stderr") {
  Scene scene;
  scene.profile =
      scene.profile_text() +
      "\n---\n{\"apiVersion\":\"multicluster.x-k8s.io/v1alpha9\",\"kind\":"
      "\"ClusterProfile\",\"metadata\":{\"name\":\"broken\"}}\n---\n"
      "{\"apiVersion\":\"multicluster.x-k8s.io/v1alpha1\",\"kind\":\"ClusterProfile\"}\n";
  const Outcome outcome = scene.run({"-o", "json"});
  CHECK(outcome.exit_code == 1);
  CHECK(nlohmann::json::parse(outcome.output)["items"].size() == 2);
  CHECK(read_found(outcome.output, 1).cause == "profile-invalid");
  CHECK(has(outcome.error_output, "metadata"));
}

TEST_CASE("doctor: a ClusterProfile with an invalid name is an item, shown without its escapes") {
  Scene scene;
  scene.profile = R"({"apiVersion":"multicluster.x-k8s.io/v1alpha1","kind":"ClusterProfile",)"
                  R"("metadata":{"namespace":"fleet","name":"Bad_\u001b[31m\u0085Name"}})";
  for (const char* const format : {"text", "json", "yaml", "name", "wide", "prometheus", "html"}) {
    CAPTURE(format);
    const Outcome outcome = scene.run({"-o", format});
    CAPTURE(outcome.error_output);
    CHECK(outcome.exit_code == 1);
    CHECK(has(outcome.output, "Bad_"));
    CHECK(has(outcome.output, "[31m"));
    const std::string all = outcome.output + outcome.error_output;
    CHECK_FALSE(has(all, "\x1b"));
    CHECK_FALSE(has(all, "\xc2\x85"));
  }
  CHECK(read_found(scene.run({"-o", "json"}).output).cause == "profile-invalid");
}

TEST_CASE("doctor: an expired token is the cause only if the server's clock agrees") {
  Scene scene;
  const std::string ended = jwt_for(-3600);
  scene.sandbox.write("answer",
                      R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
                      R"("status":{"token":")" +
                          ended + "\"}}",
                      0600);
  scene.command = scene.sandbox.script("give", "cat " + scene.sandbox.at("answer"));
  scene.args = {};
  const auto refuse_at = [&scene](const std::string& date) {
    scene.api->answer([date](const ApiRequest&) {
      ApiReply reply = unauthorized();
      reply.headers = "Date: " + date + "\r\n";
      return reply;
    });
    return read_found(scene.run({"-o", "json"}).output);
  };
  const Found refuted = refuse_at(http_date(-7200));
  CHECK(refuted.cause == "unauthorized-other");
  CHECK(refuted.steps.at("credential") == "warn");
  const Found shared = refuse_at(http_date(0));
  CHECK(shared.cause == "credential-expired");
  CHECK(shared.steps.at("credential") == "fail");
}

TEST_CASE("doctor: a TLS 1.2 server that requires the client certificate accepts it") {
  Scene scene;
  const execcred::test::Identity ca = execcred::test::make_ca("client CA");
  const execcred::test::Identity jane =
      execcred::test::make_identity({.common_name = "jane", .issuer = &ca});
  scene.serve({.tls = {.greatest_version = TLS1_2_VERSION, .client_ca = &ca}});
  // The file of the certificate also has the key, as the kubelet writes it.
  const std::string both = scene.sandbox.write("both.pem", jane.pem + jane.key_pem, 0600);
  const std::string user =
      R"({"client-certificate":")" + both + R"(","client-key":")" + both + R"("})";
  const std::string path = scene.sandbox.write("kubeconfig", kubeconfig(scene, user, "one"), 0600);
  const Outcome outcome = run_doctor({"--kubeconfig", path, "-o", "json", "--warn-before=1h"});
  CAPTURE(outcome.output);
  CHECK(outcome.exit_code == 0);
  const Found found = read_found(outcome.output);
  CHECK(found.user == "jane");
  CHECK(has(found.messages.at("tls"), "which the server requires"));
}

namespace {

// The text without ports, times and the version of TLS.
std::string without_digits(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isdigit(c) != 0; });
  return text;
}

}  // namespace

TEST_CASE(
    "doctor: a server that judges the client certificate is reported alike in TLS 1.2 and 1.3") {
  const execcred::test::Identity ca = execcred::test::make_ca("client CA");
  const execcred::test::Identity other_ca = execcred::test::make_ca("another CA");
  const execcred::test::Identity jane =
      execcred::test::make_identity({.common_name = "jane", .issuer = &ca});
  const execcred::test::Identity stranger =
      execcred::test::make_identity({.common_name = "jane", .issuer = &other_ca});
  const std::string wants = "asked for a client certificate, and refused the handshake without one";
  const std::string refused = "refused the client certificate: ";
  struct Case {
    const execcred::test::Identity* certificate;
    int error;  // by which the server refuses each certificate
    std::string told;
  };
  for (const Case& row : std::vector<Case>{
           {nullptr, 0, wants},
           {&jane, 0, ""},
           {&stranger, 0, refused + "unknown CA"},
           {&jane, X509_V_ERR_CERT_REJECTED, refused + "bad certificate"},
           {&jane, X509_V_ERR_CERT_HAS_EXPIRED, refused + "certificate expired"},
           {&jane, X509_V_ERR_CERT_REVOKED, refused + "certificate revoked"},
           {&jane, X509_V_ERR_INVALID_PURPOSE, refused + "unsupported certificate"},
           {&jane, X509_V_ERR_APPLICATION_VERIFICATION, refused + "handshake failure"},
           {&jane, X509_V_ERR_SUBTREE_MINMAX, refused + "certificate unknown"}}) {
    std::vector<Found> found;
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
      CAPTURE(row.told);
      CAPTURE(version);
      Scene scene;
      scene.serve({.tls = {.least_version = version,
                           .greatest_version = version,
                           .client_ca = &ca,
                           .client_error = row.error}});
      if (row.certificate != nullptr) {
        scene.command = scene.sandbox.script("give", "cat " + scene.sandbox.at("answer"));
        scene.args = {};
        scene.sandbox.write(
            "answer",
            R"({"kind":"ExecCredential","apiVersion":)"
            R"("client.authentication.k8s.io/v1","status":{"clientCertificateData":)" +
                blackbox::json_string(row.certificate->pem) + R"(,"clientKeyData":)" +
                blackbox::json_string(row.certificate->key_pem) + "}}",
            0600);
      }
      const Outcome outcome = scene.run({"-o", "json", "--can=get/pods"});
      CAPTURE(outcome.output);
      found.push_back(read_found(outcome.output));
      const bool works = row.told.empty();
      CHECK(outcome.exit_code == (works ? 0 : 3));
      CHECK(found.back().cause == (works ? "" : "tls-failed"));
      CHECK(found.back().steps.at("tls") == (works ? "ok" : "fail"));
      CHECK(found.back().steps.at("authenticate") == (works ? "ok" : "skipped"));
      CHECK(has(found.back().messages.at("tls"), works ? "which the server requires" : row.told));
      // The step `clock` tells a second or two of a slow run.
      for (const char* const step : {"tls", "authenticate", "authorize"}) {
        std::string& message = found.back().messages.at(step);
        message = without_digits(message);
        CHECK(message == found.front().messages.at(step));
      }
    }
    CHECK(found.front().steps == found.back().steps);
  }
}

TEST_CASE("doctor: a proxy that wants a client certificate is reported alike in TLS 1.2 and 1.3") {
  const execcred::test::Identity ca = execcred::test::make_ca("client CA");
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    CAPTURE(version);
    Scene scene;
    Scene proxy;
    proxy.serve({.tls = {.least_version = version, .greatest_version = version, .client_ca = &ca}});
    scene.ca = proxy.api->ca_pem();
    scene.more_of_cluster = R"(,"proxy-url":")" + proxy.server + R"(")";
    const Outcome outcome = scene.run({"-o", "json"});
    CAPTURE(outcome.output);
    const Found found = read_found(outcome.output);
    CHECK(outcome.exit_code == 3);
    CHECK(found.cause == "proxy-failed");
    CHECK(has(found.messages.at("proxy"), proxy.server + " asked for a client certificate"));
  }
}

TEST_CASE("doctor: a begin within the tolerance of API servers does not hide the wrong audience") {
  Scene scene;
  const std::int64_t now = blackbox::seconds_since_epoch();
  scene.write_token(
      blackbox::make_jwt(R"({"iss":"https://idp.example.com","sub":"jane","aud":"other","nbf":)" +
                         std::to_string(now) + R"(,"exp":)" + std::to_string(now + 3600) + "}"));
  scene.api->answer([](const ApiRequest&) {
    ApiReply reply = unauthorized();
    reply.headers = "Date: " + http_date(-30) + "\r\n";
    return reply;
  });
  const std::string config = scene.sandbox.write(
      "auth.yaml",
      "apiVersion: apiserver.config.k8s.io/v1beta1\nkind: AuthenticationConfiguration\njwt:\n"
      "- issuer: {url: \"https://idp.example.com\", audiences: [kubernetes]}\n"
      "  claimMappings: {username: {claim: sub, prefix: \"\"}}\n");
  const Outcome outcome = scene.run({"-o", "json", "--authentication-config", config});
  CAPTURE(outcome.output);
  CHECK(read_found(outcome.output).cause == "unauthorized-audience");
}

TEST_CASE(
    "doctor: a rule of the server's AuthenticationConfiguration that a token breaks is named") {
  struct Case {
    std::string rules;   // of the authenticator, after its issuer
    std::string claims;  // of the token
    std::string told;
  };
  const std::string by_sub = "  claimMappings: {username: {claim: sub, prefix: \"\"}}\n";
  const std::string by_email = "  claimMappings: {username: {claim: email, prefix: \"\"}}\n";
  const std::string of_team = "  claimValidationRules: [{claim: team, requiredValue: fleet}]\n";
  for (const Case& c : std::vector<Case>{
           {by_sub + of_team, R"(,"team":"other")",
            "the server demands the claim 'team' to be 'fleet', and it is 'other'"},
           {by_sub + of_team, "",
            "the server demands the claim 'team' to be 'fleet', and it is not there"},
           {by_email, "",
            "the server takes the user's name from the claim 'email', which the token does not "
            "have"},
           {by_email, R"(,"email":"a@example.com","email_verified":false)",
            "'email_verified' is not true"},
           {by_sub + "  claimValidationRules: [{expression: \"claims.team == 'fleet'\"}]\n", "",
            "the server's rules, which are not evaluated here: claims.team == 'fleet'"}}) {
    CAPTURE(c.told);
    Scene scene;
    scene.write_token(blackbox::make_jwt(
        R"({"iss":"https://idp.example.com","sub":"jane","aud":"kubernetes","exp":)" +
        std::to_string(blackbox::seconds_since_epoch() + 3600) + c.claims + "}"));
    scene.api->answer([](const ApiRequest&) { return unauthorized(); });
    const std::string config = scene.sandbox.write(
        "auth.yaml",
        "apiVersion: apiserver.config.k8s.io/v1beta1\nkind: AuthenticationConfiguration\njwt:\n"
        "- issuer: {url: \"https://idp.example.com\", audiences: [kubernetes]}\n" +
            c.rules);
    const Outcome outcome = scene.run({"-o", "json", "--authentication-config", config});
    CAPTURE(outcome.output);
    CHECK(read_found(outcome.output).cause == "unauthorized-other");
    CHECK(has(outcome.output, c.told));
  }
}

TEST_CASE("doctor: a token that ends soon is shown with its issuer and audience") {
  const Scene scene;
  const std::string user = R"({"token":")" + scene.token + R"("})";
  const std::string path = scene.sandbox.write("kubeconfig", kubeconfig(scene, user, "one"), 0600);
  const Outcome outcome = run_doctor({"--kubeconfig", path, "-o", "json", "--warn-before=30d"});
  CAPTURE(outcome.output);
  const Found found = read_found(outcome.output);
  CHECK(found.cause == "credential-expires-soon");
  CHECK(has(found.messages.at("credential"), "JWT of issuer"));
  CHECK(has(found.messages.at("credential"), "nothing renews it"));
}

// An API server's OIDC authenticator takes an "exp" that is a text.
TEST_CASE("doctor: of a token whose end is a text, only the server says that it is refused") {
  Scene scene;
  const std::string token =
      blackbox::make_jwt(R"({"iss":"https://idp.example.com","sub":"jane","exp":"4102444800"})");
  const std::string path = scene.sandbox.write(
      "kubeconfig", kubeconfig(scene, R"({"token":")" + token + R"("})", "one"), 0600);
  scene.api->answer([&token](const ApiRequest& request) {
    const bool is_known = request.token == token && request.path.ends_with("selfsubjectreviews");
    return is_known ? review_of("jane") : ApiReply{.status = 0};
  });
  const Outcome accepted = run_doctor({"--kubeconfig", path, "-o", "json"});
  CAPTURE(accepted.output);
  CHECK(read_found(accepted.output).steps.at("authenticate") == "ok");
  CHECK(has(read_found(accepted.output).messages.at("credential"),
            "the token's 'exp' claim is a string, not a number"));
  CHECK_FALSE(has(accepted.output, "refuse"));

  scene.api->answer([](const ApiRequest&) { return unauthorized(); });
  const Outcome refused = run_doctor({"--kubeconfig", path, "-o", "json"});
  CAPTURE(refused.output);
  CHECK(refused.exit_code == 1);
  CHECK(read_found(refused.output).cause == "unauthorized-other");
  CHECK(has(read_found(refused.output).messages.at("authenticate"),
            "no claims of the token can be read"));
}

TEST_CASE("doctor: a program behind a link into a folder that others may write is a warning") {
  Scene scene;
  const std::string folder = scene.sandbox.at("open");
  fs::create_directory(folder);
  scene.sandbox.script("open/give", "exit 0");
  fs::permissions(folder, fs::perms::all);
  fs::create_symlink(folder + "/give", scene.sandbox.at("give"));
  scene.command = scene.sandbox.at("give");
  scene.args = {};
  const Found found = read_found(scene.run({"-o", "json"}).output);
  CHECK(found.steps.at("program") == "warn");
  CHECK(has(found.messages.at("program"), "writable by others"));
}

TEST_CASE("doctor: if no thread can be started, a look-up fails, and doctor reports it") {
  if (blackbox::kWithTsan) {
    MESSAGE("skipped: the sanitizer starts a thread of its own");
    return;
  }
  Scene scene;
  scene.server = "https://nobody.invalid:6443";
  blackbox::Command command = scene.doctor_command({"-o", "json"});
  command.before_exec = [] {
    constexpr unsigned kFlags = offsetof(seccomp_data, args);
    std::array<sock_filter, 8> program = {
        {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 4, 0),
         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 2),
         BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kFlags),
         BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 2, 0),
         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN)}};
    const sock_fprog filter = {.len = program.size(), .filter = program.data()};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
  };
  const Outcome outcome = blackbox::run(command);
  CAPTURE(outcome.error_output);
  CHECK(outcome.exit_code == 3);
  const Found found = read_found(outcome.output);
  CHECK(found.cause == "name-unknown");
  CHECK(has(found.messages.at("name"), "no thread can be started"));
}

TEST_CASE("doctor: every denial of --can is shown, and is worse than a server error") {
  const Scene scene;
  scene.api->answer([](const ApiRequest& request) -> ApiReply {
    const bool is_nodes = request.body.find("\"nodes\"") != std::string::npos;
    return is_nodes ? status_reply(503, "ServiceUnavailable", "busy") : ApiReply{.status = 0};
  });
  for (const char* const first : {"--can=get/nodes", "--can=delete/pods"}) {
    const Outcome outcome = scene.run(
        {"-o", "json", first, "--can=delete/pods", "--can=update/secrets", "--can=get/nodes"});
    const Found found = read_found(outcome.output);
    CHECK(outcome.exit_code == 1);
    CHECK(found.cause == "forbidden");
    for (const char* const told : {"delete/pods", "update/secrets", "get/nodes"}) {
      CHECK(has(found.messages.at("authorize"), told));
    }
  }
  CHECK(scene.run({"--can=get/nodes"}).exit_code == 3);
}

TEST_CASE("doctor: before Kubernetes 1.28, a server that is too busy for a check is a failure") {
  const Scene scene;
  for (const int status : {429, 503}) {
    scene.api->answer([status](const ApiRequest& request) -> ApiReply {
      if (request.path.ends_with("/selfsubjectreviews")) {
        return status_reply(404, "NotFound", "the server could not find the requested resource");
      }
      if (request.token.empty()) return status_reply(status, "Busy", "busy");
      return {.status = 201,
              .body = R"({"kind":"SelfSubjectAccessReview","status":{"allowed":false}})"};
    });
    const Outcome outcome = scene.run({"-o", "json"});
    CHECK(outcome.exit_code == 3);
    CHECK(read_found(outcome.output).cause ==
          (status == 429 ? "server-throttled" : "server-error"));
  }
}

TEST_CASE("doctor: a server that is too busy for the anonymous request proves no user") {
  const Scene scene;
  for (const int status : {429, 500}) {
    scene.api->answer([status](const ApiRequest& request) -> ApiReply {
      return request.token.empty() ? status_reply(status, "Busy", "busy") : review_of("gateway");
    });
    const Outcome outcome = scene.run({"-o", "json"});
    CHECK(outcome.exit_code == 3);
    CHECK(read_found(outcome.output).user.empty());
    CHECK(read_found(outcome.output).cause ==
          (status == 429 ? "server-throttled" : "server-error"));
  }
}

TEST_CASE("doctor: a Date that no clock here can hold is far away, and not wrapped around") {
  const Scene scene;
  for (const bool is_late : {true, false}) {
    scene.api->answer([is_late](const ApiRequest& request) -> ApiReply {
      ApiReply reply = request.token.empty() ? unauthorized() : review_of("jane");
      reply.headers = is_late ? "Date: Fri, 31 Dec 9999 23:59:59 GMT\r\n"
                              : "Date: Mon, 01 Jan 1601 00:00:00 GMT\r\n";
      return reply;
    });
    const Found found = read_found(scene.run({"-o", "json"}).output);
    CHECK(found.steps.at("clock") == "warn");
    CHECK(has(found.messages.at("clock"), is_late ? " ahead" : " behind"));
  }
}

TEST_CASE("doctor: --timeout limits the whole step, even if each single reply is in time") {
  Scene scene;
  scene.arguments = {"--timeout=600ms"};
  scene.serve({.converse = [](execcred::test::Stream& stream) {
    // Each single reply comes within the limit, and closes its connection.
    stream.read_request();
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    stream.write("HTTP/1.1 404 X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  }});
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = scene.run({"-o", "json"});
  CHECK(read_found(outcome.output).cause == "server-error");
  CHECK(outcome.exit_code == 3);
  CHECK(has(read_found(outcome.output).messages.at("authenticate"), "within 600ms"));
  CHECK(std::chrono::steady_clock::now() - start < blackbox::kPatience);
}

TEST_CASE("doctor: unusable options and input files end it with 2") {
  Scene scene;
  CHECK_REFUSAL(run_doctor({}), 2, "neither -m with ClusterProfiles nor --kubeconfig alone");
  CHECK_REFUSAL(run_doctor({"-m", "/none", "-f", "/none"}), 2, "cannot read '/none': No such file");
  CHECK_FAILURE(scene.run({"--provider=none"}), 2, "provider 'none' is not in the mapping");
  CHECK_REFUSAL(scene.run({"--can=pods"}), 2, "'pods' has no '/' between verb and resource");
  CHECK_REFUSAL(scene.run({"--parallel=0"}), 2, "--parallel: '0' is no number from 1 to 256");
  CHECK_FAILURE(run_doctor({"--kubeconfig=x", "--warn-before=-1h"}), 2,
                "--warn-before: '-1h' is negative");
  CHECK_FAILURE(run_doctor({"--kubeconfig=x", "--warn-before=30"}), 2,
                "write it as 30d, 12h or 90m");
  CHECK_REFUSAL(run_doctor({"--kubeconfig=x", "--allow-empty"}), 2,
                "--name, --provider and --allow-empty are for ClusterProfiles");
  CHECK_FAILURE(scene.run({"--authentication-config=/none"}), 2, "cannot read '/none'");
  CHECK_REFUSAL(scene.run({"--name=none"}), 2, "holds no ClusterProfile named 'none'");
  CHECK_REFUSAL(scene.run({"--all-contexts"}), 2, "--all-contexts is given with -m");
  CHECK_REFUSAL(scene.run({"-o", "xml"}), 2, "--output: 'xml' is no output format");
  scene.mapping = "{";
  CHECK_REFUSAL(scene.run(), 2, "no valid JSON at line 1");
  scene.mapping = R"({"provider":[]})";
  CHECK_REFUSAL(scene.run(), 2, "providers is missing");
}

TEST_CASE("doctor: a kubeconfig's token, token file, plugin and contexts") {
  const Scene scene;
  const auto examine = [&scene](std::string_view user, std::vector<std::string> more = {}) {
    const std::string path = scene.sandbox.write("config", kubeconfig(scene, user, "one"), 0600);
    std::vector<std::string> arguments = {"--kubeconfig", path, "-o", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_doctor(arguments);
  };
  const Outcome token = examine(R"({"token":")" + scene.token + "\"}");
  CAPTURE(token.output);
  CHECK(token.exit_code == 0);
  // A token of an hour, which nothing renews.
  CHECK(read_found(token.output).cause == "credential-expires-soon");
  CHECK(read_found(token.output).user == "jane");
  CHECK_FALSE(has(token.output, scene.token));
  CHECK(read_found(examine(R"({"token":")" + scene.token + "\"}", {"--warn-before=1m"}).output)
            .cause.empty());

  // A credential in a file may be renewed, so that its end is no warning.
  const Outcome file = examine(R"({"tokenFile":"token"})", {"--warn-before=2h"});
  CHECK(read_found(file.output).steps.at("credential") == "ok");
  CHECK(read_found(examine(R"({"tokenFile":"none"})").output).cause == "source-missing");

  const Outcome exec =
      examine(R"({"exec":{"apiVersion":"client.authentication.k8s.io/v1","command":")" +
                  kTokenFile + R"(","args":["--token-file=)" + scene.sandbox.at("token") +
                  R"("],"interactiveMode":"Never"}})",
              {"--warn-before=1h"});
  CAPTURE(exec.output);
  CHECK(read_found(exec.output).result == "ok");
  CHECK(read_found(exec.output).user == "jane");

  scene.sandbox.script("bin", "exec " + kTokenFile + " \"$@\"");
  const std::string folder = scene.sandbox.path().filename().native();
  for (const std::string& path : {std::string("./bin"), "../" + folder + "/bin"}) {
    const Outcome relative =
        examine(R"({"exec":{"apiVersion":"client.authentication.k8s.io/v1","command":")" + path +
                    R"(","args":["--token-file=)" + scene.sandbox.at("token") +
                    R"("],"interactiveMode":"Never"}})",
                {"--warn-before=1h"});
    CAPTURE(relative.output);
    CHECK(read_found(relative.output).user == "jane");
  }

  CHECK(read_found(examine("{}").output).cause == "no-provider");
  CHECK(examine(R"({"tokenFile":"token"})", {"--context=one", "--warn-before=1h"}).exit_code == 0);
  const Outcome all = examine(R"({"token":")" + scene.token + "\"}", {"--all-contexts"});
  CHECK(nlohmann::json::parse(all.output)["items"].size() == 2);
  CHECK(read_found(all.output, 1).cause == "profile-invalid");
  CHECK_FAILURE(examine("{}", {"--context=three"}), 2, "context 'three'");
  const std::string none =
      scene.sandbox.write("config", kubeconfig(scene, R"({"token":"x"})", ""), 0600);
  CHECK_REFUSAL(run_doctor({"--kubeconfig", none}), 2, "current-context");
}

// The headers are those that client-go sends for the same kubeconfig.
TEST_CASE("doctor: a kubeconfig's as, as-uid, as-groups and as-user-extra are sent") {
  const Scene scene;
  scene.api->answer([](const ApiRequest& request) -> ApiReply {
    if (request.impersonation.empty()) return {.status = 0};
    if (request.path.ends_with("/selfsubjectreviews")) return review_of("bob");
    return {.status = 201,
            .body = R"({"kind":"SelfSubjectAccessReview","status":{"allowed":false}})"};
  });
  const std::string user = R"({"token":")" + scene.token +
                           R"(","as":"bob","as-uid":"7","as-groups":["a b","c"],"as-user-extra":)"
                           R"({"Example.com/Tea%":["x","y"],"z":[]}})";
  const std::string path = scene.sandbox.write("config", kubeconfig(scene, user, "one"), 0600);
  const Outcome outcome = run_doctor({"--kubeconfig", path, "-o", "json", "--warn-before=1m",
                                      "--can=get/pods", "--can=list/nodes"});
  CAPTURE(outcome.output);
  const Found found = read_found(outcome.output);
  CHECK(outcome.exit_code == 1);
  CHECK(found.user == "bob");
  CHECK(found.cause == "forbidden");
  CHECK(has(found.messages.at("profile"), "acting as 'bob'"));
  CHECK(has(found.messages.at("authenticate"), "by impersonation"));
  CHECK(found.steps.at("authorize") == "fail");
  const std::vector<std::string> sent = {"Impersonate-User: bob",
                                         "Impersonate-Uid: 7",
                                         "Impersonate-Group: a b",
                                         "Impersonate-Group: c",
                                         "Impersonate-Extra-example.com%2Ftea%25: x",
                                         "Impersonate-Extra-example.com%2Ftea%25: y"};
  std::size_t as_bob = 0;
  for (const ApiRequest& request : scene.api->requests()) {
    CHECK(request.impersonation == (request.token.empty() ? std::vector<std::string>() : sent));
    if (!request.token.empty()) ++as_bob;
  }
  CHECK(as_bob == 3);
}

TEST_CASE("doctor: a kubeconfig's as cannot add a header") {
  const Scene scene;
  for (const char* const field :
       {R"("as":"a\r\nX: y")", R"("as":"a","as-uid":"a\nX: y")",
        R"("as":"a","as-groups":["b\nX: y"])", R"("as":"a","as-user-extra":{"b":["c\r\nX: y"]})",
        R"("as":"a","as-user-extra":{"b: c\r\nX":["y"]})"}) {
    CAPTURE(field);
    const std::string user = R"({"token":")" + scene.token + "\"," + field + "}";
    const std::string path = scene.sandbox.write("config", kubeconfig(scene, user, "one"), 0600);
    run_doctor({"--kubeconfig", path, "-o", "json"});
  }
  for (const ApiRequest& request : scene.api->requests()) {
    for (const std::string& line : request.head) CHECK_FALSE(line.starts_with("X:"));
  }
}

TEST_CASE("doctor: a missing right to impersonate is told as such") {
  struct Case {
    ApiReply reply;
    const char* cause;
    std::string told;
  };
  const auto forbidden = [](std::string_view message) {
    return status_reply(403, "Forbidden", message);
  };
  for (const Case& row : std::vector<Case>{
           {forbidden(
                R"(users "bob" is forbidden: User "jane" cannot impersonate resource "users" )"
                R"(in API group "" at the cluster scope)"),
            "forbidden", "knows the user 'jane', who may not act as 'bob': users \"bob\""},
           {forbidden(
                R"(groups "g" is forbidden: User "bob" cannot impersonate resource "groups")"),
            "forbidden", "who may not act as 'bob': groups \"g\""},
           // The impersonation is allowed.
           {forbidden(R"(selfsubjectreviews is forbidden: User "bob" cannot create resource)"), "",
            "user 'bob', by impersonation"},
           {review_of("bob"), "", "user 'bob'"},
           {review_of("jane"), "unauthorized-other", "takes the caller for 'jane'"},
           {unauthorized(), "unauthorized-other", "401"}}) {
    CAPTURE(row.told);
    const Scene scene;
    scene.api->answer([&row](const ApiRequest& request) -> ApiReply {
      return request.impersonation.empty() ? ApiReply{.status = 0} : row.reply;
    });
    const std::string user = R"({"token":")" + scene.token + R"(","as":"bob"})";
    const std::string path = scene.sandbox.write("config", kubeconfig(scene, user, "one"), 0600);
    const Outcome outcome = run_doctor({"--kubeconfig", path, "-o", "json", "--warn-before=1m"});
    CAPTURE(outcome.output);
    const Found found = read_found(outcome.output);
    const bool works = row.cause == std::string();
    CHECK(found.cause == row.cause);
    CHECK(outcome.exit_code == (works ? 0 : 1));
    CHECK(found.user == (works ? "bob" : ""));
    CHECK(found.steps.at("authenticate") == (works ? "ok" : "fail"));
    CHECK(has(found.messages.at("authenticate"), row.told));
  }
}

TEST_CASE("doctor: the token beside a tokenFile is the one that client-go sends") {
  const Scene scene;
  scene.sandbox.write("empty", " \n", 0600);
  fs::create_directory(scene.sandbox.at("folder"));
  scene.sandbox.write("words", "two words", 0600);
  struct Case {
    std::string user;
    std::string cause;  // empty: it works
  };
  const std::string token = R"("token":")" + scene.token + "\",";
  const std::string other = R"("token":"other",)";
  for (const Case& row : std::vector<Case>{{token + R"("tokenFile":"none")", ""},
                                           {token + R"("tokenFile":"empty")", ""},
                                           {token + R"("tokenFile":"folder")", ""},
                                           {other + R"("tokenFile":"token")", ""},
                                           {other + R"("tokenFile":"none")", "unauthorized-other"},
                                           {token + R"("tokenFile":"words")", "source-refused"},
                                           {R"("tokenFile":"none")", "source-missing"},
                                           {R"("tokenFile":"empty")", "source-missing"}}) {
    CAPTURE(row.user);
    const std::string path =
        scene.sandbox.write("config", kubeconfig(scene, "{" + row.user + "}", "one"), 0600);
    const Outcome outcome = run_doctor({"--kubeconfig", path, "-o", "json", "--warn-before=1m"});
    CAPTURE(outcome.output);
    const Found found = read_found(outcome.output);
    CHECK(found.cause == row.cause);
    CHECK(outcome.exit_code == (row.cause.empty() ? 0 : 1));
    CHECK(found.user == (row.cause.empty() ? "jane" : ""));
  }
}

TEST_CASE("doctor: a client key that clients cannot read is a fault of the kubeconfig") {
  const Scene scene;
  const execcred::test::Identity jane = execcred::test::make_identity({.common_name = "jane"});
  const std::string certificate = scene.sandbox.write("jane.crt", jane.pem, 0600);
  for (const std::string& key : {"  " + jane.key_pem, "\xef\xbb\xbf" + jane.key_pem, jane.pem,
                                 std::string("no key"), jane.key_pem.substr(0, 80)}) {
    CAPTURE(key.substr(0, 20));
    const std::string file = scene.sandbox.write("jane.key", key, 0600);
    for (const std::string& field :
         {R"("client-key":")" + file, R"("client-key-data":")" + blackbox::base64(key)}) {
      const std::string user = R"({"client-certificate":")" + certificate + R"(",)" + field + "\"}";
      const Outcome outcome = run_doctor(
          {"--kubeconfig", scene.sandbox.write("config", kubeconfig(scene, user, "one"), 0600),
           "-o", "json", "--warn-before=1h"});
      CAPTURE(outcome.output);
      const Found found = read_found(outcome.output);
      CHECK(outcome.exit_code == 1);
      CHECK(found.cause == "profile-invalid");
      CHECK(found.steps.at("credential") == "fail");
      CHECK(has(found.messages.at("credential"), "the client's key is no private key in PEM"));
      CHECK(found.steps.at("authenticate") == "skipped");
    }
  }
}

TEST_CASE("doctor: a kubeconfig's command is found as Go finds it, and nothing else is run") {
  const Scene scene;
  const std::string ran = scene.sandbox.at("ran");
  const std::string body =
      ": > " + ran + "\nexec " + kTokenFile + " --token-file=" + scene.sandbox.at("token");
  scene.sandbox.script("tool", body);  // beside the kubeconfig, and in the current directory
  scene.sandbox.script("bin/tool", body);
  scene.sandbox.write("data/tool", "no program", 0644);
  fs::create_directories(scene.sandbox.at("folder/tool"));
  const std::string bin = scene.sandbox.at("bin");
  constexpr const char* kNowhere = "'tool' is in no folder of PATH";
  struct Case {
    std::string command;
    std::optional<std::string> path;
    std::string refusal;  // empty: it runs
  };
  for (const Case& row : std::vector<Case>{
           {"tool", "/usr/bin:/bin", kNowhere},
           {"tool", "", kNowhere},
           {"tool", std::nullopt, kNowhere},
           {"tool", ":/usr/bin", "'tool' is found only through '' in PATH"},
           {"tool", "/usr/bin:", "'tool' is found only through '' in PATH"},
           {"tool", ".", "'tool' is found only through '.' in PATH"},
           {"tool", "bin", "'tool' is found only through 'bin' in PATH"},
           {"tool", "bin:" + bin, "'tool' is found only through 'bin' in PATH"},
           {"tool", "/none:" + scene.sandbox.at("data") + ":" + scene.sandbox.at("folder"),
            kNowhere},
           {"tool", scene.sandbox.at("data") + ":" + scene.sandbox.at("folder") + ":" + bin, ""},
           {"./tool", "/usr/bin", ""},
           {"bin/tool", "/usr/bin", ""},
           {"folder/../tool", "/usr/bin", ""},
           {bin + "/tool", "/usr/bin", ""},
           {"tool -x", bin, "'tool -x' is in no folder of PATH"},
           {bin + "/tool -x", bin, "tool -x': No such file or directory"},
           {"./other", bin, "'" + scene.sandbox.at("other") + "': No such file or directory"}}) {
    CAPTURE(row.command);
    CAPTURE(row.path.value_or("(none)"));
    fs::remove(ran);
    const std::string user = R"({"exec":{"apiVersion":"client.authentication.k8s.io/v1",)"
                             R"("command":")" +
                             row.command + R"(","interactiveMode":"Never"}})";
    Command command;
    command.arguments = {kCli,
                         "doctor",
                         "--kubeconfig",
                         scene.sandbox.write("config", kubeconfig(scene, user, "one"), 0600),
                         "-o",
                         "json",
                         "--warn-before=1h"};
    if (row.path) command.environment = {"PATH=" + *row.path};
    command.before_exec = [folder = scene.sandbox.path().native()] {
      if (chdir(folder.c_str()) != 0) _exit(1);
    };
    const Outcome outcome = blackbox::run(command);
    CAPTURE(outcome.output);
    const Found found = read_found(outcome.output);
    CHECK(fs::exists(ran) == row.refusal.empty());
    CHECK(outcome.exit_code == (row.refusal.empty() ? 0 : 1));
    CHECK(found.cause == (row.refusal.empty() ? "" : "program-missing"));
    CHECK(found.steps.at("program") == (row.refusal.empty() ? "ok" : "fail"));
    CHECK(has(found.messages.at("program"), row.refusal));
    if (row.command.find(' ') == std::string::npos) continue;
    command.arguments[5] = "text";
    CHECK(has(blackbox::run(command).output, "hint: write only the program as the command"));
  }
}

TEST_CASE("doctor: a kubeconfig of 700 clusters is read, as lint and migrate read it") {
  Scene scene;
  std::string text = kubeconfig(scene, R"({"token":"kept-secret-1"})", "one");
  const std::string ca(2'000, 'A');
  const std::size_t clusters = text.find("\"clusters\":[") + std::string("\"clusters\":[").size();
  std::string more;
  for (int i = 0; i < 700; ++i) {
    more += R"({"name":"spoke-)" + std::to_string(i) + R"(","cluster":{"server":"https://h)" +
            std::to_string(i) + R"(.example.com","certificate-authority-data":")" + ca + R"("}},)";
  }
  text.insert(clusters, more);
  REQUIRE(text.size() > 1024 * 1024);
  Command command;
  command.arguments = {kCli, "doctor", "--kubeconfig",    scene.sandbox.write("config", text, 0600),
                       "-o", "json",   "--warn-before=1h"};
  const Outcome outcome = blackbox::run(command);
  CAPTURE(outcome.output);
  CHECK(read_found(outcome.output).steps.at("credential") == "ok");
  CHECK_FALSE(has(outcome.output, "larger than"));
}

TEST_CASE("doctor: -o prometheus writes metrics") {
  Scene scene;
  nlohmann::json list = nlohmann::json::parse(many(scene, 2));
  list["items"][1]["status"] = nlohmann::json::object();
  scene.profile = list.dump();
  const std::string text = scene.run({"-o", "prometheus"}).output;
  const std::string labels = R"({namespace="fleet",name="c0",provider="p")";
  CHECK(has(text, "execcred_cluster_ok" + labels + "} 1\n"));
  CHECK(
      has(text,
          R"(execcred_cluster_ok{namespace="fleet",name="c1",provider="",cause="no-provider"} 0)"));
  CHECK(has(text, "execcred_credential_expiry_timestamp_seconds" + labels + "} "));
  CHECK(has(text, "execcred_ca_expiry_timestamp_seconds" + labels + "} "));
  CHECK(has(text, "# TYPE execcred_check_duration_seconds gauge"));
}

// Several files can have ClusterProfiles of one name.
TEST_CASE("doctor: without verification, no certificate is called the cluster's CA") {
  Scene scene;
  scene.ca = "";
  scene.more_of_cluster = R"(,"insecure-skip-tls-verify":true)";
  scene.warn_before = "36500d";
  const Found found = read_found(scene.run({"-o", "json"}).output);
  CHECK(found.cause == "tls-insecure");
  CHECK_FALSE(has(found.messages.at("tls"), "CA '"));
  CHECK_FALSE(has(scene.run({"-o", "prometheus"}).output, "execcred_ca_expiry_timestamp_seconds{"));
}

TEST_CASE("doctor: of ClusterProfiles with equal names, -o prometheus has the worst values") {
  Scene scene;
  scene.token = "opaque";
  scene.serve({});
  const std::int64_t soon = blackbox::seconds_since_epoch() + 600;
  scene.args = {std::to_string(soon), std::to_string(soon + 600), scene.token};
  scene.command = scene.sandbox.script("give", R"(
case $KUBERNETES_EXEC_INFO in *ending*) end=$1;; *) end=$2;; esac
echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{' \
  '"token":"'$3'","expirationTimestamp":"'$(date -u -d @$end +%Y-%m-%dT%H:%M:%SZ)'"}}')");
  nlohmann::json list = nlohmann::json::parse(many(scene, 3));
  std::vector<nlohmann::json> items = list["items"];
  for (nlohmann::json& item : items) item["metadata"]["name"] = "c";
  const auto cluster = [](nlohmann::json& item) -> nlohmann::json& {
    return item["status"]["accessProviders"][0]["cluster"];
  };
  cluster(items[1])["server"] = "https://127.0.0.1:1";
  cluster(items[2])["extensions"] = {
      {{"name", "client.authentication.k8s.io/exec"}, {"extension", {{"is", "ending"}}}}};
  const std::string labels = R"({namespace="fleet",name="c",provider="p")";
  std::ranges::sort(items);
  do {
    list["items"] = items;
    scene.profile = list.dump();
    const std::string text = scene.run({"-o", "prometheus"}).output;
    CAPTURE(text);
    const std::string series = "\nexeccred_cluster_ok" + labels;
    CHECK(has(text, series + R"(,cause="connect-refused"} 0)"));
    CHECK(text.find(series) == text.rfind(series));
    CHECK(has(text, "execcred_credential_expiry_timestamp_seconds" + labels + "} " +
                        std::to_string(soon) + "\n"));
    CHECK(has(text, "execcred_ca_expiry_timestamp_seconds" + labels + "} "));
  } while (std::ranges::next_permutation(items).found);
}

TEST_CASE(
    "doctor: --output-file replaces a link itself, prints nothing, and leaves no other file") {
  const Scene scene;
  const std::string folder = scene.sandbox.at("out");
  fs::create_directory(folder);
  const std::string target = scene.sandbox.write("target", "old");
  fs::create_symlink(target, folder + "/report");
  const Outcome outcome = scene.run({"-o", "json", "--output-file", folder + "/report"});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.output.empty());
  CHECK(read_text(target) == "old");
  CHECK(read_found(read_text(folder + "/report")).result == "ok");
  CHECK(std::distance(fs::directory_iterator(folder), fs::directory_iterator()) == 1);
  CHECK_FAILURE(scene.run({"--output-file", scene.sandbox.at("no/such/x")}), 2,
                "cannot write '" + scene.sandbox.at("no/such/x") + "': No such file or directory");
  CHECK(has(scene.run({"--output-file", "-"}).output, "result: ok"));
}

TEST_CASE("doctor: an --output-file that is no regular file is refused before any connection") {
  const Scene scene;
  const std::string folder = scene.sandbox.at("folder");
  fs::create_directory(folder);
  const std::string pipe = scene.sandbox.at("pipe");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  for (const std::string& path : {folder, pipe}) {
    const Outcome outcome = scene.run({"-o", "html", "--output-file", path});
    CHECK_FAILURE(outcome, 2, "cannot write '" + path + "': it is no regular file");
    CHECK_FALSE(fs::is_regular_file(path));
  }
  CHECK(fs::is_empty(folder));
  CHECK(scene.api->connections() == 0);
}

TEST_CASE("doctor: a file or an archive that cannot be written is refused before any connection") {
  const Scene scene;
  for (const std::string option : {"--output-file=", "--bundle="}) {
    CHECK_FAILURE(scene.run({option + scene.sandbox.at("none/x")}), 2,
                  "writing " + option.substr(0, option.size() - 1));
  }
  const std::string path = scene.sandbox.at("one");
  CHECK_REFUSAL(scene.run({"--output-file=" + path, "--bundle=" + scene.sandbox.at(".//one")}), 2,
                "--bundle and --output-file name the same file");
  CHECK_REFUSAL(scene.run({"--bundle=-"}), 2, "--bundle is written to a file");
  CHECK_FALSE(fs::exists(path));
  CHECK(scene.api->connections() == 0);
}

TEST_CASE("doctor: if the disk is full at the end, the result is on standard output") {
  Scene scene;
  // The limit is doctor's alone: ThreadSanitizer writes files in each program that it is part of.
  scene.command =
      scene.sandbox.script("plugin", "ulimit -f unlimited; exec " + scene.command + " \"$@\"");
  const std::string report = scene.sandbox.at("report");
  const std::string archive = scene.sandbox.at("archive");
  blackbox::Command command =
      scene.doctor_command({"-o", "json", "--output-file=" + report, "--bundle=" + archive});
  const std::string script =
      scene.sandbox.script("limited", "ulimit -S -f 0; trap '' XFSZ; exec \"$@\"");
  command.arguments.insert(command.arguments.begin(), script);
  const Outcome outcome = blackbox::run(command);
  CHECK_MESSAGE(outcome.exit_code == 2, blackbox::describe(outcome));
  CHECK(has(outcome.error_output, "writing --output-file"));
  CHECK(has(outcome.error_output, "writing --bundle"));
  CHECK(read_found(outcome.output).result == "ok");
  CHECK_FALSE((fs::exists(report) || fs::exists(archive)));
}

TEST_CASE("doctor: what a killed run left beside its files is removed by the next run") {
  const Scene scene;
  const std::string folder = scene.sandbox.at("out");
  fs::create_directory(folder);
  scene.sandbox.write("out/.x.prom.execcred-AbCdEf", "left");
  CHECK(scene.run({"-o", "prometheus", "--output-file=" + folder + "/x.prom"}).exit_code == 0);
  CHECK(fs::exists(folder + "/x.prom"));
  CHECK(std::distance(fs::directory_iterator(folder), fs::directory_iterator()) == 1);
}

TEST_CASE("doctor: neither a pipe nor a link to one is replaced by a file or an archive") {
  const Scene scene;
  const std::string pipe = scene.sandbox.at("pipe");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const std::string link = scene.sandbox.at("link");
  fs::create_symlink(pipe, link);
  for (const std::string& option :
       {"--output-file=" + link, "--bundle=" + link, "--output-file=" + pipe, "--bundle=" + pipe}) {
    CHECK_FAILURE(scene.run({option}), 2, "it is no regular file");
  }
  CHECK(fs::is_fifo(pipe));
  CHECK(fs::is_symlink(link));
}

TEST_CASE("doctor: the page loads nothing, and shows a program's messages as text") {
  Scene scene;
  scene.command = scene.sandbox.script("x", "echo '<script>alert(1)</script>&' >&2; exit 1");
  scene.args = {};
  const std::string page = scene.run({"-o", "html"}).output;
  CHECK(has(page, "default-src 'none'"));
  CHECK(has(page, "&lt;script&gt;alert(1)&lt;/script&gt;&amp;"));
  CHECK_FALSE(has(page, "<script>alert"));
  CHECK_FALSE(has(page, "src="));
  CHECK_FALSE(has(page, "href="));
}

TEST_CASE("doctor: the page begins with each cause and the number of its clusters") {
  Scene scene;
  scene.command = scene.sandbox.at("missing");
  const std::string page = scene.run({"-o", "html"}).output;
  const std::size_t cause =
      page.find("value=\"program-missing\">program-missing</button> 1 cluster<");
  REQUIRE(cause != std::string::npos);
  CHECK(cause < page.find("<table"));
}

// Each report is made by a program whose name is like that of an execcred plugin.
TEST_CASE(
    "doctor: a plugin's report arrives by its pipe, and counts only if it is whole and known") {
  Scene scene;
  // No folder is needed, and none is left behind.
  scene.environment = {"TMPDIR=" + scene.sandbox.at("missing"), "EXECCRED_REPORT_FILE=1"};
  scene.args = {};
  const std::string report = R"({"cause":"source-missing","error":"told"})";
  const std::string print = "printf '%s' '" + report + "' >&\"$EXECCRED_REPORT_FILE\"";
  struct Case {
    std::string how;
    std::string cause;
  };
  for (const Case& row : std::vector<Case>{
           {print, "source-missing"},
           {"sleep 60 & " + print, "source-missing"},
           {"printf '%s' '{\"cause\":' >&3; sleep 0.1; printf '%s' '\"config-refused\"}' >&3",
            "config-refused"},
           {"[ $EXECCRED_REPORT_FILE = 3 ] || " + print, "program-failed"},
           {"exec 3>&-", "program-failed"},
           {print + "; " + print, "program-failed"},
           {"head -c 5000 /dev/zero | tr '\\0' ' ' >&3; " + print, "program-failed"},
           {"head -c 20000000 /dev/zero >&3", "program-failed"},
           {"printf '{\"cause\":\"no-such-cause\"}' >&3", "program-failed"},
           {"printf '[]' >&3", "program-failed"},
           {"printf '%s' '{\"cause\":\"source-missing\"' >&3", "program-failed"}}) {
    CAPTURE(row.how);
    scene.command = scene.sandbox.script(
        "execcred-x", "[ \"$1\" != --version ] || exit 0\n" + row.how + "\necho said >&2\nexit 1");
    const Outcome outcome = scene.run({"-o", "json"});
    CAPTURE(outcome.output);
    const Found found = read_found(outcome.output);
    CHECK(outcome.exit_code == 1);
    CHECK(found.cause == row.cause);
    if (row.cause == "program-failed") CHECK(has(found.messages.at("run"), "said"));
    if (row.cause == "source-missing") CHECK(has(found.messages.at("run"), "told"));
    CHECK_FALSE(fs::exists(scene.sandbox.at("missing")));
  }
}

TEST_CASE("doctor: a program that is no execcred plugin gets neither the pipe nor its number") {
  Scene scene;
  scene.environment = {"EXECCRED_REPORT_FILE=3"};
  scene.args = {};
  const std::string seen = scene.sandbox.at("seen");
  scene.command = scene.sandbox.script(
      "x", "echo \"${EXECCRED_REPORT_FILE-none}\" > '" + seen +
               "'\n[ -e /proc/self/fd/3 ] && readlink /proc/self/fd/3 >> '" + seen + "'\nexit 1");
  CHECK(read_found(scene.run({"-o", "json"}).output).cause == "program-failed");
  CHECK(blackbox::read_text(seen) == "none\n");
}

TEST_CASE("doctor: the cluster's CA may be one of a thousand") {
  Scene scene;
  std::string others;
  for (int i = 0; i < 999; ++i) others += execcred::test::make_ca("CA " + std::to_string(i)).pem;
  const std::string provided = std::exchange(scene.more_of_exec, R"(,"interactiveMode":"Never")");
  scene.ca = others + scene.api->ca_pem();
  const Outcome outcome = scene.run({"-o", "json"});
  CHECK(outcome.exit_code == 0);
  CHECK(read_found(outcome.output).user == "jane");
  scene.ca = others;
  CHECK(read_found(scene.run({"-o", "json"}).output).cause == "tls-wrong-ca");

  if (!blackbox::kSaysWhyNotStarted) return;
  // They do not fit into an environment variable, so no client could start the plugin.
  scene.more_of_exec = provided;
  scene.ca = others + scene.api->ca_pem();
  const Outcome text = scene.run();
  CHECK(text.exit_code == 1);
  CHECK(has(text.output, "Argument list too long"));
  CHECK(has(text.output, "the cluster's CA data may be too large"));
  CHECK(has(text.output, "cause: program-failed"));
  CHECK(text.output.ends_with("\nmore: execcred explain program-failed\n"));
  CHECK(read_found(scene.run({"-o", "json"}).output).steps.at("tls") == "ok");
}

TEST_CASE("doctor: the error about the certificate of a proxy names the host of the proxy") {
  Scene scene;
  Scene proxy;
  proxy.serve({.server = {.alternative_names = "DNS:other.example.com"}});
  scene.ca = scene.api->ca_pem() + proxy.api->ca_pem();
  scene.server = "https://api.example.com:6443";
  scene.more_of_cluster = R"(,"proxy-url":")" + proxy.server + R"(")";
  const Outcome outcome = scene.run({"-o", "json"});
  CAPTURE(outcome.output);
  const Found found = read_found(outcome.output);
  CHECK(found.cause == "proxy-failed");
  CHECK(has(found.messages.at("proxy"), "is not for '127.0.0.1' but for other.example.com"));
  CHECK(has(scene.run().output, "the host of the proxy's URL must be one of these"));
}

TEST_CASE("doctor: a server's texts are shown without escapes") {
  const Scene scene;
  constexpr const char* kSaid = "ja\x1b[31mne\xc2\x9b<i>";
  for (const bool is_known : {true, false}) {
    scene.api->answer([is_known](const ApiRequest& request) -> ApiReply {
      if (request.token.empty()) return {.status = 0};
      return is_known ? review_of(kSaid) : status_reply(500, kSaid, kSaid);
    });
    for (const char* const format : {"text", "json", "yaml", "wide", "prometheus", "html"}) {
      CAPTURE(format);
      const Outcome outcome = scene.run({"-o", format, "--debug"});
      CHECK(outcome.exit_code == (is_known ? 0 : 3));
      CHECK((format == std::string("prometheus") || has(outcome.output, "[31mne")));
      const std::string all = outcome.output + outcome.error_output;
      CHECK_FALSE(has(all, "\x1b"));
      CHECK_FALSE(has(all, "\xc2\x9b"));
      CHECK((format != std::string("html") || !has(outcome.output, "<i>")));
    }
  }
}

TEST_CASE("doctor: if it is interrupted, it announces results only if it prints some") {
  for (const std::string format : {"prometheus", "json"}) {
    Scene scene;
    const std::string mark = scene.sandbox.at("mark");
    scene.command = scene.sandbox.script("x", "touch " + mark + "; sleep 60");
    scene.args = {};
    blackbox::Child child(scene.doctor_command({"-o", format, "--timeout=60s"}));
    const auto end = std::chrono::steady_clock::now() + blackbox::kPatience;
    while (!fs::exists(mark) && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    child.send(SIGINT);
    const Outcome outcome = child.wait();
    CHECK(outcome.exit_code == 130);
    CHECK(outcome.output.empty() == (format == "prometheus"));
    CHECK(outcome.error_output == (format == "prometheus"
                                       ? "execcred: interrupted\n"
                                       : "execcred: interrupted: what is known so far follows\n"));
  }
}

TEST_CASE("doctor: Ctrl-C prints the results so far as a whole document, and leaves no child") {
  Scene scene;
  const std::string pids = scene.sandbox.at("pids");
  scene.command = scene.sandbox.script("x", "echo $$ >> " + pids + "; sleep 60 & wait");
  scene.args = {};
  nlohmann::json list = nlohmann::json::parse(many(scene, 3));
  list["items"][0]["status"] = nlohmann::json::object();
  scene.profile = list.dump();
  const Command command = scene.doctor_command({"-o", "json", "--timeout=60s", "--parallel=4"});
  const std::string out = scene.sandbox.at("out.json");
  const pid_t child = fork();
  if (child == 0) {
    if (freopen(out.c_str(), "w", stdout) == nullptr) _exit(1);
    std::vector<char*> arguments;
    for (const std::string& one : command.arguments) {
      arguments.push_back(const_cast<char*>(one.c_str()));
    }
    arguments.push_back(nullptr);
    execv(arguments.front(), arguments.data());
    _exit(1);
  }
  const auto end = std::chrono::steady_clock::now() + blackbox::kPatience;
  const auto started = [&pids] {
    const std::string text = read_text(pids);
    return std::count(text.begin(), text.end(), '\n');
  };
  while (started() < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  blackbox::send_signal(child, SIGINT);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 130));
  const std::string json = read_text(out);
  CHECK(nlohmann::json::parse(json, nullptr, false)["items"].size() == 1);
  CHECK(read_found(json).cause == "no-provider");
  std::istringstream lines(read_text(pids));
  for (pid_t pid = 0; lines >> pid;) CHECK(!blackbox::is_running(pid));
}

TEST_CASE("doctor: a provider that the mapping lacks gets the catalogue's hint") {
  struct Unknown {
    std::string name;
    std::string hint;
  };
  for (const Unknown& one : std::vector<Unknown>{
           {"google", "'google' is for execcred-google, and execcred init writes its entry"},
           {"secretreadre", "'secretreadre' is nearly 'secretreader', a name in use"},
           {"argo-cd-builtin-gcp",
            "'argo-cd-builtin-gcp' gets no entry: Argo CD has it built in"}}) {
    CAPTURE(one.name);
    Scene scene;
    scene.profile = scene.profile_text();
    scene.profile.replace(scene.profile.find("\"p\""), 3, "\"" + one.name + "\"");
    const std::string output = scene.run().output;
    CHECK(output.find("cause: provider-unknown\n  hint: the ClusterProfile lists '" + one.name +
                      "'; " + one.hint) != std::string::npos);
  }
  Scene unknown;
  unknown.profile = unknown.profile_text();
  unknown.profile.replace(unknown.profile.find("\"p\""), 3, "\"corp\"");
  CHECK(unknown.run().output.find("hint: the ClusterProfile lists 'corp'\n") != std::string::npos);
}
