// SPDX-License-Identifier: Apache-2.0
// `execcred sync --to-secret` with a hub that refuses some requests: names, a namespace that is
// deleted, a Lease that another process holds. tests/e2e has the real API server.
#include "build_kind.hpp"
#include "fleet_run.hpp"
#include "hub_run.hpp"

#include "cli/inventory.hpp"
#include "documents.hpp"
#include "plugin_under_test.hpp"

#include <doctest/doctest.h>
#include <execcred/os/file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace {

using blackbox::answer_of;
using execcred::test::Json;
using execcred::test::LiveApi;
using execcred::test::Process;
using execcred::test::profile_object;
using execcred::test::Received;
using execcred::test::status_reply;
using execcred::test::Stream;
using execcred::test::written;

bool is_change_of_secret(const Received& request) {
  return request.method != "GET" && request.target.find("/secrets") != std::string::npos;
}
bool is_of_lease(const Received& request) {
  return request.target.find("/leases") != std::string::npos;
}

std::string holder_of_lease(const LiveApi& api) {
  const auto lease = api.find("leases", "to", "sync");
  return lease ? (*lease)["spec"].value("holderIdentity", "") : "";
}

// Records which process wrote while which process held the Lease. Tokens identify processes. Must
// outlive the LiveApi whose hook uses it.
class Witness {
 public:
  void look_at(const LiveApi& api, const Received& request) {
    const std::string who = request.header("Authorization");
    const std::scoped_lock lock(mutex_);
    if (is_of_lease(request)) ++asked_[who];
    if (is_of_lease(request) && request.method != "GET") {
      const std::string holder = Json::parse(request.body)["spec"].value("holderIdentity", "");
      if (!holder.empty()) names_[holder] = who;
    }
    if (!is_change_of_secret(request)) return;
    ++writes_[who];
    const auto holder = names_.find(holder_of_lease(api));
    if (holder == names_.end() || holder->second != who) ++strays_[who];
  }

  // Looks at each request from now on.
  void watch(LiveApi& api) {
    api.before([this, &api](Stream&, const Received& request) {
      look_at(api, request);
      return false;
    });
  }

  std::size_t asked(const std::string& token) const { return count(asked_, token); }
  std::size_t writes(const std::string& token) const { return count(writes_, token); }
  // Writes without holding the Lease.
  std::size_t strays(const std::string& token) const { return count(strays_, token); }

 private:
  using Counts = std::map<std::string, std::size_t>;
  std::size_t count(const Counts& counts, const std::string& token) const {
    const std::scoped_lock lock(mutex_);
    const auto found = counts.find("Bearer " + token);
    return found == counts.end() ? 0 : found->second;
  }

  mutable std::mutex mutex_;
  std::map<std::string, std::string> names_;  // token by identity
  Counts asked_;
  Counts writes_;
  Counts strays_;
};

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

bool is_written(const LiveApi& api, const std::string& name) {
  return written(api, name).first == "for-https://" + name + ".example";
}

void put_profile(LiveApi& api, const std::string& name) {
  api.put("clusterprofiles", profile_object(name, "https://" + name + ".example"));
}

// Another process takes the Lease by force, with a renewTime at that second of a minute.
void steal_lease(LiveApi& api, int second, int duration_seconds) {
  Json lease = *api.find("leases", "to", "sync");
  lease["spec"]["holderIdentity"] = "thief";
  lease["spec"]["leaseDurationSeconds"] = duration_seconds;
  lease["spec"]["renewTime"] = "2026-07-01T12:00:0" + std::to_string(second) + ".000000Z";
  api.put("leases", lease);
}

}  // namespace

TEST_SUITE_BEGIN("sync");

TEST_CASE("sync --to-secret: a name that no Secret can have is reported, the rest is written") {
  LiveApi api;
  const std::string longest(250, 'x');
  put_profile(api, "a");
  api.put("clusterprofiles", profile_object(longest, "https://long.example"));
  const Process process(api);
  const blackbox::Outcome outcome = blackbox::run(process.command({"--once"}));
  CHECK_MESSAGE(outcome.exit_code == 1, blackbox::describe(outcome));
  CHECK_MESSAGE(outcome.error_output.find("cannot be a Secret's name") != std::string::npos,
                blackbox::describe(outcome));
  CHECK(outcome.error_output.find("cause=target-unusable") != std::string::npos);
  CHECK(is_written(api, "a"));
  CHECK(api.count("secrets") == 1);
}

TEST_CASE("sync --from-hub: a list that has a ClusterProfile twice stops nothing") {
  LiveApi api;
  api.before([](Stream& stream, const Received& request) {
    if (request.target.find("clusterprofiles?limit=") == std::string::npos) return false;
    Json items = Json::array();
    for (const std::string name : {"a", "a", "b"}) {
      items.push_back(profile_object(name, "https://" + name + ".example"));
    }
    const Json list = {{"kind", "ClusterProfileList"},
                       {"metadata", {{"resourceVersion", "100"}}},
                       {"items", items}};
    return stream.write(execcred::test::reply(200, list.dump()));
  });
  const Process process(api);
  const blackbox::Outcome outcome = blackbox::run(process.command({"--once"}));
  CHECK_MESSAGE(outcome.exit_code == 0, blackbox::describe(outcome));
  CHECK(is_written(api, "a"));
  CHECK(is_written(api, "b"));
}

TEST_CASE("sync --from-hub: an object without a name is reported, and removes nothing") {
  for (const Json& odd : {Json(7), Json(nullptr), Json::object(), Json{{"metadata", nullptr}},
                          Json{{"metadata", {{"name", 7}}}}, Json{{"metadata", {{"name", ""}}}}}) {
    CAPTURE(odd.dump());
    LiveApi api;
    put_profile(api, "b");
    const Process process(api);
    CHECK(blackbox::run(process.command({"--once"})).exit_code == 0);
    api.before([&odd](Stream& stream, const Received& request) {
      if (request.target.find("clusterprofiles?limit=") == std::string::npos) return false;
      const Json list = {{"kind", "ClusterProfileList"},
                         {"metadata", {{"resourceVersion", "100"}}},
                         {"items", {profile_object("a", "https://a.example"), odd}}};
      return stream.write(execcred::test::reply(200, list.dump()));
    });
    const blackbox::Outcome outcome = blackbox::run(process.command({"--once"}));
    CHECK_MESSAGE(outcome.exit_code == 1, blackbox::describe(outcome));
    CHECK_MESSAGE(blackbox::says(outcome, "the object has no name"), blackbox::describe(outcome));
    CHECK(is_written(api, "a"));
    CHECK(is_written(api, "b"));
  }
}

TEST_CASE("sync: a ClusterProfile that cannot be used on the hub blocks itself alone") {
  struct Case {
    std::string name;
    std::function<void(Json& profile)> spoil;
    std::string message;  // empty: it is usable all the same
  };
  const auto deep = [](Json& profile) {
    Json value = Json::object();
    for (int i = 0; i < 40; ++i) value = Json{{"a", value}};
    profile["status"]["accessProviders"][0]["cluster"]["extensions"] =
        Json::array({{{"name", "x"}, {"extension", value}}});
  };
  const auto property = [](Json& profile) {
    profile["status"]["properties"] =
        Json::array({{{"name", "cluster.clusterset.k8s.io"}, {"value", "a\tb"}}});
  };
  for (const Case& c :
       {Case{"a property with a tab", property, ""},
        Case{"conditions that are no list",
             [](Json& profile) { profile["status"]["conditions"] = "none"; }, ""},
        Case{"an entry without a name beside the chosen one",
             [](Json& profile) {
               profile["status"]["accessProviders"].push_back({{"name", 7}});
             },
             ""},
        Case{"another provider twice",
             [](Json& profile) {
               for (int i = 0; i < 2; ++i) {
                 profile["status"]["accessProviders"].push_back({{"name", "unused"}});
               }
             },
             ""},
        Case{"the chosen provider twice",
             [](Json& profile) {
               Json& providers = profile["status"]["accessProviders"];
               providers.push_back(Json(providers[0]));
             },
             "like that of an entry before it"},
        Case{"only an entry without a name",
             [](Json& profile) { profile["status"]["accessProviders"][0]["name"] = 7; },
             "must be a string"},
        Case{"providers that are no list",
             [](Json& profile) { profile["status"]["accessProviders"] = "none"; },
             "must be an array"},
        Case{"too deep", deep, "nested deeper than 32 levels"},
        Case{"too large", [](Json& profile) { profile["spec"]["x"] = std::string(5 << 20, 'x'); },
             "larger than 4096 KiB"}}) {
    for (const bool is_running : {false, true}) {
      CAPTURE(c.name);
      CAPTURE(is_running);
      LiveApi api;
      for (const char* const name : {"bad", "gone", "stays"}) put_profile(api, name);
      const Process process(api);
      std::optional<blackbox::Child> child;
      if (is_running) {
        child.emplace(process.listening());
      } else {
        CHECK(blackbox::run(process.command({"--once"})).exit_code == 0);
      }
      REQUIRE(blackbox::wait_until([&] {
        return is_written(api, "bad") && is_written(api, "gone") && is_written(api, "stays");
      }));
      Json bad = profile_object("bad", "https://bad.example");
      c.spoil(bad);
      api.put("clusterprofiles", bad);
      api.erase("clusterprofiles", "fleet", "gone");
      std::string log;
      if (is_running) {
        CHECK(blackbox::wait_until([&] { return !api.find("secrets", "to", "gone-token"); }));
        CHECK(blackbox::wait_until(
            [&] { return process.log().find(c.message) != std::string::npos; }));
        put_profile(api, "new");
        CHECK(blackbox::wait_until([&] { return is_written(api, "new"); }));
        child->send(SIGTERM);
        CHECK(child->wait().exit_code == 0);
        log = process.log();
      } else {
        const blackbox::Outcome outcome = blackbox::run(process.command({"--once"}));
        CHECK_MESSAGE(outcome.exit_code == (c.message.empty() ? 0 : 1), describe(outcome));
        log = outcome.error_output;
      }
      CHECK_FALSE(api.find("secrets", "to", "gone-token"));
      CHECK(is_written(api, "bad"));
      CHECK(is_written(api, "stays"));
      CHECK_MESSAGE(log.find(c.message) != std::string::npos, log);
    }
  }
}

TEST_CASE("sync -l: a Secret stays when its ClusterProfile on the hub is no longer selected") {
  LiveApi api;
  const auto put = [&](const std::string& name, const std::string& tier) {
    Json object = profile_object(name, "https://" + name + ".example");
    object["metadata"]["labels"] = {{"tier", tier}};
    api.put("clusterprofiles", object);
  };
  put("a", "one");
  put("b", "one");
  const Process process(api);
  const std::vector<std::string> selected = {"--once", "-l", "tier=one"};
  CHECK(blackbox::run(process.command(selected)).exit_code == 0);
  put("b", "two");
  CHECK(blackbox::run(process.command(selected)).exit_code == 0);
  CHECK(is_written(api, "a"));
  CHECK(is_written(api, "b"));
  api.erase("clusterprofiles", "fleet", "b");
  CHECK(blackbox::run(process.command({"--once"})).exit_code == 0);
  CHECK_FALSE(api.find("secrets", "to", "b-token"));
}

TEST_CASE("sync: after the last good ClusterProfile, a bad one does not stop the removal") {
  LiveApi api;
  put_profile(api, "gone");
  const Process process(api);
  CHECK(blackbox::run(process.command({"--once"})).exit_code == 0);
  REQUIRE(is_written(api, "gone"));
  Json bad = profile_object("bad", "https://bad.example");
  bad["status"]["accessProviders"] = "none";
  api.put("clusterprofiles", bad);
  api.erase("clusterprofiles", "fleet", "gone");
  CHECK(blackbox::run(process.command({"--once"})).exit_code == 1);
  CHECK_FALSE(api.find("secrets", "to", "gone-token"));
}

TEST_CASE("sync --once: large Secrets with our label, and a list that expires, stop nothing") {
  // More than one page. Reading 64 MiB takes a sanitizer longer than a list may.
  constexpr int kLarge = blackbox::kIsSanitized ? 600 : 270;
  constexpr std::size_t kSize = blackbox::kIsSanitized ? 10 << 10 : 250 << 10;
  LiveApi api;
  put_profile(api, "a");
  const Process process(api);
  CHECK(blackbox::run(process.command({"--once"})).exit_code == 0);
  REQUIRE(is_written(api, "a"));
  Json mine = *api.find("secrets", "to", "a-token");
  for (int i = 0; i < kLarge; ++i) {
    Json other = {{"apiVersion", "v1"}, {"kind", "Secret"}};
    other["metadata"] = {{"name", "big" + std::to_string(i)},
                         {"namespace", "to"},
                         {"labels", mine["metadata"]["labels"]},
                         {"annotations", {{"x", std::string(kSize, 'x')}}}};
    api.put("secrets", other);
  }
  std::atomic<int> expired = 0;
  api.before([&](Stream& stream, const Received& request) {
    const bool is_later = request.target.find("/secrets?") != std::string::npos &&
                          request.target.find("continue=") != std::string::npos;
    return is_later && expired++ == 0 && stream.write(status_reply(410, "Expired", "too old"));
  });
  api.erase("clusterprofiles", "fleet", "a");
  put_profile(api, "b");
  blackbox::Command command = process.command({"--once"});
  command.patience *= 4;  // 64 MiB, read by a build without optimisation
  const blackbox::Outcome outcome = blackbox::run(command);
  CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
  CHECK(expired > 0);
  CHECK(is_written(api, "b"));
  CHECK_FALSE(api.find("secrets", "to", "a-token"));
  CHECK(api.count("secrets") == kLarge + 1);
}

TEST_CASE("sync --lease: if another process takes the Lease by force, writing stops") {
  Witness witness;
  LiveApi api;
  put_profile(api, "a");
  witness.watch(api);
  const Process process(api, "one");
  blackbox::Child child(process.command({"--lease=to/sync"}));
  CHECK(blackbox::wait_until([&] { return is_written(api, "a"); }));
  steal_lease(api, 0, 4);
  // After its second request for the Lease, the process knows that it has lost it.
  std::size_t asked = witness.asked("one");
  CHECK(blackbox::wait_until([&] { return witness.asked("one") >= asked + 2; }));
  const std::size_t writes = witness.writes("one");
  api.erase("secrets", "to", "a-token");
  put_profile(api, "b");
  for (int second = 1; second <= 3; ++second) {
    steal_lease(api, second, 4);
    asked = witness.asked("one");
    CHECK(blackbox::wait_until([&] { return witness.asked("one") > asked; }));
    CHECK(holder_of_lease(api) == "thief");
  }
  CHECK(witness.writes("one") == writes);
  // The thief no longer renews it.
  CHECK(blackbox::wait_until([&] { return is_written(api, "a") && is_written(api, "b"); }));
  CHECK(holder_of_lease(api) != "thief");
  CHECK(witness.strays("one") == 0);
  child.send(SIGTERM);
  CHECK(child.wait().exit_code == 0);
}

TEST_CASE("sync --lease: after the Lease is lost, only the write that has begun is completed") {
  constexpr std::size_t kProfiles = 12;
  Witness witness;
  LiveApi api;
  for (std::size_t i = 0; i < kProfiles; ++i) put_profile(api, "a" + std::to_string(i));
  std::atomic<bool> is_lost = false;
  api.before([&](Stream&, const Received& request) {
    witness.look_at(api, request);
    if (!is_change_of_secret(request) || is_lost.exchange(true)) return false;
    steal_lease(api, 0, 3600);
    const std::size_t asked = witness.asked("one");
    CHECK(blackbox::wait_until([&] { return witness.asked("one") >= asked + 2; }));
    return false;
  });
  const Process process(api, "one");
  blackbox::Child child(process.command({"--lease=to/sync", "--parallel=1"}));
  CHECK(blackbox::wait_until([&] { return is_lost && api.count("secrets") > 0; }));
  for (int second = 1; second <= 2; ++second) {
    steal_lease(api, second, 3600);
    const std::size_t asked = witness.asked("one");
    CHECK(blackbox::wait_until([&] { return witness.asked("one") > asked; }));
  }
  CHECK(witness.writes("one") == 1);
  CHECK(api.count("secrets") == 1);
  child.send(SIGTERM);
  CHECK(child.wait().exit_code == 0);
}

TEST_CASE("sync --lease: a credential that is ready only after the Lease is lost is not written") {
  Witness witness;
  LiveApi api;
  put_profile(api, "a");
  witness.watch(api);
  const Process process(api, "one");
  const std::string started = process.sandbox().at("started");
  const std::string may_end = process.sandbox().at("may-end");
  REQUIRE(mkfifo(may_end.c_str(), 0600) == 0);
  const std::string ended = process.sandbox().at("ended");
  const std::string credential = R"({"kind":"ExecCredential",)"
                                 R"("apiVersion":"client.authentication.k8s.io/v1",)"
                                 R"("status":{"token":"late"}})";
  process.sandbox().script("bin/echo", ": > '" + started + "'\nread -r _ < '" + may_end +
                                           "'\necho '" + credential + "'\n: > '" + ended + "'");
  blackbox::Command command = process.command({"--lease=to/sync"});
  blackbox::write_log(command, process.sandbox().at("log"));
  blackbox::Child child(command);
  CHECK(blackbox::wait_until([&] { return std::filesystem::exists(started); }));
  steal_lease(api, 0, 3600);
  CHECK(blackbox::wait_until([&] { return count_of(process.log(), "holder=thief") > 0; }));
  // A descriptor for both directions does not wait for the reader.
  const execcred::FileDescriptor gate(open(may_end.c_str(), O_RDWR | O_CLOEXEC));
  REQUIRE(write(gate.get(), "\n", 1) == 1);
  CHECK(blackbox::wait_until([&] { return std::filesystem::exists(ended); }));
  const std::size_t asked = witness.asked("one");
  CHECK(blackbox::wait_until([&] { return witness.asked("one") >= asked + 2; }));
  CHECK(witness.writes("one") == 0);
  CHECK(api.count("secrets") == 0);
  child.send(SIGTERM);
  CHECK(child.wait().exit_code == 0);
}

TEST_CASE("sync --lease: a forbidden Lease is reported once, and taken when it is allowed") {
  LiveApi api;
  put_profile(api, "a");
  std::atomic<int> refusals = 0;
  api.before([&](Stream& stream, const Received& request) {
    if (!is_of_lease(request)) return false;
    ++refusals;
    return stream.write(status_reply(403, "Forbidden", "leases is forbidden"));
  });
  const Process process(api);
  blackbox::Child child(process.command({"--lease=to/sync"}));
  CHECK(blackbox::wait_until([&] { return refusals >= 3; }));
  CHECK_FALSE(is_written(api, "a"));
  api.before({});
  CHECK(blackbox::wait_until([&] { return is_written(api, "a"); }));
  child.send(SIGTERM);
  const blackbox::Outcome outcome = child.wait();
  CHECK(outcome.exit_code == 0);
  for (const std::string_view line : {"waiting for the Lease", "leases is forbidden",
                                      "cause=source-forbidden", "this process holds the Lease"}) {
    CAPTURE(line);
    CHECK_MESSAGE(count_of(outcome.error_output, line) == 1, outcome.error_output);
  }
}

TEST_CASE("sync --lease: a process that was paused for long writes nothing when it continues") {
  Witness witness;
  LiveApi api;
  put_profile(api, "a");
  witness.watch(api);
  const Process one(api, "one");
  const Process two(api, "two");
  blackbox::Child first(one.command({"--lease=to/sync"}));
  CHECK(blackbox::wait_until([&] { return is_written(api, "a"); }));
  blackbox::Child second(two.command({"--lease=to/sync"}));
  CHECK(blackbox::wait_until([&] { return witness.asked("two") > 0; }));
  first.send(SIGSTOP);
  const std::size_t writes = witness.writes("one");
  put_profile(api, "b");
  CHECK(blackbox::wait_until([&] { return is_written(api, "b"); }));
  CHECK(witness.writes("two") > 0);
  // There is work when it continues.
  for (const std::string name : {"c", "d", "e", "f"}) put_profile(api, name);
  first.send(SIGCONT);
  const std::size_t asked = witness.asked("one");
  for (const std::string name : {"c", "d", "e", "f"}) {
    CHECK(blackbox::wait_until([&] { return is_written(api, name); }));
  }
  CHECK(blackbox::wait_until([&] { return witness.asked("one") > asked; }));
  CHECK(witness.writes("one") == writes);
  CHECK(witness.strays("one") + witness.strays("two") == 0);
  for (blackbox::Child* const child : {&first, &second}) {
    child->send(SIGTERM);
    CHECK(child->wait().exit_code == 0);
  }
}

TEST_CASE("sync --lease: --dry-run takes no Lease, --once writes with it and gives it back") {
  Witness witness;
  LiveApi api;
  put_profile(api, "a");
  witness.watch(api);
  const Process process(api);
  blackbox::Outcome outcome = blackbox::run(process.command({"--lease=to/sync", "--dry-run"}));
  CHECK_MESSAGE(outcome.exit_code == 0, blackbox::describe(outcome));
  CHECK(witness.asked("t0ken") == 0);
  outcome = blackbox::run(process.command({"--lease=to/sync", "--once"}));
  CHECK_MESSAGE(outcome.exit_code == 0, blackbox::describe(outcome));
  CHECK(is_written(api, "a"));
  CHECK(witness.writes("t0ken") == 1);
  CHECK(witness.strays("t0ken") == 0);
  CHECK(api.count("leases") == 1);
  CHECK(holder_of_lease(api) == "");
}

TEST_CASE("sync --lease --once: nothing is written while another process holds the Lease") {
  Witness witness;
  LiveApi api;
  put_profile(api, "a");
  const Process holder(api, "one");
  blackbox::Child child(holder.command({"--lease=to/sync"}));
  CHECK(blackbox::wait_until([&] { return is_written(api, "a"); }));
  put_profile(api, "b");
  CHECK(blackbox::wait_until([&] { return is_written(api, "b"); }));
  witness.watch(api);
  api.erase("secrets", "to", "b-token");
  const Process process(api, "two");
  const blackbox::Outcome outcome = blackbox::run(process.command({"--lease=to/sync", "--once"}));
  CHECK_MESSAGE(outcome.exit_code == 3, blackbox::describe(outcome));
  CHECK(outcome.error_output.find("another process holds the Lease: ") != std::string::npos);
  CHECK(witness.writes("two") == 0);
  child.send(SIGTERM);
  CHECK(child.wait().exit_code == 0);
  // The Lease of a process that was killed is taken when its time is over.
  steal_lease(api, 1, 2);
  const blackbox::Outcome late = blackbox::run(process.command({"--lease=to/sync", "--once"}));
  CHECK_MESSAGE(late.exit_code == 0, blackbox::describe(late));
  CHECK(is_written(api, "b"));
}

TEST_CASE("sync: a credential that stays the same is written once, though its claimed end moves") {
  struct Case {
    std::string what;
    std::string token;
    bool is_script = false;
    bool shows_end = false;
  };
  for (const Case& row :
       std::vector<Case>{{"an opaque token in a file", "opaque-t0ken", false, false},
                         {"a JWT in a file", blackbox::jwt_for(3600), false, true},
                         {"a token of another plugin", "constant-t0ken", true, true}}) {
    CAPTURE(row.what);
    LiveApi api;
    put_profile(api, "a");
    const Process process(api);
    const blackbox::Sandbox& sandbox = process.sandbox();
    const std::string file = sandbox.write("file", row.token, 0600);
    const std::string script = sandbox.script(
        "bin/moving",
        "echo >> '" + sandbox.at("runs") +
            "'\nprintf '{\"kind\":\"ExecCredential\",\"apiVersion\":"
            "\"client.authentication.k8s.io/v1\",\"status\":{\"expirationTimestamp\":\"%s\","
            "\"token\":\"%s\"}}' \"$(date -u -d '+100 seconds' +%Y-%m-%dT%H:%M:%SZ)\" "
            "\"$(cat '" +
            file + "')\"");
    sandbox.write(
        "mapping.json",
        blackbox::mapping({row.is_script ? blackbox::mapped("p", script)
                                         : blackbox::mapped("p", blackbox::kTokenFile,
                                                            ", \"args\": [\"--token-file=" + file +
                                                                "\", \"--max-age=2s\"]")}));
    blackbox::Command command =
        process.command({"--renew-at=1", "--to-dir=" + process.root().native()});
    for (std::string& argument : command.arguments) {
      if (argument == "--to-secret=token") argument = "--to-secret=token,kubeconfig,argocd";
    }
    std::atomic<int> writes = 0;
    api.before([&](Stream&, const Received& request) {
      if (is_change_of_secret(request)) ++writes;
      return false;
    });
    blackbox::Child child(command);
    const std::filesystem::path folder = process.root() / "fleet/a";
    const auto generation = [&] {
      std::error_code none;
      return std::filesystem::read_symlink(folder / "..data", none);
    };
    CHECK(blackbox::wait_until([&] { return writes >= 3 && !generation().empty(); }));
    const std::filesystem::path first = generation();
    const std::string marker = blackbox::read_text(folder / ".execcred-sync");
    CHECK(std::filesystem::exists(folder / "expiration") == row.shows_end);
    std::this_thread::sleep_for(std::chrono::seconds(5));
    if (row.is_script) CHECK(count_of(blackbox::read_text(sandbox.at("runs")), "\n") >= 3);
    CHECK(writes == 3);
    CHECK(generation() == first);
    CHECK(blackbox::read_text(folder / ".execcred-sync") == marker);
    CHECK(written(api, "a").first == row.token);
    const std::string other =
        row.token.find('.') == std::string::npos ? "another-t0ken" : blackbox::jwt_for(7200);
    sandbox.write("next", other, 0600);
    std::filesystem::rename(sandbox.at("next"), file);
    CHECK(blackbox::wait_until([&] { return written(api, "a").first == other; }));
    CHECK(blackbox::wait_until([&] { return writes == 6 && generation() != first; }));
    child.send(SIGTERM);
    CHECK(child.wait().exit_code == 0);
  }
}

TEST_CASE("sync: after SIGTERM, the write that has begun is completed, and no other begins") {
  LiveApi api;
  for (const std::string name : {"a", "b", "c"}) put_profile(api, name);
  std::atomic<bool> is_in_hand = false;
  std::atomic<bool> may_go_on = false;
  api.before([&](Stream&, const Received& request) {
    if (!is_change_of_secret(request)) return false;
    is_in_hand = true;
    CHECK(blackbox::wait_until([&] { return may_go_on.load(); }));
    return false;
  });
  const Process process(api);
  blackbox::Child child(process.command({"--parallel=1"}));
  CHECK(blackbox::wait_until([&] { return is_in_hand.load(); }));
  child.send(SIGTERM);
  // Its watches end with the signal, which the server notices when it writes to them.
  CHECK(blackbox::wait_until([&] {
    api.bookmark();
    return api.watches() == 0;
  }));
  may_go_on = true;
  const blackbox::Outcome outcome = child.wait();
  CHECK_MESSAGE(outcome.exit_code == 0, blackbox::describe(outcome));
  CHECK(api.count("secrets") == 1);
  CHECK(count_of(outcome.error_output, "wrote") == 1);
}

TEST_CASE("sync --listen: healthy and ready while the hub is unreachable, which the metrics show") {
  LiveApi api;
  put_profile(api, "a");
  const Process process(api);
  blackbox::Child child(process.listening());
  const auto get = [&](const std::string& path) { return answer_of(process.log(), path); };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(blackbox::wait_until([&] { return has(get("/readyz"), " 200 "); }));
  CHECK(blackbox::wait_until([&] { return has(get("/metrics"), "\nexeccred_sync_watch_up 1\n"); }));
  api.before([](Stream& stream, const Received&) {
    stream.reset();
    return true;
  });
  api.cut_watches();
  CHECK(blackbox::wait_until([&] { return has(get("/metrics"), "\nexeccred_sync_watch_up 0\n"); }));
  CHECK(has(get("/healthz"), " 200 "));
  CHECK(has(get("/readyz"), " 200 "));
  api.before({});
  CHECK(blackbox::wait_until([&] { return has(get("/metrics"), "\nexeccred_sync_watch_up 1\n"); }));
  child.send(SIGTERM);
  CHECK(child.wait().exit_code == 0);
}

TEST_CASE("sync --listen: a forbidden watch of the written Secrets is reported once") {
  LiveApi api;
  put_profile(api, "a");
  std::atomic<int> refusals = 0;
  api.before([&](Stream& stream, const Received& request) {
    const bool is_watch = request.target.find("/secrets?watch=") != std::string::npos;
    if (!is_watch) return false;
    ++refusals;
    return stream.write(status_reply(403, "Forbidden", "secrets is forbidden: cannot watch"));
  });
  const Process process(api);
  blackbox::Child child(process.listening());
  const auto metrics = [&] { return answer_of(process.log(), "/metrics"); };
  CHECK(blackbox::wait_until([&] { return refusals >= 3 && is_written(api, "a"); }));
  CHECK(blackbox::wait_until([&] {
    return count_of(metrics(), "execcred_sync_failures_total{cause=\"target-refused\"} 1\n") == 1;
  }));
  CHECK(count_of(metrics(), "\nexeccred_sync_watch_up 0\n") == 1);
  CHECK(count_of(process.log(), "cannot watch") == 1);
  api.before({});
  CHECK(blackbox::wait_until(
      [&] { return count_of(metrics(), "\nexeccred_sync_watch_up 1\n") == 1; }));
  child.send(SIGTERM);
  CHECK(child.wait().exit_code == 0);
}

TEST_CASE("sync --to-secret: one write request for each renewal, and no Secret is read") {
  constexpr std::size_t kProfiles = 20;
  LiveApi api;
  const auto put_all = [&](const std::string& domain) {
    for (std::size_t i = 0; i < kProfiles; ++i) {
      const std::string name = "a" + std::to_string(i);
      api.put("clusterprofiles", profile_object(name, "https://" + name + domain));
    }
  };
  const auto are_at = [&](const std::string& domain) {
    for (std::size_t i = 0; i < kProfiles; ++i) {
      const std::string name = "a" + std::to_string(i);
      if (written(api, name).second != "https://" + name + domain) return false;
    }
    return true;
  };
  const Process process(api);
  put_all(".one.example");
  blackbox::Child child(process.command({}));
  CHECK(blackbox::wait_until([&] { return are_at(".one.example"); }));
  put_all(".two.example");
  CHECK(blackbox::wait_until([&] { return are_at(".two.example"); }));
  child.send(SIGTERM);
  CHECK(child.wait().exit_code == 0);
  CHECK(api.requests("POST", "/secrets").size() == kProfiles);
  CHECK(api.requests("PUT", "/secrets/").size() == kProfiles);
  CHECK(api.requests("GET", "/secrets/").empty());
}
