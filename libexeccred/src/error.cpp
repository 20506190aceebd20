// SPDX-License-Identifier: Apache-2.0
#include <execcred/error.hpp>
#include <execcred/text.hpp>

#include <system_error>

namespace execcred {
namespace {

constexpr std::size_t kMaxText = 4000;  // with the cut mark and newlines below 4 KiB
constexpr std::size_t kMaxLine = 1500;

void append_line(std::string& out, std::string_view lead, std::string_view text) {
  std::string line = printable(text);
  if (line.size() > kMaxLine) line = line.substr(0, kMaxLine) + "...";
  if (out.size() + lead.size() + line.size() + 1 > kMaxText) return;
  out.append(lead).append(line).push_back('\n');
}

}  // namespace

int exit_code(Error::Kind kind) {
  switch (kind) {
    case Error::Kind::no_credential:
      return 1;
    case Error::Kind::configuration:
      return 2;
    case Error::Kind::unavailable:
      return 3;
    case Error::Kind::internal:
      return 70;
  }
  return 70;
}

Error::Kind kind_of_exit_code(int code) {
  switch (code) {
    case 2:
      return Error::Kind::configuration;
    case 3:
      return Error::Kind::unavailable;
    case 70:
      return Error::Kind::internal;
    default:
      return Error::Kind::no_credential;
  }
}

std::string system_message(int error_number) {
  return std::generic_category().message(error_number);
}

std::string format_error(std::string_view program, const Error& error) {
  std::string out;
  append_line(out, std::string(program) + ": error: ", error.message);
  std::string hint;
  if (!error.hint.empty()) append_line(hint, "  hint: ", error.hint);
  for (const std::string& doing : error.context) {
    if (out.size() + hint.size() + doing.size() + 16 > kMaxText) break;
    append_line(out, "  while ", doing);
  }
  return out + hint;
}

}  // namespace execcred
