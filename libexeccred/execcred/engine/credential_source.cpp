// SPDX-License-Identifier: Apache-2.0
#include <execcred/engine/credential_source.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

namespace execcred {

class CredentialSource::State {
 public:
  State(Access access, Environment environment, CredentialSourceOptions options)
      : access_(std::move(access)),
        environment_(std::move(environment)),
        options_(std::move(options)) {}

  Result<std::shared_ptr<const Credential>> get();
  void reject(const std::shared_ptr<const Credential>& credential);
  const Access& access() const { return access_; }

 private:
  using Answer = Result<std::shared_ptr<const Credential>>;
  class Running;

  bool is_good(TimePoint now) const {
    return current_ && (!current_->expires_at || now < *current_->expires_at);
  }
  // A pause ends by the steady clock. It ends early if the other clock leaves its span, because
  // that clock was set.
  bool is_resting(TimePoint now) const {
    return std::chrono::steady_clock::now() < rests_until_ && now >= failed_at_ &&
           now < failed_at_ + pause_;
  }
  Answer run(std::unique_lock<std::mutex>& lock);
  void keep(Credential credential);
  void remember(const Error& error);

  const Access access_;
  const Environment environment_;
  const CredentialSourceOptions options_;

  std::mutex mutex_;
  std::condition_variable has_run_;
  bool is_running_ = false;
  std::uint64_t runs_ = 0;
  std::shared_ptr<const Credential> current_;
  TimePoint refresh_at_ = TimePoint::max();
  std::optional<Error> failure_;
  std::chrono::steady_clock::time_point rests_until_ = {};
  TimePoint failed_at_ = {};
  Duration pause_ = {};
};

// While it lives, this thread runs the plugin, without the lock. Its end wakes the waiting threads,
// also if an exception ends the run.
class CredentialSource::State::Running {
 public:
  Running(State& state, std::unique_lock<std::mutex>& lock) : state_(state), lock_(lock) {
    state_.is_running_ = true;
    lock_.unlock();
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    lock_.lock();
    state_.is_running_ = false;
    ++state_.runs_;
    state_.has_run_.notify_all();
  }

 private:
  State& state_;
  std::unique_lock<std::mutex>& lock_;
};

Result<std::shared_ptr<const Credential>> CredentialSource::State::get() {
  std::unique_lock lock(mutex_);
  for (bool has_waited = false;; has_waited = true) {
    const TimePoint now = options_.clock->now();
    const bool is_due = now >= refresh_at_ && !is_resting(now);
    if (is_good(now) && (!is_due || is_running_ || has_waited)) return current_;
    if (failure_ && (has_waited || is_resting(now))) return *failure_;
    if (!is_running_) break;
    // Afterwards another thread may run the plugin: a new credential can be rejected or expired.
    const std::uint64_t awaited = runs_ + 1;
    has_run_.wait(lock, [&] { return runs_ >= awaited; });
  }
  Answer answer = run(lock);
  if (!answer && is_good(options_.clock->now())) return current_;
  return answer;
}

Result<std::shared_ptr<const Credential>> CredentialSource::State::run(
    std::unique_lock<std::mutex>& lock) {
  Result<Credential> fresh = [&] {
    const Running running(*this, lock);
    return get_credential(access_, environment_, options_.run);
  }();
  if (!fresh) {
    remember(fresh.error());
    return std::move(fresh).error();
  }
  keep(std::move(*fresh));
  return current_;
}

void CredentialSource::State::keep(Credential credential) {
  const TimePoint now = options_.clock->now();
  refresh_at_ = TimePoint::max();
  if (credential.expires_at) {
    const Duration lifetime = *credential.expires_at - now;
    refresh_at_ = *credential.expires_at - std::min(options_.refresh_before, lifetime / 5);
  }
  current_ = std::make_shared<const Credential>(std::move(credential));
  failure_.reset();
  rests_until_ = {};
  pause_ = {};
}

void CredentialSource::State::remember(const Error& error) {
  pause_ = std::clamp(2 * pause_, options_.first_pause, options_.longest_pause);
  rests_until_ = std::chrono::steady_clock::now() + pause_;
  failed_at_ = options_.clock->now();
  failure_ = error;
}

void CredentialSource::State::reject(const std::shared_ptr<const Credential>& credential) {
  const std::lock_guard lock(mutex_);
  if (credential == current_) current_.reset();
}

CredentialSource::CredentialSource(Access access, Environment environment)
    : CredentialSource(std::move(access), std::move(environment), CredentialSourceOptions()) {}

CredentialSource::CredentialSource(Access access, Environment environment,
                                   CredentialSourceOptions options)
    : state_(
          std::make_unique<State>(std::move(access), std::move(environment), std::move(options))) {}

CredentialSource::~CredentialSource() = default;

Result<std::shared_ptr<const Credential>> CredentialSource::get() { return state_->get(); }

void CredentialSource::reject(const std::shared_ptr<const Credential>& credential) {
  state_->reject(credential);
}

const Access& CredentialSource::access() const { return state_->access(); }

}  // namespace execcred
