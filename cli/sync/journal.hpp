// SPDX-License-Identifier: Apache-2.0
// The log of execcred sync on standard error, one line for each event, with its time: text for
// people, or a JSON object.
#pragma once

#include <execcred/base/error.hpp>

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::sync {

enum class Level { info, warning, error };

struct Field {
  std::string_view name;
  std::string value;  // left out where it is empty
};

class Journal {
 public:
  explicit Journal(bool is_json) : is_json_(is_json) {}

  // Values may come from anywhere: they are shown on one line, without control characters.
  // Thread-safe.
  void write(Level level, std::string_view message, const std::vector<Field>& fields = {});
  // The error with its context, hint and cause.
  void write(Level level, const Error& error, std::vector<Field> fields = {});

 private:
  bool is_json_;
  std::mutex mutex_;
};

}  // namespace execcred::sync
