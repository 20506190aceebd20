// SPDX-License-Identifier: Apache-2.0
#include "keys.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <execcred/cache/credential_cache.hpp>

namespace execcred::test {
namespace {

using namespace std::chrono_literals;

constexpr int kThreads = 16;
constexpr auto kLifetime = 1h;
// The refresh window of such a credential is 5 minutes, plus up to a fifth.
constexpr auto kBeforeEveryWindow = kLifetime - 6min - 5s;
constexpr auto kWithinEveryWindow = kLifetime - 5min + 5s;

class SetClock final : public Clock {
 public:
  TimePoint now() const override { return now_; }
  void set(TimePoint now) { now_ = now; }

 private:
  // Never ahead of the file system's clock: files that others are writing would look abandoned.
  TimePoint now_ = SystemClock().now() - kLifetime;
};

class Keys {
 public:
  Keys(int count, const std::filesystem::path& directory) : count_(count) {
    options_.directory = directory.native();
    options_.pause = [this](Duration) {
      ++waits_;
      std::this_thread::yield();
    };
    // A new client each time, so that no client asks again for a refused credential.
    options_.client = [this] { return std::optional("client-" + std::to_string(++clients_)); };
  }

  void ask_all() {
    std::atomic<int> next = 0;
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (int key = next++; key < count_; key = next++) ask(key);
      });
    }
    for (std::thread& thread : threads) thread.join();
    if (failures_ > 0) throw std::runtime_error("the cache gave an error");
  }

  SetClock& clock() { return clock_; }
  int calls() const { return calls_; }
  int waits() const { return waits_; }

 private:
  void ask(int number) {
    const CredentialCache cache(options_, {.clock = clock_});
    CacheKey key;
    key.add("provider", "storm").add("client-id", std::to_string(number));
    const Result<Credential> credential = cache.get(key, [&](CallContext&) {
      ++calls_;
      return Result<Issued>(Issued{.credential = {.token = SecretString("the-token"),
                                                  .expires_at = clock_.now() + kLifetime}});
    });
    if (!credential) ++failures_;
  }

  int count_;
  SetClock clock_;
  CacheOptions options_;
  std::atomic<int> calls_ = 0;
  std::atomic<int> waits_ = 0;
  std::atomic<int> clients_ = 0;
  std::atomic<int> failures_ = 0;
};

}  // namespace

KeysResult count_refreshes(int count, const std::filesystem::path& cache) {
  Keys keys(count, cache);
  keys.ask_all();
  KeysResult result{.calls = keys.calls(), .waits = keys.waits()};
  const TimePoint filled = keys.clock().now();
  std::map<int, int> by_second;
  for (auto age = std::chrono::seconds(kBeforeEveryWindow); age < kWithinEveryWindow; age += 1s) {
    keys.clock().set(filled + age);
    const int before = keys.calls();
    keys.ask_all();
    if (keys.calls() > before) by_second[static_cast<int>(age.count())] = keys.calls() - before;
  }
  result.refreshes = keys.calls() - result.calls;
  if (by_second.empty()) return result;
  result.refresh_span = by_second.rbegin()->first - by_second.begin()->first + 1;
  for (const auto& [second, refreshes] : by_second) {
    result.busiest_second = std::max(result.busiest_second, refreshes);
  }
  return result;
}

}  // namespace execcred::test
