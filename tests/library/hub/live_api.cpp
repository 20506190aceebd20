// SPDX-License-Identifier: Apache-2.0
#include "live_api.hpp"

#include <execcred/base/pause.hpp>
#include <execcred/base/text.hpp>

#include <algorithm>
#include <utility>

namespace execcred::test {
namespace {

std::string parameter(const Received& request, const std::string& name) {
  for (const std::string& pair : request.parameters()) {
    if (pair.starts_with(name + "=")) return pair.substr(name.size() + 1);
  }
  return {};
}

// Whether this thread runs a hook.
thread_local bool is_in_hook = false;

std::string key_of(const std::string& resource, const std::string& name_space,
                   const std::string& name) {
  return resource + "/" + name_space + "/" + name;
}

Json metadata_alone(const Json& object) {
  return {{"kind", "PartialObjectMetadata"},
          {"apiVersion", "meta.k8s.io/v1"},
          {"metadata", object.at("metadata")}};
}

bool wants_metadata(const Received& request) {
  return request.header("Accept").find("PartialObjectMetadata") != std::string::npos;
}

// Whether the labels of an object match a selector
// of the form a=b,c=d.
bool is_selected(const Json& object, const std::string& selector) {
  if (selector.empty()) return true;
  const std::size_t comma = selector.find(',');
  const std::string first = selector.substr(0, comma);
  const std::size_t mark = first.find('=');
  const Json labels = object["metadata"].value("labels", Json::object());
  if (labels.value(first.substr(0, mark), "") != first.substr(mark + 1)) return false;
  return comma == std::string::npos || is_selected(object, selector.substr(comma + 1));
}

std::string chunk(const std::string& line) {
  std::string size(16, '\0');
  size.resize(static_cast<std::size_t>(
      std::snprintf(size.data(), size.size(), "%zx\r\n", line.size() + 1)));
  return size + line + "\n\r\n";
}

// Adds one to a number for as long as it exists.
class Counted {
 public:
  explicit Counted(std::atomic<std::size_t>& number) : number_(number) { ++number_; }
  ~Counted() { --number_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  std::atomic<std::size_t>& number_;
};

}  // namespace

std::string status_reply(int code, const std::string& reason, const std::string& message,
                         const Json& details, const std::string& headers) {
  const Json status = {{"kind", "Status"},    {"apiVersion", "v1"}, {"metadata", Json::object()},
                       {"status", "Failure"}, {"message", message}, {"reason", reason},
                       {"details", details},  {"code", code}};
  return reply(code, status.dump(), headers);
}

bool comes_true(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    pause_for(std::chrono::milliseconds(2));
  }
  return true;
}

LiveApi::LiveApi(std::vector<std::string> profile_versions)
    : profile_versions_(std::move(profile_versions)) {
  server_.otherwise([this](Stream& stream, const Received& request) { serve(stream, request); });
}

LiveApi::~LiveApi() {
  {
    const std::scoped_lock lock(mutex_);
    is_closing_ = true;
  }
  changed_.notify_all();
}

Hub LiveApi::hub() const {
  Hub hub{.server = server_.url(), .token = SecretString("t0ken"), .origin = "a test"};
  hub.http.tls.ca_certificates = server_.ca_pem();
  return hub;
}

HubClient LiveApi::client(CallContext call) const {
  return {hub(), std::move(call), {.first_pause = std::chrono::milliseconds(1)}};
}

std::vector<Received> LiveApi::requests(std::string_view method, std::string_view part) const {
  std::vector<Received> found = requests();
  std::erase_if(found, [&](const Received& request) {
    return request.method != method || request.target.find(part) == std::string::npos;
  });
  return found;
}

void LiveApi::before(Hook hook) { replace_hook(before_, std::move(hook)); }
void LiveApi::after(Hook hook) { replace_hook(after_, std::move(hook)); }

void LiveApi::replace_hook(Hook& old, Hook hook) {
  std::unique_lock lock(mutex_);
  old = std::move(hook);
  if (!is_in_hook) changed_.wait(lock, [this] { return running_hooks_ == 0; });
}

bool LiveApi::is_answered(const Hook& hook, Stream& stream, const Received& request) {
  is_in_hook = true;
  const bool is_answered = hook && hook(stream, request);
  is_in_hook = false;
  {
    const std::scoped_lock lock(mutex_);
    --running_hooks_;
  }
  changed_.notify_all();
  return is_answered;
}

void LiveApi::note(const std::string& type, const std::string& resource, const Json& object) {
  events_.push_back({.version = version_, .resource = resource, .type = type, .object = object});
  changed_.notify_all();
}

Json LiveApi::stored(const std::string& resource, Json object) {
  Json& metadata = object["metadata"];
  const std::string name_space = metadata.value("namespace", "");
  const std::string key = key_of(resource, name_space, metadata.value("name", ""));
  const auto old = objects_.find(key);
  const bool is_new = old == objects_.end();
  ++version_;
  metadata["uid"] =
      is_new ? "uid-" + std::to_string(version_) : old->second.at("metadata").value("uid", "");
  metadata["resourceVersion"] = std::to_string(version_);
  objects_[key] = object;
  note(is_new ? "ADDED" : "MODIFIED", resource, object);
  return object;
}

Json LiveApi::put(const std::string& resource, Json object) {
  const std::scoped_lock lock(mutex_);
  return stored(resource, std::move(object));
}

void LiveApi::erase(const std::string& resource, const std::string& name_space,
                    const std::string& name) {
  const std::scoped_lock lock(mutex_);
  const auto found = objects_.find(key_of(resource, name_space, name));
  if (found == objects_.end()) return;
  Json object = found->second;
  objects_.erase(found);
  object["metadata"]["resourceVersion"] = std::to_string(++version_);
  note("DELETED", resource, object);
}

std::optional<Json> LiveApi::find(const std::string& resource, const std::string& name_space,
                                  const std::string& name) const {
  const std::scoped_lock lock(mutex_);
  const auto found = objects_.find(key_of(resource, name_space, name));
  return found == objects_.end() ? std::nullopt : std::optional(found->second);
}

std::size_t LiveApi::count(const std::string& resource) const {
  const std::scoped_lock lock(mutex_);
  return static_cast<std::size_t>(
      std::count_if(objects_.begin(), objects_.end(),
                    [&](const auto& object) { return object.first.starts_with(resource + "/"); }));
}

void LiveApi::compact() {
  const std::scoped_lock lock(mutex_);
  oldest_ = ++version_;
  events_.clear();
}

void LiveApi::bookmark() {
  const std::scoped_lock lock(mutex_);
  const Json metadata = {{"resourceVersion", std::to_string(++version_)}};
  note("BOOKMARK", "", {{"kind", "ClusterProfile"}, {"metadata", metadata}});
}

void LiveApi::send_to_watches(const std::string& line) {
  const std::scoped_lock lock(mutex_);
  extra_lines_.push_back(line);
  changed_.notify_all();
}

void LiveApi::cut_watches() {
  const std::scoped_lock lock(mutex_);
  ++cuts_;
  changed_.notify_all();
}

// /api/v1[/namespaces/NS]/RESOURCE[/NAME], /apis/GROUP/VERSION…
std::optional<LiveApi::Place> LiveApi::place_of(const std::string& path) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(path, '/')) parts.emplace_back(part);
  const std::size_t head = parts.size() > 1 && parts[1] == "apis" ? 4 : 3;
  if (parts.size() <= head) return std::nullopt;
  parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(head));
  Place place;
  if (parts.size() > 2 && parts[0] == "namespaces") {
    place.name_space = parts[1];
    parts.erase(parts.begin(), parts.begin() + 2);
  }
  place.resource = parts[0];
  if (parts.size() > 1) place.name = parts[1];
  return place;
}

void LiveApi::serve(Stream& stream, const Received& request) {
  Hook hook;
  std::uint64_t cuts = 0;  // read with the hook: a watch that came before a new hook is cut too
  {
    const std::scoped_lock lock(mutex_);
    hook = before_;
    ++running_hooks_;
    cuts = cuts_;
  }
  if (is_answered(hook, stream, request)) return;
  if (request.path() == "/apis/multicluster.x-k8s.io") {
    Json versions = Json::array();
    for (const std::string& version : profile_versions_) versions.push_back({{"version", version}});
    stream.write(reply(200, Json({{"kind", "APIGroup"}, {"versions", versions}}).dump()));
    return;
  }
  const std::optional<Place> place = place_of(request.path());
  if (!place) {
    const Json resources = Json::array({{{"name", "clusterprofiles"}}});
    stream.write(reply(200, Json({{"kind", "APIResourceList"}, {"resources", resources}}).dump()));
    return;
  }
  if (parameter(request, "watch") == "true") {
    watch(stream, request, *place, cuts);
    stream.cut();
    return;
  }
  std::string text;
  {
    const std::scoped_lock lock(mutex_);
    text = answer(request, *place);
    hook = after_;
    ++running_hooks_;
  }
  if (is_answered(hook, stream, request)) return;
  stream.write(text);
}

std::string LiveApi::answer(const Received& request, const Place& place) {
  if (request.method == "POST") return create(request, place);
  if (request.method == "GET" && place.name.empty()) return list(request, place);
  const auto found = objects_.find(key_of(place.resource, place.name_space, place.name));
  if (found == objects_.end()) {
    return status_reply(404, "NotFound", place.resource + " \"" + place.name + "\" not found",
                        {{"name", place.name}, {"kind", place.resource}});
  }
  if (request.method == "PUT") return replace(request, place);
  if (request.method == "DELETE") return remove(request, place);
  return reply(200, found->second.dump());
}

std::string LiveApi::list(const Received& request, const Place& place) {
  const std::string from = parameter(request, "continue");  // "VERSION:INDEX"
  const std::size_t limit = std::stoul("0" + parameter(request, "limit"));
  if (!from.empty() && std::stoull(from) < oldest_) {
    const Json metadata = {{"continue", std::to_string(version_) + from.substr(from.find(':'))}};
    return reply(410, Json({{"kind", "Status"},
                            {"metadata", metadata},
                            {"reason", "Expired"},
                            {"message", "The provided continue parameter is too old"},
                            {"code", 410}})
                          .dump());
  }
  const std::size_t begin = from.empty() ? 0 : std::stoul(from.substr(from.find(':') + 1));
  const bool is_metadata = wants_metadata(request);
  const std::string selector = parameter(request, "labelSelector");
  Json items = Json::array();
  Json metadata = {{"resourceVersion",
                    from.empty() ? std::to_string(version_) : from.substr(0, from.find(':'))}};
  std::size_t index = 0;
  for (const auto& [key, object] : objects_) {
    const bool is_there = key.starts_with(place.resource + "/" + place.name_space +
                                          (place.name_space.empty() ? "" : "/"));
    if (!is_there || !is_selected(object, selector) || index++ < begin) continue;
    if (limit > 0 && items.size() == limit) {
      metadata["continue"] =
          metadata.value("resourceVersion", "") + ":" + std::to_string(begin + limit);
      break;
    }
    items.push_back(is_metadata ? metadata_alone(object) : object);
  }
  return reply(200, Json({{"kind", is_metadata ? "PartialObjectMetadataList" : "AnyList"},
                          {"metadata", metadata},
                          {"items", items}})
                        .dump());
}

std::string LiveApi::create(const Received& request, const Place& place) {
  Json object = Json::parse(request.body);
  object["metadata"]["namespace"] = place.name_space;
  const std::string name = object["metadata"].value("name", "");
  if (objects_.count(key_of(place.resource, place.name_space, name)) > 0) {
    return status_reply(409, "AlreadyExists", place.resource + " \"" + name + "\" already exists",
                        {{"name", name}, {"kind", place.resource}});
  }
  return reply(201, stored(place.resource, std::move(object)).dump());
}

std::string LiveApi::replace(const Received& request, const Place& place) {
  const Json object = Json::parse(request.body);
  const Json& old = objects_.at(key_of(place.resource, place.name_space, place.name));
  for (const char* field : {"uid", "resourceVersion"}) {
    const std::string sent = object.at("metadata").value(field, "");
    if (!sent.empty() && sent != old.at("metadata").value(field, "")) {
      return status_reply(409, "Conflict",
                          "Operation cannot be fulfilled on " + place.resource + " \"" +
                              place.name + "\": the object has been modified",
                          {{"name", place.name}, {"kind", place.resource}});
    }
  }
  return reply(200, stored(place.resource, object).dump());
}

std::string LiveApi::remove(const Received& request, const Place& place) {
  const auto found = objects_.find(key_of(place.resource, place.name_space, place.name));
  const Json options = Json::parse(request.body);
  const Json wanted = options.value("preconditions", Json::object());
  for (const char* field : {"uid", "resourceVersion"}) {
    const std::string sent = wanted.value(field, "");
    if (!sent.empty() && sent != found->second.at("metadata").value(field, "")) {
      return status_reply(409, "Conflict", "the " + std::string(field) + " in the precondition",
                          {{"name", place.name}, {"kind", place.resource}});
    }
  }
  Json object = found->second;
  objects_.erase(found);
  object["metadata"]["resourceVersion"] = std::to_string(++version_);
  note("DELETED", place.resource, object);
  return reply(200, R"({"kind":"Status","status":"Success"})");
}

void LiveApi::watch(Stream& stream, const Received& request, const Place& place,
                    std::uint64_t cuts) {
  std::unique_lock lock(mutex_);
  std::uint64_t seen = std::stoull(parameter(request, "resourceVersion"));
  if (seen < oldest_) {
    lock.unlock();
    stream.write(status_reply(410, "Expired", "too old resource version"));
    return;
  }
  std::size_t lines = extra_lines_.size();
  // Counted from here on: a line that is sent later reaches this watch.
  const Counted counted(watches_);
  const bool is_metadata = wants_metadata(request);
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::seconds(std::stol(parameter(request, "timeoutSeconds")));
  std::string text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  while (true) {
    for (const Event& event : events_) {
      if (event.version <= seen) continue;
      const bool is_there =
          event.type == "BOOKMARK" ||
          (event.resource == place.resource &&
           (place.name_space.empty() ||
            event.object.at("metadata").value("namespace", "") == place.name_space) &&
           is_selected(event.object, parameter(request, "labelSelector")));
      if (is_there) {
        text += chunk(Json({{"type", event.type},
                            {"object", is_metadata ? metadata_alone(event.object) : event.object}})
                          .dump());
      }
      seen = std::max(seen, event.version);
    }
    for (; lines < extra_lines_.size(); ++lines) text += chunk(extra_lines_[lines]);
    const bool is_over = std::chrono::steady_clock::now() >= end;
    lock.unlock();
    if (!text.empty() && !stream.write(text)) return;
    text.clear();
    if (is_over) stream.write("0\r\n\r\n");
    lock.lock();
    if (is_over || is_closing_ || cuts != cuts_) return;
    const bool has_news = !events_.empty() && events_.back().version > seen;
    if (!has_news && lines == extra_lines_.size()) changed_.wait_until(lock, end);
  }
}

}  // namespace execcred::test
