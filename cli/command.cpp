// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include "catalogue.hpp"

#include <execcred/base/duration.hpp>
#include <execcred/base/text.hpp>
#include <execcred/os/deadline.hpp>
#include <execcred/os/file.hpp>
#include <execcred/os/process_setup.hpp>

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace execcred::cli {
namespace {

Result<std::size_t> parse_parallel(const std::string& text) {
  constexpr std::size_t kMost = 256;
  std::size_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = problem == std::errc() && end == text.data() + text.size();
  if (is_number && number >= 1 && number <= kMost) return number;
  return Error::configuration(in_quotes(text) + " is no number from 1 to " + std::to_string(kMost),
                              "it is the number of clusters at the same time");
}

}  // namespace

void add_mapping_option(CommandOptions& options, std::string& mapping, bool is_required) {
  options.group("Input");
  options.add("clusterprofile-provider-file", mapping,
              {.letter = 'm',
               .value = "PATH",
               .help = "Mapping file: the program of each access provider",
               .takes = Takes::file,
               .is_required = is_required});
}

Result<ProviderMapping> read_mapping(const std::string& path) {
  return load_mapping(path).hint("-m names the controller's mapping file");
}

void add_allow_empty_option(CommandOptions& options, bool& may_be_empty) {
  options.group("Input");
  options.add("allow-empty", may_be_empty, {.help = "Do not fail if nothing is found"});
}

void conclude(Inventory inventory, const ProfileSource& source, const std::string& name,
              bool may_be_empty, Outcome& outcome) {
  const bool is_chosen = !name.empty() && inventory.found > 0;
  bool are_refusals = true;
  std::size_t refused = 0;
  for (Inventory::Problem& problem : inventory.problems) {
    refused += problem.is_of_unknown ? 0 : 1;
    are_refusals = are_refusals && problem.error.kind == Error::Kind::no_credential;
    const bool is_sibling = is_chosen && problem.is_of_unknown;
    (is_sibling ? outcome.warnings : outcome.problems).push_back(std::move(problem.error));
  }
  const bool is_nothing_used = inventory.found == refused;
  const bool is_missing = inventory.found == 0 && (inventory.problems.empty() || !name.empty());
  if (is_missing && !may_be_empty) {
    outcome.problems.push_back(Error::configuration(
        source.title() + " holds no " + (inventory.problems.empty() ? "" : "readable ") +
            "ClusterProfile" + (name.empty() ? "" : " named " + in_quotes(name)),
        source.hint() + "; --allow-empty accepts an empty input"));
    are_refusals = false;
  }
  if (outcome.problems.empty()) return;
  outcome.exit_code = is_nothing_used && !may_be_empty && !are_refusals ? 2 : 1;
}

void conclude(const FleetEnd& end, Outcome& outcome) {
  constexpr int kSignalled = 128;
  if (end.signal == 0) return;
  outcome.exit_code = kSignalled + end.signal;
  const bool is_shown = !outcome.text.reveal().empty();
  outcome.notes += std::string(kProgram) + ": interrupted" +
                   (is_shown ? ": what is known so far follows\n" : "\n");
  if (!end.has_stragglers) return;
  deadline::write_to_stderr(outcome.notes);
  const Result<bool> written = write_while_read(outcome.text.reveal());
  static_cast<void>(written);
  _exit(outcome.exit_code);
}

void add_parallel_option(CommandOptions& options, FleetOptions& fleet) {
  options.add_parsed("parallel", fleet.parallel,
                     {.value = "NUMBER",
                      .help = "Number of clusters at the same time",
                      .default_text = std::to_string(fleet.parallel)},
                     parse_parallel);
}

void add_timeout_option(CommandOptions& options, Duration& timeout, std::string_view help) {
  options.add_parsed("timeout", timeout,
                     {.value = "DURATION", .help = help, .default_text = format_duration(timeout)},
                     parse_timeout);
}

void add_choice_option(CommandOptions& options, std::string_view name, std::string& target,
                       About about, const std::string& noun) {
  const std::vector<std::string> words(about.choices.begin(), about.choices.end());
  target = words.front();
  about.default_text = target;
  options.add_parsed(name, target, about, [words, noun](const std::string& text) {
    if (std::find(words.begin(), words.end(), text) != words.end())
      return Result<std::string>(text);
    return Result<std::string>(
        Error::configuration(in_quotes(text) + " is no " + noun, "it may be " + join(words, ", ")));
  });
}

void add_consumer_option(CommandOptions& options, std::string& consumer) {
  About about{.value = "CONSUMER", .help = "Who reads the mapping"};
  for (const KnownConsumer& one : catalogue().consumers) about.choices.push_back(one.name);
  add_choice_option(options, "for", consumer, std::move(about));
}

void add_format_option(CommandOptions& options, std::string& format,
                       const std::vector<std::string_view>& formats) {
  options.group("Output");
  add_choice_option(options, "output", format,
                    {.letter = 'o', .value = "FORMAT", .help = "Output format", .choices = formats},
                    "output format");
}

void add_color_option(CommandOptions& options, std::string& color) {
  options.group("Output");
  add_choice_option(options, "color", color,
                    {.value = "WHEN",
                     .help = "When the output has colours",
                     .choices = {"auto", "always", "never"}},
                    "choice for colour");
}

}  // namespace execcred::cli
