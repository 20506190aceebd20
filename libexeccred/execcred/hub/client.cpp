// SPDX-License-Identifier: Apache-2.0
#include <execcred/hub/client.hpp>

#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/exec/bearer_token.hpp>
#include <execcred/hub/failure.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/json/json_scan.hpp>
#include <execcred/os/file.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace execcred {
namespace {

constexpr std::size_t kMaxPage = std::size_t{64} * 1024 * 1024;
// Of a page that may be divided. It is smaller, so that a page that is too large costs little time.
constexpr std::size_t kMaxSeveral = kMaxPage / 4;

constexpr int kMaxPages = 10'000;

Error unusable(const Hub& hub, const std::string& why) {
  return Error::no_credential(std::string(hub.noun) + "'s reply " + why);
}

bool is_created(const HttpResponse& response) {
  return response.status == 200 || response.status == 201;
}

// The parser's message quotes a duplicate key.
Error not_json(const Error& error, const Hub& hub) {
  return unusable(hub, "is no JSON: it " + shown_hub_text(error.message));
}

Result<json::Value> parse_reply(const HttpResponse& response, const Hub& hub) {
  Result<json::Value> document = json::parse(response.body.reveal(), {.bytes = kMaxItem});
  if (!document) return not_json(document.error(), hub);
  if (document->object() == nullptr) return unusable(hub, "is no JSON object");
  return document;
}

// The string member `member` of each object in the list `list`; objects without it are left out.
std::vector<std::string> members_of(const json::Value& object, std::string_view list,
                                    std::string_view member) {
  std::vector<std::string> texts;
  const json::Value* items = object.find(list);
  if (items == nullptr || items->array() == nullptr) return texts;
  for (const json::Value& item : *items->array()) {
    if (std::string text = json::text_or_empty(item.find(member)); !text.empty()) {
      texts.push_back(std::move(text));
    }
  }
  return texts;
}

// Replaces the header of that name, if there is one.
void set_header(HttpRequest& request, std::string_view name, SecretString value) {
  for (HttpHeader& header : request.headers) {
    if (header.name != name) continue;
    header.value = std::move(value);
    return;
  }
  request.headers.push_back({.name = std::string(name), .value = std::move(value)});
}

bool has_header(const HttpRequest& request, std::string_view name) {
  return std::any_of(request.headers.begin(), request.headers.end(),
                     [name](const HttpHeader& header) { return header.name == name; });
}

SecretString text_to_send(const json::Value& body) {
  std::string text = json::to_text(body);
  SecretString copy(text);
  wipe(text);
  return copy;
}

}  // namespace

std::string path_of(const HubResource& resource) {
  std::string path = resource.group.empty() ? "/api/" : "/apis/" + resource.group + "/";
  path += resource.version;
  if (!resource.name_space.empty()) path += "/namespaces/" + resource.name_space;
  path += "/" + resource.resource;
  if (!resource.name.empty()) path += "/" + resource.name;
  if (!resource.subresource.empty()) path += "/" + resource.subresource;
  return path;
}

Hub Hub::copy() const {
  return {.server = server,
          .name_space = name_space,
          .token = token.copy(),
          .token_file = token_file,
          .token_age = token_age,
          .http = http,
          .tls_files = tls_files,
          .origin = origin,
          .noun = noun};
}

HubClient::HubClient(Hub hub, CallContext call, RetryPolicy retries)
    : hub_(std::move(hub)), call_(std::move(call)), retries_(std::move(retries)) {
  http_ = make_http_client(std::move(hub_.http), hub_.tls_files);
}

HubClient::HubClient(Hub hub, std::unique_ptr<HttpClient> http, CallContext call,
                     RetryPolicy retries)
    : hub_(std::move(hub)),
      http_(std::move(http)),
      call_(std::move(call)),
      retries_(std::move(retries)) {}

// If the file cannot be read now, or contains no token, the old token stays: it may still be valid.
void HubClient::read_token_again() {
  token_read_ = std::chrono::steady_clock::now();
  const Result<SecretString> content = read_secret_file(hub_.token_file);
  if (!content) return;
  Result<BearerToken> token = bearer_token(*content);
  if (token) hub_.token = std::move(*token).take();
}

Result<HttpResponse> HubClient::send_as(HttpRequest request, const RetryPolicy& given) {
  if (!has_header(request, "Accept")) request.add_header("Accept", "application/json");
  RetryPolicy policy = given;
  policy.renew = [this, &given](HttpRequest& next) -> Status {
    const auto age = std::chrono::steady_clock::now() - token_read_;
    if (!hub_.token_file.empty() && age >= hub_.token_age) read_token_again();
    if (!hub_.token.empty()) {
      SecretString authorization("Bearer ");
      authorization.append(hub_.token.reveal());
      set_header(next, "Authorization", std::move(authorization));
    }
    return given.renew ? given.renew(next) : Status();
  };
  // After a 401, the file is read again, because it may have been rewritten since it was read.
  policy.judge = [this, &given](const HttpRequest& sent, const HttpResponse& reply) {
    constexpr int kUnauthorized = 401;
    if (reply.status == kUnauthorized && !hub_.token_file.empty()) {
      const SecretString refused = hub_.token.copy();
      read_token_again();
      if (hub_.token.reveal() != refused.reveal()) return Verdict::retry();
    }
    return given.judge(sent, reply);
  };
  return send_with_retries(*http_, std::move(request), call_, policy);
}

Result<HttpResponse> HubClient::send(HttpRequest request) {
  if (request.method == "GET") request.stop = stop_;
  return send_as(std::move(request), retries_);
}

Result<HttpResponse> HubClient::exchange(const std::string& target, HttpRequest request,
                                         const RetryPolicy& policy) {
  request.url = hub_.server + target;
  return send_as(std::move(request), policy);
}

Result<std::optional<json::Value>> HubClient::find(const HubResource& resource) {
  const auto answer = [&]() -> Result<std::optional<json::Value>> {
    const HttpResponse response =
        TRY(send({.url = hub_.server + path_of(resource), .max_reply_bytes = kMaxItem}));
    if (is_absent(response, resource)) return std::optional<json::Value>();
    if (response.status != 200) return hub_refusal(response, resource, "get", hub_);
    json::Value object = TRY(parse_reply(response, hub_));
    return std::optional(std::move(object));
  };
  return in_context(answer(), "reading " + subject_of(resource) + " from " + shown(hub_));
}

Result<std::optional<json::Value>> HubClient::discover(const std::string& path,
                                                       std::string_view kind) {
  constexpr int kNotFound = 404;
  constexpr int kForbidden = 403;
  const auto answer = [&]() -> Result<std::optional<json::Value>> {
    const HttpResponse response =
        TRY(send({.url = hub_.server + path, .max_reply_bytes = kMaxItem}));
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
    json::Value object = TRY(parse_reply(response, hub_));
    if (json::text_or_empty(object.find("kind")) != kind) {
      Error error = unusable(hub_, "is no " + std::string(kind));
      error.hint = "is this a Kubernetes API server?";
      return error;
    }
    return std::optional(std::move(object));
  };
  return in_context(answer(), "asking " + shown(hub_) + " what it serves under " + path);
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
                      .body = text_to_send(body),
                      .max_reply_bytes = kMaxItem};
  request.add_header("Content-Type", "application/json");
  return send(std::move(request));
}

Result<json::Value> HubClient::create(const HubResource& resource, const json::Value& body) {
  const auto answer = [&]() -> Result<json::Value> {
    const HttpResponse response = TRY(post(resource, body));
    if (!is_created(response)) return hub_refusal(response, resource, "create", hub_);
    return parse_reply(response, hub_);
  };
  return in_context(answer(), "creating " + subject_of(resource) + " on " + shown(hub_));
}

Result<bool> HubClient::create_named(const HubResource& resource, const json::Value& body) {
  constexpr int kConflict = 409;
  const auto answer = [&]() -> Result<bool> {
    const HttpResponse response = TRY(post(resource, body));
    if (response.status == kConflict) return false;
    if (!is_created(response)) return hub_refusal(response, resource, "create", hub_);
    return true;
  };
  return in_context(answer(), "creating one of the " + full_name(resource) + " of " + shown(hub_));
}

struct HubClient::Page {
  std::vector<ListItem> items = {};
  std::string next = {};  // for the page after it; empty on the last
  std::string resource_version = {};
  std::size_t bytes = 0;
  bool is_expired = false;    // the server dropped the snapshot of the list
  bool is_too_large = false;  // and was not read to its end
};

// Where a list continues.
struct HubClient::Place {
  std::size_t limit = 0;  // of objects; 0: none
  std::string token = {};
};

namespace {

std::string parameters_of(const HubListQuery& query, std::size_t limit, std::string_view token) {
  std::vector<std::string> parameters;
  if (limit != 0) parameters.push_back("limit=" + std::to_string(limit));
  if (!query.label_selector.empty()) {
    parameters.push_back("labelSelector=" + percent_encode(query.label_selector));
  }
  if (!token.empty()) parameters.push_back("continue=" + percent_encode(token));
  return parameters.empty() ? std::string() : "?" + join(parameters, "&");
}

}  // namespace

Result<HubClient::Page> HubClient::read_page(const HubResource& resource, const HubListQuery& query,
                                             const Place& place) {
  HttpRequest request{.url = hub_.server + path_of(resource) +
                             parameters_of(query, place.limit, place.token)};
  if (query.content == HubContent::metadata) {
    request.add_header("Accept",
                       "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1");
  }
  const std::size_t max_bytes = place.limit > 1 ? kMaxSeveral : kMaxPage;
  Page page;
  SecretString body;
  request.receive = [&](std::string_view part) {
    if (part.empty()) body = SecretString();  // of an earlier attempt
    page.is_too_large = body.size() + part.size() > max_bytes;
    if (!page.is_too_large) body.append(part);
    return !page.is_too_large;
  };
  const HttpResponse response = TRY(send(std::move(request)));
  if (page.is_too_large) return page;
  constexpr int kGone = 410;
  page.is_expired = response.status == kGone && !place.token.empty();
  if (page.is_expired) return page;
  if (response.status != 200) return hub_refusal(response, resource, "list", hub_);
  page.bytes = body.size();
  const Result<Envelope> list = open_envelope(body.reveal(), "items");
  if (!list) return not_json(list.error(), hub_);
  if (list->rest.object() == nullptr) return unusable(hub_, "is no JSON object");
  if (!json::text_or_empty(list->rest.find("kind")).ends_with("List")) {
    return unusable(hub_, "is no list");
  }
  if (const json::Value* metadata = list->rest.find("metadata"); metadata != nullptr) {
    page.next = json::text_or_empty(metadata->find("continue"));
    page.resource_version = json::text_or_empty(metadata->find("resourceVersion"));
  }
  if (list->content.empty() || list->content == "null") return page;
  const auto texts = json::element_texts(list->content);
  if (!texts) return unusable(hub_, "is no JSON: its items are no array");
  for (const std::string_view text : *texts) {
    ListItem item = parse_item(text);
    // Without a name, it is the hub's defect, not that of the object's author.
    if (item.problem && item.object.is_null()) {
      return unusable(hub_, "is no JSON: " + shown_hub_text(item.problem->message));
    }
    page.items.push_back(std::move(item));
  }
  return page;
}

// Reads the page with as few objects as needed. Of an object that alone is too large, only the
// metadata is read.
Result<HubClient::Page> HubClient::read_fitting_page(const HubResource& resource,
                                                     const HubListQuery& query, Place& place) {
  Page page = TRY(read_page(resource, query, place));
  while (page.is_too_large && place.limit != 1) {
    place.limit = place.limit == 0 ? query.page_size : place.limit / 2;
    page = TRY(read_page(resource, query, place));
  }
  if (!page.is_too_large) {
    const bool may_grow = place.limit != 0 && page.bytes < kMaxSeveral / 4;
    if (may_grow) place.limit = std::min(query.page_size, 2 * place.limit);
    return page;
  }
  HubListQuery names = query;
  names.content = HubContent::metadata;
  if (query.content == HubContent::whole) page = TRY(read_page(resource, names, place));
  // A server that does not know limits may send all objects.
  if (page.is_too_large || page.items.size() > 1) {
    return unusable(hub_, "to a list is larger than 64 MiB, even with a limit of one object");
  }
  for (ListItem& item : page.items) {
    item = unread_item(json::to_text(item.object), "is larger than 64 MiB");
  }
  return page;
}

Result<std::string> HubClient::list(const HubResource& resource, const HubListQuery& query,
                                    const Receive& receive) {
  constexpr int kMaxBeginnings = 4;
  int beginnings = 1;
  Place place = {.limit = query.page_size};
  std::set<std::string> received;  // the names, in this beginning
  std::set<std::string> known;     // and in earlier ones, if the caller does not forget them
  std::string resource_version;
  const auto take = [&](ListItem item) -> Result<bool> {
    if (!query.restart) received.insert(full_name_of(item.object));
    return known.contains(full_name_of(item.object)) || TRY(receive(std::move(item)));
  };
  const auto one_page = [&]() -> Result<bool> {
    if (query.page_timeout) begin(std::chrono::steady_clock::now() + *query.page_timeout);
    Page page = TRY(read_fitting_page(resource, query, place));
    if (page.is_expired) {
      if (++beginnings > kMaxBeginnings) {
        return Error{
            .kind = Error::Kind::unavailable,
            .message = std::string(hub_.noun) + " dropped the list before its last page was read",
            .hint = "it may be overloaded; try again",
            .is_transient = true};
      }
      place = {};
      known.merge(received);
      if (query.restart) query.restart();
      return true;
    }
    place.token = std::move(page.next);
    resource_version = std::move(page.resource_version);
    for (ListItem& item : page.items) {
      const bool goes_on = TRY(take(std::move(item)));
      if (!goes_on) return false;
    }
    return !place.token.empty();
  };
  if (query.restart) query.restart();
  for (int pages = 0; pages < kMaxPages; ++pages) {
    Result<bool> goes_on =
        in_context(one_page(), "listing " + subject_of(resource) + " of " + shown(hub_));
    if (!goes_on) return std::move(goes_on).error();
    if (!*goes_on) return resource_version;
  }
  return unusable(hub_, "to a list does not end");
}

}  // namespace execcred
