// SPDX-License-Identifier: Apache-2.0
// The parsers of short texts. The input is a parser's name, a line break, and the text to parse. If
// there is no name, all parsers read the input.
#include "fuzz.hpp"
#include "line/line.hpp"

#include <algorithm>
#include <array>

namespace execcred::fuzz {
namespace {

struct Parser {
  std::string_view name;
  void (*check)(std::string_view);
};

constexpr std::array<Parser, 7> kParsers = {{
    {"base64", check_base64},
    {"duration", check_duration},
    {"rfc3339", check_rfc3339},
    {"shell-words", check_shell_words},
    {"spiffe-id", check_spiffe_id},
    {"workload-endpoint", check_workload_endpoint},
    {"www-authenticate", check_www_authenticate},
}};

}  // namespace

void check(std::string_view input) {
  const std::vector<std::string_view> given = parts(input, "\n", 2);
  const auto* const named =
      std::find_if(kParsers.begin(), kParsers.end(),
                   [&given](const Parser& parser) { return parser.name == given[0]; });
  if (named != kParsers.end()) return named->check(given[1]);
  for (const Parser& parser : kParsers) parser.check(input);
}

}  // namespace execcred::fuzz
