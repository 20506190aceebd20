// SPDX-License-Identifier: Apache-2.0
#include <execcred/aws/region.hpp>

#include <execcred/base/text.hpp>

#include <cstddef>

namespace execcred {
namespace {

constexpr std::size_t kMaxRegion = 32;

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

// The size of the region at the front; 0 if there is none.
std::size_t region_size(std::string_view text) {
  const auto letters_from = [text](std::size_t begin) {
    std::size_t end = begin;
    while (end < text.size() && is_lower(text[end])) ++end;
    return end - begin;
  };
  std::size_t end = letters_from(0);
  if (end < 2) return 0;
  std::size_t words = 0;
  while (end + 1 < text.size() && text[end] == '-' && is_lower(text[end + 1])) {
    end += 1 + letters_from(end + 1);
    ++words;
  }
  if (words == 0 || end + 1 >= text.size() || text[end] != '-' || !is_digit(text[end + 1])) {
    return 0;
  }
  ++end;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end <= kMaxRegion ? end : 0;
}

}  // namespace

bool is_aws_region(std::string_view text) {
  return !text.empty() && region_size(text) == text.size();
}

std::string aws_region_of_zone(std::string_view zone) {
  return std::string(zone.substr(0, region_size(zone)));
}

}  // namespace execcred
