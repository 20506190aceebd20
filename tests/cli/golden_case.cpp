// SPDX-License-Identifier: Apache-2.0
#include "golden_case.hpp"

#include "documents.hpp"
#include "sandbox.hpp"
#include "support/texts.hpp"
#include "test_paths.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <stdexcept>

namespace blackbox {
namespace {

namespace fs = std::filesystem;
using execcred::test::lines_of;
using execcred::test::replaced;

const fs::path kRoot = EXECCRED_SOURCE "/tests/golden";
const fs::path kPrograms = EXECCRED_BIN;

using Placeholders = std::map<std::string, std::string>;

std::string filled_in(std::string text, const Placeholders& placeholders) {
  for (const auto& [name, value] : placeholders) text = replaced(std::move(text), name, value);
  return text;
}

std::string normalised(std::string text, const Placeholders& placeholders) {
  static const std::regex time(R"(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z)");
  static const std::regex elapsed(R"(\b\d+\.\d{3} ms\b)");
  static const std::regex version(R"(^(execcred[a-z-]*) \d+\.\d+\.\d+\n$)");
  for (const auto& [name, value] : placeholders) text = replaced(std::move(text), value, name);
  text = std::regex_replace(text, time, "@TIME@");
  text = std::regex_replace(text, elapsed, "@MS@ ms");
  return std::regex_replace(text, version, "$1 @VERSION@\n");
}

void write_or_remove(const fs::path& path, const std::string& text) {
  if (text.empty()) {
    fs::remove(path);
    return;
  }
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  stream << text;
  stream.close();
  if (!stream) throw std::runtime_error("write " + path.native());
}

void copy_files(const fs::path& from, const Sandbox& to, const Placeholders& placeholders) {
  if (!fs::exists(from)) return;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(from)) {
    if (!entry.is_regular_file()) continue;
    to.write(fs::relative(entry.path(), from).native(),
             filled_in(read_text(entry.path()), placeholders));
  }
}

}  // namespace

std::string GoldenCase::name() const { return fs::relative(folder_, kRoot).native(); }

Said GoldenCase::expected() const {
  return {.output = read_text(folder_ / "stdout"),
          .error_output = read_text(folder_ / "stderr"),
          .exit = read_text(folder_ / "exit")};
}

Said GoldenCase::run() const {
  const Sandbox sandbox;
  const Placeholders placeholders = {
      {"@DIR@", sandbox.path().native()},
      {"@BIN@", kPrograms.native()},
      {"@JWT@", jwt_for(3600)},
      {"@EXPIRED_JWT@", make_jwt(R"({"aud":["server"],"exp":1700000000})")}};
  copy_files(folder_ / "files", sandbox, placeholders);
  Command command{.arguments = {(kPrograms / folder_.parent_path().filename()).native()}};
  for (const std::string& line : lines_of(read_text(folder_ / "args"))) {
    command.arguments.push_back(filled_in(line, placeholders));
  }
  for (const std::string& line : lines_of(read_text(folder_ / "env"))) {
    command.environment.push_back(filled_in(line, placeholders));
  }
  if (fs::exists(folder_ / "stdin")) {
    command.input = filled_in(read_text(folder_ / "stdin"), placeholders);
  }
  command.before_exec = [&sandbox] {
    if (chdir(sandbox.path().c_str()) != 0) _exit(125);
  };
  const Outcome outcome = blackbox::run(command);
  return {.output = normalised(outcome.output, placeholders),
          .error_output = normalised(outcome.error_output, placeholders),
          .exit = std::to_string(outcome.exit_code) + "\n"};
}

void GoldenCase::refresh(const Said& said) const {
  write_or_remove(folder_ / "stdout", said.output);
  write_or_remove(folder_ / "stderr", said.error_output);
  write_or_remove(folder_ / "exit", said.exit);
}

std::vector<GoldenCase> golden_cases() {
  std::vector<fs::path> folders;
  for (const fs::directory_entry& program : fs::directory_iterator(kRoot)) {
    if (!program.is_directory()) continue;
    for (const fs::directory_entry& entry : fs::directory_iterator(program)) {
      if (entry.is_directory()) folders.push_back(entry.path());
    }
  }
  std::sort(folders.begin(), folders.end());
  return {folders.begin(), folders.end()};
}

}  // namespace blackbox
