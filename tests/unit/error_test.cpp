// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <execcred/base/error.hpp>
#include <execcred/base/text.hpp>

#include <cerrno>

namespace execcred {
namespace {

using Kind = Error::Kind;

TEST_CASE("exit_code: each kind of error has its code, and the code gives the kind back") {
  CHECK(exit_code(Kind::no_credential) == 1);
  CHECK(exit_code(Kind::configuration) == 2);
  CHECK(exit_code(Kind::unavailable) == 3);
  CHECK(exit_code(Kind::internal) == 70);
  for (const Kind kind :
       {Kind::no_credential, Kind::configuration, Kind::unavailable, Kind::internal}) {
    CHECK(kind_of_exit_code(exit_code(kind)) == kind);
  }
  for (const int foreign : {4, 69, 71, 126, 127, 137, 255, -1}) {
    CAPTURE(foreign);
    CHECK(kind_of_exit_code(foreign) == Kind::no_credential);
  }
}

TEST_CASE("system_message: returns the message of the operating system") {
  CHECK(system_message(ENOENT) == "No such file or directory");
  CHECK(system_message(EACCES) == "Permission denied");
}

TEST_CASE("format_error: first the error, then its context from the inside out, then the hint") {
  CHECK(format_error("execcred-x", {.kind = Kind::configuration,
                                    .message = "cannot read '/nope'",
                                    .context = {"reading the token", "asking for a credential"},
                                    .hint = "mount it"}) ==
        "execcred-x: error: cannot read '/nope'\n"
        "  while reading the token\n"
        "  while asking for a credential\n"
        "  hint: mount it\n");
  CHECK(format_error("execcred-x", {.message = "no"}) == "execcred-x: error: no\n");
}

TEST_CASE("format_error: escapes control bytes, so no input can add a line or move a cursor") {
  const std::string text = format_error(
      "a\x1b"
      "b",
      {.message = "x\n  hint: evil\x1b[2J\xff", .context = {"y\r\nz"}, .hint = "w\n\u202e"});
  CHECK(text ==
        "a\\x1bb: error: x\\x0a  hint: evil\\x1b[2J\\xff\n"
        "  while y\\x0d\\x0az\n"
        "  hint: w\\x0a\\xe2\\x80\\xae\n");
}

TEST_CASE("format_error: stays below 4 KiB, and the error and the hint are always shown") {
  const std::vector<std::string> fillers = {std::string(100'000, 'a'), std::string(5000, '\x01'),
                                            std::string(400, '\x01'), std::string(1480, 'a'),
                                            std::string(1490, 'a')};
  for (const std::string& message : fillers) {
    for (const std::string& doing : fillers) {
      for (const std::size_t count : {0U, 1U, 2U, 3U, 1000U}) {
        CAPTURE(message.size());
        CAPTURE(doing.size());
        CAPTURE(count);
        const std::string text =
            format_error("execcred-token-file", {.message = "M" + message,
                                                 .context = std::vector(count, "C" + doing),
                                                 .hint = "H" + message});
        CHECK(text.size() < 4096);
        CHECK(text.starts_with("execcred-token-file: error: M"));
        CHECK(text.find("\n  hint: H") != std::string::npos);
        CHECK(text.ends_with('\n'));
      }
    }
  }
}

TEST_CASE("format_error: a long context is cut at the outer end, the innermost steps stay") {
  std::vector<std::string> context;
  for (int i = 0; i < 1000; ++i) context.push_back("step " + std::to_string(i));
  const std::string text = format_error("p", {.message = "m", .context = context, .hint = "h"});
  CHECK(text.starts_with("p: error: m\n  while step 0\n  while step 1\n"));
  CHECK(text.ends_with("\n  hint: h\n"));
  CHECK(text.size() < 4096);
  CHECK(text.size() > 3000);
}

TEST_CASE("format_error: a cut does not split a character or an escape") {
  for (const std::string_view unit : {"\u00e9", "\u4e2d", "\U0001f600", "\x01", "\u0085"}) {
    std::string repeated;
    for (int i = 0; i < 2000; ++i) repeated += unit;
    for (std::size_t lead = 0; lead < 16; ++lead) {
      CAPTURE(lead);
      std::string text =
          format_error(std::string(1, 'p'), {.message = std::string(lead, 'a') + repeated});
      REQUIRE(text.ends_with("...\n"));
      text.resize(text.size() - 4);
      CHECK(printable(text) == text);
      const std::size_t escape = text.rfind("\\x");
      CHECK((escape == std::string::npos || escape + 4 <= text.size()));
    }
  }
}

}  // namespace
}  // namespace execcred
