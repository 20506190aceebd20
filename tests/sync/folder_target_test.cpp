// SPDX-License-Identifier: Apache-2.0
// The folders of execcred sync, with a Lease that is lost and files that are deleted at a chosen
// moment.
#include "sync/folder_target.hpp"

#include "sandbox.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <set>
#include <string>

using namespace execcred;
using namespace execcred::sync;
namespace fs = std::filesystem;

namespace {

const std::chrono::sys_seconds kStart{std::chrono::seconds(1'800'000'000)};

// The target of the ClusterProfile fleet/a.
class Setting {
 public:
  Setting() {
    fs::create_directory(sandbox_.path() / "out");
    fs::permissions(sandbox_.path() / "out", fs::perms::owner_all);
    target_ = FolderTarget::open({.root = sandbox_.path() / "out", .instance = "default"}).value();
    access_.cluster.server = "https://a.example:6443";
  }

  FolderTarget& target() { return *target_; }
  fs::path folder() const { return sandbox_.path() / "out/fleet/a"; }
  std::string token() const { return blackbox::read_text(folder() / "token"); }
  std::string marker() const { return blackbox::read_text(folder() / ".execcred-sync"); }

  Held held(const std::string& digest = "sha256:00") {
    return target_
        ->place_of({.instance = "default",
                    .name_space = "fleet",
                    .name = "a",
                    .issued = kStart,
                    .expires = kStart + std::chrono::hours(1),
                    .digest = digest})
        .value();
  }
  Result<Wrote> write(const std::string& token, const std::string& digest,
                      const MayWrite& may_write) {
    Credential credential;
    credential.token = SecretString(token);
    return target_->write(held(digest),
                          {.access = access_,
                           .name_space = "fleet",
                           .name = "a",
                           .credential = credential,
                           .issued = kStart,
                           .expires = kStart + std::chrono::hours(1)},
                          may_write);
  }
  std::set<std::string> entries() const {
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(sandbox_.path() / "out")) {
      names.insert(entry.path().native());
    }
    return names;
  }

 private:
  blackbox::Sandbox sandbox_;
  std::unique_ptr<FolderTarget> target_;
  Access access_;
};

}  // namespace

TEST_SUITE_BEGIN("sync");

TEST_CASE(
    "sync --to-dir: a folder that lacks a file or a link is deleted, another owner's is not") {
  const auto delete_one = [](Setting& setting, const char* name) {
    REQUIRE(setting.write("one", "sha256:01", [] { return true; }).value() != Wrote::not_now);
    CHECK_FALSE(setting.target().is_gone(setting.held()));
    fs::remove(setting.folder() / name);
  };
  for (const char* const name : {"token", "kubeconfig", "..data", "..data/token"}) {
    CAPTURE(name);
    Setting setting;
    delete_one(setting, name);
    CHECK(setting.target().is_gone(setting.held()));
    CHECK(setting.write("one", "sha256:01", [] { return true; }).value() == Wrote::written);
    CHECK_FALSE(setting.target().is_gone(setting.held()));
    CHECK(setting.token() == "one");
  }
  Setting setting;
  delete_one(setting, "token");
  Held other = setting.held();
  other.mark.instance = "other";
  CHECK_FALSE(setting.target().is_gone(other));
}

TEST_CASE("sync --to-dir: a write that fails at a link leaves nothing at each attempt") {
  const MayWrite always = [] { return true; };
  Setting setting;
  REQUIRE(setting.write("one", "sha256:01", always).value() == Wrote::written);
  fs::remove(setting.folder() / "token");
  fs::create_directories(setting.folder() / "token/x");
  // The newest generation, and often the one before it.
  const std::size_t most = 2 * setting.entries().size();
  for (int i = 2; i <= 9; ++i) {
    CHECK_FALSE(setting.write("t" + std::to_string(i), "sha256:02", always));
    CHECK(setting.entries().size() <= most);
  }
  fs::remove_all(setting.folder() / "token");
  CHECK(setting.write("last", "sha256:02", always).value() == Wrote::written);
  CHECK(setting.token() == "last");
}

TEST_CASE("sync --to-dir: a Lease that is lost while files are written ends the swap") {
  Setting setting;
  REQUIRE(setting.write("one", "sha256:01", [] { return true; }).value() == Wrote::written);
  const std::set<std::string> entries = setting.entries();
  const std::string marker = setting.marker();
  // The Lease is held when the files are begun, and no longer when they are written.
  for (const std::string token : {"two", "one"}) {
    CAPTURE(token);
    int asked = 0;
    const auto loses = [&asked] { return ++asked == 1; };
    CHECK(setting.write(token, "sha256:02", loses).value() == Wrote::not_now);
    CHECK(asked == 2);
    CHECK(setting.token() == "one");
    CHECK(setting.marker() == marker);
    CHECK(setting.entries() == entries);
  }
  CHECK(setting.write("two", "sha256:02", [] { return true; }).value() == Wrote::written);
  CHECK(setting.token() == "two");
  CHECK(setting.marker() != marker);
}
