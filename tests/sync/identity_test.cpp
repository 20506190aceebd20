// SPDX-License-Identifier: Apache-2.0
// Two hundred ClusterProfiles that are renamed and swap their servers while `execcred sync` runs:
// no folder and no Secret ever holds a credential of a cluster that is not its own.
#include "hub_run.hpp"
#include "support/seed.hpp"

#include <doctest/doctest.h>
#include <execcred/base/encoding.hpp>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace fs = std::filesystem;
using blackbox::read_text;
using execcred::decode_base64;
using execcred::test::Json;
using execcred::test::LiveApi;
using execcred::test::Process;
using execcred::test::profile_object;
using execcred::test::Received;
using execcred::test::Stream;
using execcred::test::written;

constexpr int kClusters = 200;

std::string server_of(int cluster) { return "https://s" + std::to_string(cluster) + ".example"; }

// The current and earlier servers of each name.
class Book {
 public:
  void assign(const std::string& name, const std::string& server) {
    const std::scoped_lock lock(mutex_);
    servers_[name].insert(server);
  }
  // Checks that a target of this name has this credential for this server.
  void judge(const std::string& name, const std::string& token, const std::string& server) {
    const std::scoped_lock lock(mutex_);
    ++judged_;
    const auto had = servers_.find(name);
    const bool is_its_own = had != servers_.end() && had->second.count(server) > 0;
    if (token == "for-" + server && is_its_own) return;
    problems_.push_back(name + " holds '" + token + "' and '" + server + "'");
  }

  std::size_t judged() const {
    const std::scoped_lock lock(mutex_);
    return judged_;
  }
  std::vector<std::string> problems() const {
    const std::scoped_lock lock(mutex_);
    return problems_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::set<std::string>> servers_;
  std::vector<std::string> problems_;
  std::size_t judged_ = 0;
};

// Checks each Secret as it is sent to the hub.
bool is_write(const Received& request) {
  const bool has_object = request.method == "POST" || request.method == "PUT";
  return has_object && request.target.find("/secrets") != std::string::npos;
}
void judge_request(Book& book, const Received& request) {
  const Json object = Json::parse(request.body);
  const auto value = [&](const char* key) {
    return decode_base64(object["data"][key].get<std::string>()).value_or("(no base64)");
  };
  const std::string owner =
      object["metadata"]["annotations"]["execcred.io/clusterprofile-name"].get<std::string>();
  const bool is_place = object["metadata"]["name"] == owner + "-token";
  book.judge(is_place ? owner : "another's Secret", value("token"), value("server"));
}

// Reads the folders again and again, like a reader that resolves ..data once.
class FolderReader {
 public:
  FolderReader(Book& book, fs::path root)
      : book_(book), root_(std::move(root)), thread_([this] { run(); }) {}
  ~FolderReader() {
    is_over_ = true;
    thread_.join();
  }
  FolderReader(const FolderReader&) = delete;
  FolderReader& operator=(const FolderReader&) = delete;

 private:
  void run() {
    while (!is_over_) {
      std::error_code gone;
      for (fs::directory_iterator entry(root_, gone), end; !gone && entry != end && !is_over_;
           entry.increment(gone)) {
        look_at(entry->path());
      }
      blackbox::wait_until([this] { return is_over_.load(); }, blackbox::milliseconds(20));
    }
  }

  void look_at(const fs::path& folder) {
    if (folder.filename().native().starts_with(".")) return;
    std::error_code gone;
    const fs::path data = folder / fs::read_symlink(folder / "..data", gone);
    const std::string token = read_text(data / "token");
    const std::string server = read_text(data / "server");
    // The folder may be removed while it is read.
    if (!gone && fs::exists(data / "token", gone) && !server.empty()) {
      book_.judge(folder.filename(), token, server);
    }
  }

  Book& book_;
  fs::path root_;
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

class Inventory {
 public:
  Inventory(LiveApi& api, Book& book) : api_(api), book_(book) {}

  void assign(const std::string& name, const std::string& server) {
    book_.assign(name, server);
    names_[name] = server;
    api_.put("clusterprofiles", profile_object(name, server));
  }
  void remove(const std::string& name) {
    names_.erase(name);
    api_.erase("clusterprofiles", "fleet", name);
  }

  // Assigns the servers to the names in a new order.
  void swap(std::mt19937& random) {
    std::vector<std::string> servers;
    for (const auto& [name, server] : names_) servers.push_back(server);
    std::shuffle(servers.begin(), servers.end(), random);
    std::size_t next = 0;
    for (const auto& [name, server] : std::map(names_)) assign(name, servers.at(next++));
  }

  // Renames a third of the ClusterProfiles, half of these to a name that another one had.
  void rename(std::mt19937& random, const std::string& prefix) {
    std::vector<std::pair<std::string, std::string>> moved;
    for (const auto& [name, server] : names_) {
      if (random() % 3 == 0) moved.emplace_back(name, server);
    }
    for (const auto& [name, server] : moved) remove(name);
    for (std::size_t i = 0; i < moved.size(); ++i) {
      const std::string& others_name = moved.at((i + 1) % moved.size()).first;
      assign(i % 2 == 0 ? others_name : prefix + std::to_string(i), moved.at(i).second);
    }
  }

  const std::map<std::string, std::string>& names() const { return names_; }

 private:
  LiveApi& api_;
  Book& book_;
  std::map<std::string, std::string> names_;
};

}  // namespace

TEST_SUITE_BEGIN("sync");

TEST_CASE("sync: two hundred clusters renamed and swapped never get another's credential") {
  std::mt19937 random(execcred::test::seed());
  Book book;
  LiveApi api;
  Inventory inventory(api, book);
  std::atomic<std::size_t> writes = 0;
  api.before([&](Stream&, const Received& request) {
    if (is_write(request)) judge_request(book, request);
    if (is_write(request)) ++writes;
    return false;
  });
  for (int i = 0; i < kClusters; ++i) inventory.assign("c" + std::to_string(i), server_of(i));
  const Process process(api);
  const FolderReader reader(book, process.root() / "fleet");
  blackbox::Command command =
      process.command({"--parallel=8", "--to-dir=" + process.root().native()});
  blackbox::Child child(command);

  // Each change comes while the previous one is still being processed.
  const auto wait_for_writes = [&] {
    const std::size_t before = writes;
    CHECK(blackbox::wait_until([&] { return writes >= before + 60; }));
  };
  wait_for_writes();
  inventory.swap(random);
  wait_for_writes();
  inventory.rename(random, "r");
  wait_for_writes();
  inventory.swap(random);
  inventory.rename(random, "q");

  for (const auto& [name, server] : inventory.names()) {
    const fs::path file = process.root() / "fleet" / name / "server";
    const auto is_settled = [&, &name = name, &server = server] {
      return written(api, name).second == server && read_text(file) == server;
    };
    CHECK(blackbox::wait_until(is_settled));
  }
  const auto folders = [&] {
    return std::distance(fs::directory_iterator(process.root() / "fleet"), {});
  };
  CHECK(blackbox::wait_until([&] { return folders() == kClusters; }));
  CHECK(blackbox::wait_until([&] { return api.count("secrets") == kClusters; }));
  child.send(SIGTERM);
  const blackbox::Outcome outcome = child.wait();
  CHECK_MESSAGE(outcome.exit_code == 0, blackbox::describe(outcome));
  CHECK(outcome.error_output.find("for-https") == std::string::npos);
  CHECK(book.judged() > 3 * kClusters);
  for (const std::string& problem : book.problems()) FAIL_CHECK(problem);
}
