// SPDX-License-Identifier: Apache-2.0
#include <execcred/hub/watch.hpp>

#include <execcred/base/encoding.hpp>
#include <execcred/base/pause.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/hub/failure.hpp>
#include <execcred/hub/secrets.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/json/json_scan.hpp>

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace execcred {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kMaxEvent = kMaxItem;
// Of all objects together, as they are kept. Beyond half of it, only small objects are kept: an
// author with many large ones leaves room for those of others.
constexpr std::size_t kMaxBytes = std::size_t{256} * 1024 * 1024;
constexpr std::size_t kSmallObject = std::size_t{64} * 1024;
constexpr std::size_t kMostNameless = 10;
constexpr int kNotFound = 404;
constexpr int kGone = 410;
// If the hub closes a watch at once, the next one is delayed.
constexpr Duration kShortWatch = std::chrono::seconds(1);

using Place = std::tuple<std::string_view, std::string_view>;

Place place_of(const WatchedObject& object) { return {object.name_space, object.name}; }

WatchedObjects::const_iterator lower_bound(const WatchedObjects& objects, const Place& place) {
  return std::lower_bound(objects.begin(), objects.end(), place,
                          [](const std::shared_ptr<const WatchedObject>& object,
                             const Place& wanted) { return place_of(*object) < wanted; });
}

// Removes metadata.managedFields, which may be as long as the rest of the object.
void drop_managed_fields(json::Value& object) {
  for (json::Member& member : *object.object()) {
    if (member.name != "metadata" || member.value.object() == nullptr) continue;
    std::erase_if(*member.value.object(),
                  [](const json::Member& field) { return field.name == "managedFields"; });
  }
}

// Divides a stream, which arrives in parts, into lines.
class Lines {
 public:
  void append(std::string_view part) {
    if (is_dropping_) {
      const std::size_t end = part.find('\n');
      if (end == std::string_view::npos) return;
      is_dropping_ = false;
      part.remove_prefix(end + 1);
    }
    text_.erase(0, begin_);
    searched_ -= begin_;
    begin_ = 0;
    text_.append(part);
  }
  // The next line, which is valid until the next append(); nullopt if no line is complete.
  std::optional<std::string_view> next() {
    const std::size_t end = text_.find('\n', searched_);
    if (end == std::string::npos) {
      searched_ = text_.size();
      return std::nullopt;
    }
    const std::string_view line = std::string_view(text_).substr(begin_, end - begin_);
    begin_ = searched_ = end + 1;
    return line;
  }
  // What was received of an incomplete line.
  std::string_view rest() const { return std::string_view(text_).substr(begin_); }
  // Drops the incomplete line, with what will be received of it.
  void drop_rest() {
    text_.clear();
    begin_ = searched_ = 0;
    is_dropping_ = true;
  }

 private:
  std::string text_;
  std::size_t begin_ = 0;     // of the line that is next
  std::size_t searched_ = 0;  // for its end
  bool is_dropping_ = false;
};

}  // namespace

// The work of run(), and the state that only it needs.
class HubWatch::Session {
 public:
  Session(HubWatch& watch, const StopEvent& stop) : watch_(watch), stop_(stop) {}

  void run();

 private:
  // How a step ended that did not fail, that is, what to do next.
  enum class End { at_once, after_a_pause };

  Result<End> list();
  struct Followed {
    bool is_accepted = false;
    bool has_worked = false;  // it lasted, or an event arrived
  };

  Result<End> follow();
  // The end of a watch in which every event could be read.
  Result<End> end_of(Result<HttpResponse> reply, Followed watch, const std::string& doing);
  Status take_event(std::string_view line);
  Status take_large_event(std::string_view start);
  Status take_object(const std::string& type, ListItem item);
  Error malformed(const std::string& why) const;
  std::string watch_target(std::chrono::seconds timeout) const;
  std::shared_ptr<const WatchedObject> keep(ListItem item) const;
  std::shared_ptr<const WatchedObject> same_or(std::shared_ptr<const WatchedObject> object) const;

  void replace_all(WatchedObjects objects, std::vector<Error> nameless);
  void report(const WatchedObjects& objects) const;
  void put(std::shared_ptr<const WatchedObject> object);
  void drop(const std::shared_ptr<const WatchedObject>& object);
  void set_in_sync();
  void set_failed(const Error& error);
  template <class Change>
  void publish(Change change);
  void wait(Duration pause);

  HubWatch& watch_;
  const StopEvent& stop_;
  HubResource resource_ = {};
  std::string version_ = {};  // to watch from; empty: to be listed
  Duration pause_ = {};
  bool is_expired_ = false;  // the hub no longer has version_
  int events_ = 0;           // of this watch
  std::size_t bytes_ = 0;    // of the objects' texts
};

void HubWatch::Session::run() {
  pause_ = watch_.timings_.first_pause;
  while (!stop_.is_requested()) {
    const Result<End> end = version_.empty() ? list() : follow();
    if (stop_.is_requested()) return;
    if (!end) {
      set_failed(end.error());
      const std::optional<Duration> retry_after = watch_.hub_.retry_after();
      wait(retry_after ? *retry_after : jittered(pause_));
    } else if (*end == End::after_a_pause) {
      wait(jittered(pause_));
    } else {
      continue;
    }
    pause_ = std::min(2 * pause_, watch_.timings_.longest_pause);
  }
}

void HubWatch::Session::wait(Duration pause) { stop_.wait_until(steady_clock::now() + pause); }

template <class Change>
void HubWatch::Session::publish(Change change) {
  {
    const std::lock_guard<std::mutex> lock(watch_.mutex_);
    if (!change()) return;
    ++watch_.state_.generation;
  }
  watch_.changed_.notify_all();
  watch_.on_change_();
}

void HubWatch::Session::set_in_sync() {
  publish([this] {
    WatchState& state = watch_.state_;
    if (state.is_in_sync) return false;
    state.is_in_sync = true;
    state.error.reset();
    return true;
  });
}

void HubWatch::Session::set_failed(const Error& error) {
  publish([&] {
    WatchState& state = watch_.state_;
    if (state.is_in_sync || !state.error) state.out_of_sync_since = steady_clock::now();
    state.is_in_sync = false;
    state.error = watch_.hub_.redacted(error);
    return true;
  });
}

void HubWatch::Session::replace_all(WatchedObjects objects, std::vector<Error> nameless) {
  report(objects);
  publish([&] {
    WatchState& state = watch_.state_;
    const bool is_new = !state.is_complete || !state.is_in_sync || objects != watch_.objects_;
    watch_.objects_ = std::move(objects);
    watch_.copied_.reset();
    state.is_complete = true;
    state.is_in_sync = true;
    state.error.reset();
    state.nameless = std::move(nameless);
    return is_new;
  });
}

// Calls the action of on_object() for each object that is not in the new list, or is new or changed
// in it.
void HubWatch::Session::report(const WatchedObjects& objects) const {
  for (const std::shared_ptr<const WatchedObject>& old : watch_.objects_) {
    if (find_object(objects, old->name_space, old->name) == nullptr) watch_.on_object_(old, false);
  }
  for (const std::shared_ptr<const WatchedObject>& object : objects) {
    const WatchedObject* const old = find_object(watch_.objects_, object->name_space, object->name);
    if (old != object.get()) watch_.on_object_(object, true);
  }
}

void HubWatch::Session::put(std::shared_ptr<const WatchedObject> object) {
  watch_.on_object_(object, true);
  publish([&] {
    WatchedObjects& objects = watch_.objects_;
    const Place place = place_of(*object);
    const auto found = objects.begin() + (lower_bound(objects, place) - objects.cbegin());
    bytes_ += object->text.size();
    if (found != objects.end() && place_of(**found) == place) {
      bytes_ -= (*found)->text.size();
      *found = std::move(object);
    } else {
      objects.insert(found, std::move(object));
    }
    watch_.copied_.reset();
    return true;
  });
}

void HubWatch::Session::drop(const std::shared_ptr<const WatchedObject>& object) {
  watch_.on_object_(object, false);
  publish([&] {
    WatchedObjects& objects = watch_.objects_;
    const Place place = place_of(*object);
    const auto found = lower_bound(objects, place);
    if (found == objects.cend() || place_of(**found) != place) return false;
    bytes_ -= (*found)->text.size();
    objects.erase(found);
    watch_.copied_.reset();
    return true;
  });
}

// The object as it is kept; nullptr if it has no name, or is in another namespace than the one that
// was asked for.
std::shared_ptr<const WatchedObject> HubWatch::Session::keep(ListItem item) const {
  json::Value& object = item.object;
  if (object.object() == nullptr) return nullptr;
  auto watched = std::make_shared<WatchedObject>();
  watched->name_space = metadata_text(object, "namespace");
  watched->name = metadata_text(object, "name");
  watched->uid = metadata_text(object, "uid");
  watched->resource_version = metadata_text(object, "resourceVersion");
  const bool is_asked = resource_.name_space.empty() || watched->name_space == resource_.name_space;
  if (watched->name.empty() || !is_asked) return nullptr;
  drop_managed_fields(object);
  if (object.find("apiVersion") == nullptr) {  // an item of a list need not carry it
    const std::string group = resource_.group.empty() ? "" : resource_.group + "/";
    object.add("apiVersion", json::Value(group + resource_.version));
  }
  if (watch_.query_.check) {
    Status checked = watch_.query_.check(item);
    if (!checked) watched->problem = std::move(checked).error();
  } else {
    watched->problem = std::move(item.problem);
  }
  watched->text = json::to_text(object);
  const std::size_t size = watched->text.size();
  if (size > (bytes_ < kMaxBytes / 2 ? kMaxItem : kSmallObject) || bytes_ > kMaxBytes) {
    ListItem left_out =
        unread_item(watched->text, "has " + std::to_string(size / 1024) +
                                       " KiB, and all objects together have more than " +
                                       std::to_string(bytes_ / 1024 / 1024) + " MiB");
    watched->problem = std::move(left_out.problem);
    watched->text = json::to_text(left_out.object);
  }
  return watched;
}

// The known object if it is equal to this one. Only run() changes objects_, so no lock is needed.
std::shared_ptr<const WatchedObject> HubWatch::Session::same_or(
    std::shared_ptr<const WatchedObject> object) const {
  const auto found = lower_bound(watch_.objects_, place_of(*object));
  if (found == watch_.objects_.end()) return object;
  const WatchedObject& old = **found;
  const bool is_same = place_of(old) == place_of(*object) && old.uid == object->uid &&
                       old.resource_version == object->resource_version &&
                       !old.resource_version.empty() && old.text == object->text;
  return is_same ? *found : object;
}

Result<HubWatch::Session::End> HubWatch::Session::list() {
  HubClient& hub = watch_.hub_;
  hub.begin(steady_clock::now() + watch_.timings_.list_timeout);
  resource_ = TRY(watch_.query_.resource(hub));
  // By place, because the hub sorts by "NAMESPACE/NAME" as one text, which is another order. Of two
  // objects of one place, the first counts.
  std::map<Place, std::shared_ptr<const WatchedObject>> listed;
  std::vector<Error> nameless;
  const HubListQuery query = {
      .label_selector = watch_.query_.selector.text(),
      .content = watch_.query_.is_metadata_only ? HubContent::metadata : HubContent::whole,
      .page_timeout = watch_.timings_.list_timeout,
      .restart = [&] {
        listed.clear();
        nameless.clear();
        bytes_ = 0;
      }};
  std::string version = TRY(hub.list(resource_, query, [&](ListItem item) -> Result<bool> {
    if (metadata_text(item.object, "name").empty()) {
      if (nameless.size() < kMostNameless) nameless.push_back(item_problem("has no name"));
      return true;
    }
    std::shared_ptr<const WatchedObject> object = keep(std::move(item));
    if (!object) return true;
    object = same_or(std::move(object));
    const Place place = place_of(*object);
    if (!listed.try_emplace(place, object).second) return true;
    bytes_ += object->text.size();
    return true;
  }));
  if (version.empty()) {
    return Error::no_credential(std::string(hub.hub().noun) + "'s list has no resourceVersion");
  }
  WatchedObjects objects;
  for (auto& [place, object] : listed) objects.push_back(std::move(object));
  replace_all(std::move(objects), std::move(nameless));
  version_ = std::move(version);
  is_expired_ = false;
  return End::at_once;
}

std::string HubWatch::Session::watch_target(std::chrono::seconds timeout) const {
  std::string target = path_of(resource_) + "?watch=true&allowWatchBookmarks=true" +
                       "&timeoutSeconds=" + std::to_string(timeout.count()) +
                       "&resourceVersion=" + percent_encode(version_);
  const std::string selector = watch_.query_.selector.text();
  if (!selector.empty()) target += "&labelSelector=" + percent_encode(selector);
  return target;
}

Result<HubWatch::Session::End> HubWatch::Session::follow() {
  const WatchTimings& timings = watch_.timings_;
  const auto timeout =
      std::max(std::chrono::ceil<std::chrono::seconds>(jittered(timings.watch_timeout)),
               std::chrono::seconds(1));
  Lines lines;
  Status taken;
  bool is_accepted = false;
  HttpRequest request{.timeout = timeout + timings.margin, .stop = &stop_};
  request.receive = [&](std::string_view part) {
    if (!std::exchange(is_accepted, true)) set_in_sync();
    lines.append(part);
    while (const std::optional<std::string_view> line = lines.next()) {
      if (!line->empty()) taken = take_event(*line);
      if (!taken || is_expired_) return false;
    }
    if (lines.rest().size() <= kMaxEvent) return true;
    taken = take_large_event(lines.rest());
    lines.drop_rest();
    return taken.has_value();
  };
  if (watch_.query_.is_metadata_only) {
    request.add_header("Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
  }
  events_ = 0;
  HubClient& hub = watch_.hub_;
  const auto start = steady_clock::now();
  hub.begin(steady_clock::time_point::max());  // its own timeout ends it
  const std::string doing = "watching " + subject_of(resource_) + " of " + shown(hub.hub());
  Result<HttpResponse> reply =
      hub.exchange(watch_target(timeout), std::move(request), {.attempts = 1, .stop = &stop_});
  const bool is_long = is_accepted && steady_clock::now() - start >= kShortWatch;
  const bool has_worked = is_long || events_ > 0;
  // A list alone does not show that the hub is well: a hub that refuses each watch would be asked
  // for full lists without a pause.
  if (has_worked) pause_ = timings.first_pause;
  if (!taken) {
    version_.clear();
    return std::move(taken).context(doing).error();
  }
  return end_of(std::move(reply), {.is_accepted = is_accepted, .has_worked = has_worked}, doing);
}

Result<HubWatch::Session::End> HubWatch::Session::end_of(Result<HttpResponse> reply, Followed watch,
                                                         const std::string& doing) {
  if (reply && reply->status == kGone) is_expired_ = true;
  if (is_expired_) {
    version_.clear();
    return events_ > 0 ? End::at_once : End::after_a_pause;
  }
  if (!reply) {
    // A hub that was restored from a backup has an older state than version_, so the objects are
    // listed again.
    if (!watch.is_accepted) version_.clear();
    return std::move(reply).context(doing).error();
  }
  if (reply->status != 200) {
    // The hub may no longer serve this version of the group. The next list finds one that it
    // serves.
    if (reply->status == kNotFound) version_.clear();
    return Result<End>(hub_refusal(*reply, resource_, "watch", watch_.hub_.hub()))
        .context(doing)
        .error();
  }
  return watch.has_worked ? End::at_once : End::after_a_pause;
}

Error HubWatch::Session::malformed(const std::string& why) const {
  return {.kind = Error::Kind::no_credential,
          .message = std::string(watch_.hub_.hub().noun) + "'s watch sent " + shown_hub_text(why)};
}

// Handles an event of which only the start was read. The names stand there, because the API server
// writes the metadata before the content.
Status HubWatch::Session::take_large_event(std::string_view start) {
  const std::string_view object = json::member_text(start, "object").value_or("");
  ListItem item =
      unread_item(object, "is larger than " + std::to_string(kMaxEvent / 1024) + " KiB");
  const Result<json::Value> type = json::parse(json::member_text(start, "type").value_or(""));
  if (!type || type->string() == nullptr || item.object.is_null()) {
    return malformed("an event of more than 4 MiB");
  }
  return take_object(*type->string(), std::move(item));
}

// Handles one event, {"type": "ADDED", "object": {…}}. The result is an error if it is malformed or
// of the type ERROR; a 410 sets is_expired_ instead.
Status HubWatch::Session::take_event(std::string_view line) {
  const Result<Envelope> event = open_envelope(line, "object");
  if (!event || event->rest.object() == nullptr) return malformed("a line that is no JSON object");
  const std::string type = json::text_or_empty(event->rest.find("type"));
  ListItem item = parse_item(event->content);
  const json::Value& object = item.object;
  if (object.object() == nullptr) return malformed("an event without an object");
  if (type == "ERROR") {
    const json::Value* const code = object.find("code");
    int status = 0;
    if (code != nullptr && code->number() != nullptr) {
      const std::string& digits = code->number()->text;
      std::from_chars(digits.data(), digits.data() + digits.size(), status);
    }
    is_expired_ = status == kGone;
    if (is_expired_) return {};
    Error error = malformed("an error: " + json::text_or_empty(object.find("message")));
    error.kind = Error::Kind::unavailable;
    error.is_transient = true;
    return error;
  }
  return take_object(type, std::move(item));
}

Status HubWatch::Session::take_object(const std::string& type, ListItem item) {
  const std::string version(metadata_text(item.object, "resourceVersion"));
  if (version.empty()) return malformed("an object without a resourceVersion");
  if (type != "BOOKMARK") {
    const bool is_there =
        type != "DELETED" && watch_.query_.selector.matches(profile_name_of(item.object).labels);
    if (type != "ADDED" && type != "MODIFIED" && type != "DELETED") {
      return malformed("an event of the type " + in_quotes(type));
    }
    if (std::shared_ptr<const WatchedObject> watched = keep(std::move(item))) {
      is_there ? put(std::move(watched)) : drop(watched);
    }
  }
  version_ = version;
  ++events_;
  return {};
}

HubWatch::HubWatch(HubClient hub, WatchQuery query, WatchTimings timings)
    : hub_(std::move(hub)), query_(std::move(query)), timings_(timings) {}

void HubWatch::run(const StopEvent& stop) {
  hub_.stop_with(&stop);
  Session(*this, stop).run();
  hub_.stop_with(nullptr);
}

WatchView HubWatch::view_of_now(std::unique_lock<std::mutex>& /*lock*/) const {
  if (!copied_) copied_ = std::make_shared<const WatchedObjects>(objects_);
  return {state_, copied_};
}

WatchView HubWatch::view() const {
  std::unique_lock<std::mutex> lock(mutex_);
  return view_of_now(lock);
}

WatchState HubWatch::state() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return state_;
}

std::optional<std::shared_ptr<const WatchedObject>> HubWatch::find(std::string_view name_space,
                                                                   std::string_view name) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!state_.is_complete || !state_.is_in_sync) return std::nullopt;
  const Place place = {name_space, name};
  const auto found = lower_bound(objects_, place);
  const bool is_there = found != objects_.end() && place_of(**found) == place;
  return is_there ? *found : nullptr;
}

WatchView HubWatch::wait_for_change(std::uint64_t seen, steady_clock::time_point deadline) const {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_until(lock, deadline, [&] { return state_.generation > seen; });
  return view_of_now(lock);
}

const WatchedObject* find_object(const WatchedObjects& objects, std::string_view name_space,
                                 std::string_view name) {
  const Place place = {name_space, name};
  const auto found = lower_bound(objects, place);
  return found != objects.end() && place_of(**found) == place ? found->get() : nullptr;
}

WatchQuery watch_profiles(const std::string& name_space, const LabelSelector& selector) {
  WatchQuery query = {.selector = selector};
  query.resource = [name_space](HubClient& hub) { return newest_profiles(hub, name_space); };
  query.check = [](const ListItem& item) -> Status {
    TRY(parse_profile_of_hub(item));
    return {};
  };
  return query;
}

WatchQuery watch_secret_metadata(const std::string& name_space, const LabelSelector& selector) {
  WatchQuery query = {.selector = selector, .is_metadata_only = true};
  query.resource = [name_space](HubClient& /*hub*/) -> Result<HubResource> {
    return HubResource{.version = "v1", .resource = "secrets", .name_space = name_space};
  };
  return query;
}

}  // namespace execcred
