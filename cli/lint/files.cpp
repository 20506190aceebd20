// SPDX-License-Identifier: Apache-2.0
#include "files.hpp"

#include "documents.hpp"

#include <execcred/kube/cluster_profile.hpp>
#include <execcred/os/file.hpp>
#include <execcred/os/manifest_walk.hpp>

#include <unistd.h>

#include <system_error>

namespace execcred::lint {
namespace {

namespace fs = std::filesystem;

void report_unreadable(const Scope& scope, const Error& error) {
  ++scope.run().unread;
  scope.as(rule::kUnreadable)
      .error({}, error.message, error.hint.empty() ? "name a file that can be read" : error.hint);
}

// Warns of a mapping that others could have written: commands refuse it.
void check_ownership(const Scope& scope, const fs::path& file) {
  const Result<std::string> read = read_file(file, kMaxInventory);
  if (read) return;
  scope.as(rule::kOwnership)
      .warning({}, "is a mapping that get and resolve would not read here: " + read.error().message,
               read.error().hint.empty() ? "let only its owner write it" : read.error().hint);
}

void check_file(const Scope& scope) {
  const Result<std::string> text = read_untrusted_file(scope.file(), kMaxInventory);
  if (!text) return report_unreadable(scope, text.error());
  check_text(scope, *text);
  if (scope.limits().looks_at_programs && is_mapping(*text)) check_ownership(scope, scope.file());
}

// Checks the manifests of the folder and of the folders inside. Returns the number of files.
std::size_t check_folder(Run& run, const std::string& folder) {
  std::size_t count = 0;
  bool was_whole = true;
  const auto scope_of = [&run](const fs::path& path, const std::string& inside) {
    return Scope(run, path.native(), inside).as(rule::kUnreadable);
  };
  walk_manifests(
      folder, {.file =
                   [&](const fs::path& file, const std::string& inside) {
                     ++count;
                     check_file(scope_of(file, inside));
                   },
               .unreadable =
                   [&](const fs::path& inner, const std::string& inside, const std::string& why) {
                     was_whole = false;
                     scope_of(inner, inside)
                         .error({}, "cannot be read: " + why, "name a folder that can be read");
                   },
               .too_deep =
                   [&](const fs::path& inner, const std::string& inside) {
                     was_whole = false;
                     scope_of(inner, inside)
                         .warning({}, "holds folders that are nested too deeply, which are skipped",
                                  "name them too");
                   }});
  if (count == 0 && was_whole && !run.limits.may_be_empty) {
    Scope(run, folder)
        .as(rule::kUnreadable)
        .error({}, "holds no .yaml, .yml or .json file",
               "name other files one by one; --allow-empty accepts an empty input");
  }
  return count;
}

}  // namespace

std::size_t check_operand(Run& run, const std::string& operand) {
  std::error_code ignored;
  if (operand == "-") {
    const Scope scope(run, std::string(kStandardInput));
    const Result<std::string> text =
        read_stream(STDIN_FILENO, kMaxInventory, std::string(kStandardInput));
    if (text) {
      check_text(scope, *text);
    } else {
      report_unreadable(scope, text.error());
    }
  } else if (fs::is_directory(operand, ignored)) {
    return check_folder(run, operand);
  } else {
    check_file(Scope(run, operand));
  }
  return 1;
}

}  // namespace execcred::lint
