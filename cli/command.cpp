// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include "catalogue.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/os/deadline.hpp>
#include <execcred/os/file.hpp>
#include <execcred/os/process_setup.hpp>

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace execcred::cli {
namespace {

Result<std::size_t> parse_parallel(const std::string& text) {
  constexpr std::size_t kMost = 256;
  std::size_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = problem == std::errc() && end == text.data() + text.size();
  if (is_number && number >= 1 && number <= kMost) return number;
  return Error{.kind = Error::Kind::configuration,
               .message = in_quotes(text) + " is no number from 1 to " + std::to_string(kMost),
               .hint = "it is the number of clusters at the same time"};
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

void add_choice_options(CommandOptions& options, std::string& name, std::string& provider,
                        bool& may_be_empty) {
  options.group("Input");
  options.add("name", name,
              {.value = "[NAMESPACE/]NAME", .help = "Only the ClusterProfile of this name"});
  options.add("provider", provider,
              {.value = "NAME", .help = "Access provider to use; default: the first that fits"});
  add_allow_empty_option(options, may_be_empty);
}

void AccessOptions::add_to(CommandOptions& options) {
  add_mapping_option(options, mapping_path_);
  source_.add_to(options);
  add_choice_options(options, name_, provider_, may_be_empty_);
}

std::vector<std::string> AccessOptions::names() const {
  if (name_.empty()) return {};
  // A text with other characters is taken as one name, and so is one with an empty part. No
  // ClusterProfile has such a name.
  constexpr std::string_view kOfNames = "abcdefghijklmnopqrstuvwxyz0123456789.-/,";
  if (name_.find_first_not_of(kOfNames) != std::string::npos) return {name_};
  std::vector<std::string> names;
  std::unordered_set<std::string_view> seen;
  for (const std::string_view name : split(name_, ',')) {
    if (name.empty()) return {name_};
    if (seen.insert(name).second) names.emplace_back(name);
  }
  return names;
}

Result<ProviderMapping> read_mapping(const std::string& path) {
  return load_mapping(path).hint("-m names the controller's mapping file");
}

Result<engine::Mapping> read_mapping_with_problems(const std::string& path,
                                                   const std::string& provider) {
  engine::Mapping mapping = TRY(engine::Mapping::load(path, hint_on_provider));
  if (provider.empty() || mapping.find(provider) != nullptr) return mapping;
  return Error::configuration("provider " + in_quotes(provider) + " is not in the mapping",
                              "--provider is the name of an entry of the mapping");
}

Result<ProviderMapping> AccessOptions::mapping() const {
  TRY(source_.check());
  return read_mapping(mapping_path_);
}

Result<engine::Mapping> AccessOptions::mapping_with_problems() const {
  TRY(source_.check());
  return read_mapping_with_problems(mapping_path_, provider_);
}

Status AccessOptions::for_each_profile(const ReceiveProfile& receive, Outcome& outcome) const {
  const std::vector<std::string> chosen = names();
  if (chosen.size() > 1) return for_each_of(chosen, receive, outcome);
  const std::string name = chosen.empty() ? "" : chosen.front();
  Inventory inventory = TRY(source_.for_each(name, receive));
  conclude(std::move(inventory), source_, name, may_be_empty_, outcome);
  return {};
}

bool AccessOptions::has_several_names() const { return names().size() > 1; }

Status AccessOptions::for_each_of(const std::vector<std::string>& names,
                                  const ReceiveProfile& receive, Outcome& outcome) const {
  std::unordered_map<std::string_view, bool> is_found;
  for (const std::string& name : names) is_found.emplace(name, false);
  std::size_t found = 0;
  const auto choose = [&](const ClusterProfile& profile) -> Status {
    bool is_chosen = false;
    for (const std::string& name : {profile.name, profile.full_name()}) {
      const auto chosen = is_found.find(name);
      if (chosen == is_found.end()) continue;
      chosen->second = is_chosen = true;
    }
    if (!is_chosen) return {};
    ++found;
    return receive(profile);
  };
  Inventory inventory = TRY(source_.for_each({}, choose));
  inventory.found = found;
  conclude(std::move(inventory), source_, join(names, ", "), may_be_empty_, outcome);
  if (found == 0 || may_be_empty_) return {};
  for (const std::string& name : names) {
    if (is_found.at(name)) continue;
    outcome.exit_code = 1;
    outcome.problems.push_back(
        {.kind = Error::Kind::configuration,
         .message = source_.title() + " holds no ClusterProfile named " + in_quotes(name),
         .hint = source_.hint() + "; the others are done"});
  }
  return {};
}

Result<std::optional<ClusterProfile>> AccessOptions::one_profile(Outcome& outcome) const {
  std::optional<ClusterProfile> first;
  std::size_t count = 0;
  bool have_one_name = true;
  std::vector<std::string> names;
  const auto receive = [&](const ClusterProfile& profile) -> Status {
    if (++count == 1) first = profile;
    have_one_name = have_one_name && profile.full_name() == first->full_name();
    if (names.size() < 10) names.push_back(profile.full_name());
    return {};
  };
  TRY(for_each_profile(receive, outcome));
  if (count <= 1) return first;
  return Error{.kind = Error::Kind::configuration,
               .message = source_.title() + " holds " + std::to_string(count) + " ClusterProfiles",
               .hint = have_one_name ? "all are named " + names.front() + ": remove all but one"
                                     : "choose one with --name: " + join(names, ", ") +
                                           (count > names.size() ? ", ..." : "")};
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
    outcome.problems.push_back({.kind = Error::Kind::configuration,
                                .message = source.title() + " holds no " +
                                           (inventory.problems.empty() ? "" : "readable ") +
                                           "ClusterProfile" +
                                           (name.empty() ? "" : " named " + in_quotes(name)),
                                .hint = source.hint() + "; --allow-empty accepts an empty input"});
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

void add_choice_option(CommandOptions& options, std::string_view name, std::string& target,
                       About about, const std::string& noun) {
  const std::vector<std::string> words(about.choices.begin(), about.choices.end());
  target = words.front();
  about.default_text = target;
  options.add_parsed(name, target, about, [words, noun](const std::string& text) {
    if (std::find(words.begin(), words.end(), text) != words.end())
      return Result<std::string>(text);
    return Result<std::string>(Error{.kind = Error::Kind::configuration,
                                     .message = in_quotes(text) + " is no " + noun,
                                     .hint = "it may be " + join(words, ", ")});
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

void add_output_file_option(CommandOptions& options, std::string& path) {
  options.group("Output");
  options.add("output", path,
              {.letter = 'o',
               .value = "FILE",
               .help = "File to replace; - is standard output, the default",
               .takes = Takes::file});
}

json::Value profile_reference(const ClusterProfile& profile) {
  json::Value reference((json::Object()));
  if (!profile.name_space.empty()) reference.add("namespace", json::Value(profile.name_space));
  reference.add("name", json::Value(profile.name));
  return reference;
}

}  // namespace execcred::cli
