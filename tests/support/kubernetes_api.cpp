// SPDX-License-Identifier: Apache-2.0
#include "kubernetes_api.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

namespace execcred::test {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kNamespacesPath = "/api/v1/namespaces";
constexpr std::string_view kSelfSubjectReviewsPath =
    "/apis/authentication.k8s.io/v1/selfsubjectreviews";
constexpr const char* kAuthenticationVersion = "authentication.k8s.io/v1";
constexpr const char* kStartedAt = "2026-01-01T00:00:00Z";

HttpResponse json_response(int status, const ordered_json& document) {
  return {.status = status,
          .headers = {"Content-Type: application/json", "Cache-Control: no-cache, private"},
          .body = document.dump() + "\n"};
}

// How every Kubernetes API tells a failure.
HttpResponse failure(int code, const char* reason, const std::string& message) {
  return json_response(code, {{"kind", "Status"},
                              {"apiVersion", "v1"},
                              {"metadata", ordered_json::object()},
                              {"status", "Failure"},
                              {"message", message},
                              {"reason", reason},
                              {"code", code}});
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
  constexpr std::array kNames = {"default", "kube-node-lease", "kube-public", "kube-system"};
  ordered_json items = ordered_json::array();
  for (const char* name : kNames) items.push_back(make_namespace(name, items.size()));
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
  return failure(404, "NotFound", "the server could not find the requested resource");
}

}  // namespace execcred::test
