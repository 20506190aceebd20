// SPDX-License-Identifier: Apache-2.0
#include "object_api.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

namespace execcred::test {
namespace {

using nlohmann::json;

// The number is between characters that a query must encode.
constexpr std::string_view kTokenHead = "e/+&=%";
constexpr std::string_view kTokenTail = "==";

HttpResponse json_response(int status, std::string body) {
  return {.status = status, .headers = {"Content-Type: application/json"}, .body = std::move(body)};
}

HttpResponse failure(int code, const char* reason, const std::string& message,
                     const json& details = json::object()) {
  return json_response(code, json{{"kind", "Status"},
                                  {"apiVersion", "v1"},
                                  {"metadata", json::object()},
                                  {"status", "Failure"},
                                  {"message", message},
                                  {"reason", reason},
                                  {"details", details},
                                  {"code", code}}
                                 .dump());
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(separator, start), text.size());
    parts.emplace_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  throw std::runtime_error("a query that is encoded wrongly");
}

// As net/url does it: a plus is a space.
std::string decoded(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (i + 2 >= text.size()) throw std::runtime_error("a query that is encoded wrongly");
      result += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    } else {
      result += text[i] == '+' ? ' ' : text[i];
    }
  }
  return result;
}

std::size_t start_of(const std::string& token) {
  if (token.empty()) return 0;
  if (!token.starts_with(kTokenHead) || !token.ends_with(kTokenTail)) {
    throw std::runtime_error("continue key is not valid");
  }
  return std::stoul(token.substr(kTokenHead.size()));
}

}  // namespace

struct ObjectApi::Query {
  explicit Query(std::string_view target)
      : limit(query_parameter(target, "limit")),
        token(query_parameter(target, "continue")),
        selector(query_parameter(target, "labelSelector")) {
    std::vector<std::string> parts = split(target.substr(0, target.find('?')), '/');
    // "", "api", "v1" or "", "apis", GROUP, VERSION
    const std::size_t group_parts = parts.size() > 1 && parts[1] == "apis" ? 4 : 3;
    if (parts.size() <= group_parts) return;
    for (std::size_t i = 1; i < group_parts; ++i) path += "/" + parts[i];
    parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(group_parts));
    if (parts.size() > 2 && parts[0] == "namespaces") {
      name_space = parts[1];
      parts.erase(parts.begin(), parts.begin() + 2);
    }
    plural = parts[0];
    if (parts.size() > 1) name = parts[1];
  }

  std::string path = {};
  std::string name_space = {};
  std::string plural = {};
  std::string name = {};
  std::string limit;
  std::string token;
  std::string selector;
};

void ObjectApi::serve(const Resource& resource) { collection(resource); }

void ObjectApi::add(const Resource& resource, const std::string& text) {
  const json metadata = json::parse(text).at("metadata");
  collection(resource).objects.push_back(
      {.name_space = metadata.at("namespace"),
       .name = metadata.at("name"),
       .labels = metadata.value("labels", std::map<std::string, std::string>()),
       .json = text});
}

ObjectApi::Collection& ObjectApi::collection(const Resource& resource) {
  for (Collection& known : collections_) {
    const bool is_same =
        known.resource.plural == resource.plural && known.resource.path == resource.path;
    if (is_same) return known;
  }
  return collections_.emplace_back(Collection{.resource = resource, .objects = {}});
}

const ObjectApi::Collection* ObjectApi::find(const Query& query) const {
  const auto found =
      std::find_if(collections_.begin(), collections_.end(), [&query](const Collection& known) {
        return known.resource.path == query.path && known.resource.plural == query.plural;
      });
  return found == collections_.end() ? nullptr : &*found;
}

// "/apis/GROUP" or "/apis/GROUP/VERSION"
HttpResponse ObjectApi::discover(const std::string& path) const {
  if (is_discovery_forbidden_) {
    return failure(403, "Forbidden", "User \"reader\" cannot get path \"" + path + "\"");
  }
  std::set<std::string> paths(versions_.begin(), versions_.end());
  json resources = json::array();
  for (const Collection& known : collections_) {
    paths.insert(known.resource.path);
    if (known.resource.path != path) continue;
    resources.push_back({{"name", known.resource.plural}, {"kind", known.resource.kind}});
  }
  if (paths.contains(path)) {
    return json_response(200, json{{"kind", "APIResourceList"},
                                   {"groupVersion", path.substr(std::string_view("/apis/").size())},
                                   {"resources", resources}}
                                  .dump());
  }
  json versions = json::array();
  for (const std::string& known : paths) {
    if (!known.starts_with(path + "/")) continue;
    versions.push_back({{"groupVersion", known.substr(std::string_view("/apis/").size())},
                        {"version", known.substr(path.size() + 1)}});
  }
  if (versions.empty()) {
    return failure(404, "NotFound", "the server could not find the requested resource");
  }
  return json_response(200, json{{"kind", "APIGroup"}, {"versions", versions}}.dump());
}

HttpResponse ObjectApi::answer(const HttpRequest& request) const {
  const Query query(request.target);
  if (query.plural.empty() && request.target.starts_with("/apis/")) {
    return discover(request.target);
  }
  if (forbidden_.contains(query.plural)) {
    const std::string verb = query.name.empty() ? "list" : "get";
    return failure(403, "Forbidden",
                   query.plural + " is forbidden: User \"reader\" cannot " + verb + " resource \"" +
                       query.plural + "\"");
  }
  const Collection* collection = find(query);
  if (collection == nullptr || request.method != "GET") {
    return failure(404, "NotFound", "the server could not find the requested resource");
  }
  return query.name.empty() ? list(*collection, query) : get(*collection, query);
}

HttpResponse ObjectApi::get(const Collection& collection, const Query& query) {
  for (const Object& object : collection.objects) {
    if (object.name == query.name && object.name_space == query.name_space) {
      return json_response(200, object.json);
    }
  }
  return failure(404, "NotFound", query.plural + " \"" + query.name + "\" not found",
                 {{"name", query.name}, {"kind", query.plural}});
}

HttpResponse ObjectApi::list(const Collection& collection, const Query& query) {
  const std::size_t limit = query.limit.empty() ? SIZE_MAX : std::stoul(query.limit);
  const std::size_t equals = query.selector.find('=');
  std::string items;
  std::size_t count = 0;
  std::size_t next = start_of(query.token);
  for (; next < collection.objects.size() && count < limit; ++next) {
    const Object& object = collection.objects[next];
    if (!query.name_space.empty() && object.name_space != query.name_space) continue;
    if (!query.selector.empty()) {
      const auto label = object.labels.find(query.selector.substr(0, equals));
      if (label == object.labels.end() || label->second != query.selector.substr(equals + 1)) {
        continue;
      }
    }
    items += (count++ == 0 ? "" : ",") + object.json;
  }
  json metadata = {{"resourceVersion", "1"}};
  if (next < collection.objects.size()) {
    metadata["continue"] = std::string(kTokenHead) + std::to_string(next) + std::string(kTokenTail);
  }
  const std::string version = query.path.substr(query.path.find('/', 1) + 1);
  return json_response(200, "{\"kind\":\"" + collection.resource.kind + "List\",\"apiVersion\":\"" +
                                version + "\",\"metadata\":" + metadata.dump() + ",\"items\":[" +
                                items + "]}");
}

std::string query_parameter(std::string_view target, std::string_view name) {
  const std::size_t question = target.find('?');
  if (question == std::string_view::npos) return {};
  for (const std::string& pair : split(target.substr(question + 1), '&')) {
    const std::size_t equals = std::min(pair.find('='), pair.size());
    if (decoded(pair.substr(0, equals)) != name || equals == pair.size()) continue;
    return decoded(std::string_view(pair).substr(equals + 1));
  }
  return {};
}

}  // namespace execcred::test
