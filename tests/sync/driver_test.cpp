// SPDX-License-Identifier: Apache-2.0
// What is due when, with a fake inventory and a fake store.
#include "sync/driver.hpp"
#include "cli/inventory.hpp"
#include "sandbox.hpp"

#include <doctest/doctest.h>
#include <execcred/kube/cluster_profile.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

using namespace execcred;
using namespace execcred::sync;

namespace {

// One ClusterProfile, perhaps with an access provider.
class OneProfile final : public ProfileFeed {
 public:
  explicit OneProfile(std::string provider = {}) : provider_(std::move(provider)) {}

  bool is_whole = true;

  Picture read(bool, const FeedReceiver& receiver) override {
    ClusterProfile profile;
    profile.name_space = "fleet";
    profile.name = "a";
    if (!provider_.empty()) {
      json::Value cluster((json::Object()));
      cluster.add("server", json::Value("https://a.example"));
      profile.access_providers.push_back(
          {.name = provider_, .path = "status.accessProviders[0]", .cluster = std::move(cluster)});
    }
    receiver.take({.name_space = "fleet", .name = "a", .profile = std::move(profile)});
    return {.is_all = true, .is_known = true, .is_whole = is_whole, .count = 1};
  }
  Status watch(std::function<void()>, const StopEvent&) override { return {}; }
  bool is_up() const override { return true; }

 private:
  std::string provider_;
};

// A store that already has one credential, which is valid for an hour.
class OneHeld final : public Store, public Target {
 public:
  int removals = 0;

  Store& store() override { return *this; }
  Result<Held> place_of(const Mark& mark) override {
    return Held{.store = this, .place = "there", .mark = mark};
  }
  Result<Wrote> write(const Held&, const Issue&, const MayWrite&) override {
    return Wrote::unchanged;
  }
  Result<std::vector<Held>> scan() override {
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    return std::vector<Held>{place_of({.instance = "default",
                                       .name_space = "fleet",
                                       .name = "a",
                                       .issued = now,
                                       .expires = now + std::chrono::hours(1)})
                                 .value()};
  }
  bool is_gone(const Held&) const override { return false; }
  bool is_foreign(const Held&) const override { return false; }
  Result<Wrote> mark_expired(const Held&, const MayWrite&) override { return Wrote::unchanged; }
  Result<Wrote> remove(const Held&, const MayWrite&) override {
    ++removals;
    return Wrote::written;
  }
};

}  // namespace

TEST_SUITE_BEGIN("sync");

namespace {

// Checks that the removal happens at the first look at which the inventory is complete.
void check_removal(const std::string& provider, const std::string& mapping,
                   const std::string& cause) {
  const blackbox::Sandbox sandbox;
  auto feed = std::make_unique<OneProfile>(provider);
  bool& is_whole = feed->is_whole;
  OneHeld store;
  Journal journal(false);
  const StopEvent stop = StopEvent::make().value();
  Driver driver({.mapping = sandbox.write("mapping.json", mapping),
                 .rules = {.instance = "default", .parallel = 1},
                 .environment = Environment::copy()},
                {.stores = {&store},
                 .targets = {&store},
                 .feed = std::move(feed),
                 .journal = journal,
                 .stop = stop});
  REQUIRE(driver.read_mapping());
  REQUIRE(driver.scan());
  is_whole = false;
  CHECK(driver.look() == 0);
  CHECK(driver.run_round() == 1);
  CHECK(driver.figures().failures[cause] == 1);
  CHECK(store.removals == 0);
  // There is no wait for the pause after a failure, which is at least a second.
  is_whole = true;
  CHECK(driver.look() == 0);
  driver.run_round();
  CHECK(store.removals == 1);
}

}  // namespace

TEST_CASE("sync: a removal that waits for a complete inventory happens as soon as it is complete") {
  check_removal({}, blackbox::mapping({blackbox::mapped("p", "/bin/true")}), "no-provider");
}

TEST_CASE("sync: a removal that a plugin's refusal causes happens when the inventory is complete") {
  const blackbox::Sandbox sandbox;
  const std::string plugin =
      sandbox.script("execcred-refusing",
                     "case $1 in --version) echo 'execcred-refusing 1'; exit 0;; esac\n"
                     "printf '%s' '{\"cause\":\"server-not-allowed\",\"rule\":true}' "
                     ">&\"$EXECCRED_REPORT_FILE\"\nexit 1");
  check_removal("p", blackbox::mapping({blackbox::mapped("p", plugin)}), "server-not-allowed");
}
