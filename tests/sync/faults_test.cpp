// SPDX-License-Identifier: Apache-2.0
// `execcred sync` on a machine with faults: a full disk, volumes that are unmounted for a while, a
// clock that jumps.
#include "fleet_run.hpp"

#include "cli/inventory.hpp"
#include "documents.hpp"

#include <doctest/doctest.h>
#include <execcred/base/clock.hpp>
#include <execcred/base/rfc3339.hpp>

#include <sys/mount.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

using namespace blackbox;
namespace fs = std::filesystem;

namespace {

// Mounts on a folder. The destructor unmounts. Needs root.
class Mounted {
 public:
  explicit Mounted(fs::path at) : at_(std::move(at)) {}
  ~Mounted() { unmount(); }
  Mounted(const Mounted&) = delete;
  Mounted& operator=(const Mounted&) = delete;

  // A file system in memory, with such limits ("size=64k").
  bool mount_memory(const std::string& limits) {
    const std::string options = limits + ",mode=0700";
    is_mounted_ = mount("none", at_.c_str(), "tmpfs", 0, options.c_str()) == 0;
    return is_mounted_;
  }
  // Another folder, on its own file system.
  bool mount_folder(const fs::path& from) {
    is_mounted_ = mount(from.c_str(), at_.c_str(), nullptr, MS_BIND, nullptr) == 0;
    return is_mounted_;
  }
  void unmount() {
    if (is_mounted_) umount2(at_.c_str(), MNT_DETACH);
    is_mounted_ = false;
  }

 private:
  fs::path at_;
  bool is_mounted_ = false;
};

constexpr const char* kNoMount = "skipped: this user may not mount a file system";

std::set<std::string> all_below(const fs::path& root) {
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    names.insert(entry.path().native());
  }
  return names;
}

// Checks that the folder of "a", if it exists, has the files of one generation.
void check_whole(const Fleet& fleet) {
  const fs::path folder = fleet.folder("a");
  if (!fs::exists(folder)) return;
  CHECK(read_text(folder / "token").starts_with("t0ken-"));
  CHECK(read_text(folder / "server").starts_with("https://"));
  CHECK(read_text(folder / "expiration").size() == 20);
  CHECK(read_text(folder / "kubeconfig").find(read_text(folder / "server")) != std::string::npos);
}

void check_full(const Outcome& outcome) {
  CHECK_MESSAGE(outcome.exit_code == 3, describe(outcome));
  for (const std::string text :
       {"No space left on device", "cause=target-unavailable", "hint=\"free some space there"}) {
    CHECK_MESSAGE(outcome.error_output.find(text) != std::string::npos, describe(outcome));
  }
}

bool has(const Run& run, const std::string& text) {
  return run.log().find(text) != std::string::npos;
}

}  // namespace

TEST_SUITE_BEGIN("sync");

TEST_CASE("sync --to-dir: on a disk of any size that is too small, existing files are kept") {
  const Fleet fleet({"a"});
  Mounted disk(fleet.root());
  if (!disk.mount_memory("size=4k")) {
    MESSAGE(kNoMount);
    return;
  }
  disk.unmount();
  int refused = 0;
  std::vector<std::string> limits;
  for (int pages = 1; pages <= 14; ++pages) {
    limits.push_back("size=" + std::to_string(4 * pages) + "k");
  }
  for (int files = 2; files <= 30; ++files) limits.push_back("nr_inodes=" + std::to_string(files));
  for (const std::string& limit : limits) {
    CAPTURE(limit);
    REQUIRE(disk.mount_memory(limit));
    // A second round writes a second generation, which needs space beside the first.
    for (const std::string server : {"https://one.example", "https://two.example"}) {
      fleet.write_profile("a", {provider("p", server)});
      const std::string before = read_text(fleet.folder("a") / "server");
      const std::set<std::string> files = all_below(fleet.root());
      const Outcome outcome = fleet.once();
      check_whole(fleet);
      if (outcome.exit_code == 0) {
        CHECK(read_text(fleet.folder("a") / "server") == server);
        continue;
      }
      ++refused;
      check_full(outcome);
      const std::string after = read_text(fleet.folder("a") / "server");
      CHECK((after == before || after == server));
      // No new file stays, except the namespace's folder, and a generation that is in use already.
      if (after == before) {
        std::set<std::string> more = all_below(fleet.root());
        for (const std::string& file : files) more.erase(file);
        more.erase((fleet.root() / "fleet").native());
        CHECK(more.empty());
      }
    }
    disk.unmount();
  }
  CHECK(refused > 20);
}

TEST_CASE("sync --to-dir: after a disk was full for a while, the credential is written") {
  const Fleet fleet({"a"});
  Mounted disk(fleet.root());
  if (!disk.mount_memory("size=128k")) {
    MESSAGE(kNoMount);
    return;
  }
  Run run(fleet);
  CHECK(wait_until([&] { return fs::exists(fleet.folder("a") / "token"); }));
  const std::string token = fleet.token("a");
  const fs::path filler = fleet.root() / "filler";
  std::ofstream(filler) << std::string(200'000, '.') << std::flush;
  fleet.write_profile("a", {provider("p", "https://new.example")});
  CHECK(wait_until([&] { return has(run, "No space left on device"); }));
  CHECK(fleet.token("a") == token);
  check_whole(fleet);
  fs::remove(filler);
  CHECK(
      wait_until([&] { return read_text(fleet.folder("a") / "server") == "https://new.example"; }));
  CHECK(run.end().exit_code == 0);
  check_whole(fleet);
}

#ifdef EXECCRED_FAULTS
TEST_CASE("sync --to-dir: if fsync reports a full disk, existing files are kept") {
  const Fleet fleet({"a"});
  CHECK(fleet.once().exit_code == 0);
  const std::string token = fleet.token("a");
  const std::set<std::string> files = all_below(fleet.root());
  fleet.write_profile("a", {provider("p", "https://new.example")});
  // The fsync of each file of a generation, and of the marker.
  for (int number = 1; number <= 5; ++number) {
    CAPTURE(number);
    Command command = fleet.command({"--once", "--to-dir=" + fleet.root().native()});
    command.environment.push_back("LD_PRELOAD=" EXECCRED_FAULTS);
    command.environment.push_back("FAULT=fsync:28:" + std::to_string(number) + ":" +
                                  fleet.sandbox().at("mark"));
    check_full(run(command));
    check_whole(fleet);
    CHECK(fleet.token("a") == token);
    CHECK(all_below(fleet.root()) == files);
  }
  CHECK(fleet.once().exit_code == 0);
  CHECK(read_text(fleet.folder("a") / "server") == "https://new.example");
}

namespace {

using std::chrono::hours;
using std::chrono::seconds;

// A clock that a run and its plugins see, and that a test sets while they run.
class MovedClock {
 public:
  explicit MovedClock(const Fleet& fleet) : fleet_(fleet) { set(seconds(0)); }

  void set(seconds ahead) {
    ahead_ = ahead;
    const std::string partial =
        fleet_.sandbox().write("partial-clock", std::to_string(ahead.count()));
    fs::rename(partial, fleet_.sandbox().path() / "clock");
  }
  std::vector<std::string> environment() const {
    return {"LD_PRELOAD=" EXECCRED_FAULTS, "FAULT=clockfile:0:0:" + fleet_.sandbox().at("clock")};
  }
  // The remaining lifetime of the credential of "a", by this clock.
  seconds left() const {
    const auto end = execcred::parse_rfc3339(read_text(fleet_.folder("a") / "expiration"));
    if (!end) return seconds(0);
    const auto now = execcred::SystemClock().now() + ahead_;
    return std::chrono::duration_cast<seconds>(*end - now);
  }
  bool is_good() const { return left() > seconds(0) && left() <= hours(1); }

 private:
  const Fleet& fleet_;
  seconds ahead_ = {};
};

}  // namespace

TEST_CASE("sync: after the clock jumps by hours or years, the credential is valid again") {
  const Fleet fleet({"a"});
  MovedClock clock(fleet);
  Run run(fleet, {}, clock.environment());
  CHECK(wait_until([&] { return clock.is_good(); }));
  constexpr hours kYear(365 * 24);
  for (const hours jump : {hours(1), hours(0), hours(-1), hours(0), kYear, hours(0), -kYear,
                           hours(0), kYear, -kYear}) {
    CAPTURE(jump.count());
    clock.set(jump);
    CHECK(wait_until([&] { return clock.is_good(); }));
  }
  CHECK(has(run, "the clock was set, or this machine was asleep"));
  CHECK(run.end().exit_code == 0);
}

#endif

TEST_CASE("sync: nothing is removed while the folder of ClusterProfiles is unmounted") {
  const Fleet fleet({"a", "b"});
  const fs::path profiles = fleet.sandbox().path() / "profiles";
  const fs::path volume = fleet.sandbox().path() / "volume";
  fs::rename(profiles, volume);
  fs::create_directory(profiles);
  Mounted mounted(profiles);
  if (!mounted.mount_folder(volume)) {
    MESSAGE(kNoMount);
    return;
  }
  Run run(fleet);
  CHECK(wait_until([&] { return fs::exists(fleet.folder("b") / "token"); }));
  mounted.unmount();
  CHECK(wait_until([&] { return has(run, "the inventory holds no ClusterProfile"); }));
  CHECK(fs::exists(fleet.folder("a") / "token"));
  CHECK(fs::exists(fleet.folder("b") / "token"));
  fs::remove(volume / "b.json");
  REQUIRE(mounted.mount_folder(volume));
  CHECK(wait_until([&] { return !fs::exists(fleet.folder("b")); }));
  CHECK(run.end().exit_code == 0);
  CHECK(fs::exists(fleet.folder("a") / "token"));
}

TEST_CASE("sync: nothing is removed while the folder of ClusterProfiles is missing") {
  const Fleet fleet({"a", "b"});
  const fs::path profiles = fleet.sandbox().path() / "profiles";
  const fs::path elsewhere = fleet.sandbox().path() / "elsewhere";
  Run run(fleet);
  CHECK(wait_until([&] { return fs::exists(fleet.folder("b") / "token"); }));
  fs::rename(profiles, elsewhere);
  CHECK(wait_until([&] { return has(run, "No such file or directory"); }));
  CHECK(fs::exists(fleet.folder("b") / "token"));
  fs::remove(elsewhere / "b.json");
  fs::rename(elsewhere, profiles);
  CHECK(wait_until([&] { return !fs::exists(fleet.folder("b")); }));
  CHECK(run.end().exit_code == 0);
  CHECK(fs::exists(fleet.folder("a") / "token"));
}

TEST_CASE("sync --to-dir: no credentials are written to the disk below an unmounted volume") {
  const Fleet fleet({"a"});
  fleet.set_lifetime(4);
  const fs::path volume = fleet.sandbox().path() / "volume";
  fs::create_directory(volume);
  Mounted memory(volume);
  Mounted mounted(fleet.root());
  if (!memory.mount_memory("size=1m") || !mounted.mount_folder(volume)) {
    MESSAGE(kNoMount);
    return;
  }
  Run run(fleet);
  CHECK(wait_until([&] { return fs::exists(fleet.folder("a") / "token"); }));
  mounted.unmount();
  CHECK(wait_until([&] { return has(run, "is on another file system than at the start"); }));
  CHECK(fs::is_empty(fleet.root()));
  const std::string token = read_text(volume / "fleet/a/token");
  REQUIRE(mounted.mount_folder(volume));
  CHECK(wait_until([&] { return fleet.token("a") != token; }));
  CHECK(run.end().exit_code == 0);
}

TEST_CASE("sync --to-dir: a file that somebody deleted from a folder is written again") {
  const Fleet fleet({"a"});
  CHECK(fleet.once().exit_code == 0);
  fs::remove(fleet.folder("a") / "token");
  CHECK(fleet.once().exit_code == 0);
  CHECK(fleet.token("a").starts_with("t0ken-"));
}
