// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <unistd.h>
#include <wordexp.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>

#include "number.hpp"

namespace bench {
namespace {

constexpr const char* kUsage =
    R"(usage: execcred-bench --floor NAME=COMMAND [OPTION]...
  --floor NAME=COMMAND        the program whose wall time is 1.00x
  --go NAME=COMMAND           the program of the second ratio
  --other-floor NAME=COMMAND  another program that does nothing
  --plugin NAME=COMMAND       a program to measure; COMMAND is split as a shell does, and may
                              start with VARIABLE=value words
  --peer NAME=COMMAND         a program to compare plugins with
  --missing NAME=REASON       a row that says why there are no figures
  --rounds N                  default 300
  --execs N                   how often those of --bulk are run in bulk, default 0
  --repeat-with TEXT          the command that the report names
Of the program before:
  --limits KEY=NUMBER,...     for the report's reader
  --against NAME              the peer that does the same
  --bulk                      it is run in bulk as well
The programs get PATH, HOME and KUBERNETES_EXEC_INFO, and no other variable.
)";

// Finds the program once, as a client does before its first run of a plugin.
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
  std::map<std::string, std::string> env;
  for (const char* name : {"PATH", "HOME", "KUBERNETES_EXEC_INFO"}) {
    const char* value = std::getenv(name);
    if (value != nullptr) env[name] = value;
  }
  for (size_t i = 0; i < words.we_wordc; ++i) {
    const std::string word = words.we_wordv[i];
    if (command.argv.empty() && is_assignment(word)) {
      env[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
    } else {
      command.argv.push_back(word);
    }
  }
  wordfree(&words);
  if (command.argv.empty()) fail("no command in '" + text + "'");
  command.argv[0] = find_in_path(command.argv[0]);
  for (const auto& [name, value] : env) command.env.push_back(name + "=" + value);
  return command;
}

Subject parse_subject(const std::string& value, const std::string& kind) {
  const auto equals = value.find('=');
  if (equals == 0 || equals == std::string::npos) fail("'" + value + "' is not NAME=…");
  Subject subject;
  subject.row.name = value.substr(0, equals);
  subject.row.kind = kind;
  const std::string rest = value.substr(equals + 1);
  if (kind == "missing") {
    subject.row.not_measured = rest;
  } else {
    subject.row.command_line = rest;
    subject.command = parse_command(rest);
  }
  return subject;
}

std::vector<std::pair<std::string, double>> parse_limits(std::string_view text) {
  std::vector<std::pair<std::string, double>> limits;
  for (;;) {
    const auto equals = text.find('=');
    std::string_view rest;
    const auto number = equals == std::string_view::npos
                            ? std::nullopt
                            : take_number<double>(text.substr(equals + 1), rest);
    if (!number || !(rest.empty() || rest.starts_with(','))) {
      fail("'" + std::string(text) + "' is not KEY=NUMBER,...");
    }
    limits.emplace_back(text.substr(0, equals), *number);
    if (rest.empty()) return limits;
    text = rest.substr(1);
  }
}

int parse_count(const std::string& name, const std::string& value, int least) {
  std::string_view rest;
  const auto count = take_number<int>(value, rest);
  if (!count || *count < least || !rest.empty()) {
    fail(name + " must be a number from " + std::to_string(least) + " on");
  }
  return *count;
}

// The subject to which an option applies: the last one so far.
Subject& last(Options& options, const std::string& option) {
  if (options.subjects.empty()) fail(option + " stands before any program");
  return options.subjects.back();
}

void set_option(Options& options, const std::string& name, const std::string& value) {
  static const std::map<std::string, std::string> kKinds = {
      {"--floor", "floor"},   {"--go", "floor"},  {"--other-floor", "floor"},
      {"--plugin", "plugin"}, {"--peer", "peer"}, {"--missing", "missing"}};
  if (const auto kind = kKinds.find(name); kind != kKinds.end()) {
    if (name == "--floor") options.floor = options.subjects.size();
    if (name == "--go") options.go_floor = options.subjects.size();
    options.subjects.push_back(parse_subject(value, kind->second));
  } else if (name == "--limits") {
    last(options, name).row.limits = parse_limits(value);
  } else if (name == "--against") {
    last(options, name).row.against = value;
  } else if (name == "--rounds") {
    options.rounds = parse_count(name, value, 1);
  } else if (name == "--execs") {
    options.execs = parse_count(name, value, 0);
  } else if (name == "--repeat-with") {
    options.repeat_with = value;
  } else {
    fail("unknown option '" + name + "'; try --help");
  }
}

}  // namespace

Options parse_options(const std::vector<std::string>& args) {
  Options options;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i] == "--help") {
      std::fputs(kUsage, stdout);
      std::exit(0);
    } else if (args[i] == "--bulk") {
      last(options, args[i]).is_in_bulk = true;
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

}  // namespace bench
