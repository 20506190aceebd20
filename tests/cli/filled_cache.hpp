// SPDX-License-Identifier: Apache-2.0
// A credential cache with entries like those of plugins, and execcred cache run on it.
#pragma once

#include "inventory.hpp"

#include <doctest/doctest.h>
#include <execcred/base/clock.hpp>
#include <execcred/cache/directory.hpp>
#include <execcred/cache/entry.hpp>
#include <execcred/cache/key.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace blackbox {

using execcred::TimePoint;

// The token of every entry.
inline constexpr std::string_view kCachedSecret = "S3CRET-cached-token";

inline TimePoint now() { return execcred::SystemClock().now(); }

class FilledCache {
 public:
  void add_credential(std::string_view issuer, TimePoint created, TimePoint expires,
                      const std::string& identity = "system:serviceaccount:fleet:controller",
                      const std::string& target = "https://spoke-1.example.com:6443") const;
  void add_failure(std::string_view issuer, TimePoint created, TimePoint until,
                   const std::string& message) const;
  void add_request(const std::string& name, std::optional<TimePoint> closed = {}) const;

  std::string path() const { return sandbox_.at("cache"); }
  const Sandbox& sandbox() const { return sandbox_; }

  // execcred cache ARGUMENTS --cache-dir=path()
  Outcome run(std::vector<std::string> arguments) const;

 private:
  void write(const std::string& key, std::string_view ending, std::string_view text,
             TimePoint ends) const;

  Sandbox sandbox_;
};

std::size_t count_files(const std::string& folder, std::string_view ending);

inline void check_no_secret(const Outcome& outcome) {
  CHECK(outcome.output.find(kCachedSecret) == std::string::npos);
  CHECK(outcome.error_output.find(kCachedSecret) == std::string::npos);
}

inline void check_succeeds(const Outcome& outcome) {
  CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
  check_no_secret(outcome);
}

}  // namespace blackbox
