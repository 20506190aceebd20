// SPDX-License-Identifier: Apache-2.0
// A stand-in for a kube-apiserver, for clients that write and watch objects. It has one store with
// one counter of resource versions, preconditions, pages, watches and the 410 after a compaction.
// It does not validate objects; tests/e2e uses a real kube-apiserver.
#pragma once

#include "support/scripted_server.hpp"

#include <execcred/hub/client.hpp>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace execcred::test {

using Json = nlohmann::ordered_json;

class LiveApi {
 public:
  // Called before or after a request is served. True means that it has answered itself.
  using Hook = std::function<bool(Stream&, const Received&)>;

  explicit LiveApi(std::vector<std::string> profile_versions = {"v1alpha1"});
  ~LiveApi();
  LiveApi(const LiveApi&) = delete;
  LiveApi& operator=(const LiveApi&) = delete;

  Hub hub() const;
  HubClient client(CallContext call = {}) const;
  std::vector<Received> requests() const { return server_.requests(); }
  std::size_t connections() const { return server_.connections(); }
  // The requests with this method, and with `part` in their target.
  std::vector<Received> requests(std::string_view method, std::string_view part) const;

  // Changes by another client. `resource` is "secrets", "clusterprofiles", "leases".
  Json put(const std::string& resource, Json object);
  void erase(const std::string& resource, const std::string& name_space, const std::string& name);
  std::optional<Json> find(const std::string& resource, const std::string& name_space,
                           const std::string& name) const;
  // In all namespaces.
  std::size_t count(const std::string& resource) const;

  // Both return when no call of the old hook runs any more, unless a hook calls them. What a hook
  // refers to must outlive this object, or the hook must be replaced.
  void before(Hook hook);
  void after(Hook hook);  // after the change, and before its reply is written
  void compact();         // all earlier events are forgotten
  void bookmark();        // to all watches
  void send_to_watches(const std::string& line);
  void cut_watches();
  std::size_t watches() const { return watches_; }  // open now

 private:
  struct Place {
    std::string resource = {};
    std::string name_space = {};
    std::string name = {};
  };
  struct Event {
    std::uint64_t version = 0;
    std::string resource = {};
    std::string type = {};
    Json object = {};
  };

  void replace_hook(Hook& old, Hook hook);
  bool is_answered(const Hook& hook, Stream& stream, const Received& request);
  static std::optional<Place> place_of(const std::string& path);
  void serve(Stream& stream, const Received& request);
  std::string answer(const Received& request, const Place& place);
  std::string list(const Received& request, const Place& place);
  std::string create(const Received& request, const Place& place);
  std::string replace(const Received& request, const Place& place);
  std::string remove(const Received& request, const Place& place);
  // Ends when `cuts_` is no longer `cuts`.
  void watch(Stream& stream, const Received& request, const Place& place, std::uint64_t cuts);
  void note(const std::string& type, const std::string& resource, const Json& object);
  Json stored(const std::string& resource, Json object);

  std::vector<std::string> profile_versions_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Json> objects_;  // "RESOURCE/NAMESPACE/NAME"
  std::vector<Event> events_;
  std::uint64_t version_ = 100;
  std::uint64_t oldest_ = 100;  // not forgotten
  std::uint64_t cuts_ = 0;
  std::vector<std::string> extra_lines_;
  Hook before_;
  Hook after_;
  int running_hooks_ = 0;  // of both, also empty ones
  bool is_closing_ = false;
  std::atomic<std::size_t> watches_ = 0;
  ScriptedServer server_;
};

// A metav1.Status.
std::string status_reply(int code, const std::string& reason, const std::string& message,
                         const Json& details = Json::object(), const std::string& headers = {});

// Polls the condition for a minute at most.
bool comes_true(const std::function<bool()>& condition);

}  // namespace execcred::test
