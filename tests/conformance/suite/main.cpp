// SPDX-License-Identifier: Apache-2.0
// Tests the exec protocol on any plugin binary.
#include "client.hpp"
#include "report.hpp"
#include "rules.hpp"

#include <execcred/base/version.hpp>

#include <doctest/doctest.h>

#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr int kUsage = 2;
constexpr int kNotWritten = 70;
constexpr std::string_view kHelp =
    R"(Tests whether a program keeps the exec protocol of Kubernetes' credential plugins.

  execcred-conformance [OPTION...] -- PLUGIN [ARGUMENT...]

With these arguments and this environment, PLUGIN must give a credential, with cluster information and
without (but see --cluster-file). Each case is a sentence; the exit code is 0 if all of them hold, else 1.

  --rules protocol            what clients need of any plugin (the default)
  --rules execcred            also the options, exit codes and messages of execcred's own plugins
  --cluster-file PATH         for a PLUGIN that needs cluster information: spec.cluster, in JSON. A
                              document without a cluster must then be refused
  --report json|markdown      prints the rule and the observation of each case, never what PLUGIN printed
  --list-test-cases           prints the cases
  --test-case='*closed*'      runs these alone; --test-case-exclude leaves them out
  --version, --help

Other options are doctest's, which begin with --dt- here.
)";

struct Options {
  std::string rules;
  std::string report;
  std::optional<std::string> cluster_file;
  std::string error;
  bool wants_help = false;
  bool wants_version = false;
  std::vector<const char*> others;  // doctest's, after the program's name
};

bool is_doctest_option(std::string_view argument) {
  const std::string_view name = argument.substr(0, argument.find('='));
  return name == "--test-case" || name == "--test-case-exclude" || name == "--list-test-cases" ||
         name == "--list-test-suites" || name.starts_with("--dt-");
}

// The value of --NAME=VALUE or --NAME VALUE; the latter advances `at`. Nothing for another option.
std::optional<std::string> value_of(std::string_view name, char** end, char**& at) {
  const std::string_view argument = *at;
  if (!argument.starts_with(name)) return std::nullopt;
  if (argument.size() > name.size()) {
    if (argument.at(name.size()) != '=') return std::nullopt;
    return std::string(argument.substr(name.size() + 1));
  }
  if (at + 1 == end) return std::string();
  ++at;
  return std::string(*at);
}

Options parse(char** begin, char** end) {
  Options options;
  options.others.push_back(*begin);
  for (char** at = begin + 1; at != end; ++at) {
    const std::string_view argument = *at;
    if (const auto rules = value_of("--rules", end, at)) {
      options.rules = *rules;
      if (*rules != blackbox::kProtocolSuite && *rules != blackbox::kOwnSuite) {
        options.error = "--rules is '" + *rules + "': must be protocol or execcred";
      }
    } else if (const auto report = value_of("--report", end, at)) {
      options.report = *report;
      if (!blackbox::is_report_format(*report)) {
        options.error = "--report is '" + *report + "': must be json or markdown";
      }
    } else if (auto cluster_file = value_of("--cluster-file", end, at)) {
      options.cluster_file = std::move(cluster_file);
    } else if (argument == "--help" || argument == "-h") {
      options.wants_help = true;
    } else if (argument == "--version") {
      options.wants_version = true;
    } else if (is_doctest_option(argument)) {
      options.others.push_back(*at);
    } else if (options.error.empty()) {
      options.error = "unknown argument '" + std::string(argument) + "'";
    }
  }
  return options;
}

// Release binaries exit without the destructors that would flush it.
int end_with(int status) { return std::cout.flush() ? status : kNotWritten; }

int fail(const std::string& message) {
  std::cerr << "execcred-conformance: error: " << message << "\n  hint: see --help\n";
  return kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  // Plugins refuse inputs that others may write, so the tests' files must not be writable.
  umask(022);
  std::signal(SIGPIPE, SIG_IGN);
  // A process that loses its parent becomes a child of this one, so that tests can see whether it
  // ends.
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  char** const end = argv + argc;
  char** const separator =
      std::find_if(argv, end, [](const char* text) { return std::string_view(text) == "--"; });
  Options options = parse(argv, separator);
  if (options.wants_help) {
    std::cout << kHelp;
    return end_with(0);
  }
  if (options.wants_version) {
    std::cout << "execcred-conformance " << execcred::kVersion << '\n';
    return end_with(0);
  }
  if (!options.error.empty()) return fail(options.error);
  const bool has_plugin = end - separator > 1;
  const bool is_query =
      std::any_of(options.others.begin(), options.others.end(), [](const char* one) {
        return std::string_view(one).find("list-") != std::string_view::npos;
      });
  if (!has_plugin && !is_query && blackbox::default_plugin().empty()) {
    return fail("the plugin is missing, after --");
  }
  if (has_plugin) {
    std::vector<std::string> environment;
    for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
    blackbox::use_plugin({separator + 1, end}, std::move(environment));
    blackbox::use_rules(options.rules == blackbox::kOwnSuite ? blackbox::Rules::execcred
                                                             : blackbox::Rules::protocol);
  } else if (options.rules == blackbox::kProtocolSuite) {
    blackbox::use_rules(blackbox::Rules::protocol);
  }
  if (options.cluster_file) {
    const std::string problem = blackbox::use_cluster(*options.cluster_file);
    if (!problem.empty()) {
      return fail("--cluster-file is '" + *options.cluster_file + "': " + problem);
    }
  }
  doctest::Context context;
  context.applyCommandLine(static_cast<int>(options.others.size()), options.others.data());
  if (!blackbox::has_own_rules()) context.addFilter("test-suite", blackbox::kProtocolSuite);
  if (!options.report.empty()) {
    // The cases of the suite itself say nothing about a plugin.
    context.addFilter("test-suite-exclude", blackbox::kSelfSuite);
    context.addFilter("reporters", options.report.c_str());
  }
  const int status = context.run();
  if (!is_query && blackbox::cases_run() == 0) return fail("no case was run");
  return end_with(status);
}
