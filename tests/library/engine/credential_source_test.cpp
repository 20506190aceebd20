// SPDX-License-Identifier: Apache-2.0
// The credential of one cluster over time. The plugin is a shell script.
#include "unit/comes_true.hpp"
#include "unit/expect.hpp"
#include "unit/temp_dir.hpp"

#include <execcred/base/rfc3339.hpp>
#include <execcred/engine/credential_source.hpp>
#include <execcred/os/file.hpp>

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace execcred {
namespace {

using namespace std::chrono_literals;
using test::TempDir;

class SetClock final : public Clock {
 public:
  TimePoint now() const override { return time.load(); }
  std::atomic<TimePoint> time = *parse_rfc3339("2200-01-01T00:00:00Z");
};

// The plugin returns token-1, token-2 and so on, which expire one hour after the start.
class Cluster {
 public:
  Cluster() {
    answer("2200-01-01T01:00:00Z");
    test::write_file(dir_ / "plugin",
                     "#!/bin/sh\necho run >>" + path("runs") + "\n. " + path("answer") + "\n",
                     0755);
  }

  void answer(const std::string& end) {
    script("n=$(grep -c run " + path("runs") +
           R"()
printf '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":)" +
           R"({"token":"token-%s","expirationTimestamp":")" + end + R"("}}' "$n")");
  }
  void fail() { script("echo 'plugin: error: nothing there' >&2; exit 3"); }
  void script(const std::string& text) { test::write_file(dir_ / "answer", text + "\n", 0644); }

  CredentialSource source(PluginRun run = {.limit = 60s}) const {
    return {{.cluster_profile = "fleet/spoke",
             .provider = "x",
             .source = "status.accessProviders[0]",
             .exec = {.command = path("plugin")},
             .cluster = {.server = "https://h"}},
            Environment({"PATH=/usr/bin:/bin"}),
            {.run = std::move(run), .clock = clock}};
  }
  std::ptrdiff_t runs() const {
    const Result<std::string> text = read_file(dir_ / "runs", 1024 * 1024);
    return text ? std::count(text->begin(), text->end(), '\n') : 0;
  }
  std::string path(const std::string& name) const { return (dir_ / name).native(); }

  std::shared_ptr<SetClock> clock = std::make_shared<SetClock>();

 private:
  TempDir dir_;
};

std::string token_of(const Result<std::shared_ptr<const Credential>>& credential) {
  return credential ? std::string((*credential)->token.reveal()) : credential.error().message;
}

TEST_CASE("CredentialSource: the plugin runs once, and again in the refresh window") {
  Cluster cluster;
  CredentialSource source = cluster.source();
  CHECK(token_of(source.get()) == "token-1");
  cluster.clock->time = cluster.clock->now() + 54min;
  CHECK(token_of(source.get()) == "token-1");
  CHECK(cluster.runs() == 1);
  cluster.answer("2200-01-01T02:00:00Z");
  cluster.clock->time = cluster.clock->now() + 1min;
  CHECK(token_of(source.get()) == "token-2");
  CHECK(token_of(source.get()) == "token-2");
  CHECK(cluster.runs() == 2);
}

TEST_CASE("CredentialSource: the refresh window is at most a fifth of the lifetime") {
  Cluster cluster;
  cluster.answer("2200-01-01T00:00:10Z");
  CredentialSource source = cluster.source();
  CHECK(token_of(source.get()) == "token-1");
  cluster.clock->time = cluster.clock->now() + 7s;
  CHECK(token_of(source.get()) == "token-1");
  cluster.clock->time = cluster.clock->now() + 1s;
  CHECK(token_of(source.get()) == "token-2");
}

TEST_CASE("CredentialSource: after a failed refresh the old credential is used and retries pause") {
  Cluster cluster;
  CredentialSource source = cluster.source();
  CHECK(token_of(source.get()) == "token-1");
  cluster.fail();
  cluster.clock->time = cluster.clock->now() + 56min;
  for (int i = 0; i < 5; ++i) CHECK(token_of(source.get()) == "token-1");
  CHECK(cluster.runs() == 2);
  // The pauses are 1, 2, 4, 8, 16, 30 and 30 s: 7 more runs in the 4 minutes that are left.
  for (int i = 0; i < 239; ++i) {
    cluster.clock->time = cluster.clock->now() + 1s;
    CHECK(token_of(source.get()) == "token-1");
  }
  CHECK(cluster.runs() <= 14);
  cluster.clock->time = cluster.clock->now() + 1s;
  CHECK(test::contains(token_of(source.get()), "nothing there"));
  cluster.answer("2200-01-01T03:00:00Z");
  cluster.clock->time = cluster.clock->now() + 30s;
  CHECK(token_of(source.get()).starts_with("token-"));
}

TEST_CASE(
    "CredentialSource: without a credential, a failure is returned again until the pause ends") {
  Cluster cluster;
  cluster.fail();
  CredentialSource source = cluster.source();
  for (int i = 0; i < 3; ++i) {
    const auto failed = source.get();
    REQUIRE_FALSE(failed);
    CHECK(failed.error().kind == Error::Kind::unavailable);
    CHECK(test::contains(failed.error().message, "nothing there"));
  }
  CHECK(cluster.runs() == 1);
  cluster.clock->time = cluster.clock->now() + 1s;
  cluster.answer("2200-01-01T01:00:00Z");
  CHECK(token_of(source.get()) == "token-2");
}

TEST_CASE("CredentialSource: a clock that is set back does not lengthen the pause") {
  Cluster cluster;
  cluster.fail();
  CredentialSource source = cluster.source();
  CHECK_FALSE(source.get());
  cluster.answer("2200-01-01T01:00:00Z");
  cluster.clock->time = cluster.clock->now() - 1h;
  CHECK(token_of(source.get()) == "token-2");
  // The pause of a clock that stands still ends too.
  cluster.clock->time = cluster.clock->now() + 119min;
  cluster.fail();
  CHECK(token_of(source.get()) == "token-2");
  cluster.clock->time = cluster.clock->now() + 1min;
  CHECK_FALSE(source.get());
  cluster.answer("2200-01-01T02:00:00Z");
  CHECK(test::comes_true([&] { return source.get().has_value(); }));
}

TEST_CASE("CredentialSource: after an exception in a run, the waiting threads run the plugin") {
  Cluster cluster;
  std::atomic<bool> is_first = true;
  CredentialSource source = cluster.source({.limit = 60s, .on_error_output = [&](std::string_view) {
                                              if (is_first.exchange(false)) throw 1;
                                            }});
  cluster.script("echo said >&2; sleep 0.2; . " + cluster.path("good"));
  std::filesystem::rename(cluster.path("answer"), cluster.path("slow"));
  cluster.answer("2200-01-01T01:00:00Z");
  std::filesystem::rename(cluster.path("answer"), cluster.path("good"));
  std::filesystem::rename(cluster.path("slow"), cluster.path("answer"));
  std::atomic<int> thrown = 0;
  std::atomic<int> given = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      try {
        given += source.get().has_value() ? 1 : 0;
      } catch (int) {
        ++thrown;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(thrown == 1);
  CHECK(given == 7);
}

TEST_CASE("CredentialSource: a rejected credential is not returned again") {
  Cluster cluster;
  CredentialSource source = cluster.source();
  const auto first = source.get();
  REQUIRE(first);
  source.reject(*first);
  const auto second = source.get();
  CHECK(token_of(second) == "token-2");
  source.reject(*first);
  CHECK(token_of(source.get()) == "token-2");
  CHECK(cluster.runs() == 2);
}

TEST_CASE("CredentialSource: many threads at once cause one run of the plugin") {
  Cluster cluster;
  CredentialSource source = cluster.source();
  constexpr int kThreads = 16;
  std::atomic<int> served = 0;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 100; ++n) {
        if (token_of(source.get()) == "token-1") ++served;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(served == kThreads * 100);
  CHECK(cluster.runs() == 1);
}

TEST_CASE("CredentialSource: threads whose credential expired while they waited run one by one") {
  Cluster cluster;
  cluster.clock->time = *parse_rfc3339("2200-01-01T02:00:00Z");
  // Run N waits until its pipe "gate-N" is opened for writing.
  const Result<std::string> answer = read_file(cluster.path("answer"), 4096);
  REQUIRE(answer);
  cluster.script("read line <" + cluster.path("gate-") + "$(grep -c run " + cluster.path("runs") +
                 ")\n" + *answer);
  CredentialSource source = cluster.source();
  constexpr int kThreads = 8;
  std::atomic<int> served = 0;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    REQUIRE(mkfifo(cluster.path("gate-" + std::to_string(i + 1)).c_str(), 0600) == 0);
  }
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] { served += source.get().has_value() ? 1 : 0; });
  }
  for (int run = 1; run <= kThreads; ++run) {
    FileDescriptor gate;
    CHECK(test::comes_true([&] {
      const std::string path = cluster.path("gate-" + std::to_string(run));
      gate.reset(open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
      return static_cast<bool>(gate);
    }));
    CHECK(cluster.runs() == run);
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(served == kThreads);
}

}  // namespace
}  // namespace execcred
