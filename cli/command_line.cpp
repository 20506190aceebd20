// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include "suggestion.hpp"
#include "version.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

namespace execcred::cli {
namespace {

using Entries = std::vector<std::unique_ptr<CommandLine::Entry>>;

// Precedes a value that is attached with "=". Without it, CLI11 would take the next argument as the
// value of "--x=", and it does not report whether a value was attached. It also precedes "++",
// which ends a command's arguments in CLI11.
constexpr char kAttached = '\x01';
// Separates the help from the notes in CLI11's description of an option.
constexpr char kNotes = '\n';
constexpr std::size_t kHelpColumn = 30;
const std::string kHelp = "Print this help";
const std::string kVersionHelp = "Print name and version";

std::string did_you_mean(const std::string& word) {
  return word.empty() ? "" : "did you mean " + word + "? ";
}

// Inserts kAttached into "--x=y" after the "=", and into "-x=y" in place of the "=".
std::string marked(const std::string& argument) {
  if (argument == "++") return kAttached + argument;
  const std::size_t equals = argument.find('=');
  if (equals == std::string::npos) return argument;
  if (argument.starts_with("--")) {
    return argument.substr(0, equals + 1) + kAttached + argument.substr(equals + 1);
  }
  const bool is_of_letter = argument.starts_with('-') && equals == 2;
  return is_of_letter ? argument.substr(0, 2) + kAttached + argument.substr(3) : argument;
}

// The option's name in an argument; the rest may be a secret.
std::string shown_name(const std::string& argument) {
  return argument.starts_with("--") ? argument.substr(0, argument.find('='))
                                    : argument.substr(0, 2);
}

std::string notes_on(const DeclaredOption& option) {
  const About& about = option.about;
  std::vector<std::string> notes;
  if (about.is_required) notes.emplace_back("required");
  if (option.is_repeatable) notes.emplace_back("repeatable");
  if (!about.choices.empty()) {
    notes.push_back("one of " + join({about.choices.begin(), about.choices.end()}, ", "));
  }
  if (!about.default_text.empty()) notes.push_back("default " + about.default_text);
  if (!about.variable.empty()) notes.emplace_back(about.variable);
  return notes.empty() ? "" : "(" + join(notes, "; ") + ")";
}

class HelpLayout final : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string usage,
                        CLI::AppFormatMode mode) const override {
    return "Usage: " + usage + "\n\n" + app->get_description() + "\n" +
           make_subcommands(app, mode) + make_options(app) + app->get_footer();
  }
  std::string make_subcommand(const CLI::App* command) const override {
    return option_lines("  " + command->get_name(), command->get_description(), {}, kHelpColumn);
  }

 private:
  static std::string make_options(const CLI::App* app) {
    std::string text;
    for (const std::string& group : app->get_groups()) {
      const std::vector<const CLI::Option*> options = app->get_options(
          [&group](const CLI::Option* option) { return option->get_group() == group; });
      if (!options.empty()) text += "\n" + group + ":\n";
      for (const CLI::Option* option : options) text += make_row(*option);
    }
    return text;
  }

  static std::string make_row(const CLI::Option& option) {
    std::string left = "  ";
    if (!option.get_snames().empty()) left += "-" + option.get_snames().front() + ", ";
    left += "--" + option.get_lnames().front();
    if (option.get_expected_max() > 0) left += "=" + option.get_type_name();
    const std::string& text = option.get_description();
    const std::size_t end = text.find(kNotes);
    const std::string_view notes =
        end == std::string::npos ? std::string_view() : std::string_view(text).substr(end + 1);
    return option_lines(std::move(left), std::string_view(text).substr(0, end), notes, kHelpColumn);
  }
};

void add_option(CLI::App& app, const DeclaredOption& option) {
  const About& about = option.about;
  const std::string letter = about.letter == 0 ? "" : std::string("-") + about.letter + ",";
  const std::string text = std::string(about.help) + kNotes + notes_on(option);
  CLI::Option* const added = option.is_switch()
                                 ? app.add_flag(letter + option.flag(), text)
                                 : app.add_option(letter + option.flag(), CLI::callback_t(), text);
  if (!option.is_switch()) added->type_name(std::string(about.value));
  added->group(std::string(option.group))->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

std::string footer_of(const CommandOptions& options, const std::string& program) {
  std::string text = "\nExamples:\n";
  for (const Example& example : options.examples()) {
    std::string command(example.command);
    const std::string typed = std::string(kProgram) + " ";
    if (command.starts_with(typed)) command.replace(0, kProgram.size(), program);
    text += example_lines(example.purpose, command);
  }
  return text;
}

// The commands as CLI11 needs them. It runs no command and checks no value. It keeps unknown
// arguments, so that execcred reports them with its own messages.
class Parser {
 public:
  Parser(const Entries& entries, const std::string& program)
      : app_(std::string(CommandLine::kSummary)) {
    app_.set_help_flag();
    app_.allow_extras();
    app_.require_subcommand(0, 1);
    help_ = app_.add_flag("-h,--help", kHelp)->group("Common");
    version_ = app_.add_flag("--version", kVersionHelp)->group("Common");
    app_.footer("\n" + program + " COMMAND --help lists a command's options, and has examples.\n");
    for (const auto& entry : entries) {
      CLI::App& app = *app_.add_subcommand(std::string(entry->name), std::string(entry->summary));
      app.set_help_flag();
      app.group(entry->is_hidden() ? "" : "Commands");
      app.footer(footer_of(entry->options, program));
      for (const DeclaredOption& option : entry->options.all()) add_option(app, option);
    }
  }

  // Returns false if the last argument is an option whose value is missing.
  bool parse(const std::vector<std::string>& arguments) {
    std::vector<std::string> reversed;
    reversed.reserve(arguments.size());
    std::transform(arguments.rbegin(), arguments.rend(), std::back_inserter(reversed), marked);
    try {
      app_.parse(std::move(reversed));
    } catch (const CLI::ArgumentMismatch&) {
      return false;
    }
    return true;
  }

  bool wants_help() const { return help_->count() > 0; }
  bool wants_version() const { return version_->count() > 0; }
  // The arguments before the command that are not options of the program.
  std::vector<std::string> strays() const { return strays(app_); }
  // Empty if no command was given.
  std::string command() const {
    const std::vector<CLI::App*> commands = app_.get_subcommands();
    return commands.empty() ? "" : commands.front()->get_name();
  }
  std::vector<std::string> strays_of(const CommandLine::Entry& entry) const {
    return strays(app(entry));
  }
  // The values of an option: those of "-x v" unchanged, those of "--x=v" with kAttached before
  // them.
  std::vector<std::string> values_of(const CommandLine::Entry& entry,
                                     const DeclaredOption& option) const {
    return app(entry).get_option(option.flag())->results();
  }

  std::string help(const std::string& usage) const { return help(app_, usage); }
  std::string help(const CommandLine::Entry& entry, const std::string& usage) const {
    return help(app(entry), usage);
  }

 private:
  const CLI::App& app(const CommandLine::Entry& entry) const {
    return *app_.get_subcommand(std::string(entry.name));
  }
  static std::vector<std::string> strays(const CLI::App& app) {
    std::vector<std::string> strays = app.remaining();
    for (std::string& stray : strays) {
      if (stray.starts_with(kAttached)) stray.erase(0, 1);
    }
    return strays;
  }
  static std::string help(const CLI::App& app, const std::string& usage) {
    return HelpLayout().make_help(&app, usage, CLI::AppFormatMode::Normal);
  }

  CLI::App app_;
  const CLI::Option* help_ = nullptr;
  const CLI::Option* version_ = nullptr;
};

Error needs_value(const DeclaredOption& option) {
  return Error::configuration(option.flag() + " needs a value", "write " + option.usage());
}

Error needs_value(const CommandLine::Entry& entry, const std::string& typed) {
  const DeclaredOption* const option = typed.starts_with("--")
                                           ? entry.options.find(std::string_view(typed).substr(2))
                                           : entry.options.find_letter(typed.back());
  return option == nullptr ? Error::configuration("unknown option " + in_quotes(shown_name(typed)),
                                                  "--help lists the options")
                           : needs_value(*option);
}

Error unknown_option(const std::vector<std::string>& names, const std::string& typed) {
  const std::string name = shown_name(typed);
  return Error::configuration("unknown option " + in_quotes(name),
                              did_you_mean(nearest_word(name, names)) + "--help lists the options");
}

Status check_value(const std::string& subject, const std::string& value) {
  if (value.empty()) {
    return Error::configuration(subject + " has an empty value",
                                "give it a value, or leave it out");
  }
  if (!has_control_character(value)) return {};
  return Error::configuration(subject + " has a control character in its value", "remove it");
}

// Returns each value once, without kAttached. Fails (configuration) for an invalid value, and for
// different values of an option that is not repeatable.
Result<std::vector<std::string>> check_values(const DeclaredOption& option,
                                              std::vector<std::string> values) {
  std::vector<std::string> texts;
  std::set<std::string> known;
  for (std::string& value : values) {
    if (value.starts_with(kAttached)) {
      value.erase(0, 1);
    } else if (value.starts_with("--")) {
      return needs_value(option);
    }
    TRY(check_value(option.flag(), value));
    if (known.insert(value).second) texts.push_back(std::move(value));
  }
  if (texts.size() <= 1 || option.is_repeatable) return texts;
  return Error::configuration(
      option.flag() + " is given twice, with different values",
      "it takes one value; only options marked repeatable may be given twice");
}

Status store(const DeclaredOption& option, const std::string& source,
             const std::vector<std::string>& texts) {
  Status stored = option.store(texts);
  if (!stored) stored.error().message = source + ": " + stored.error().message;
  return stored;
}

// Sets an option that was not typed from its environment variable. Fails (configuration) if the
// value is invalid, or if the option is required and the variable is not set.
Status store_variable(const DeclaredOption& option, const Environment& environment) {
  const std::string name(option.about.variable);
  const std::optional<std::string_view> value = environment.get(name);
  if (!name.empty() && value) {
    TRY(check_value(name, std::string(*value)));
    return store(option, name, {std::string(*value)});
  }
  if (!option.about.is_required) return {};
  return Error::configuration(option.flag() + " is required", "pass " + option.usage());
}

// Sets the options that were typed, and adds the others to `unset`. Returns the first problem; the
// options after it are set too.
Status store_arguments(const CommandLine::Entry& entry, const Parser& parser,
                       std::vector<const DeclaredOption*>& unset) {
  Status first;
  for (const DeclaredOption& option : entry.options.all()) {
    const auto store_it = [&]() -> Status {
      const std::vector<std::string> texts =
          TRY(check_values(option, parser.values_of(entry, option)));
      if (!texts.empty()) return store(option, option.flag(), texts);
      unset.push_back(&option);
      return {};
    };
    Status stored = store_it();
    if (first) first = std::move(stored);
  }
  return first;
}

// Stores the operands: the arguments that are not options, and all arguments after "--". Fails
// (configuration) for an unknown option, and for operands that the command does not take.
Status take_operands(const CommandLine::Entry& entry, const Parser& parser,
                     const std::vector<std::string>& arguments) {
  std::vector<std::string> operands;
  for (const std::string& stray : parser.strays_of(entry)) {
    if (stray.size() > 1 && stray.starts_with('-')) {
      std::vector<std::string> names;
      for (const DeclaredOption& option : entry.options.all()) names.push_back(option.flag());
      return unknown_option(names, stray);
    }
    operands.push_back(stray);
  }
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  if (end != arguments.end()) operands.insert(operands.end(), end + 1, arguments.end());
  std::vector<std::string>* const target = entry.options.operands_target();
  for (const std::string& operand : operands) {
    // It may be a secret whose flag is missing.
    if (target == nullptr) {
      return Error::configuration("an argument is no option",
                                  "every argument is an option: --name=value; see --help");
    }
    target->push_back(operand);
  }
  return {};
}

// Fails (configuration) if the command would replace a file that it reads. Its options must be set.
Status check_files(const CommandLine::Entry& entry, const Parser& parser,
                   const Environment& environment) {
  std::vector<UsedFile> files;
  for (const auto& others : entry.options.other_files()) {
    for (UsedFile& file : others(environment)) files.push_back(std::move(file));
  }
  for (const DeclaredOption& option : entry.options.all()) {
    const bool is_output = option.about.takes == Takes::new_file;
    if (!is_output && option.about.takes != Takes::file) continue;
    for (std::string& path : TRY(check_values(option, parser.values_of(entry, option)))) {
      files.push_back({.source = option.flag(), .path = std::move(path), .is_output = is_output});
    }
  }
  const std::vector<std::string>* const operands = entry.options.operands_target();
  if (operands != nullptr && entry.options.operands().takes == Takes::file) {
    for (const std::string& path : *operands) files.push_back({.source = "FILE", .path = path});
  }
  return check_outputs(files);
}

Outcome text_outcome(const std::string& text) { return Outcome{.text = SecretString(text)}; }

}  // namespace

void CommandLine::add(std::string_view name, std::string_view summary,
                      std::unique_ptr<Command> command) {
  Entry& entry = *entries_.emplace_back(std::make_unique<Entry>(
      Entry{.name = name, .summary = summary, .command = std::move(command)}));
  entry.command->add_options(entry.options);
  entry.options.group("Common");
  entry.options.add("help", entry.wants_help, {.letter = 'h', .help = kHelp});
}

void CommandLine::set_program(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
  program_ = name == "kubectl-execcred" ? "kubectl execcred" : kProgram;
}

const CommandLine::Entry* CommandLine::find(std::string_view name) const {
  for (const auto& entry : entries_) {
    if (entry->name == name) return entry.get();
  }
  return nullptr;
}

Error CommandLine::unknown_command(const std::string& typed) const {
  std::vector<std::string> names;
  for (const auto& entry : entries_) {
    if (!entry->is_hidden()) names.emplace_back(entry->name);
  }
  return Error::configuration(
      typed.empty() ? "no command is given" : in_quotes(typed) + " is no command",
      did_you_mean(nearest_word(typed, names)) + program_ + " --help lists the commands");
}

std::string CommandLine::help() const {
  return Parser(entries_, program_).help(program_ + " COMMAND [OPTION]...");
}

std::string CommandLine::help(const Entry& entry) const {
  const std::string operands(entry.options.operands().usage);
  return Parser(entries_, program_)
      .help(entry, program_ + " " + std::string(entry.name) + " [OPTION]..." +
                       (operands.empty() ? "" : " " + operands));
}

Result<Outcome> CommandLine::run(const std::vector<std::string>& arguments,
                                 const Environment& environment) {
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  const std::vector<std::string> head(arguments.begin(), end);
  Parser parser(entries_, program_);
  const bool is_whole = parser.parse(head);
  const std::vector<std::string> strays = parser.strays();
  if (!strays.empty()) {
    if (!strays.front().starts_with('-')) return unknown_command(strays.front());
    return unknown_option({"--help", "--version"}, strays.front());
  }
  if (parser.wants_help()) return text_outcome(help());
  if (parser.wants_version()) return text_outcome(version_text());
  const Entry* const entry = find(parser.command());
  if (entry == nullptr) return unknown_command("");
  const auto set_up = [&]() -> Status {
    std::vector<const DeclaredOption*> unset;
    Status stored = store_arguments(*entry, parser, unset);
    if (!is_whole) return needs_value(*entry, head.back());
    TRY(std::move(stored));
    TRY(take_operands(*entry, parser, arguments));
    if (entry->wants_help) return {};
    for (const DeclaredOption* option : unset) TRY(store_variable(*option, environment));
    return check_files(*entry, parser, environment);
  };
  Status is_set_up = set_up();
  if (!is_set_up) return entry->command->refuse(std::move(is_set_up).error());
  return entry->wants_help ? text_outcome(help(*entry)) : entry->command->run();
}

}  // namespace execcred::cli
