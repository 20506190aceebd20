// SPDX-License-Identifier: Apache-2.0
// What execcred sync says on standard error while it runs, a line for each thing that happened: as
// text for people, or as one JSON object.
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

  // Values may come from anywhere: they are shown on one line, without control characters. Safe in
  // a process of many threads.
  void write(Level level, std::string_view message, const std::vector<Field>& fields = {});
  // The error with its context, hint and cause.
  void write(Level level, const Error& error, std::vector<Field> fields = {});

 private:
  bool is_json_;
  std::mutex mutex_;
};

}  // namespace execcred::sync
