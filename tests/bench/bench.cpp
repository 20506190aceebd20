// SPDX-License-Identifier: Apache-2.0
//
// execcred-bench: what one run of a program costs, as a ratio to the cheapest program there is.
//
// Ratios, because they say the same on a fast and on a slow machine. Every round runs every
// program once, in an order of its own, so that whatever else the machine does hits all alike.
// scripts/bench builds the programs and their input, and calls this.
#include <unistd.h>
#include <wordexp.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>

#include "inspect.hpp"
#include "number.hpp"
#include "process.hpp"
#include "report.hpp"

namespace bench {
namespace {

constexpr const char* kUsage =
    R"(usage: execcred-bench --floor NAME=COMMAND [--go NAME=COMMAND] [--binary NAME=COMMAND]...
  --floor NAME=COMMAND    the program whose wall time is 1.00x
  --go NAME=COMMAND       the program of the second ratio
  --binary NAME=COMMAND   a program to measure; COMMAND is split as a shell does, and may start
                          with VARIABLE=value words
  --missing NAME=REASON   a row that says why there are no figures
  --limit WALL,RSS        for --check, of the program before: ratio to the floor, KB
  --rounds N              default 300
  --repeat-with TEXT      the command that the report names
  --json                  the report for programs
  --check                 exit with 1 if a limit is missed
The programs get PATH, HOME and KUBERNETES_EXEC_INFO, and no other variable.
)";

struct Subject {
  Row row;
  Command command;
  std::vector<Outcome> outcomes;
};

struct Options {
  std::vector<Subject> subjects;
  size_t floor = SIZE_MAX;
  size_t go_floor = SIZE_MAX;
  int rounds = 300;
  std::string repeat_with = "execcred-bench";
  bool json = false;
  bool check = false;
};

// What a client does once, before it runs the plugin for the first time.
std::string find_in_path(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* variable = std::getenv("PATH");
  std::string_view rest = variable != nullptr ? variable : "";
  while (!rest.empty()) {
    const auto colon = std::min(rest.find(':'), rest.size());
    std::string path = std::string(rest.substr(0, colon)) + "/" + program;
    if (access(path.c_str(), X_OK) == 0) return path;
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  fail("'" + program + "' is not in PATH");
}

bool is_assignment(const std::string& word) {
  const auto equals = word.find('=');
  return equals != std::string::npos && equals > 0 &&
         word.find_first_not_of(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == equals;
}

Command parse_command(const std::string& text) {
  wordexp_t words{};
  if (wordexp(text.c_str(), &words, WRDE_NOCMD) != 0) fail("cannot split '" + text + "'");
  Command command;
  for (const char* name : {"PATH", "HOME", "KUBERNETES_EXEC_INFO"}) {
    const char* value = std::getenv(name);
    if (value != nullptr) command.env.push_back(std::string(name) + "=" + value);
  }
  for (size_t i = 0; i < words.we_wordc; ++i) {
    const std::string word = words.we_wordv[i];
    (command.argv.empty() && is_assignment(word) ? command.env : command.argv).push_back(word);
  }
  wordfree(&words);
  if (command.argv.empty()) fail("no command in '" + text + "'");
  command.argv[0] = find_in_path(command.argv[0]);
  return command;
}

Subject parse_subject(const std::string& value, bool is_missing) {
  const auto equals = value.find('=');
  if (equals == 0 || equals == std::string::npos) fail("'" + value + "' is not NAME=…");
  Subject subject;
  subject.row.name = value.substr(0, equals);
  const std::string rest = value.substr(equals + 1);
  if (is_missing) {
    subject.row.not_measured = rest;
  } else {
    subject.row.command_line = rest;
    subject.command = parse_command(rest);
  }
  return subject;
}

Limit parse_limit(const std::string& value) {
  std::string_view rest;
  const auto wall_ratio = take_number<double>(value, rest);
  if (wall_ratio && rest.starts_with(',')) {
    const auto rss_kb = take_number<long>(rest.substr(1), rest);
    if (rss_kb && rest.empty()) return {.wall_ratio = *wall_ratio, .rss_kb = *rss_kb};
  }
  fail("'" + value + "' is not WALL,RSS");
}

int parse_rounds(const std::string& value) {
  std::string_view rest;
  const auto rounds = take_number<int>(value, rest);
  if (!rounds || *rounds < 1 || !rest.empty()) fail("--rounds must be a number above 0");
  return *rounds;
}

void set_option(Options& options, const std::string& name, const std::string& value) {
  auto& subjects = options.subjects;
  if (name == "--floor" || name == "--go" || name == "--binary" || name == "--missing") {
    if (name == "--floor") options.floor = subjects.size();
    if (name == "--go") options.go_floor = subjects.size();
    subjects.push_back(parse_subject(value, name == "--missing"));
  } else if (name == "--limit") {
    if (subjects.empty()) fail("--limit stands before any program");
    subjects.back().row.limit = parse_limit(value);
  } else if (name == "--rounds") {
    options.rounds = parse_rounds(value);
  } else if (name == "--repeat-with") {
    options.repeat_with = value;
  } else {
    fail("unknown option '" + name + "'; try --help");
  }
}

Options parse_options(const std::vector<std::string>& args) {
  Options options;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i] == "--help") {
      std::fputs(kUsage, stdout);
      std::exit(0);
    } else if (args[i] == "--json") {
      options.json = true;
    } else if (args[i] == "--check") {
      options.check = true;
    } else if (i + 1 < args.size()) {
      set_option(options, args[i], args[i + 1]);
      ++i;
    } else {
      fail("'" + args[i] + "' is unknown or lacks a value; try --help");
    }
  }
  if (options.floor == SIZE_MAX) fail("no --floor; try --help");
  return options;
}

Outcome run_or_fail(const Subject& subject, Capture capture) {
  Outcome outcome = run(subject.command, capture);
  if (outcome.succeeded()) return outcome;
  fail("'" + subject.row.name + "' " + describe_exit(outcome.wait_status));
}

void run_rounds(std::vector<Subject*>& subjects, int rounds) {
  for (const Subject* subject : subjects) drop_from_page_cache(subject->command.argv[0]);
  // The first run of each shows its complaints, the next ones warm caches and branch predictors.
  for (const Subject* subject : subjects) run_or_fail(*subject, Capture::out_loudly);
  const int warm_up = std::max(3, rounds / 20);
  std::mt19937 random(std::random_device{}());
  for (int round = -warm_up; round < rounds; ++round) {
    std::shuffle(subjects.begin(), subjects.end(), random);
    for (Subject* subject : subjects) {
      Outcome outcome = run_or_fail(*subject, Capture::out);
      outcome.output.clear();
      if (round >= 0) subject->outcomes.push_back(outcome);
    }
  }
}

template <typename T>
T quantile(const std::vector<Outcome>& outcomes, T Outcome::*field, size_t quarters) {
  std::vector<T> values;
  values.reserve(outcomes.size());
  for (const auto& outcome : outcomes) values.push_back(outcome.*field);
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) * quarters / 4);
  std::nth_element(values.begin(), nth, values.end());
  return *nth;
}

Figures figures_of(const Subject& subject) {
  Figures figures;
  figures.wall_us = quantile(subject.outcomes, &Outcome::wall_us, 2);
  figures.wall_lower_quartile_us = quantile(subject.outcomes, &Outcome::wall_us, 1);
  figures.cpu_us = quantile(subject.outcomes, &Outcome::cpu_us, 2);
  figures.page_faults = quantile(subject.outcomes, &Outcome::page_faults, 2);
  for (int i = 0; i < 5; ++i) {
    figures.rss_kb = std::max(figures.rss_kb, peak_rss_kb(subject.command));
  }
  figures.instructions = count_instructions(subject.command);
  if (auto calls = trace_system_calls(subject.command)) {
    figures.system_calls = calls->count;
    figures.opened = std::move(calls->opened);
  }
  figures.stripped_bytes = stripped_size(subject.command.argv[0]);
  return figures;
}

Report measure(Options& options) {
  std::vector<Subject*> present;
  for (auto& subject : options.subjects) {
    if (subject.row.not_measured.empty()) present.push_back(&subject);
  }
  run_rounds(present, options.rounds);
  for (Subject* subject : present) subject->row.figures = figures_of(*subject);

  Report report;
  report.rounds = options.rounds;
  report.repeat_with = options.repeat_with;
  for (const auto& subject : options.subjects) report.rows.push_back(subject.row);
  report.floor = &report.rows[options.floor];
  if (options.go_floor != SIZE_MAX) report.go_floor = &report.rows[options.go_floor];
  return report;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  bench::Options options = bench::parse_options({argv + 1, argv + argc});
  const bench::Report report = bench::measure(options);
  if (options.json) {
    bench::print_json(report);
  } else {
    bench::print_table(report);
  }
  return options.check && !bench::check_limits(report) ? 1 : 0;
}
