// SPDX-License-Identifier: Apache-2.0
// The entry point that libFuzzer calls, and helpers for the targets.
#include "fuzz.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace execcred::fuzz {

void require(bool holds, std::string_view property) {
  if (holds) return;
  std::fprintf(stderr, "property violated: %.*s\n", static_cast<int>(property.size()),
               property.data());
  std::abort();
}

std::vector<std::string_view> parts(std::string_view input, std::string_view separator,
                                    std::size_t count) {
  std::vector<std::string_view> found;
  while (found.size() + 1 < count) {
    const std::size_t end = input.find(separator);
    found.push_back(input.substr(0, end));
    input =
        end == std::string_view::npos ? std::string_view() : input.substr(end + separator.size());
  }
  found.push_back(input);
  return found;
}

std::int64_t number_from(std::string_view input) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < sizeof number; ++i) {
    number = number << 8U | (i < input.size() ? static_cast<unsigned char>(input[i]) : 0U);
  }
  return static_cast<std::int64_t>(number);
}

}  // namespace execcred::fuzz

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  execcred::fuzz::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
