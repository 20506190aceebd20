// SPDX-License-Identifier: Apache-2.0
//
// execcred-bench: measures the cost of one run of a program, as a ratio to an empty C program.
//
// Ratios are the same on a fast and on a slow machine. Every round runs every program once, in a
// random order, so that other load of the machine affects all equally. scripts/bench builds the
// programs and their input, runs execcred-bench, and shows its JSON as tables.
#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "bulk.hpp"
#include "options.hpp"
#include "process.hpp"
#include "report.hpp"

namespace bench {
namespace {

Outcome run_or_fail(const Subject& subject, Capture capture) {
  Outcome outcome = run(subject.command, capture);
  if (outcome.succeeded()) return outcome;
  fail("'" + subject.row.name + "' " + describe_exit(outcome.wait_status));
}

void run_rounds(std::vector<Subject*>& subjects, int rounds) {
  for (const Subject* subject : subjects) drop_from_page_cache(subject->command.argv[0]);
  // The first run of each shows its stderr; the next ones warm up caches and branch predictors.
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
  // A plugin may have to renew its cached credential. If that is due, this run does it.
  run_or_fail(subject, Capture::out);
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

void measure_bulk(std::vector<Subject>& subjects, int execs) {
  std::vector<Subject*> chosen;
  std::vector<Command> commands;
  for (auto& subject : subjects) {
    if (!subject.is_in_bulk) continue;
    chosen.push_back(&subject);
    commands.push_back(subject.command);
  }
  const auto results = run_bulk(commands, execs);
  for (size_t i = 0; i < chosen.size(); ++i) chosen[i]->row.bulk = results[i];
}

Report measure(Options& options) {
  Report report;
  if (getloadavg(&report.load_before, 1) != 1) report.load_before = -1;
  std::vector<Subject*> present;
  for (auto& subject : options.subjects) {
    if (subject.row.not_measured.empty()) present.push_back(&subject);
  }
  run_rounds(present, options.rounds);
  if (options.execs > 0) measure_bulk(options.subjects, options.execs);
  for (Subject* subject : present) subject->row.figures = figures_of(*subject);

  report.rounds = options.rounds;
  report.execs = options.execs;
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
  print_json(bench::measure(options));
  return 0;
}
