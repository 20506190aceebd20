// SPDX-License-Identifier: Apache-2.0
// `execcred sync` killed at random moments, and started again each time: its files and Secrets are
// complete, nothing foreign is changed, and the last run removes the leftovers of the others.
#include "build_kind.hpp"
#include "hub_run.hpp"
#include "support/seed.hpp"

#include <doctest/doctest.h>

#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using blackbox::read_text;
using execcred::test::Json;
using execcred::test::LiveApi;
using execcred::test::Process;
using execcred::test::profile_object;
using execcred::test::Received;
using execcred::test::Stream;
using execcred::test::written;
using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

constexpr int kKills = blackbox::kWithTsan ? 30 : 210;
constexpr std::array kNames = {"a", "b", "c", "d"};
// How long to wait for something at which to kill a run.
constexpr auto kNothingHappens = 5s;

bool is_change(const Received& request) {
  return request.method != "GET" && request.target.find("/secrets") != std::string::npos;
}

// The ClusterProfiles a to d, which change; e, whose targets are not execcred's; and more foreign
// files and Secrets.
class Scene {
 public:
  Scene() : process_(api_) {
    const std::string out = "out/fleet/";
    for (const char* const file : {"e/token", ".hidden/token", ".execcred-sync.mine/token"}) {
      process_.sandbox().write(out + file, "theirs");
    }
    process_.sandbox().write("out/other/x/token", "theirs");
    fs::permissions(folder(""), fs::perms::owner_all);
    api_.put("secrets", secret("e-token", Json::object()));
    api_.put("secrets", secret("z-token", {{"app.kubernetes.io/managed-by", "execcred"},
                                           {"execcred.io/instance", "blue"}}));
    api_.put("clusterprofiles", profile_object("e", "https://e.example"));
    foreign_ = foreign();
  }

  LiveApi& api() { return api_; }
  fs::path folder(const std::string& name) const { return process_.root() / "fleet" / name; }
  blackbox::Command command(std::vector<std::string> more = {}) const {
    more.push_back("--to-dir=" + process_.root().native());
    return process_.command(std::move(more));
  }

  // Changes the servers, and deletes and creates ClusterProfiles.
  void change(int round, std::mt19937& random) {
    for (const std::string name : kNames) {
      const bool stays = name == "a" || random() % 8 != 0;
      const std::string server = "https://" + name + std::to_string(round) + ".example";
      if (stays) {
        api_.put("clusterprofiles", profile_object(name, server));
        servers_[name] = server;
      } else {
        api_.erase("clusterprofiles", "fleet", name);
        servers_.erase(name);
      }
    }
  }

  // Checks that each existing folder and Secret has the complete credential of one cluster.
  void check_whole() const {
    for (const std::string name : kNames) {
      CAPTURE(name);
      const auto [token, server] = written(api_, name);
      if (!token.empty()) CHECK(token == "for-" + server);
      if (!fs::exists(folder(name))) continue;
      const std::string beside = read_text(folder(name) / "server");
      CHECK(beside.starts_with("https://" + name));
      CHECK(read_text(folder(name) / "token") == "for-" + beside);
      CHECK(read_text(folder(name) / "kubeconfig").find(beside) != std::string::npos);
      CHECK(read_text(folder(name) / "expiration").size() == 20);
      CHECK(read_text(folder(name) / ".execcred-sync").find("io/digest") != std::string::npos);
    }
    CHECK(foreign() == foreign_);
  }

  // Whether all folders and Secrets match the ClusterProfiles.
  bool is_settled() const {
    return std::all_of(kNames.begin(), kNames.end(), [this](const std::string name) {
      const auto wanted = servers_.find(name);
      const std::string server = wanted == servers_.end() ? "" : wanted->second;
      const bool is_there = fs::exists(folder(name));
      return written(api_, name).second == server && is_there == !server.empty() &&
             read_text(folder(name) / "server") == server;
    });
  }

  void check_nothing_is_left() const {
    std::set<std::string> names = {"e", ".hidden", ".execcred-sync.mine"};
    for (const auto& [name, server] : servers_) names.insert(name);
    CHECK(entries(folder("")) == names);
    for (const auto& [name, server] : servers_) {
      std::set<std::string> files = entries(folder(name));
      const auto generations =
          std::erase_if(files, [](const std::string& file) { return file.starts_with("..2"); });
      CHECK(generations <= 2);
      CHECK(files == std::set<std::string>{"..data", ".execcred-sync", "expiration", "kubeconfig",
                                           "server", "token"});
    }
  }

  // When each folder was last changed.
  std::vector<timespec> times() const {
    std::vector<timespec> all;
    for (const std::string name : {"", "a", "b", "c", "d"}) {
      struct stat status = {};
      stat(folder(name).c_str(), &status);
      all.push_back(status.st_mtim);
    }
    return all;
  }

 private:
  static Json secret(const std::string& name, const Json& labels) {
    return {{"apiVersion", "v1"},
            {"kind", "Secret"},
            {"metadata", {{"name", name}, {"namespace", "to"}, {"labels", labels}}},
            {"data", {{"token", "dGhlaXJz"}}}};
  }

  static std::set<std::string> entries(const fs::path& folder) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
    return names;
  }

  // The content of each foreign file and Secret, by its place.
  std::map<std::string, std::string> foreign() const {
    std::map<std::string, std::string> all;
    for (const std::string name : {"e-token", "z-token"}) {
      const auto object = api_.find("secrets", "to", name);
      all[name] = object ? object->dump() : "(absent)";
    }
    const fs::path root = process_.root();
    for (const fs::path& at : {root / "fleet/e", root / "fleet/.hidden",
                               root / "fleet/.execcred-sync.mine", root / "other"}) {
      for (const auto& entry : fs::recursive_directory_iterator(at)) {
        all[entry.path().native()] = entry.is_directory() ? "(a folder)" : read_text(entry.path());
      }
    }
    return all;
  }

  LiveApi api_;
  Process process_;
  std::map<std::string, std::string> servers_;
  std::map<std::string, std::string> foreign_;
};

bool operator!=(const timespec& one, const timespec& other) {
  return one.tv_sec != other.tv_sec || one.tv_nsec != other.tv_nsec;
}

bool has_changed(const std::vector<timespec>& before, const std::vector<timespec>& now) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i] != now[i]) return true;
  }
  return false;
}

// A run that is killed: after a while, at one of its requests, or while it writes a folder.
class KilledRun {
 public:
  KilledRun(Scene& scene, std::mt19937& random) : scene_(scene), random_(random) {}

  blackbox::Outcome after(std::chrono::microseconds time) {
    blackbox::Child child(scene_.command());
    const auto end = SteadyClock::now() + time;
    while (SteadyClock::now() < end) poll(nullptr, 0, 1);
    return killed(child);
  }

  // At the Nth request that changes a Secret: before the hub serves it, or before it replies.
  blackbox::Outcome at_request() {
    std::atomic<const blackbox::Child*> running = nullptr;
    std::atomic<int> rest = 1 + static_cast<int>(random_() % 6);
    const auto hook = [&](Stream&, const Received& request) {
      const blackbox::Child* child = running;
      if (is_change(request) && child != nullptr && --rest == 0) child->send(SIGKILL);
      return false;
    };
    if (random_() % 2 == 0) {
      scene_.api().before(hook);
    } else {
      scene_.api().after(hook);
    }
    blackbox::Child child(scene_.command());
    running = &child;
    blackbox::wait_until([&] { return rest <= 0; }, kNothingHappens);
    scene_.api().before({});
    scene_.api().after({});
    return killed(child);
  }

  blackbox::Outcome while_it_writes() {
    const std::vector<timespec> before = scene_.times();
    blackbox::Child child(scene_.command());
    const auto end = SteadyClock::now() + kNothingHappens;
    while (!has_changed(before, scene_.times()) && SteadyClock::now() < end) continue;
    const auto moment = SteadyClock::now() + std::chrono::microseconds(random_() % 4000);
    while (SteadyClock::now() < moment) continue;
    return killed(child);
  }

 private:
  static blackbox::Outcome killed(blackbox::Child& child) {
    child.send(SIGKILL);
    return child.wait();
  }

  Scene& scene_;
  std::mt19937& random_;
};

}  // namespace

TEST_SUITE_BEGIN("sync");

TEST_CASE("sync: killed at any moment, it leaves complete credentials, and no leftovers" *
          doctest::description("promise 8")) {
  std::mt19937 random(execcred::test::seed());
  Scene scene;
  // A complete run. It ends with 1, because it reports the foreign targets.
  const auto settle = [&] {
    const blackbox::Outcome outcome = blackbox::run(scene.command({"--once"}));
    CHECK_MESSAGE(outcome.exit_code == 1, blackbox::describe(outcome));
    CHECK(outcome.error_output.find("cause=target-foreign") != std::string::npos);
    CHECK(scene.is_settled());
    return std::chrono::duration_cast<std::chrono::microseconds>(outcome.elapsed);
  };
  scene.change(0, random);
  const std::chrono::microseconds whole_run = settle();
  for (int round = 1; round <= kKills; ++round) {
    CAPTURE(round);
    scene.change(round, random);
    KilledRun run(scene, random);
    const blackbox::Outcome outcome = round % 3 == 0
                                          ? run.after(whole_run * (random() % 1000) / 1000)
                                      : round % 3 == 1 ? run.at_request()
                                                       : run.while_it_writes();
    CHECK_MESSAGE(outcome.signal == SIGKILL, blackbox::describe(outcome));
    CHECK(outcome.error_output.find("for-https") == std::string::npos);
    scene.check_whole();
  }
  settle();
  scene.check_whole();
  scene.check_nothing_is_left();
}
