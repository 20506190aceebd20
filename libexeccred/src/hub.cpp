// SPDX-License-Identifier: Apache-2.0
#include <execcred/hub.hpp>
#include <execcred/text.hpp>
#include <execcred/url.hpp>

#include <array>
#include <utility>

namespace execcred {
namespace {

// A Secret's data is at most 1 MiB, a third more in base64, and managedFields and annotations
// come on top. A page is bounded by what its items may be.
constexpr std::size_t kMaxObject = 4 * 1024 * 1024;
constexpr std::size_t kMaxPage = 64 * 1024 * 1024;

constexpr int kMaxPages = 10'000;

std::string subject(const HubResource& resource) {
  if (resource.name.empty()) {
    return resource.resource + " in " +
           (resource.name_space.empty() ? "all namespaces"
                                        : "namespace " + in_quotes(resource.name_space));
  }
  const std::string place = resource.name_space.empty() ? "" : resource.name_space + "/";
  return resource.resource + " " + in_quotes(place + resource.name);
}

std::string path_of(const HubResource& resource) {
  std::string path = resource.group.empty() ? "/api/" : "/apis/" + resource.group + "/";
  path += resource.version;
  if (!resource.name_space.empty()) path += "/namespaces/" + resource.name_space;
  path += "/" + resource.resource;
  if (!resource.name.empty()) path += "/" + resource.name;
  return path;
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    if (is_alphanumeric(c) || std::string_view("-._~").find(c) != std::string_view::npos) {
      encoded.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded += {'%', kHex[byte >> 4], kHex[byte & 0xf]};
  }
  return encoded;
}

// metav1.Status, as far as people need it.
struct HubStatus {
  std::string message = {};
  std::string reason = {};
  std::string name = {};  // details.name
};

std::string text_of(const json::Value* value) {
  return value != nullptr && value->string() != nullptr ? *value->string() : std::string();
}

HubStatus status_of(const HttpResponse& response) {
  HubStatus status;
  const Result<json::Value> document = json::parse(response.body.reveal());
  if (!document || text_of(document->find("kind")) != "Status") return status;
  status.message = text_of(document->find("message"));
  status.reason = text_of(document->find("reason"));
  if (const json::Value* details = document->find("details")) {
    status.name = text_of(details->find("name"));
  }
  return status;
}

struct ReasonPhrase {
  int status;
  std::string_view phrase;
};
constexpr std::array<ReasonPhrase, 13> kReasonPhrases = {{{400, "Bad Request"},
                                                          {401, "Unauthorized"},
                                                          {403, "Forbidden"},
                                                          {404, "Not Found"},
                                                          {405, "Method Not Allowed"},
                                                          {406, "Not Acceptable"},
                                                          {409, "Conflict"},
                                                          {410, "Gone"},
                                                          {429, "Too Many Requests"},
                                                          {500, "Internal Server Error"},
                                                          {502, "Bad Gateway"},
                                                          {503, "Service Unavailable"},
                                                          {504, "Gateway Timeout"}}};

std::string with_reason(int status) {
  for (const ReasonPhrase& known : kReasonPhrases) {
    if (known.status == status) return std::to_string(status) + " " + std::string(known.phrase);
  }
  return std::to_string(status);
}

// The Role that would allow what was refused.
std::string missing_rule(const HubResource& resource) {
  const bool is_list = resource.name.empty();
  std::string rule = "it needs a Role with verbs [" + std::string(is_list ? "list" : "get") +
                     "] on resources [" + resource.resource + "]";
  if (!resource.group.empty()) rule += " of apiGroups [" + resource.group + "]";
  if (!is_list) rule += ", resourceNames [" + resource.name + "]";
  if (resource.name_space.empty()) return rule + " in a ClusterRole, bound for all namespaces";
  return rule + ", bound in namespace " + in_quotes(resource.name_space);
}

std::string hint_of(int status, const HubResource& resource, const Hub& hub) {
  if (status == 401) return "the hub does not know this identity, of " + hub.origin;
  if (status == 403) return missing_rule(resource);
  if (status == 404) return "is this the hub, and does it serve " + resource.resource + "?";
  if (status >= 300 && status < 400) return "name the server itself; redirects are not followed";
  if (status == 429 || status >= 500) return "the hub may be overloaded or starting; try again";
  return {};
}

Error refusal(const HttpResponse& response, const HubResource& resource, const Hub& hub) {
  const HubStatus status = status_of(response);
  const bool may_pass = response.status == 429 || response.status >= 500;
  std::string message = "the hub answered " + with_reason(response.status);
  // What the API server says starts with the resource and ends with the reason.
  if (!status.message.empty()) message += ": " + printable(status.message.substr(0, 500));
  return Error{.kind = may_pass ? Error::Kind::unavailable : Error::Kind::no_credential,
               .message = std::move(message),
               .hint = hint_of(response.status, resource, hub),
               .is_transient = may_pass};
}

Error unusable(const std::string& why) {
  return Error{.kind = Error::Kind::no_credential, .message = "the hub's reply " + why};
}

Result<json::Value> parse_reply(const HttpResponse& response, std::size_t max_bytes) {
  Result<json::Value> document = json::parse(response.body.reveal(), {.bytes = max_bytes});
  if (!document) return unusable("is no JSON: it " + document.error().message);
  if (document->object() == nullptr) return unusable("is no JSON object");
  return document;
}

bool is_absent(const HttpResponse& response, const HubResource& resource) {
  if (response.status != 404) return false;
  const HubStatus status = status_of(response);
  return status.reason == "NotFound" && status.name == resource.name;
}

json::Array take_items(json::Value& page) {
  for (json::Member& member : *page.object()) {
    if (member.name == "items" && member.value.array() != nullptr) {
      return std::move(*member.value.array());
    }
  }
  return {};
}

}  // namespace

HubClient::HubClient(Hub hub, RetryPolicy retries, const Clock& clock)
    : hub_(std::move(hub)), retries_(std::move(retries)), clock_(clock) {
  http_ = make_http_client(std::move(hub_.http));
}

HubClient::HubClient(Hub hub, std::unique_ptr<HttpClient> http, RetryPolicy retries,
                     const Clock& clock)
    : hub_(std::move(hub)), http_(std::move(http)), retries_(std::move(retries)), clock_(clock) {}

Result<HttpResponse> HubClient::send(const HubResource& resource, const std::string& query) {
  HttpRequest request{.url = hub_.server + path_of(resource) + query,
                      .max_reply_bytes = resource.name.empty() ? kMaxPage : kMaxObject};
  request.add_header("Accept", "application/json");
  if (!hub_.token.empty()) {
    SecretString authorization("Bearer ");
    authorization.append(hub_.token.reveal());
    request.headers.push_back({.name = "Authorization", .value = std::move(authorization)});
  }
  return send_with_retries(*http_, request, retries_, clock_);
}

Result<std::optional<json::Value>> HubClient::find(const HubResource& resource) {
  const auto answer = [&]() -> Result<std::optional<json::Value>> {
    TRY_ASSIGN(const HttpResponse response, send(resource, ""));
    if (is_absent(response, resource)) return std::optional<json::Value>();
    if (response.status != 200) return refusal(response, resource, hub_);
    TRY_ASSIGN(json::Value object, parse_reply(response, kMaxObject));
    return std::optional(std::move(object));
  };
  return answer().context("reading " + subject(resource) + " from the hub " +
                          redacted_url(hub_.server));
}

Status HubClient::list(const HubResource& resource, std::string_view label_selector,
                       std::size_t page_size, const Receive& receive) {
  const std::string base =
      "?limit=" + std::to_string(page_size) +
      (label_selector.empty() ? "" : "&labelSelector=" + percent_encoded(label_selector));
  std::string token;
  // A list has a "continue" token on all pages but the last.
  const auto one_page = [&]() -> Result<bool> {
    const std::string query = token.empty() ? base : base + "&continue=" + percent_encoded(token);
    std::optional<json::Value> page;
    {
      TRY_ASSIGN(const HttpResponse response, send(resource, query));
      if (response.status != 200) return refusal(response, resource, hub_);
      TRY_ASSIGN(page, parse_reply(response, kMaxPage));
    }
    if (!text_of(page->find("kind")).ends_with("List")) return unusable("is no list");
    const json::Value* metadata = page->find("metadata");
    token = metadata == nullptr ? std::string() : text_of(metadata->find("continue"));
    for (json::Value& item : take_items(*page)) {
      TRY_ASSIGN(const bool goes_on, receive(std::move(item)));
      if (!goes_on) return false;
    }
    return !token.empty();
  };
  for (int pages = 0; pages < kMaxPages; ++pages) {
    Result<bool> goes_on = one_page().context("listing " + subject(resource) + " of the hub " +
                                              redacted_url(hub_.server));
    if (!goes_on) return std::move(goes_on).error();
    if (!*goes_on) return {};
  }
  return unusable("to a list does not end");
}

}  // namespace execcred
