// SPDX-License-Identifier: Apache-2.0
// A role to assume, and STS's rules for its parameters.
#pragma once

#include <execcred/base/result.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace execcred::aws {

// One name for all processes, because a cluster may match it, and because it distinguishes
// sessions.
inline constexpr std::string_view kDefaultSessionName = "execcred-aws";

struct Role {
  std::string arn = {};
  std::string session_name = std::string(kDefaultSessionName);
  std::string external_id = {};
  std::optional<std::chrono::seconds> duration = std::nullopt;  // else STS's default, an hour
};

// The parsers all fail (configuration).
Result<std::string> parse_role_arn(const std::string& text);
Result<std::string> parse_session_name(const std::string& text);
Result<std::string> parse_external_id(const std::string& text);
// A number of seconds from 900 to 43200.
Result<std::chrono::seconds> parse_session_duration(const std::string& text);

}  // namespace execcred::aws
