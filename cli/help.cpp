// SPDX-License-Identifier: Apache-2.0
#include "help.hpp"

#include <execcred/base/text.hpp>

#include <algorithm>

namespace execcred::cli {

void Help::add_options(CommandOptions& options) {
  Operands operands{.usage = "[COMMAND...]"};
  for (const auto& entry : line_.entries()) {
    if (!entry->is_hidden()) operands.choices.push_back(entry->name);
  }
  options.add_operands(words_, std::move(operands));
  options.add_example("List the commands", "execcred help");
  options.add_example("Explain one of them", "execcred help kubeconfig");
}

Result<Outcome> Help::run() {
  if (words_.empty()) return Outcome{.text = SecretString(line_.help())};
  const CommandLine::Entry* const entry = line_.find(words_.front());
  if (entry == nullptr) return line_.unknown_command(words_.front());
  // "help cache list" explains the command `cache`.
  const std::vector<std::string_view>& actions = entry->options.operands().choices;
  const bool is_action = words_.size() == 2 &&
                         std::find(actions.begin(), actions.end(), words_.back()) != actions.end();
  if (words_.size() == 1 || is_action) return Outcome{.text = SecretString(line_.help(*entry))};
  return Error{.kind = Error::Kind::configuration,
               .message = in_quotes(words_[1]) + " is no action of " + words_.front(),
               .hint = "execcred help " + words_.front() + " explains the whole command"};
}

}  // namespace execcred::cli
