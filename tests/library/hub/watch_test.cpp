// SPDX-License-Identifier: Apache-2.0
#include "live_api.hpp"
#include "unit/expect.hpp"

#include <doctest/doctest.h>
#include <execcred/hub/watch.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace execcred::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using Kind = Error::Kind;

Json profile(const std::string& name, const std::string& server = "https://spoke",
             const std::string& name_space = "fleet") {
  const Json cluster = {{"server", server}};
  return {{"apiVersion", "multicluster.x-k8s.io/v1alpha1"},
          {"kind", "ClusterProfile"},
          {"metadata",
           {{"name", name},
            {"namespace", name_space},
            {"labels", {{"env", "prod"}}},
            {"managedFields", {{{"manager", "someone"}}}}}},
          {"status", {{"accessProviders", {{{"name", "p"}, {"cluster", cluster}}}}}}};
}

// A watch in a thread of its own, which ends with the case.
class Running {
 public:
  explicit Running(LiveApi& api, WatchQuery query = watch_profiles("fleet"),
                   WatchTimings timings = {.first_pause = 1ms, .longest_pause = 20ms})
      : stop_(StopEvent::make()), watch_(api.client(), std::move(query), timings) {
    REQUIRE(stop_);
    thread_ = std::thread([this] { watch_.run(*stop_); });
  }
  ~Running() { end(); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  void end() {
    stop_->request();
    if (thread_.joinable()) thread_.join();
  }
  HubWatch& watch() { return watch_; }

  // The first view that meets the condition, or the last view if none does.
  WatchView until(const std::function<bool(const WatchView&)>& condition) {
    const auto deadline = steady_clock::now() + 1min;
    WatchView view = watch_.view();
    while (!condition(view) && steady_clock::now() < deadline) {
      view = watch_.wait_for_change(view.generation, deadline);
    }
    CHECK(condition(view));
    return view;
  }
  WatchView until_complete() {
    return until([](const WatchView& view) { return view.is_complete && view.is_in_sync; });
  }

 private:
  Result<StopEvent> stop_;
  HubWatch watch_;
  std::thread thread_;
};

bool has(const WatchView& view, std::string_view name, std::string_view text = {}) {
  const WatchedObject* const object = find_object(*view.objects, "fleet", name);
  return object != nullptr && contains(object->text, text);
}

TEST_CASE("hub watch: objects that exist, and that are added, changed and deleted") {
  LiveApi api;
  api.put("clusterprofiles", profile("one"));
  api.put("clusterprofiles", profile("other", "https://x", "elsewhere"));
  Running running(api);
  const WatchView first = running.until_complete();
  REQUIRE(first.objects->size() == 1);
  const WatchedObject& one = *first.objects->front();
  CHECK(one.name_space == "fleet");
  CHECK(one.name == "one");
  CHECK(one.uid == "uid-101");
  CHECK(one.resource_version == "101");
  CHECK_FALSE(one.problem);
  CHECK_FALSE(contains(one.text, "managedFields"));
  const Result<json::Value> document = json::parse(one.text);
  REQUIRE(document);
  const Result<ClusterProfile> parsed = parse_profile_of_hub({.object = *document});
  REQUIRE(parsed);
  CHECK(parsed->full_name() == "fleet/one");

  api.put("clusterprofiles", profile("two"));
  api.put("clusterprofiles", profile("aaa"));
  const WatchView more = running.until([](const WatchView& view) { return has(view, "aaa"); });
  REQUIRE(more.objects->size() == 3);
  CHECK(more.objects->at(0)->name == "aaa");
  // Unchanged objects are not copied, and earlier views do not change.
  CHECK(more.objects->at(1) == first.objects->front());
  CHECK(first.objects->size() == 1);

  api.put("clusterprofiles", profile("one", "https://moved"));
  running.until([](const WatchView& view) { return has(view, "one", "https://moved"); });
  api.erase("clusterprofiles", "fleet", "one");
  const WatchView last = running.until([](const WatchView& view) { return !has(view, "one"); });
  CHECK(last.objects->size() == 2);
  CHECK(last.is_in_sync);
  CHECK(api.requests("GET", "limit=").size() == 1);

  const std::vector<Received> watches = api.requests("GET", "watch=true");
  REQUIRE(watches.size() == 1);
  CHECK(watches.front().target.starts_with(
      "/apis/multicluster.x-k8s.io/v1alpha1/namespaces/fleet/clusterprofiles?watch=true"
      "&allowWatchBookmarks=true&timeoutSeconds="));
  CHECK(watches.front().target.ends_with("&resourceVersion=102"));
}

TEST_CASE("hub watch: all namespaces, and a selector that is sent and applied") {
  LiveApi api;
  api.put("clusterprofiles", profile("one"));
  api.put("clusterprofiles", profile("other", "https://x", "elsewhere"));
  Json unmatched = profile("two");
  unmatched["metadata"]["labels"]["env"] = "test";
  api.put("clusterprofiles", unmatched);
  const Result<LabelSelector> selector = LabelSelector::parse("env=prod");
  REQUIRE(selector);
  Running running(api, watch_profiles("", *selector));
  const WatchView view = running.until_complete();
  REQUIRE(view.objects->size() == 2);
  CHECK(find_object(*view.objects, "elsewhere", "other") != nullptr);
  CHECK(comes_true([&] { return api.watches() == 1; }));
  CHECK(contains(api.requests().back().target, "&labelSelector=env%3Dprod"));
  // An event of an object whose labels no longer match.
  Json moved = profile("one");
  moved["metadata"]["labels"]["env"] = "test";
  moved["metadata"]["resourceVersion"] = "200";
  api.send_to_watches(Json({{"type", "MODIFIED"}, {"object", moved}}).dump());
  running.until([](const WatchView& now) { return !has(now, "one"); });
}

TEST_CASE("hub watch: an unreadable object is reported, and the others are read") {
  LiveApi api;
  api.put("clusterprofiles", profile("good"));
  Json bad = profile("bad");
  bad["status"]["accessProviders"] = "none";
  api.put("clusterprofiles", bad);
  Running running(api);
  WatchView view = running.until_complete();
  REQUIRE(view.objects->size() == 2);
  const WatchedObject* object = find_object(*view.objects, "fleet", "bad");
  REQUIRE(object != nullptr);
  REQUIRE(object->problem);
  CHECK(object->problem->kind == Kind::configuration);
  CHECK(contains(full_text(*object->problem), "status.accessProviders"));
  CHECK(contains(full_text(*object->problem), "reading ClusterProfile 'fleet/bad' of the hub"));
  CHECK_FALSE(find_object(*view.objects, "fleet", "good")->problem);
  api.put("clusterprofiles", profile("bad"));
  running.until([](const WatchView& now) {
    const WatchedObject* mended = find_object(*now.objects, "fleet", "bad");
    return mended != nullptr && !mended->problem;
  });
}

// `object` with a field that is beyond the limits of one object.
std::string with_large(const Json& object, const std::string& value) {
  std::string text = object.dump();
  text.insert(text.size() - 1, ",\"x\":" + value);
  return text;
}

TEST_CASE("hub watch: an object beyond the limits is reported, in the list and as an event") {
  struct Case {
    std::string value, problem;
  };
  for (const Case& c :
       {Case{std::string(10'000, '[') + std::string(10'000, ']'), "nested deeper than 32"},
        Case{'"' + std::string(9 << 20, 'x') + '"', "larger than 4096 KiB"}}) {
    CAPTURE(c.problem);
    const auto is_bad = [&c](const WatchView& view, const std::string& name) {
      const WatchedObject* const object = find_object(*view.objects, "fleet", name);
      return object != nullptr && object->problem &&
             contains(full_text(*object->problem), c.problem) &&
             contains(full_text(*object->problem), "ClusterProfile 'fleet/" + name + "'");
    };
    LiveApi api;
    api.put("clusterprofiles", profile("good"));
    const Json stored = api.put("clusterprofiles", profile("bad"));
    api.before([&](Stream& stream, const Received& request) {
      if (!contains(request.target, "limit=")) return false;
      const Json good = *api.find("clusterprofiles", "fleet", "good");
      return stream.write(reply(200, R"({"kind":"ClusterProfileList","metadata":{)"
                                     R"("resourceVersion":")" +
                                         stored["metadata"]["resourceVersion"].get<std::string>() +
                                         R"("},"items":[)" + with_large(stored, c.value) + "," +
                                         good.dump() + "]}"));
    });
    Running running(api);
    const WatchView listed = running.until_complete();
    CHECK(is_bad(listed, "bad"));
    CHECK(has(listed, "good"));

    REQUIRE(comes_true([&] { return api.watches() == 1; }));
    Json object = stored;
    object["metadata"]["name"] = "worse";
    for (const char* const type : {"ADDED", "MODIFIED"}) {
      api.send_to_watches(R"({"type":")" + std::string(type) + R"(","object":)" +
                          with_large(object, c.value) + "}");
    }
    const WatchView seen =
        running.until([&](const WatchView& view) { return is_bad(view, "worse"); });
    CHECK(has(seen, "good"));
    api.put("clusterprofiles", profile("later"));
    const WatchView later = running.until([](const WatchView& view) { return has(view, "later"); });
    CHECK(later.is_in_sync);
    CHECK(is_bad(later, "worse"));
    api.send_to_watches(R"({"type":"DELETED","object":)" + with_large(object, c.value) + "}");
    running.until([](const WatchView& view) { return !has(view, "worse"); });
    CHECK(api.requests("GET", "limit=").size() == 1);  // nothing was listed again
  }
}

TEST_CASE("hub watch: after a watch ends or is cut, the next one starts at the last version") {
  LiveApi api;
  api.put("clusterprofiles", profile("one"));
  Running running(api);
  running.until_complete();
  REQUIRE(comes_true([&] { return api.watches() == 1; }));
  api.bookmark();
  REQUIRE(comes_true([&] {
    api.cut_watches();
    return contains(api.requests().back().target, "resourceVersion=102");
  }));
  api.put("clusterprofiles", profile("two"));
  running.until([](const WatchView& view) { return has(view, "two") && view.is_in_sync; });
  CHECK(api.requests("GET", "limit=").size() == 1);
}

TEST_CASE("hub watch: after a 410, as a status or as an event, objects are listed again") {
  LiveApi api;
  api.put("clusterprofiles", profile("one"));
  api.put("clusterprofiles", profile("two"));
  Running running(api);
  running.until_complete();
  REQUIRE(comes_true([&] { return api.watches() == 1; }));
  // The watch is cut, and the API forgets the events since then.
  std::atomic<bool> is_away = true;
  api.before([&](Stream& stream, const Received&) {
    if (is_away) stream.cut();
    return is_away.load();
  });
  api.cut_watches();
  api.erase("clusterprofiles", "fleet", "one");
  api.compact();
  is_away = false;
  running.until([](const WatchView& view) { return !has(view, "one") && view.is_in_sync; });

  REQUIRE(comes_true([&] { return api.watches() == 1; }));
  const std::size_t lists = api.requests("GET", "limit=").size();
  api.send_to_watches(
      R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}})");
  CHECK(comes_true([&] { return api.requests("GET", "limit=").size() == lists + 1; }));
  api.put("clusterprofiles", profile("three"));
  const WatchView last = running.until([](const WatchView& view) { return has(view, "three"); });
  CHECK(last.objects->size() == 2);
}

TEST_CASE("hub watch: an unreachable or refusing hub is reported, and known objects stay") {
  LiveApi api;
  api.put("clusterprofiles", profile("one"));
  Running running(api);
  running.until_complete();
  struct Case {
    std::function<void(Stream&)> answer;
    Kind kind;
    std::string part;
  };
  for (const Case& c :
       {Case{[](Stream& stream) { stream.reset(); }, Kind::unavailable, "closed the connection"},
        Case{[](Stream& stream) { stream.write(reply(503, "{}")); }, Kind::unavailable,
             "503 Service Unavailable"},
        Case{[](Stream& stream) {
               stream.write(status_reply(403, "Forbidden", "no clusterprofiles for you"));
             },
             Kind::no_credential, "no clusterprofiles for you"}}) {
    CAPTURE(c.part);
    api.before([&c](Stream& stream, const Received&) {
      c.answer(stream);
      return true;
    });
    const auto before = steady_clock::now();
    api.cut_watches();
    const WatchView view = running.until([&c](const WatchView& now) {
      return !now.is_in_sync && now.error && contains(now.error->message, c.part);
    });
    CHECK(view.error->kind == c.kind);
    CHECK(view.out_of_sync_since >= before);
    CHECK(has(view, "one"));
    CHECK(view.is_complete);
    api.before({});
    CHECK_FALSE(running.until_complete().error);
  }
}

TEST_CASE("hub watch: after a failed first list there are no objects, but an error") {
  LiveApi api;
  for (int i = 0; i < 501; ++i) api.put("clusterprofiles", profile("p" + std::to_string(i)));
  std::atomic<bool> is_failing = true;
  api.before([&](Stream& stream, const Received& request) {
    return is_failing && contains(request.target, "continue=") &&
           stream.write(status_reply(500, "InternalError", "no second page"));
  });
  Running running(api);
  const WatchView failed =
      running.until([](const WatchView& view) { return view.error.has_value(); });
  CHECK(contains(failed.error->message, "no second page"));
  CHECK_FALSE(failed.is_complete);
  CHECK(failed.objects->empty());
  is_failing = false;
  CHECK(running.until_complete().objects->size() == 501);
}

TEST_CASE("hub watch: a missing CRD is a configuration error until it is installed") {
  LiveApi api;
  api.put("clusterprofiles", profile("one"));
  std::atomic<bool> is_missing = true;
  api.before([&](Stream& stream, const Received&) {
    return is_missing &&
           stream.write(status_reply(404, "NotFound", "could not find the requested resource"));
  });
  Running running(api);
  const WatchView failed =
      running.until([](const WatchView& view) { return view.error.has_value(); });
  CHECK(failed.error->kind == Kind::configuration);
  CHECK(contains(failed.error->message, "does not serve the API group multicluster.x-k8s.io"));
  is_missing = false;
  CHECK(running.until_complete().objects->size() == 1);
}

TEST_CASE("hub watch: if the hub no longer serves the version, one that it serves is watched") {
  LiveApi api;
  api.put("clusterprofiles", profile("one"));
  std::mutex mutex;
  std::string served = "v1alpha1";
  api.before([&](Stream& stream, const Received& request) {
    const std::lock_guard<std::mutex> lock(mutex);
    const std::string group = "/apis/multicluster.x-k8s.io";
    if (request.path() == group) {
      const Json versions = Json::array({{{"version", served}}});
      return stream.write(reply(200, Json({{"kind", "APIGroup"}, {"versions", versions}}).dump()));
    }
    const bool is_served = request.path().starts_with(group + "/" + served + "/");
    return !is_served && stream.write(reply(404, "404 page not found"));
  });
  Running running(api);
  running.until_complete();
  for (const std::string version : {"v1alpha2", "v1alpha1"}) {
    CAPTURE(version);
    REQUIRE(comes_true([&] { return api.watches() == 1; }));
    {
      const std::lock_guard<std::mutex> lock(mutex);
      served = version;
    }
    api.cut_watches();
    Json object = profile("new-in-" + version);
    object["apiVersion"] = "multicluster.x-k8s.io/" + version;
    api.put("clusterprofiles", object);
    running.until([&](const WatchView& view) {
      return has(view, "new-in-" + version) && has(view, "one") && view.is_in_sync;
    });
    CHECK(comes_true([&] {
      return contains(api.requests("GET", "watch=true").back().target, "/" + version + "/");
    }));
  }
}

TEST_CASE("hub watch: while the list works and each watch is cut, the pauses between lists grow") {
  LiveApi api;
  api.put("clusterprofiles", profile("one"));
  api.before([](Stream& stream, const Received& request) {
    if (!contains(request.target, "watch=true")) return false;
    stream.cut();
    return true;
  });
  Running running(api, watch_profiles("fleet"), {.first_pause = 1ms, .longest_pause = 1h});
  // After eleven failures, the pause is at least half a second.
  REQUIRE(comes_true([&] { return api.requests("GET", "limit=").size() >= 8; }));
  std::this_thread::sleep_for(300ms);
  CHECK(api.requests("GET", "limit=").size() <= 11);
}

TEST_CASE("hub watch: a Retry-After is waited for") {
  LiveApi api;
  std::atomic<bool> is_busy = true;
  api.before([&](Stream& stream, const Received& request) {
    return is_busy && contains(request.target, "watch=true") &&
           stream.write(status_reply(429, "TooManyRequests", "later", {}, "Retry-After: 3600\r\n"));
  });
  Running running(api);
  running.until([](const WatchView& view) {
    return !view.is_in_sync && view.error && contains(view.error->message, "429");
  });
  // The pauses of the timings are milliseconds.
  CHECK_FALSE(running.watch()
                  .wait_for_change(running.watch().view().generation, steady_clock::now() + 100ms)
                  .is_in_sync);
  CHECK(api.requests("GET", "watch=true").size() == 1);
  const auto before = steady_clock::now();
  running.end();
  CHECK(steady_clock::now() - before < 10s);
}

TEST_CASE("hub watch: after an invalid line objects are listed again, and none is lost") {
  struct Case {
    std::string line, part;
  };
  const std::string huge = R"({"type":"ADDED","object":{"x":")" + std::string(5 << 20, 'x');
  for (const Case& c :
       {Case{"no JSON", "a line that is no JSON object"}, Case{"[]", "no JSON object"},
        Case{R"({"type":"ADDED"})", "an event without an object"},
        Case{R"({"type":"ADDED","object":{"metadata":{"name":"x"}}})",
             "an object without a resourceVersion"},
        Case{R"({"type":"\u001b[2J","object":{"metadata":{"resourceVersion":"7"}}})",
             "an event of the type '\\x1b[2J'"},
        Case{R"({"type":"xt0kenx","object":{"metadata":{"resourceVersion":"7"}}})",
             "an event of the type 'x***x'"},
        Case{R"({"type":"ERROR","object":{"code":500,"message":"etcd is slow"}})",
             "sent an error: etcd is slow"},
        Case{huge, "an event of more than 4 MiB"}}) {
    CAPTURE(c.part);
    std::atomic<bool> is_held = false;
    LiveApi api;
    api.put("clusterprofiles", profile("one"));
    // The list that follows an error waits until the error was seen.
    api.before([&is_held](Stream&, const Received& request) {
      if (contains(request.target, "limit=")) CHECK(comes_true([&is_held] { return !is_held; }));
      return false;
    });
    Running running(api);
    running.until_complete();
    REQUIRE(comes_true([&] { return api.watches() == 1; }));
    const std::size_t lists = api.requests("GET", "limit=").size();
    is_held = true;
    api.send_to_watches(c.line);
    const WatchView failed =
        running.until([](const WatchView& view) { return view.error.has_value(); });
    CHECK(contains(failed.error->message, c.part));
    CHECK(has(failed, "one"));
    is_held = false;
    running.until_complete();
    CHECK(api.requests("GET", "limit=").size() == lists + 1);
  }
}

TEST_CASE("hub watch: a silent connection is renewed, and a stop ends it at once") {
  LiveApi api;
  api.put("clusterprofiles", profile("one"));
  // The server accepts the watch, and then sends nothing.
  std::atomic<int> silent = 2;
  api.before([&](Stream& stream, const Received& request) {
    if (!contains(request.target, "watch=true") || silent-- <= 0) return false;
    stream.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    stream.wait_for_close();
    return true;
  });
  Running running(api, watch_profiles("fleet"),
                  {.first_pause = 1ms,
                   .longest_pause = 1ms,
                   .watch_timeout = 10ms,  // sent as a second, the API's minimum
                   .margin = 10ms});
  running.until_complete();
  const WatchView failed =
      running.until([](const WatchView& view) { return view.error.has_value(); });
  CHECK(contains(failed.error->message, "did not finish its reply within 1s10ms"));
  api.put("clusterprofiles", profile("two"));
  running.until([](const WatchView& view) { return has(view, "two") && view.is_in_sync; });
  const auto before = steady_clock::now();
  running.end();
  CHECK(steady_clock::now() - before < 5s);
}

TEST_CASE("hub watch: Secrets without their data") {
  LiveApi api;
  const Json secret = {
      {"apiVersion", "v1"},
      {"kind", "Secret"},
      {"metadata", {{"name", "web"}, {"namespace", "fleet"}, {"labels", {{"ours", "1"}}}}},
      {"data", {{"token", "c2VjcmV0"}}}};
  api.put("secrets", secret);
  const Result<LabelSelector> selector = LabelSelector::parse("ours=1");
  REQUIRE(selector);
  Running running(api, watch_secret_metadata("fleet", *selector));
  running.until_complete();
  api.put("secrets", secret);
  const WatchView view =
      running.until([](const WatchView& now) { return has(now, "web", "\"102\""); });
  CHECK_FALSE(has(view, "web", "c2VjcmV0"));
  api.erase("secrets", "fleet", "web");
  running.until([](const WatchView& now) { return !has(now, "web"); });
}

TEST_CASE("hub watch: of two objects of one name in a list, the first counts") {
  const auto secrets = watch_secret_metadata("fleet", {});
  for (const WatchQuery& query : {watch_profiles("fleet"), secrets}) {
    LiveApi api;
    api.before([](Stream& stream, const Received& request) {
      if (!contains(request.target, "limit=")) return false;
      Json items = Json::array();
      for (const char* const name : {"two", "one", "one", "three"}) {
        items.push_back(profile(name));
        items.back()["metadata"]["uid"] = std::to_string(items.size());
      }
      const Json metadata = {{"resourceVersion", "100"}};
      return stream.write(
          reply(200, Json({{"kind", "List"}, {"metadata", metadata}, {"items", items}}).dump()));
    });
    Running running(api, query);
    const WatchView view = running.until_complete();
    REQUIRE(view.objects->size() == 3);
    CHECK(view.objects->at(0)->name == "one");
    CHECK(view.objects->at(0)->uid == "2");
    CHECK(view.objects->at(1)->name == "three");
    CHECK(view.objects->at(2)->name == "two");
  }
}

TEST_CASE("hub watch: on_object is called for each object that is added or deleted") {
  LiveApi api;
  for (const std::string name : {"one", "two"}) api.put("clusterprofiles", profile(name));
  Result<StopEvent> stop = StopEvent::make();
  REQUIRE(stop);
  HubWatch watch(api.client(), watch_profiles("fleet"),
                 {.first_pause = 1ms, .longest_pause = 20ms});
  std::mutex mutex;
  std::vector<std::string> news;
  watch.on_object([&](const std::shared_ptr<const WatchedObject>& object, bool is_there) {
    const std::lock_guard lock(mutex);
    news.push_back((is_there ? "+" : "-") + object->name);
  });
  const auto told = [&] {
    const std::lock_guard lock(mutex);
    return news;
  };
  const auto is_there = [&](const std::string& name) {
    const auto object = watch.find("fleet", name);
    return object && *object;
  };
  CHECK_FALSE(watch.find("fleet", "one").has_value());
  std::thread thread([&] { watch.run(*stop); });
  using Names = std::vector<std::string>;
  CHECK(comes_true([&] { return is_there("one") && is_there("two"); }));
  CHECK(told() == Names{"+one", "+two"});
  api.erase("clusterprofiles", "fleet", "one");
  api.put("clusterprofiles", profile("three"));
  CHECK(comes_true([&] { return is_there("three"); }));
  CHECK_FALSE(is_there("one"));
  CHECK(told() == Names{"+one", "+two", "-one", "+three"});
  // Objects that are new in a list, and objects that are missing from it.
  api.before([](Stream& stream, const Received&) {
    stream.reset();
    return true;
  });
  api.cut_watches();
  CHECK(comes_true([&] { return !watch.state().is_in_sync; }));
  CHECK_FALSE(watch.find("fleet", "two").has_value());
  api.erase("clusterprofiles", "fleet", "two");
  api.put("clusterprofiles", profile("four"));
  api.compact();
  api.before({});
  CHECK(comes_true([&] { return is_there("four"); }));
  CHECK(told() == Names{"+one", "+two", "-one", "+three", "-two", "+four"});
  stop->request();
  thread.join();
}

TEST_CASE("hub watch: on_change is called at each change") {
  LiveApi api;
  Result<StopEvent> stop = StopEvent::make();
  REQUIRE(stop);
  HubWatch watch(api.client(), watch_profiles("fleet"));
  std::atomic<int> calls = 0;
  watch.on_change([&] { ++calls; });
  std::thread thread([&] { watch.run(*stop); });
  CHECK(comes_true([&] { return calls >= 1; }));
  api.put("clusterprofiles", profile("one"));
  CHECK(comes_true([&] { return calls >= 2; }));
  stop->request();
  thread.join();
  // Nothing changes any more.
  const WatchView view = watch.wait_for_change(watch.view().generation, steady_clock::now());
  CHECK(view.objects->size() == 1);
}

}  // namespace
}  // namespace execcred::test
