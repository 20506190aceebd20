// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace execcred::test {

// Runs `change` repeatedly in a thread, as long as the object exists.
class Meanwhile {
 public:
  explicit Meanwhile(const std::function<void()>& change)
      : thread_([this, change] {
          while (!is_over_) {
            change();
            ++count_;
          }
        }) {}
  Meanwhile(const Meanwhile&) = delete;
  Meanwhile& operator=(const Meanwhile&) = delete;
  ~Meanwhile() {
    is_over_ = true;
    thread_.join();
  }
  int count() const { return count_; }

 private:
  std::atomic<bool> is_over_ = false;
  std::atomic<int> count_ = 0;
  std::thread thread_;
};

}  // namespace execcred::test
