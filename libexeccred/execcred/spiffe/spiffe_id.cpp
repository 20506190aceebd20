// SPDX-License-Identifier: Apache-2.0
#include <execcred/spiffe/spiffe_id.hpp>

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>

#include <algorithm>

namespace execcred {
namespace {

constexpr std::string_view kScheme = "spiffe://";
constexpr std::size_t kMaxId = 2048;
constexpr std::size_t kMaxTrustDomain = 255;

bool is_trust_domain_character(char c) {
  return (c >= 'a' && c <= 'z') || is_digit(c) || c == '.' || c == '_' || c == '-';
}

// What is wrong with the trust domain; empty if it is valid.
std::string_view problem_of_trust_domain(std::string_view name) {
  if (name.empty()) return "has no trust domain";
  if (name.size() > kMaxTrustDomain) return "has a trust domain of more than 255 bytes";
  if (std::all_of(name.begin(), name.end(), is_trust_domain_character)) return {};
  return "has a trust domain with other characters than a-z, 0-9, '.', '_' and '-'";
}

std::string_view problem_of_path(std::string_view path) {
  if (path.empty()) return {};
  for (const std::string_view segment : split(path.substr(1), '/')) {
    if (segment.empty()) return "has an empty path segment, or a slash at the end";
    if (segment == "." || segment == "..") return "has a path segment that is '.' or '..'";
    if (!is_alphanumeric_or(segment, "._-")) {
      return "has a path with other characters than letters, digits, '.', '_' and '-'";
    }
  }
  return {};
}

std::string_view problem_of_id(std::string_view text) {
  if (text.size() > kMaxId) return "has more than 2048 bytes";
  if (!text.starts_with(kScheme)) return "does not begin with spiffe://";
  const std::string_view rest = text.substr(kScheme.size());
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  const std::string_view problem = problem_of_trust_domain(rest.substr(0, slash));
  return problem.empty() ? problem_of_path(rest.substr(slash)) : problem;
}

}  // namespace

Result<SpiffeId> SpiffeId::parse(std::string_view text) {
  const std::string_view problem = problem_of_id(text);
  if (problem.empty()) return SpiffeId(std::string(text));
  return Error::configuration("the SPIFFE ID " + in_quotes(text) + " " + std::string(problem),
                              "an ID looks like spiffe://example.org/workload");
}

std::string_view SpiffeId::trust_domain() const {
  const std::string_view rest = std::string_view(text_).substr(kScheme.size());
  return rest.substr(0, rest.find('/'));
}

Result<std::string> checked_spiffe_id(const std::string& text) {
  TRY(SpiffeId::parse(text));
  return text;
}

Result<std::string> parse_trust_domain(std::string_view text) {
  std::string_view name = text;
  if (name.starts_with(kScheme)) name.remove_prefix(kScheme.size());
  const std::string_view problem = problem_of_trust_domain(name);
  if (problem.empty()) return std::string(name);
  return Error::configuration(in_quotes(text) + " " + std::string(problem),
                              "a trust domain looks like example.org");
}

}  // namespace execcred
