// SPDX-License-Identifier: Apache-2.0
// execcred explain: what docs/causes.md says of a cause or an exit code. The page is in the
// program, so nothing is read or asked.
#include "commands.hpp"

#include "suggestion.hpp"

#include <embedded/causes.hpp>
#include <execcred/base/cause.hpp>
#include <execcred/base/text.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace execcred::cli {
namespace {

constexpr std::string_view kExitCode = "exit code ";

// A section of the page: its heading without the marks, and the text up to the next heading.
struct Section {
  std::string_view title;
  std::string_view body;
};

std::vector<Section> sections() {
  std::vector<Section> all;
  std::string_view rest = embedded::causes;
  while (!rest.empty()) {
    const std::size_t line_end = std::min(rest.find('\n'), rest.size() - 1);
    const std::string_view line = trim(rest.substr(0, line_end));
    const std::size_t next = rest.find("\n#", line_end);
    const std::size_t length = next == std::string_view::npos ? rest.size() : next + 1;
    all.push_back({.title = trim(line.substr(line.find_first_not_of('#'))),
                   .body = trim(rest.substr(line_end, length - line_end))});
    rest.remove_prefix(length);
  }
  return all;
}

// The text without Markdown's marks for links and bold letters.
std::string plain(std::string_view markdown) {
  std::string text;
  for (std::size_t i = 0; i < markdown.size(); ++i) {
    if (markdown.substr(i, 2) == "**") {
      ++i;
    } else if (markdown.substr(i, 2) == "](") {
      i = std::min(markdown.find(')', i), markdown.size());
    } else if (markdown[i] != '[') {
      text.push_back(markdown[i]);
    }
  }
  return text;
}

std::vector<std::string> known_causes() {
  std::vector<std::string> names;
  for (const Section& section : sections()) {
    if (known_cause(section.title)) names.emplace_back(section.title);
  }
  return names;
}

// A part of the message that is a cause's name; of several, the first.
std::optional<std::string> cause_in(std::string_view message) {
  const auto is_inner = [](char c) { return is_alphanumeric(c) || c == '-'; };
  for (std::size_t i = 0; i < message.size();) {
    std::size_t end = i;
    while (end < message.size() && is_inner(message[end])) ++end;
    const auto known = known_cause(message.substr(i, end - i));
    if (known) return std::string(*known);
    i = end + 1;
  }
  return std::nullopt;
}

// The title of an exit code's section: for the number alone, or after "exit code" in a message.
std::optional<std::string> exit_code_in(const std::string& message) {
  const std::size_t at = ascii_lower(message).find(kExitCode);
  std::string_view number = message;
  if (at != std::string::npos) number.remove_prefix(at + kExitCode.size());
  const auto digits = static_cast<std::size_t>(
      std::find_if_not(number.begin(), number.end(), is_digit) - number.begin());
  if (digits == 0 || (at == std::string::npos && digits != number.size())) return std::nullopt;
  return "Exit code " + std::string(number.substr(0, digits));
}

Error unknown(const std::string& message) {
  const std::string near = nearest_word(message, known_causes());
  return Error::configuration(in_quotes(message) + " names no cause and no exit code",
                              near.empty()
                                  ? "a cause, as in execcred explain source-expired; or 1, 2, 3, 70"
                                  : "did you mean " + near + "?");
}

class Explain final : public Command {
 public:
  void add_options(CommandOptions& options) override {
    Operands operands{.usage = "CAUSE|EXIT-CODE|MESSAGE"};
    for (const Section& section : sections()) {
      if (known_cause(section.title)) operands.choices.push_back(section.title);
    }
    options.add_operands(words_, std::move(operands));
    options.add_example("Explain a cause that doctor or the plugins' log names",
                        "execcred explain source-expired");
    options.add_example(
        "Explain what a controller shows of a plugin",
        "execcred explain 'executable /plugins/execcred-aws failed with exit code 1'");
  }

  Result<Outcome> run() override {
    if (words_.empty()) {
      return Error::configuration("no cause is given", "as in execcred explain source-expired");
    }
    const std::string message(trim(join(words_, " ")));
    std::optional<std::string> title = cause_in(message);
    if (!title) title = exit_code_in(message);
    if (!title) return unknown(message);
    for (const Section& section : sections()) {
      if (section.title != *title) continue;
      return Outcome{.text = SecretString(*title + "\n\n" + plain(section.body) + "\n")};
    }
    return unknown(message);
  }

 private:
  std::vector<std::string> words_;
};

}  // namespace

std::unique_ptr<Command> make_explain() { return std::make_unique<Explain>(); }

}  // namespace execcred::cli
