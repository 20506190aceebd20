// SPDX-License-Identifier: Apache-2.0
// execcred: the command line for people who set up clusters, mappings and plugins.
#include "cache.hpp"
#include "get.hpp"
#include "install.hpp"
#include "kubeconfig.hpp"
#include "lint.hpp"
#include "migrate.hpp"
#include "resolve.hpp"
#include "suggestion.hpp"

#include <execcred/base/environment.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/version.hpp>
#include <execcred/exec/settings.hpp>
#include <execcred/os/deadline.hpp>
#include <execcred/os/process_setup.hpp>

#include <array>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

namespace execcred::cli {
namespace {

struct Entry {
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<Command> (*make)();
  std::string_view operands = "FILE...";  // where it takes any
};

template <class T>
std::unique_ptr<Command> make() {
  return std::make_unique<T>();
}

constexpr std::array<Entry, 7> kCommands = {
    {{"get", "Run the plugin of a ClusterProfile, print the credential.", make<Get>},
     {"resolve", "Show what would run for each ClusterProfile, and why.", make<Resolve>},
     {"kubeconfig", "Write one kubeconfig for a whole inventory.", make<Kubeconfig>},
     {"lint", "Tell all that is wrong with mappings, ClusterProfiles and kubeconfigs.", make<Lint>},
     {"migrate", "Make users of other plugins, in a kubeconfig or mapping, ours.", make<Migrate>,
      "FILE"},
     {"cache", "Show what plugins keep in their cache, or remove it.", make<Cache>,
      "list|clear|path"},
     {"install", "Copy the plugins into a directory, as an init container does.", make<Install>,
      "DIR"}}};

std::string help() {
  std::string text =
      "Usage: execcred COMMAND [OPTION]...\n\n"
      "Works with ClusterProfiles, provider mapping files and the plugins that they name.\n\n"
      "Commands:\n";
  for (const Entry& entry : kCommands) {
    text += "  " + std::string(entry.name) + std::string(12 - entry.name.size(), ' ') +
            std::string(entry.summary) + "\n";
  }
  return text +
         "\nexeccred COMMAND --help lists a command's options. execcred --version prints the "
         "version.\n";
}

std::string did_you_mean(const std::string& word) {
  return word.empty() ? "" : "did you mean " + word + "? ";
}

std::string suggest_option(const OptionSet& options, std::string_view name) {
  std::vector<std::string> names;
  for (const Option& option : options.all()) names.emplace_back(option.name);
  const std::string nearest = nearest_word(name, names);
  return did_you_mean(nearest.empty() ? "" : "--" + nearest) + "--help lists the options";
}

Error unknown_command(const std::string& typed) {
  std::vector<std::string> names = {"help"};
  for (const Entry& entry : kCommands) names.emplace_back(entry.name);
  return Error{
      .kind = Error::Kind::configuration,
      .message = typed.empty() ? "no command is given" : in_quotes(typed) + " is no command",
      .hint = did_you_mean(nearest_word(typed, names)) + "execcred --help lists the commands"};
}

Outcome text_outcome(const std::string& text) { return Outcome{.text = SecretString(text)}; }

Result<Outcome> run_command(const Entry& entry, const std::vector<std::string>& arguments) {
  const std::unique_ptr<Command> command = entry.make();
  bool wants_help = false;
  OptionSet options;
  command->add_options(options);
  options.add("help", wants_help, "Print this help").short_name('h').no_environment();
  options.for_people(suggest_option);
  Settings settings(options);
  TRY(settings.read_arguments(arguments));
  TRY(settings.store());
  if (wants_help) {
    const std::string operands =
        options.operands() == nullptr ? "" : " " + std::string(entry.operands);
    return text_outcome(options.help(
        "execcred " + std::string(entry.name) + " [OPTION]..." + operands, entry.summary));
  }
  TRY(settings.read_environment(Environment::copy()));
  TRY(settings.store());
  TRY(settings.check_required());
  return command->run();
}

Result<Outcome> run(const std::vector<std::string>& arguments) {
  const std::string first = arguments.empty() ? "" : arguments.front();
  if (first == "--help" || first == "-h" || first == "help") return text_outcome(help());
  if (first == "--version") {
    return text_outcome(std::string(kProgram) + " " + kVersion + "\n");
  }
  for (const Entry& entry : kCommands) {
    if (entry.name == first) return run_command(entry, {arguments.begin() + 1, arguments.end()});
  }
  return unknown_command(first);
}

int fail(const Error& error) {
  deadline::write_to_stderr(format_error(kProgram, error));
  return exit_code(error.kind);
}

int run_program(int argc, char** argv) {
  const Status ready = set_up_process();
  if (!ready) return fail(ready.error());
  // Ignored by the caller, it would hide how a plugin ended.
  std::signal(SIGCHLD, SIG_DFL);
  const Result<Outcome> outcome = run({argv + (argc > 0 ? 1 : 0), argv + argc});
  if (!outcome) return fail(outcome.error());
  deadline::write_to_stderr(outcome->notes);
  for (const Error& warning : outcome->warnings) {
    deadline::write_to_stderr(format_error(kProgram, warning, "warning"));
  }
  for (const Error& problem : outcome->problems) fail(problem);
  const std::string_view text = outcome->text.reveal();
  if (outcome->needs_reader) {
    const Status written = write_to_stdout(text);
    return written ? outcome->exit_code : fail(written.error());
  }
  const Result<bool> written = write_while_read(text);
  return written ? outcome->exit_code : fail(written.error());
}

}  // namespace
}  // namespace execcred::cli

int main(int argc, char** argv) {
  try {
    return execcred::cli::run_program(argc, argv);
  } catch (...) {
    return execcred::cli::fail({.message = "internal error", .hint = "please report it"});
  }
}
