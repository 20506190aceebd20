// SPDX-License-Identifier: Apache-2.0
#include "lint_files.hpp"

#include "lint_documents.hpp"

#include <execcred/cluster_profile.hpp>
#include <execcred/file.hpp>
#include <execcred/text.hpp>

#include <unistd.h>

#include <algorithm>
#include <system_error>

namespace execcred::lint {
namespace {

namespace fs = std::filesystem;

void tell_unreadable(const Scope& scope, const Error& error) {
  scope.error({}, error.message, error.hint.empty() ? "name a file that can be read" : error.hint);
}

// Commands refuse a mapping that others could have written.
void check_ownership(const Scope& scope, const fs::path& file) {
  const Result<std::string> read = read_file(file, kMaxInventory);
  if (read) return;
  scope.warning({},
                "is a mapping that get and resolve would not read here: " + read.error().message,
                read.error().hint.empty() ? "let only its owner write it" : read.error().hint);
}

void check_file(Run& run, const fs::path& file) {
  const Scope scope(run, file.native());
  const Result<std::string> text = read_untrusted_file(file, kMaxInventory);
  if (!text) return tell_unreadable(scope, text.error());
  check_text(scope, *text);
  if (run.limits.looks_at_programs && is_mapping(*text)) check_ownership(scope, file);
}

bool is_manifest(const fs::path& path) {
  const fs::path extension = path.extension();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

std::size_t check_folder(Run& run, const fs::path& folder) {
  std::error_code problem;
  std::vector<fs::path> files;
  for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    std::error_code ignored;
    if (is_manifest(entry->path()) && !entry->is_directory(ignored)) files.push_back(entry->path());
  }
  const Scope scope(run, folder.native());
  if (problem) {
    scope.error({}, "cannot be read: " + problem.message(), "name a folder that can be read");
  } else if (files.empty()) {
    scope.error({}, "holds no .yaml, .yml or .json file", "folders inside are not entered");
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) check_file(run, file);
  return files.size();
}

}  // namespace

std::size_t check_operand(Run& run, const std::string& operand) {
  std::error_code ignored;
  if (operand == "-") {
    const Scope scope(run, "standard input");
    const Result<std::string> text = read_stream(STDIN_FILENO, kMaxInventory, "standard input");
    if (text) {
      check_text(scope, *text);
    } else {
      tell_unreadable(scope, text.error());
    }
  } else if (fs::is_directory(operand, ignored)) {
    return check_folder(run, operand);
  } else {
    check_file(run, operand);
  }
  return 1;
}

}  // namespace execcred::lint
