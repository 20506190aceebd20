// SPDX-License-Identifier: Apache-2.0
#include "role.hpp"

#include <execcred/base/text.hpp>

#include <algorithm>
#include <charconv>
#include <vector>

namespace execcred::aws {
namespace {

bool has_size(std::string_view text, std::size_t least, std::size_t most) {
  return text.size() >= least && text.size() <= most;
}

// Whether the text is "role", the path and the name, separated by slashes.
bool is_role_path(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, '/');
  return parts.size() > 1 && parts[0] == "role" &&
         std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
           return !part.empty() && part != "." && part != ".." &&
                  is_alphanumeric_or(part, "_+=,.@-");
         });
}

}  // namespace

Result<std::string> parse_role_arn(const std::string& text) {
  constexpr std::size_t kMaxSize = 2048;
  constexpr std::size_t kAccountDigits = 12;
  const std::vector<std::string_view> parts = split(text, ':');
  const bool is_role = text.size() <= kMaxSize && parts.size() == 6 && parts[0] == "arn" &&
                       parts[1].starts_with("aws") && is_alphanumeric_or(parts[1], "-") &&
                       parts[2] == "iam" && parts[3].empty() && parts[4].size() == kAccountDigits &&
                       std::all_of(parts[4].begin(), parts[4].end(), is_digit) &&
                       is_role_path(parts[5]);
  if (is_role) return text;
  return Error::configuration(in_quotes(text) + " is no ARN of a role",
                              "like arn:aws:iam::123456789012:role/NAME");
}

Result<std::string> parse_session_name(const std::string& text) {
  if (has_size(text, 2, 64) && is_alphanumeric_or(text, "_+=,.@-")) return text;
  return Error::configuration(in_quotes(text) + " is no name of a session",
                              "2 to 64 letters, digits and characters of _+=,.@-");
}

Result<std::string> parse_external_id(const std::string& text) {
  if (has_size(text, 2, 1224) && is_alphanumeric_or(text, "_+=,.@:/-")) return text;
  // Not quoted: some owners of roles treat it as a secret.
  return Error::configuration(
      "the external id is not 2 to 1224 letters, digits and characters of _+=,.@:/-");
}

Result<std::chrono::seconds> parse_session_duration(const std::string& text) {
  constexpr int kLeast = 900;
  constexpr int kMost = 43200;
  int seconds = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool is_number = problem == std::errc() && end == text.data() + text.size();
  if (is_number && seconds >= kLeast && seconds <= kMost) return std::chrono::seconds(seconds);
  return Error::configuration(in_quotes(text) + " is no number of seconds from 900 to 43200");
}

}  // namespace execcred::aws
