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

void check_file(const Scope& scope) {
  const Result<std::string> text = read_untrusted_file(scope.file(), kMaxInventory);
  if (!text) return tell_unreadable(scope, text.error());
  check_text(scope, *text);
  if (scope.limits().looks_at_programs && is_mapping(*text)) check_ownership(scope, scope.file());
}

bool is_manifest(const fs::path& path) {
  const fs::path extension = path.extension();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

// A mounted ConfigMap has its files once more in a folder of that sort, and editors, Git and the
// like keep their own there.
bool is_hidden(const fs::path& path) { return path.filename().native().starts_with('.'); }

struct Entries {
  std::vector<fs::path> files = {};
  std::vector<fs::path> folders = {};
  std::error_code problem = {};
};

// Folders behind a symbolic link are left out: they may be anywhere, and lead back here.
Entries entries_of(const fs::path& folder) {
  Entries entries;
  for (fs::directory_iterator entry(folder, entries.problem), end; !entries.problem && entry != end;
       entry.increment(entries.problem)) {
    std::error_code ignored;
    if (!entry->is_directory(ignored)) {
      if (is_manifest(entry->path())) entries.files.push_back(entry->path());
    } else if (!entry->is_symlink(ignored) && !is_hidden(entry->path())) {
      entries.folders.push_back(entry->path());
    }
  }
  std::sort(entries.files.begin(), entries.files.end());
  std::sort(entries.folders.begin(), entries.folders.end());
  return entries;
}

// Gives how many files were looked at, there and in the folders inside.
std::size_t check_folder(Run& run, const fs::path& folder, const std::string& group, int levels) {
  const Scope scope(run, folder.native(), group);
  const Entries entries = entries_of(folder);
  if (entries.problem) {
    scope.error({}, "cannot be read: " + entries.problem.message(),
                "name a folder that can be read");
  }
  std::size_t count = entries.files.size();
  for (const fs::path& file : entries.files) check_file(Scope(run, file.native(), group));
  if (levels == 0 && !entries.folders.empty()) {
    scope.warning({}, "holds folders that lie too deep, and are not entered", "name them too");
    return count;
  }
  for (const fs::path& inner : entries.folders) {
    count += check_folder(run, inner, inner.native(), levels - 1);
  }
  return count;
}

std::size_t check_operand_folder(Run& run, const std::string& folder) {
  constexpr int kLevels = 8;
  const std::size_t findings = run.findings.size();
  const std::size_t count = check_folder(run, folder, {}, kLevels);
  if (count == 0 && run.findings.size() == findings) {
    Scope(run, folder)
        .error({}, "holds no .yaml, .yml or .json file",
               "files of other names are given one by one");
  }
  return count;
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
    return check_operand_folder(run, operand);
  } else {
    check_file(Scope(run, operand));
  }
  return 1;
}

}  // namespace execcred::lint
