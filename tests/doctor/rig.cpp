// SPDX-License-Identifier: Apache-2.0
#include "rig.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <ctime>
#include <sstream>

namespace doctor_test {
namespace {

using execcred::test::IdentityOptions;
using execcred::test::make_ca;
using execcred::test::make_identity;

std::string json_text(std::string_view text) { return nlohmann::json(text).dump(); }

std::string header_of(const std::string& head, std::string_view name) {
  const auto same = [](char a, char b) { return std::tolower(a) == std::tolower(b); };
  const std::string wanted = "\r\n" + std::string(name) + ": ";
  const auto found = std::search(head.begin(), head.end(), wanted.begin(), wanted.end(), same);
  if (found == head.end()) return {};
  const auto start = found + static_cast<std::ptrdiff_t>(wanted.size());
  return {start, std::find(start, head.end(), '\r')};
}

ApiRequest parse(const std::string& text) {
  ApiRequest request;
  const std::size_t end = text.find("\r\n\r\n");
  const std::string head = text.substr(0, end);
  request.method = head.substr(0, head.find(' '));
  const std::size_t at = request.method.size() + 1;
  request.path = head.substr(at, head.find(' ', at) - at);
  request.body = text.substr(end + 4);
  constexpr std::string_view kBearer = "Bearer ";
  const std::string authorization = header_of(head, "Authorization");
  std::istringstream lines(head);
  for (std::string line; std::getline(lines, line);) {
    request.head.push_back(line.substr(0, line.find('\r')));
    if (line.starts_with("Impersonate-")) request.impersonation.push_back(request.head.back());
  }
  if (authorization.starts_with(kBearer)) request.token = authorization.substr(kBearer.size());
  return request;
}

bool asks_for_review(const ApiRequest& request, std::string_view kind) {
  return request.method == "POST" && request.path.ends_with(kind);
}

}  // namespace

ApiReply status_reply(int code, std::string_view reason, std::string_view message,
                      std::string_view details) {
  return {.status = code,
          .body = R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":)" +
                  json_text(message) + R"(,"reason":)" + json_text(reason) + R"(,"details":)" +
                  std::string(details) + R"(,"code":)" + std::to_string(code) + "}"};
}

ApiReply unauthorized() { return status_reply(401, "Unauthorized", "Unauthorized"); }

ApiReply anonymous_forbidden() {
  return status_reply(403, "Forbidden",
                      "selfsubjectreviews.authentication.k8s.io is forbidden: User "
                      "\"system:anonymous\" cannot create resource");
}

ApiReply review_of(std::string_view user) {
  return {.status = 201,
          .body = R"({"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1",)"
                  R"("status":{"userInfo":{"username":)" +
                  json_text(user) + R"(,"groups":["system:authenticated"]}}})"};
}

FakeApi::FakeApi(std::string token, const Options& options) : token_(std::move(token)) {
  ca_ = make_ca("cluster CA");
  IdentityOptions identity = options.server;
  if (identity.issuer == nullptr) identity.issuer = &ca_;
  identity_ = make_identity(identity);
  execcred::test::ServerTls tls = options.tls;
  tls.identity = &identity_;
  execcred::test::StreamServer::Handler handler = options.converse;
  if (!handler) handler = [this](execcred::test::Stream& stream) { converse(stream); };
  server_ = std::make_unique<execcred::test::StreamServer>(std::move(handler), tls);
}

void FakeApi::answer(Answer answer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  answer_ = std::move(answer);
}

std::vector<ApiRequest> FakeApi::requests() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return requests_;
}

void FakeApi::converse(execcred::test::Stream& stream) {
  for (std::string text = stream.read_request(); !text.empty(); text = stream.read_request()) {
    ApiRequest request = parse(text);
    request.has_certificate = stream.has_peer_certificate();
    const ApiReply reply = reply_to(request);
    std::string head = "HTTP/1.1 " + std::to_string(reply.status) + " X\r\n" + reply.headers;
    if (reply.headers.find("Date:") == std::string::npos) {
      std::array<char, 64> date = {};
      const std::time_t now = std::time(nullptr);
      std::tm parts = {};
      gmtime_r(&now, &parts);
      std::strftime(date.data(), date.size(), "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &parts);
      head += date.data();
    }
    head +=
        "Content-Type: application/json\r\nContent-Length: " + std::to_string(reply.body.size()) +
        "\r\n\r\n";
    if (!stream.write(head + reply.body)) return;
  }
}

ApiReply FakeApi::reply_to(const ApiRequest& request) {
  Answer own;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    requests_.push_back(request);
    own = answer_;
  }
  if (own) {
    ApiReply reply = own(request);
    if (reply.status != 0) return reply;
  }
  const bool is_known = request.has_certificate || (!token_.empty() && request.token == token_);
  if (!request.token.empty() && !is_known) return unauthorized();
  if (!is_known) return anonymous_forbidden();
  if (asks_for_review(request, "/selfsubjectreviews")) return review_of("jane");
  if (asks_for_review(request, "/selfsubjectaccessreviews")) {
    const bool is_allowed = request.body.find("\"verb\":\"get\"") != std::string::npos;
    return {.status = 201,
            .body = R"({"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1",)"
                    R"("status":{"allowed":)" +
                    std::string(is_allowed ? "true" : "false") + "}}"};
  }
  return status_reply(404, "NotFound", "not found");
}

// A claim that no other token has: one that a case makes a second earlier or later is never the
// same.
Scene::Scene() : token(blackbox::jwt_for(3600, R"(,"jti":"known to the server")")) {
  api = std::make_unique<FakeApi>(token);
  server = api->url();
  ca = api->ca_pem();
  write_token(token);
  args = {"--token-file=" + sandbox.at("token")};
}

void Scene::serve(const FakeApi::Options& options) {
  api = std::make_unique<FakeApi>(token, options);
  server = api->url();
  ca = api->ca_pem();
}

void Scene::write_token(std::string_view content) const { sandbox.write("token", content, 0600); }

std::string Scene::mapping_text() const {
  if (!mapping.empty()) return mapping;
  return R"({"providers":[{"name":"p","execConfig":{"apiVersion":)" + json_text(blackbox::kV1) +
         R"(,"command":)" + json_text(command) + R"(,"args":)" + nlohmann::json(args).dump() +
         more_of_exec + "}" + more_of_entry + "}]}";
}

std::string Scene::profile_text() const {
  if (!profile.empty()) return profile;
  const std::string authority =
      ca.empty() ? "" : R"(,"certificate-authority-data":)" + json_text(blackbox::base64(ca));
  return R"({"apiVersion":"multicluster.x-k8s.io/v1alpha1","kind":"ClusterProfile","metadata":)"
         R"({"namespace":"fleet","name":"one"},"status":{"conditions":)" +
         conditions + R"(,"accessProviders":[{"name":"p","cluster":{"server":)" +
         json_text(server) + authority + more_of_cluster + "}}]}}";
}

blackbox::Command Scene::doctor_command(std::vector<std::string> more) const {
  blackbox::Command doctor;
  doctor.arguments = {kCli, "doctor",
                      "-m", sandbox.write("mapping.json", mapping_text()),
                      "-f", sandbox.write("profiles.json", profile_text())};
  doctor.arguments.push_back("--warn-before=" + warn_before);
  doctor.arguments.insert(doctor.arguments.end(), arguments.begin(), arguments.end());
  doctor.arguments.insert(doctor.arguments.end(), more.begin(), more.end());
  doctor.environment = {"PATH=/usr/bin:/bin"};
  doctor.environment.insert(doctor.environment.end(), environment.begin(), environment.end());
  return doctor;
}

Outcome Scene::run(std::vector<std::string> more) const {
  return blackbox::run(doctor_command(std::move(more)));
}

Found read_found(std::string_view json, std::size_t item) {
  Found found;
  const nlohmann::json document = nlohmann::json::parse(json, nullptr, false);
  if (document.is_discarded() || item >= document.value("items", nlohmann::json::array()).size()) {
    found.result = "(no item)";
    return found;
  }
  const nlohmann::json& one = document["items"][item];
  found.result = one.value("result", "");
  found.cause = one.value("cause", "");
  found.user = one.value("user", "");
  for (const nlohmann::json& step : one["steps"]) {
    found.steps[step.value("name", "")] = step.value("result", "");
    found.messages[step.value("name", "")] = step.value("message", "");
  }
  return found;
}

}  // namespace doctor_test
