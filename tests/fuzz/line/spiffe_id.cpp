// SPDX-License-Identifier: Apache-2.0
// SPIFFE IDs and trust domains, compared with another implementation of the standard's grammar.
#include "fuzz.hpp"
#include "line.hpp"

#include <execcred/spiffe/spiffe_id.hpp>

#include <string>

namespace execcred::fuzz {
namespace {

constexpr std::string_view kScheme = "spiffe://";
constexpr std::string_view kDomain = "abcdefghijklmnopqrstuvwxyz0123456789.-_";
constexpr std::string_view kSegment =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";

bool is_made_of(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

bool is_trust_domain(std::string_view text) {
  return is_made_of(text, kDomain) && text.size() < 256;
}

bool is_id(std::string_view text) {
  if (text.substr(0, kScheme.size()) != kScheme || text.size() >= 2049) return false;
  std::string_view rest = text.substr(kScheme.size());
  const std::size_t slash = rest.find('/');
  if (!is_trust_domain(rest.substr(0, slash))) return false;
  while (rest.find('/') != std::string_view::npos) {
    rest.remove_prefix(rest.find('/') + 1);
    const std::string_view segment = rest.substr(0, rest.find('/'));
    if (!is_made_of(segment, kSegment) || segment == "." || segment == "..") return false;
  }
  return true;
}

void check_id(std::string_view text) {
  const Result<SpiffeId> id = SpiffeId::parse(text);
  require(id.has_value() == is_id(text), "an ID is what the grammar says");
  if (!id) {
    require(id.error().kind == Error::Kind::configuration, "a malformed ID is configuration");
    return;
  }
  require(id->text() == text, "an ID stays as it was written");
  require(is_trust_domain(id->trust_domain()), "it has a trust domain");
  require(text.starts_with(std::string(kScheme).append(id->trust_domain())), "which is its own");
  const Result<std::string> domain =
      parse_trust_domain(std::string(kScheme).append(id->trust_domain()));
  require(domain && *domain == id->trust_domain(), "a trust domain's ID is the trust domain");
}

}  // namespace

void check_spiffe_id(std::string_view input) {
  check_id(input);
  check_id(std::string(kScheme).append(input));
  check_id("spiffe://example.org/" + std::string(input));
  const Result<std::string> domain = parse_trust_domain(input);
  const std::string_view name = input.starts_with(kScheme) ? input.substr(kScheme.size()) : input;
  require(domain.has_value() == is_trust_domain(name), "a trust domain is what the grammar says");
  require(!domain || *domain == name, "and stays as it was written");
}

}  // namespace execcred::fuzz
