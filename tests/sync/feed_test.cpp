// SPDX-License-Identifier: Apache-2.0
// A look at the inventory reads only the ClusterProfiles that have changed.
#include "sync/feed.hpp"
#include "cli/inventory.hpp"
#include "command_options.hpp"
#include "hub_run.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace execcred;
using namespace execcred::sync;
using execcred::test::LiveApi;
using execcred::test::profile_object;

namespace {

using Names = std::vector<std::string>;

struct Look {
  Picture picture = {};
  Names taken = {};
  Names dropped = {};
};

Look look(ProfileFeed& feed, bool is_anew = false) {
  Look look;
  look.picture =
      feed.read(is_anew, {.take = [&](const ListedProfile& one) { look.taken.push_back(one.name); },
                          .drop = [&](const std::string& key) { look.dropped.push_back(key); }});
  return look;
}

// A feed that is watched as long as this lives.
class Watched {
 public:
  explicit Watched(std::unique_ptr<ProfileFeed> feed)
      : stop_(StopEvent::make().value()), feed_(std::move(feed)) {
    REQUIRE(feed_->watch([] {}, stop_));
  }
  ~Watched() { stop_.request(); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  ProfileFeed& feed() { return *feed_; }
  // The first look after the change in which something was taken or dropped.
  Look after(const std::function<void()>& change) {
    change();
    Look found;
    CHECK(blackbox::wait_until([&] {
      found = look(*feed_);
      return !found.taken.empty() || !found.dropped.empty();
    }));
    return found;
  }

 private:
  StopEvent stop_;
  std::unique_ptr<ProfileFeed> feed_;
};

}  // namespace

TEST_SUITE_BEGIN("sync");

TEST_CASE("sync: after an event of the hub, only its ClusterProfile is read") {
  LiveApi api;
  for (const std::string name : {"a", "b", "c"}) {
    api.put("clusterprofiles", profile_object(name, "https://" + name + ".example"));
  }
  Watched hub(hub_feed(api.client(), watch_profiles("fleet")));
  CHECK(hub.after([] {}).taken == Names{"a", "b", "c"});
  CHECK(look(hub.feed()).taken.empty());
  const Look changed =
      hub.after([&] { api.put("clusterprofiles", profile_object("b", "https://new.example")); });
  CHECK(changed.taken == Names{"b"});
  CHECK(changed.picture.is_whole);
  CHECK(changed.picture.count == 3);
  const Look gone = hub.after([&] { api.erase("clusterprofiles", "fleet", "a"); });
  CHECK(gone.taken.empty());
  CHECK(gone.dropped == Names{"fleet/a"});
  CHECK(gone.picture.count == 2);
  // With another mapping, all are read.
  CHECK(look(hub.feed(), true).taken == Names{"b", "c"});
  const Look broken = hub.after([&] {
    test::Json object = profile_object("c", "https://c.example");
    object["status"]["accessProviders"] = "none";
    api.put("clusterprofiles", object);
  });
  CHECK(broken.picture.is_whole);
  CHECK(broken.picture.count == 2);
}

TEST_CASE("sync: changes during a broken watch are found by the next list") {
  LiveApi api;
  for (const std::string name : {"a", "b"}) {
    api.put("clusterprofiles", profile_object(name, "https://" + name + ".example"));
  }
  Watched hub(hub_feed(api.client(), watch_profiles("fleet")));
  CHECK(hub.after([] {}).taken == Names{"a", "b"});
  api.before([](test::Stream& stream, const test::Received&) {
    stream.reset();
    return true;
  });
  api.cut_watches();
  api.erase("clusterprofiles", "fleet", "a");
  api.put("clusterprofiles", profile_object("c", "https://c.example"));
  api.compact();
  api.before({});
  Names taken;
  Names dropped;
  CHECK(blackbox::wait_until([&] {
    const Look now = look(hub.feed());
    taken.insert(taken.end(), now.taken.begin(), now.taken.end());
    dropped.insert(dropped.end(), now.dropped.begin(), now.dropped.end());
    return !taken.empty() && !dropped.empty();
  }));
  CHECK(taken == Names{"c"});
  CHECK(dropped == Names{"fleet/a"});
  CHECK(look(hub.feed()).picture.count == 2);
}

TEST_CASE("sync: files are read again only when they change") {
  const blackbox::Sandbox sandbox;
  const auto write = [&](const std::string& name) {
    sandbox.write("profiles/" + name + ".json", blackbox::profile(name, {blackbox::provider("p")}));
  };
  write("a");
  cli::ProfileSource source;
  cli::CommandOptions options;
  source.add_to(options);
  REQUIRE(options.find_letter('f')->store({sandbox.at("profiles")}));
  Watched files(file_feed(source, sandbox.write("mapping.json", "{}")));
  CHECK(look(files.feed()).taken == Names{"a"});
  const Look idle = look(files.feed());
  CHECK(idle.taken.empty());
  CHECK_FALSE(idle.picture.is_all);
  CHECK(idle.picture.count == 1);
  // A file beside the mapping is not of the inventory.
  sandbox.write("other", "x");
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  CHECK(look(files.feed()).taken.empty());
  const Look more = files.after([&] { write("b"); });
  CHECK(more.taken.size() == 2);
  CHECK(more.picture.is_all);
}

TEST_CASE("sync: a folder of ClusterProfiles that is a link is read again when it is replaced") {
  const blackbox::Sandbox sandbox;
  const auto write = [&](const std::string& folder, const std::string& name) {
    sandbox.write(folder + "/" + name + ".json",
                  blackbox::profile(name, {blackbox::provider("p")}));
  };
  write("one", "a");
  write("two", "b");
  std::filesystem::create_directory(sandbox.path() / "links");
  const std::filesystem::path link = sandbox.path() / "links/current";
  std::filesystem::create_symlink("../one", link);
  cli::ProfileSource source;
  cli::CommandOptions options;
  source.add_to(options);
  REQUIRE(options.find_letter('f')->store({link.native()}));
  Watched files(file_feed(source, sandbox.write("mapping.json", "{}")));
  CHECK(look(files.feed()).taken == Names{"a"});
  const Look replaced = files.after([&] {
    std::filesystem::create_symlink("../two", sandbox.path() / "links/next");
    std::filesystem::rename(sandbox.path() / "links/next", link);
  });
  CHECK(replaced.taken == Names{"b"});
  CHECK(replaced.picture.is_all);
  // The new folder is watched.
  CHECK(files.after([&] { write("two", "c"); }).taken == Names{"b", "c"});
}
