// SPDX-License-Identifier: Apache-2.0
#include <execcred/base/error.hpp>

#include <execcred/base/text.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace execcred {
namespace {

constexpr std::size_t kMaxText = 4095;
constexpr std::size_t kMaxLine = 1500;  // so the first line and the hint always fit

// A line of at most kMaxLine bytes, the newline included. A longer text is cut between two
// characters or escapes.
std::string make_line(std::string_view lead, std::string_view text) {
  constexpr std::string_view kCut = "...\n";
  std::string line = printable(std::string(lead).append(text));
  if (line.size() < kMaxLine) return line + "\n";
  std::size_t end = kMaxLine - kCut.size();
  while ((static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) --end;
  const std::size_t escape = line.rfind("\\x", end - 1);
  if (escape != std::string::npos && escape + 4 > end) end = escape;
  return line.substr(0, end).append(kCut);
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

bool is_network_failure(int error_number) {
  constexpr std::array kNetwork = {
      EADDRNOTAVAIL, EAFNOSUPPORT, ECONNABORTED, ECONNREFUSED, ECONNRESET, EHOSTDOWN, EHOSTUNREACH,
      ENETDOWN,      ENETRESET,    ENETUNREACH,  EPIPE,        EPROTO,     ETIMEDOUT};
  return std::find(kNetwork.begin(), kNetwork.end(), error_number) != kNetwork.end();
}

std::string format_error(std::string_view program, const Error& error, std::string_view severity) {
  std::string out =
      make_line(std::string(program).append(": ").append(severity) + ": ", error.message);
  const std::string hint = error.hint.empty() ? std::string() : make_line("  hint: ", error.hint);
  for (const std::string& doing : error.context) {
    const std::string line = make_line("  while ", doing);
    if (out.size() + line.size() + hint.size() > kMaxText) break;
    out += line;
  }
  return out + hint;
}

}  // namespace execcred
