// SPDX-License-Identifier: Apache-2.0
// execcred completion: a script that completes execcred and its plugins in a shell. The script
// contains no options: it runs the hidden command __complete, so that it has the options of the
// installed program.
#include "commands.hpp"

#include "declared_options.hpp"

#include <execcred/base/text.hpp>
#include <execcred/exec/option_set.hpp>
#include <list.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace execcred::cli {
namespace {

constexpr std::string_view kBash = R"(# bash completion for execcred and its plugins.
_execcred() {
  local cur words cword answer
  _get_comp_words_by_ref -n = cur words cword || return
  mapfile -t answer < <(execcred __complete -- "${words[@]:0:cword}" "$cur" 2>/dev/null)
  [[ $cur != --*=* ]] || cur=${cur#*=}
  case ${answer[0]-} in
    file) _filedir ;;
    directory) _filedir -d ;;
    words)
      COMPREPLY=("${answer[@]:1}")
      COMPREPLY=("${COMPREPLY[@]%%$'\t'*}")
      [[ ${COMPREPLY-} != *= ]] || compopt -o nospace
      ;;
  esac
}
)";

constexpr std::string_view kZsh = R"(
_execcred() {
  local -a answer described unfinished finished
  local group name tab=$'\t'
  answer=("${(@f)$(execcred __complete -- "${(@Q)words[1,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
  [[ $PREFIX != --*=* ]] || compset -P '*='
  case $answer[1] in
    file) _files ;;
    directory) _files -/ ;;
    words)
      shift answer
      for group in "${(@u)answer##*$tab}"; do
        described=("${(@M)answer:#*$tab$group}")
        described=("${(@)described%$tab*}")
        described=("${(@)described/$tab/:}")
        described=("${(@)described%:}")
        unfinished=(${(M)described:#*=(|:*)})
        finished=(${described:#*=(|:*)})
        name=${group:-value}
        _describe -t "${name// /-}" "$name" finished -- unfinished -S ''
      done
      ;;
  esac
}

if [[ $funcstack[1] == _execcred ]]; then _execcred "$@"; else compdef _execcred execcred{,-*}; fi
)";

constexpr std::string_view kFish = R"(# fish completion for execcred and its plugins.
function __execcred_complete
    set -l last (commandline -ct)
    set -l answer (execcred __complete -- (commandline -opc) "$last" 2>/dev/null)
    set -l lead (string match -r -- '^--[^=]*=' "$last")
    set -l part (string replace -r -- '^--[^=]*=' '' "$last")
    switch "$answer[1]"
        case file
            set answer (__fish_complete_path "$part")
        case directory
            set answer (__fish_complete_directories "$part" '')
        case words
            set -e answer[1]
        case '*'
            return
    end
    for line in $answer
        echo -- "$lead"(string replace -r -- '\t[^\t]*$' '' "$line")
    end
end

)";

std::vector<std::string_view> all_programs() {
  std::vector<std::string_view> programs = {kProgram};
  for (const PluginDefinition& plugin : all_plugins()) programs.push_back(plugin.info.name);
  return programs;
}

std::string programs() {
  std::string text;
  for (const std::string_view program : all_programs()) text.append(" ").append(program);
  return text;
}

// An option of a command or of a plugin.
struct Candidate {
  std::string flag = {};
  char letter = 0;
  bool is_switch = false;
  Takes takes = Takes::text;
  std::vector<std::string> choices = {};
  std::string help = {};
  std::string group = {};
};

std::vector<Candidate> candidates_of(const OptionSet& options) {
  std::vector<Candidate> candidates;
  for (const Option& option : options.all()) {
    candidates.push_back({.flag = option.flag(),
                          .letter = option.short_name,
                          .is_switch = option.is_switch(),
                          .takes = takes_of(option),
                          .choices = {option.choices.begin(), option.choices.end()},
                          .help = std::string(option.help),
                          .group = std::string(option.group)});
  }
  return candidates;
}

std::vector<Candidate> candidates_of(const CommandOptions& options) {
  std::vector<Candidate> candidates;
  for (const DeclaredOption& option : options.all()) {
    const About& about = option.about;
    candidates.push_back({.flag = option.flag(),
                          .letter = about.letter,
                          .is_switch = option.is_switch(),
                          .takes = about.takes,
                          .choices = {about.choices.begin(), about.choices.end()},
                          .help = std::string(about.help),
                          .group = std::string(option.group)});
  }
  return candidates;
}

std::string kind_line(Takes takes) {
  const std::string_view kind = completion_of(takes);
  return std::string(kind.empty() ? "none" : kind) + "\n";
}

class Words {
 public:
  explicit Words(std::string_view lead) : lead_(lead) {}
  void offer(std::string_view word, std::string_view description = {},
             std::string_view group = {}) {
    if (!word.starts_with(lead_)) return;
    text_.append(word).append("\t").append(description).append("\t").append(group).append("\n");
  }
  const std::string& text() const { return text_; }

 private:
  std::string_view lead_;
  std::string text_ = "words\n";
};

template <class Choices>
std::string complete_value(const Choices& choices, Takes takes, std::string_view lead) {
  if (choices.empty()) return kind_line(takes);
  Words words(lead);
  for (const auto& choice : choices) words.offer(choice);
  return words.text();
}

const Candidate* find_typed(const std::vector<Candidate>& options, std::string_view typed) {
  for (const Candidate& option : options) {
    const bool is_letter = option.letter != 0 && typed == std::string("-") + option.letter;
    if (is_letter || typed == option.flag) return &option;
  }
  return nullptr;
}

// `words` are the words after the program or command, and before the last.
std::string complete(const std::vector<Candidate>& options, const Operands& operands,
                     const std::vector<std::string>& words, std::string_view last) {
  const bool are_options_over = std::find(words.begin(), words.end(), "--") != words.end();
  if (!are_options_over) {
    const Candidate* const before = words.empty() ? nullptr : find_typed(options, words.back());
    if (before != nullptr && !before->is_switch) {
      return complete_value(before->choices, before->takes, last);
    }
    if (last.starts_with("--") && last.find('=') != std::string_view::npos) {
      const Candidate* const option = find_typed(options, last.substr(0, last.find('=')));
      if (option == nullptr || option->is_switch) return kind_line(Takes::text);
      return complete_value(option->choices, option->takes, last.substr(last.find('=') + 1));
    }
    if (last.starts_with('-')) {
      Words flags(last);
      for (const Candidate& option : options) {
        flags.offer(option.flag + (option.is_switch ? "" : "="), option.help, option.group);
      }
      return flags.text();
    }
  }
  return complete_value(operands.choices, operands.takes, last);
}

std::string complete_command(const CommandLine& line, std::string_view last) {
  Words words(last);
  if (last.starts_with('-')) {
    words.offer("--help", "Print this help");
    words.offer("--version", "Print name and version");
    return words.text();
  }
  for (const auto& entry : line.entries()) {
    if (!entry->is_hidden()) words.offer(entry->name, entry->summary);
  }
  return words.text();
}

std::string complete_words(const CommandLine& line, std::vector<std::string> words) {
  const std::string last = words.back();
  const std::string program(program_name(words.front()));
  words.pop_back();
  words.erase(words.begin());
  if (program != kProgram) {
    return complete(candidates_of(DeclaredOptions(program).set()), {}, words, last);
  }
  if (words.empty()) return complete_command(line, last);
  const CommandLine::Entry* const entry = line.find(words.front());
  if (entry == nullptr) return kind_line(Takes::text);
  words.erase(words.begin());
  return complete(candidates_of(entry->options), entry->options.operands(), words, last);
}

class Completion final : public Command {
 public:
  void add_options(CommandOptions& options) override {
    options.add_operands(shells_, {.usage = "bash|zsh|fish", .choices = {"bash", "zsh", "fish"}});
    options.add_example("Complete in this bash, with bash-completion installed",
                        ". <(execcred completion bash)");
    options.add_example("Install completion for zsh, in a folder of its $fpath",
                        "execcred completion zsh > _execcred");
  }

  Result<Outcome> run() override {
    const std::string shell = shells_.size() == 1 ? shells_.front() : "";
    std::string text;
    if (shell == "bash") {
      text = std::string(kBash) + "complete -F _execcred" + programs() + "\n";
    } else if (shell == "zsh") {
      text = "#compdef" + programs() + std::string(kZsh);
    } else if (shell == "fish") {
      text = kFish;
      for (const std::string_view program : all_programs()) {
        text += "complete -c " + std::string(program) + " -f -a '(__execcred_complete)'\n";
      }
    } else {
      return Error::configuration(shell.empty()
                                      ? std::to_string(shells_.size()) + " shells are given"
                                      : in_quotes(shell) + " is no shell that is known",
                                  "it is bash, zsh or fish");
    }
    return Outcome{.text = SecretString(text)};
  }

 private:
  std::vector<std::string> shells_;
};

// execcred __complete -- PROGRAM WORD... LAST: prints the candidates for LAST. The first line is
// "words", "file", "directory" or "none". After "words" there is one line for each candidate: the
// candidate, a tab, its description, a tab, and the heading of its group. Description and heading
// may be empty. If LAST is "--x=…", the candidates are for the part after the "=".
class Complete final : public Command {
 public:
  explicit Complete(const CommandLine& line) : line_(line) {}

  void add_options(CommandOptions& options) override {
    options.add_operands(words_, {.usage = "PROGRAM WORD..."});
  }

  Result<Outcome> run() override {
    if (words_.size() >= 2) return Outcome{.text = SecretString(complete_words(line_, words_))};
    return Error::configuration("no words are given to complete",
                                "execcred completion SHELL prints the script that gives them");
  }

 private:
  const CommandLine& line_;
  std::vector<std::string> words_;
};

}  // namespace

std::unique_ptr<Command> make_completion() { return std::make_unique<Completion>(); }

std::unique_ptr<Command> make_complete(const CommandLine& line) {
  return std::make_unique<Complete>(line);
}

}  // namespace execcred::cli
