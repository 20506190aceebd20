// SPDX-License-Identifier: Apache-2.0
#include <execcred/hub/client.hpp>

#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/hub/failure.hpp>

#include <algorithm>
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
    return full_name(resource) + " in " +
           (resource.name_space.empty() ? "all namespaces"
                                        : "namespace " + in_quotes(resource.name_space));
  }
  const std::string place = resource.name_space.empty() ? "" : resource.name_space + "/";
  return full_name(resource) + " " + in_quotes(place + resource.name);
}

std::string path_of(const HubResource& resource) {
  std::string path = resource.group.empty() ? "/api/" : "/apis/" + resource.group + "/";
  path += resource.version;
  if (!resource.name_space.empty()) path += "/namespaces/" + resource.name_space;
  path += "/" + resource.resource;
  if (!resource.name.empty()) path += "/" + resource.name;
  if (!resource.subresource.empty()) path += "/" + resource.subresource;
  return path;
}

Error unusable(const Hub& hub, const std::string& why) {
  return Error{.kind = Error::Kind::no_credential,
               .message = std::string(hub.noun) + "'s reply " + why};
}

// "the hub 'https://hub.example.com'".
std::string shown(const Hub& hub) { return std::string(hub.noun) + " " + redacted_url(hub.server); }

bool is_created(const HttpResponse& response) {
  return response.status == 200 || response.status == 201;
}

Result<json::Value> parse_reply(const HttpResponse& response, std::size_t max_bytes,
                                const Hub& hub) {
  Result<json::Value> document = json::parse(response.body.reveal(), {.bytes = max_bytes});
  // Which quotes a key that comes twice.
  if (!document)
    return unusable(hub, "is no JSON: it " + shown_text_of(document.error().message, hub));
  if (document->object() == nullptr) return unusable(hub, "is no JSON object");
  return document;
}

// Where a list took so long that the server forgot the state it began with, its refusal has a token
// to go on with that of now.
std::string continued(const HttpResponse& response) {
  constexpr int kGone = 410;
  if (response.status != kGone) return {};
  const Result<json::Value> document = json::parse(response.body.reveal());
  const json::Value* metadata = document ? document->find("metadata") : nullptr;
  return metadata == nullptr ? std::string() : text_of(metadata->find("continue"));
}

json::Array take_items(json::Value& page) {
  for (json::Member& member : *page.object()) {
    if (member.name == "items" && member.value.array() != nullptr) {
      return std::move(*member.value.array());
    }
  }
  return {};
}

// A member, which is a string, of each object of a list.
std::vector<std::string> members_of(const json::Value& object, std::string_view list,
                                    std::string_view member) {
  std::vector<std::string> texts;
  const json::Value* items = object.find(list);
  if (items == nullptr || items->array() == nullptr) return texts;
  for (const json::Value& item : *items->array()) {
    if (std::string text = text_of(item.find(member)); !text.empty()) {
      texts.push_back(std::move(text));
    }
  }
  return texts;
}

}  // namespace

HubClient::HubClient(Hub hub, CallContext call, RetryPolicy retries)
    : hub_(std::move(hub)), call_(std::move(call)), retries_(std::move(retries)) {
  http_ = make_http_client(std::move(hub_.http));
}

HubClient::HubClient(Hub hub, std::unique_ptr<HttpClient> http, CallContext call,
                     RetryPolicy retries)
    : hub_(std::move(hub)),
      http_(std::move(http)),
      call_(std::move(call)),
      retries_(std::move(retries)) {}

Result<HttpResponse> HubClient::send(HttpRequest request) {
  request.add_header("Accept", "application/json");
  if (!hub_.token.empty()) {
    SecretString authorization("Bearer ");
    authorization.append(hub_.token.reveal());
    request.headers.push_back({.name = "Authorization", .value = std::move(authorization)});
  }
  return send_with_retries(*http_, std::move(request), call_, retries_);
}

Result<std::optional<json::Value>> HubClient::find(const HubResource& resource) {
  const auto answer = [&]() -> Result<std::optional<json::Value>> {
    const HttpResponse response =
        TRY(send({.url = hub_.server + path_of(resource), .max_reply_bytes = kMaxObject}));
    if (is_absent(response, resource)) return std::optional<json::Value>();
    if (response.status != 200) return hub_refusal(response, resource, "get", hub_);
    json::Value object = TRY(parse_reply(response, kMaxObject, hub_));
    return std::optional(std::move(object));
  };
  return answer().context("reading " + subject(resource) + " from " + shown(hub_));
}

Result<std::optional<json::Value>> HubClient::discover(const std::string& path,
                                                       std::string_view kind) {
  constexpr int kNotFound = 404;
  constexpr int kForbidden = 403;
  const auto answer = [&]() -> Result<std::optional<json::Value>> {
    const HttpResponse response =
        TRY(send({.url = hub_.server + path, .max_reply_bytes = kMaxObject}));
    if (response.status == kNotFound) return std::optional<json::Value>();
    if (response.status != 200) {
      Error refusal = hub_refusal(response, {}, "get", hub_);
      if (response.status == kForbidden) {
        refusal.hint =
            "it needs the ClusterRole system:discovery, which Kubernetes binds to every "
            "authenticated user";
      }
      return refusal;
    }
    json::Value object = TRY(parse_reply(response, kMaxObject, hub_));
    if (text_of(object.find("kind")) != kind) {
      Error error = unusable(hub_, "is no " + std::string(kind));
      error.hint = "is this a Kubernetes API server?";
      return error;
    }
    return std::optional(std::move(object));
  };
  return answer().context("asking " + shown(hub_) + " what it serves under " + path);
}

Result<std::optional<std::vector<std::string>>> HubClient::versions(const std::string& group) {
  const std::optional<json::Value> object = TRY(discover("/apis/" + group, "APIGroup"));
  if (!object) return std::optional<std::vector<std::string>>();
  return std::optional(members_of(*object, "versions", "version"));
}

Result<bool> HubClient::serves(const HubResource& resource) {
  const std::optional<json::Value> object =
      TRY(discover("/apis/" + resource.group + "/" + resource.version, "APIResourceList"));
  if (!object) return false;
  const std::vector<std::string> names = members_of(*object, "resources", "name");
  return std::find(names.begin(), names.end(), resource.resource) != names.end();
}

Result<HttpResponse> HubClient::post(const HubResource& resource, const json::Value& body) {
  HttpRequest request{.method = "POST",
                      .url = hub_.server + path_of(resource),
                      .body = SecretString(json::to_text(body)),
                      .max_reply_bytes = kMaxObject};
  request.add_header("Content-Type", "application/json");
  return send(std::move(request));
}

Result<json::Value> HubClient::create(const HubResource& resource, const json::Value& body) {
  const auto answer = [&]() -> Result<json::Value> {
    const HttpResponse response = TRY(post(resource, body));
    if (!is_created(response)) return hub_refusal(response, resource, "create", hub_);
    return parse_reply(response, kMaxObject, hub_);
  };
  return answer().context("creating " + subject(resource) + " on " + shown(hub_));
}

Result<bool> HubClient::create_named(const HubResource& resource, const json::Value& body) {
  constexpr int kConflict = 409;
  const auto answer = [&]() -> Result<bool> {
    const HttpResponse response = TRY(post(resource, body));
    if (response.status == kConflict) return false;
    if (!is_created(response)) return hub_refusal(response, resource, "create", hub_);
    return true;
  };
  return answer().context("creating one of the " + full_name(resource) + " of " + shown(hub_));
}

Status HubClient::list(const HubResource& resource, std::string_view label_selector,
                       std::size_t page_size, const Receive& receive) {
  const std::string base =
      "?limit=" + std::to_string(page_size) +
      (label_selector.empty() ? "" : "&labelSelector=" + percent_encode(label_selector));
  std::string token;
  // A list has a "continue" token on all pages but the last.
  const auto one_page = [&]() -> Result<bool> {
    const std::string query = token.empty() ? base : base + "&continue=" + percent_encode(token);
    std::optional<json::Value> page;
    {
      const HttpResponse response =
          TRY(send({.url = hub_.server + path_of(resource) + query, .max_reply_bytes = kMaxPage}));
      if (std::string next = continued(response); !token.empty() && !next.empty()) {
        token = std::move(next);
        return true;
      }
      if (response.status != 200) return hub_refusal(response, resource, "list", hub_);
      page = TRY(parse_reply(response, kMaxPage, hub_));
    }
    if (!text_of(page->find("kind")).ends_with("List")) return unusable(hub_, "is no list");
    const json::Value* metadata = page->find("metadata");
    token = metadata == nullptr ? std::string() : text_of(metadata->find("continue"));
    for (json::Value& item : take_items(*page)) {
      const bool goes_on = TRY(receive(std::move(item)));
      if (!goes_on) return false;
    }
    return !token.empty();
  };
  for (int pages = 0; pages < kMaxPages; ++pages) {
    Result<bool> goes_on =
        one_page().context("listing " + subject(resource) + " of " + shown(hub_));
    if (!goes_on) return std::move(goes_on).error();
    if (!*goes_on) return {};
  }
  return unusable(hub_, "to a list does not end");
}

}  // namespace execcred
