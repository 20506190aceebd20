// SPDX-License-Identifier: Apache-2.0
// execcred help: prints what --help prints, for the program or for a command.
#include "commands.hpp"

#include <execcred/base/text.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace execcred::cli {
namespace {

class Help final : public Command {
 public:
  explicit Help(const CommandLine& line) : line_(line) {}

  // Declares the names of the commands that were added to the line before, for completion.
  void add_options(CommandOptions& options) override {
    Operands operands{.usage = "[COMMAND...]"};
    for (const auto& entry : line_.entries()) {
      if (!entry->is_hidden()) operands.choices.push_back(entry->name);
    }
    options.add_operands(words_, std::move(operands));
    options.add_example("List the commands", "execcred help");
    options.add_example("Explain one of them", "execcred help kubeconfig");
  }

  Result<Outcome> run() override {
    if (words_.empty()) return Outcome{.text = SecretString(line_.help())};
    const CommandLine::Entry* const entry = line_.find(words_.front());
    if (entry == nullptr) return line_.unknown_command(words_.front());
    // "help cache list" explains the command `cache`.
    const std::vector<std::string_view>& actions = entry->options.operands().choices;
    const bool is_action = words_.size() == 2 && std::find(actions.begin(), actions.end(),
                                                           words_.back()) != actions.end();
    if (words_.size() == 1 || is_action) return Outcome{.text = SecretString(line_.help(*entry))};
    return Error::configuration(in_quotes(words_[1]) + " is no action of " + words_.front(),
                                "execcred help " + words_.front() + " explains the whole command");
  }

 private:
  const CommandLine& line_;
  std::vector<std::string> words_;
};

}  // namespace

std::unique_ptr<Command> make_help(const CommandLine& line) { return std::make_unique<Help>(line); }

}  // namespace execcred::cli
