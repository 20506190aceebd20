// SPDX-License-Identifier: Apache-2.0
// execcred explain: every cause and exit code, found by its name or in a message.
#include "inventory.hpp"
#include "plugin_under_test.hpp"
#include "support/texts.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace blackbox;
using execcred::test::lines_of;

namespace {

Outcome explain(const std::vector<std::string>& words) {
  Command command;
  command.arguments = {kCli, "explain"};
  command.arguments.insert(command.arguments.end(), words.begin(), words.end());
  return run(command);
}

// The sections of the page, by the start of their headings.
std::vector<std::string> headings(const std::string& start) {
  std::vector<std::string> found;
  for (const std::string& line : lines_of(read_text(EXECCRED_SOURCE "/docs/causes.md"))) {
    if (line.starts_with(start)) found.push_back(line.substr(start.size()));
  }
  return found;
}

}  // namespace

TEST_SUITE_BEGIN("cli");

TEST_CASE("explain: each cause of the page has a text without Markdown's marks") {
  std::size_t causes = 0;
  for (const std::string& cause : headings("## ")) {
    if (cause.find(' ') != std::string::npos) continue;
    ++causes;
    CAPTURE(cause);
    const Outcome outcome = explain({cause});
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.error_output == "");
    CHECK(outcome.output.starts_with(cause + "\n\n"));
    CHECK(lines_of(outcome.output).size() > 3);
    for (const char* const mark : {"**", "[", "]("}) {
      CHECK(outcome.output.find(mark) == std::string::npos);
    }
  }
  CHECK(causes > 50);
}

TEST_CASE("explain: each exit code, as a number and in a message") {
  const std::vector<std::string> titles = headings("### Exit code ");
  CHECK(titles == std::vector<std::string>{"0", "1", "2", "3", "70"});
  for (const std::string& code : titles) {
    const Outcome outcome = explain({code});
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.output.starts_with("Exit code " + code + "\n\n"));
    CHECK(explain({"exec: executable /plugins/x failed with exit code " + code + "\n"}).output ==
          outcome.output);
  }
}

TEST_CASE("explain: a cause in a message comes before an exit code, and only as a whole word") {
  const std::string wanted = explain({"tls-expired"}).output;
  CHECK(explain({"exit", "code", "1:", "cause", "tls-expired,", "name-unknown"}).output == wanted);
  CHECK(explain({"{\"cause\":\"tls-expired\"}"}).output == wanted);
  for (const std::string other : {"tls-expired-x", "xtls-expired", "exit code 4", "exit code x", "",
                                  "11", "tls-expird", "\x1b[31m", "exit code 1111111111111"}) {
    CAPTURE(other);
    const Outcome outcome = explain({other});
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.output == "");
    CHECK(outcome.error_output.find('\x1b') == std::string::npos);
  }
  CHECK(explain({"tls-expird"}).error_output.ends_with("hint: did you mean tls-expired?\n"));
}
