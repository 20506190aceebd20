// SPDX-License-Identifier: Apache-2.0
// Runs lint's checks on texts.
#pragma once

#include "test_paths.hpp"
#include "unit/expect.hpp"
#include "unit/temp_dir.hpp"

#include <lint/choices.hpp>
#include <lint/documents.hpp>

#include <execcred/json/json.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::test {

using lint::Severity;

struct Expected {
  std::string_view path;
  std::string_view message;  // a part of it
  Severity severity = Severity::error;
};

struct File {
  std::string text;
  std::string name = "f";
  std::string group = {};
};

inline std::vector<lint::Finding> lint_files(const std::vector<File>& files) {
  lint::Run run;
  run.limits.looks_at_programs = false;
  for (const File& file : files) {
    lint::check_text(lint::Scope(run, file.name, file.group), file.text);
  }
  lint::check_choices(run);
  return std::move(run.findings);
}

inline std::vector<lint::Finding> lint_text(std::string_view text) {
  return lint_files({{.text = std::string(text)}});
}

// Checks that there are exactly these findings, in any order, each with a hint.
inline void check_findings(const std::vector<File>& files, const std::vector<Expected>& expected) {
  const std::vector<lint::Finding> findings = lint_files(files);
  const std::string told = lint::to_text(findings, {.files = 1});
  CAPTURE(told);
  CHECK(findings.size() == expected.size());
  for (const Expected& one : expected) {
    CAPTURE(one.path);
    CAPTURE(one.message);
    bool is_told = false;
    for (const lint::Finding& finding : findings) {
      is_told |= finding.path == one.path && finding.severity == one.severity &&
                 contains(finding.message, one.message);
    }
    CHECK(is_told);
  }
  for (const lint::Finding& finding : findings) CHECK_FALSE(finding.hint.empty());
}

inline void check_findings(std::string_view text, const std::vector<Expected>& expected) {
  CAPTURE(text);
  check_findings({File{.text = std::string(text)}}, expected);
}

// The arguments as they are in a JSON array.
inline std::string in_json(const std::vector<std::string>& arguments) {
  std::string text;
  for (const std::string& argument : arguments) {
    text += (text.empty() ? "" : ",") + json::to_text(json::Value(argument));
  }
  return text;
}

// Checks that no example in the folders of config/`name` has findings. Returns their number.
inline int check_examples(const std::string& name) {
  int examples = 0;
  for (const auto& entry : std::filesystem::directory_iterator(EXECCRED_SOURCE "/config/" + name)) {
    if (!entry.is_directory()) continue;
    CAPTURE(entry.path());
    ++examples;
    check_findings(content_of(entry.path() / "mapping.json"), {});
    check_findings(content_of(entry.path() / "clusterprofile.yaml"), {});
  }
  return examples;
}

}  // namespace execcred::test
