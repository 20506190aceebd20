// SPDX-License-Identifier: Apache-2.0
#include "kubernetes_api.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <stdexcept>
#include <utility>

#include <openssl/evp.h>
#include <nlohmann/json.hpp>

namespace execcred::test {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kNamespacesPath = "/api/v1/namespaces";
constexpr std::string_view kSelfSubjectReviewsPath =
    "/apis/authentication.k8s.io/v1/selfsubjectreviews";
constexpr const char* kAuthenticationVersion = "authentication.k8s.io/v1";
constexpr const char* kStartedAt = "2026-01-01T00:00:00Z";
constexpr std::array kNamespaces = {"default", "kube-node-lease", "kube-public", "kube-system"};

HttpResponse json_response(int status, const ordered_json& document) {
  return {.status = status,
          .headers = {"Content-Type: application/json", "Cache-Control: no-cache, private"},
          .body = document.dump() + "\n"};
}

// A failure in the form of the Kubernetes API.
HttpResponse failure(int code, const char* reason, const std::string& message,
                     const ordered_json& details = nullptr) {
  ordered_json status = {
      {"kind", "Status"},    {"apiVersion", "v1"}, {"metadata", ordered_json::object()},
      {"status", "Failure"}, {"message", message}, {"reason", reason}};
  if (!details.is_null()) status["details"] = details;
  status["code"] = code;
  return json_response(code, status);
}

HttpResponse method_not_allowed() {
  return failure(405, "MethodNotAllowed",
                 "the server does not allow this method on the requested resource");
}

ordered_json make_namespace(const std::string& name, std::size_t index) {
  const std::string number = std::to_string(index + 1);
  return {{"metadata",
           {{"name", name},
            {"uid", "00000000-0000-4000-8000-00000000000" + number},
            {"resourceVersion", number},
            {"creationTimestamp", kStartedAt},
            {"labels", {{"kubernetes.io/metadata.name", name}}}}},
          {"spec", {{"finalizers", {"kubernetes"}}}},
          {"status", {{"phase", "Active"}}}};
}

// The namespaces of a new cluster.
HttpResponse list_namespaces() {
  ordered_json items = ordered_json::array();
  for (const char* name : kNamespaces) items.push_back(make_namespace(name, items.size()));
  const std::string version = std::to_string(items.size());
  return json_response(200, {{"kind", "NamespaceList"},
                             {"apiVersion", "v1"},
                             {"metadata", {{"resourceVersion", version}}},
                             {"items", std::move(items)}});
}

bool is_self_subject_review(const std::string& body) {
  const ordered_json review = ordered_json::parse(body, nullptr, false);
  return review.is_object() && review.value("kind", ordered_json()) == "SelfSubjectReview" &&
         review.value("apiVersion", ordered_json()) == kAuthenticationVersion;
}

HttpResponse review_self(const HttpRequest& request, const ApiUser& user) {
  if (!is_self_subject_review(request.body)) {
    return failure(400, "BadRequest", "the request body is not a SelfSubjectReview");
  }
  std::vector<std::string> groups = user.groups;
  groups.emplace_back("system:authenticated");
  return json_response(
      201, {{"kind", "SelfSubjectReview"},
            {"apiVersion", kAuthenticationVersion},
            {"metadata", {{"creationTimestamp", kStartedAt}}},
            {"status",
             {{"userInfo", {{"username", user.name}, {"uid", user.uid}, {"groups", groups}}}}}});
}

std::string base64url(const std::string& bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  while (text.ends_with('=')) text.pop_back();
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

std::string rfc3339(std::time_t time) {
  std::tm parts = {};
  gmtime_r(&time, &parts);
  std::array<char, 32> text = {};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

HttpResponse issue_token(const HttpRequest& request, const std::string& name_space) {
  ordered_json answer = ordered_json::parse(request.body, nullptr, false);
  if (!answer.is_object() || answer.value("kind", "") != "TokenRequest" ||
      answer.value("apiVersion", "") != kAuthenticationVersion) {
    return failure(400, "BadRequest", "the request body is not a TokenRequest");
  }
  const ordered_json spec = answer.value("spec", ordered_json::object());
  const std::time_t seconds = spec.value("expirationSeconds", 3600);
  if (seconds < 600) {
    return failure(422, "Invalid",
                   "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: "
                   "Invalid value: " +
                       std::to_string(seconds) +
                       ": may not specify a duration less than 10 minutes");
  }
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  const ordered_json claims = {{"aud", spec.value("audiences", ordered_json::array())},
                               {"exp", now + seconds},
                               {"iat", now},
                               {"iss", "https://kubernetes.default.svc.cluster.local"},
                               {"sub", "system:serviceaccount:" + name_space + ":default"}};
  answer["status"] = {{"token", base64url(R"({"alg":"RS256"})") + "." + base64url(claims.dump()) +
                                    "." + base64url("signed by nobody")},
                      {"expirationTimestamp", rfc3339(now + seconds)}};
  return json_response(201, answer);
}

// .../namespaces/NAMESPACE/serviceaccounts/NAME/token
HttpResponse answer_service_account(const HttpRequest& request) {
  constexpr std::string_view kMiddle = "/serviceaccounts/";
  constexpr std::string_view kEnd = "/token";
  HttpResponse nothing =
      failure(404, "NotFound", "the server could not find the requested resource");
  std::string_view rest = request.path().substr(kNamespacesPath.size() + 1);
  const std::size_t middle = rest.find(kMiddle);
  if (middle == std::string_view::npos || !rest.ends_with(kEnd)) return nothing;
  const std::string name_space(rest.substr(0, middle));
  rest.remove_prefix(middle + kMiddle.size());
  if (rest.size() <= kEnd.size()) return nothing;
  const std::string name(rest.substr(0, rest.size() - kEnd.size()));
  if (request.method != "POST") return method_not_allowed();
  const bool is_there = name == "default" && std::find(kNamespaces.begin(), kNamespaces.end(),
                                                       name_space) != kNamespaces.end();
  if (is_there) return issue_token(request, name_space);
  return failure(404, "NotFound", "serviceaccounts \"" + name + "\" not found",
                 {{"name", name}, {"kind", "serviceaccounts"}});
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// The groups are one quoted CSV field, or a single bare word.
std::vector<std::string> parse_groups(std::string_view field) {
  if (field.size() >= 2 && field.front() == '"' && field.back() == '"') {
    field = field.substr(1, field.size() - 2);
  }
  return split(field, ',');
}

ApiUser parse_user(std::string_view line, std::size_t line_number) {
  std::array<std::string, 3> fields;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::size_t comma = line.find(',');
    fields[i] = line.substr(0, comma);
    const bool is_last = comma == std::string_view::npos;
    if (fields[i].empty() || (is_last && i + 1 < fields.size())) {
      throw std::runtime_error("line " + std::to_string(line_number) + " is not token,user,uid");
    }
    line = is_last ? std::string_view{} : line.substr(comma + 1);
  }
  return {.token = std::move(fields[0]),
          .name = std::move(fields[1]),
          .uid = std::move(fields[2]),
          .groups = line.empty() ? std::vector<std::string>{} : parse_groups(line)};
}

}  // namespace

std::vector<ApiUser> parse_token_auth_file(std::string_view text) {
  std::vector<ApiUser> users;
  std::size_t line_number = 0;
  for (const std::string& line : split(text, '\n')) {
    ++line_number;
    if (!line.empty()) users.push_back(parse_user(line, line_number));
  }
  if (users.empty()) throw std::runtime_error("it holds no token");
  return users;
}

const ApiUser* authenticate(const HttpRequest& request, const std::vector<ApiUser>& users) {
  const std::optional<std::string> authorization = request.header("Authorization");
  const auto user = std::find_if(users.begin(), users.end(), [&](const ApiUser& candidate) {
    return authorization == "Bearer " + candidate.token;
  });
  return user == users.end() ? nullptr : &*user;
}

HttpResponse answer_as_api_server(const HttpRequest& request, const ApiUser* user) {
  if (user == nullptr) return failure(401, "Unauthorized", "Unauthorized");
  if (request.path() == kNamespacesPath) {
    return request.method == "GET" ? list_namespaces() : method_not_allowed();
  }
  if (request.path() == kSelfSubjectReviewsPath) {
    return request.method == "POST" ? review_self(request, *user) : method_not_allowed();
  }
  if (request.path().starts_with(std::string(kNamespacesPath) + "/")) {
    return answer_service_account(request);
  }
  return failure(404, "NotFound", "the server could not find the requested resource");
}

}  // namespace execcred::test
