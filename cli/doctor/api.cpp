// SPDX-License-Identifier: Apache-2.0
#include "api.hpp"

#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/json/json_reader.hpp>

#include <curl/curl.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

namespace execcred::doctor {
namespace {

constexpr std::size_t kMaxBody = 1024 * 1024;
constexpr std::size_t kMaxSaid = 80;

// The header Date (RFC 9110, section 5.6.7), read by the parser that the http module uses for
// Retry-After. It is from 1970 to 2262, which a TimePoint can hold, with room for sums.
std::optional<TimePoint> date_of(const HttpResponse& response) {
  const auto text = response.header("date");
  if (!text || text->size() > 64) return std::nullopt;
  const std::time_t time = curl_getdate(std::string(*text).c_str(), nullptr);
  if (time == -1) return std::nullopt;
  constexpr std::chrono::seconds kLast(9'223'000'000);
  return TimePoint(std::clamp(std::chrono::seconds(time), std::chrono::seconds(0), kLast));
}

Answer read(HttpResponse response) {
  Answer answer{.status = response.status, .date = date_of(response)};
  answer.received = SystemClock().now();
  Result<json::Value> document = json::parse(response.body.reveal(), {.bytes = kMaxBody});
  if (!document) {
    answer.said = printable(trim(response.body.reveal()).substr(0, kMaxSaid));
    return answer;
  }
  answer.body = std::move(document).value();
  answer.is_status = json::text_or_empty(answer.body, "kind") == "Status";
  answer.message = answer.is_status ? json::text_or_empty(answer.body, "message") : std::string();
  answer.reason = answer.is_status ? json::text_or_empty(answer.body, "reason") : std::string();
  return answer;
}

// The key of an extra field as client-go writes it in a header's name (transport.headerKeyEscape):
// bytes that no name may have, and '%', are percent-encoded. Servers read it in lower case.
std::string header_key(std::string_view key) {
  constexpr std::string_view kSafe = "!#$&'*+-.^_`|~";
  std::string text;
  for (const char c : ascii_lower(key)) {
    const bool is_safe = is_alphanumeric(c) || kSafe.find(c) != std::string_view::npos;
    text += is_safe ? std::string(1, c) : percent_encode(std::string(1, c));
  }
  return text;
}

// The headers of client-go's NewImpersonatingRoundTripper.
std::vector<std::pair<std::string, std::string>> headers_of(const Impersonation& as) {
  if (as.user.empty()) return {};
  std::vector<std::pair<std::string, std::string>> headers = {{"Impersonate-User", as.user}};
  if (!as.uid.empty()) headers.emplace_back("Impersonate-Uid", as.uid);
  for (const std::string& group : as.groups) headers.emplace_back("Impersonate-Group", group);
  for (const auto& [key, values] : as.extra) {
    for (const std::string& value : values) {
      headers.emplace_back("Impersonate-Extra-" + header_key(key), value);
    }
  }
  return headers;
}

}  // namespace

Api::Api(Connection& connection, Item& item, const Impersonation& act_as)
    : connection_(connection), item_(item), headers_(headers_of(act_as)) {}

Result<Answer> Api::send(HttpRequest request, std::string_view path, const SecretString& token) {
  const auto start = std::chrono::steady_clock::now();
  std::string line = request.method + " " + std::string(path) +
                     (token.empty() ? " without" : " with") + " a token: ";
  request.add_header("Accept", "application/json, application/jwk-set+json");
  for (const auto& [name, value] : headers_) request.add_header(name, value);
  Result<HttpResponse> response = connection_.exchange(std::move(request), path, token);
  const auto elapsed =
      std::chrono::round<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
  if (!response) {
    if (connection_.seen(StepId::tls) == nullptr) return std::move(response).error();
    item_.exchange.push_back(item_.shown(line + response.error().message));
    return std::move(response).error();
  }
  Answer answer = read(std::move(response).value());
  line += std::to_string(answer.status);
  if (!answer.message.empty()) line += ", " + answer.message;
  item_.exchange.push_back(item_.shown(line + ", after " + format_duration(elapsed)));
  return answer;
}

Result<Answer> Api::get(std::string_view path, const SecretString& token) {
  return send({.method = "GET"}, path, token);
}

Result<Answer> Api::post(std::string_view path, const json::Value& body,
                         const SecretString& token) {
  HttpRequest request{.method = "POST", .body = SecretString(json::to_text(body))};
  request.add_header("Content-Type", "application/json");
  return send(std::move(request), path, token);
}

json::Value self_subject_review() {
  json::Value review((json::Object()));
  review.add("kind", json::Value("SelfSubjectReview"));
  review.add("apiVersion", json::Value("authentication.k8s.io/v1"));
  return review;
}

std::string Permission::text() const {
  return verb + "/" + resource + (group.empty() ? "" : "." + group) +
         (subresource.empty() ? "" : "/" + subresource) +
         (name_space.empty() ? "" : "@" + name_space);
}

Result<Permission> parse_permission(const std::string& text) {
  const auto wrong = [&text](const std::string& why) {
    return Error{.kind = Error::Kind::configuration,
                 .message = in_quotes(text) + " " + why,
                 .hint =
                     "write VERB/RESOURCE[.GROUP][/SUBRESOURCE][@NAMESPACE], as in "
                     "get/pods@default or get/deployments.apps/scale"};
  };
  Permission permission;
  std::string_view rest = text;
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos) return wrong("has no '/' between verb and resource");
  permission.verb = rest.substr(0, slash);
  rest.remove_prefix(slash + 1);
  if (const std::size_t at = rest.find('@'); at != std::string_view::npos) {
    permission.name_space = rest.substr(at + 1);
    rest = rest.substr(0, at);
    if (!is_dns1123_label(permission.name_space)) return wrong("has no namespace behind '@'");
  }
  if (const std::size_t at = rest.find('/'); at != std::string_view::npos) {
    permission.subresource = rest.substr(at + 1);
    rest = rest.substr(0, at);
    if (permission.subresource.empty()) return wrong("has no subresource behind '/'");
  }
  if (const std::size_t dot = rest.find('.'); dot != std::string_view::npos) {
    permission.group = rest.substr(dot + 1);
    rest = rest.substr(0, dot);
    if (!is_dns1123_subdomain(permission.group)) return wrong("has no API group behind '.'");
  }
  permission.resource = rest;
  if (permission.verb.empty() || permission.resource.empty()) {
    return wrong("lacks a verb or a resource");
  }
  if (text.find(',') != std::string::npos) return wrong("has a ',': repeat the option instead");
  for (const std::string& word : {permission.verb, permission.resource, permission.subresource}) {
    // No rule of a server has another form.
    if (word.empty() || word == "*" || is_dns1123_label(word)) continue;
    return wrong("has " + in_quotes(word) + ", which is no word of a-z, 0-9 and '-'");
  }
  return permission;
}

Result<std::vector<Permission>> parse_permissions(const std::vector<std::string>& texts) {
  std::vector<Permission> permissions;
  permissions.reserve(texts.size());
  for (const std::string& text : texts) {
    permissions.push_back(TRY(parse_permission(text).context("reading --can")));
  }
  return permissions;
}

json::Value access_review(const Permission& permission) {
  json::Value attributes((json::Object()));
  const auto add = [&attributes](std::string_view name, const std::string& text) {
    if (!text.empty()) attributes.add(name, json::Value(text));
  };
  add("namespace", permission.name_space);
  add("verb", permission.verb);
  add("group", permission.group);
  add("resource", permission.resource);
  add("subresource", permission.subresource);
  json::Value spec((json::Object()));
  spec.add("resourceAttributes", std::move(attributes));
  json::Value review((json::Object()));
  review.add("kind", json::Value("SelfSubjectAccessReview"));
  review.add("apiVersion", json::Value("authorization.k8s.io/v1"));
  review.add("spec", std::move(spec));
  return review;
}

}  // namespace execcred::doctor
