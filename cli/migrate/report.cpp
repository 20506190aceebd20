// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include "exec_object.hpp"

#include <execcred/base/text.hpp>

#include <algorithm>
#include <string_view>

namespace execcred::migrate {
namespace {

std::string_view label(Change::Kind kind) {
  switch (kind) {
    case Change::Kind::kept:
      return "kept     ";
    case Change::Kind::added:
      return "added    ";
    case Change::Kind::dropped:
      return "dropped  ";
    case Change::Kind::refused:
      return "not carried over  ";
    case Change::Kind::note:
      return "note     ";
  }
  return {};
}

// For a user that stays unchanged, kept and dropped flags are not shown.
void append_changes(const Migration& migration, std::string& text) {
  for (const Change& change : migration.changes()) {
    const bool is_shown = migration.is_complete() || change.kind == Change::Kind::refused;
    if (is_shown) text += "  " + std::string(label(change.kind)) + change.text + "\n";
  }
}

std::string users(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " user" : " users");
}

}  // namespace

bool is_complete(const Rewritten& rewritten) {
  return std::all_of(rewritten.findings.begin(), rewritten.findings.end(),
                     [](const Finding& finding) { return finding.migration.is_complete(); });
}

std::string report(const Rewritten& rewritten, const std::string& plugin_dir) {
  std::string text;
  if (!rewritten.problems.empty()) {
    text = "clients cannot load this kubeconfig: " + printable(rewritten.problems.front().message) +
           "; execcred lint lists all problems\n";
  }
  const std::string unknown =
      rewritten.unknown == 0
          ? std::string()
          : users(rewritten.unknown) +
                " of programs that no plugin replaces: with --wrap, execcred-wrap runs them\n";
  if (rewritten.findings.empty()) {
    return text + "no user of a known plugin was found\n" + unknown;
  }
  std::size_t carried = 0;
  for (const Finding& finding : rewritten.findings) {
    const Peer& peer = finding.migration.peer();
    const bool is_done = finding.migration.is_complete();
    carried += is_done ? 1 : 0;
    text += finding.path + " " + in_quotes(finding.name) + ": " + std::string(peer.name);
    text += is_done ? " → " + printable(plugin_path(plugin_dir, peer.plugin)) + "\n"
                    : " stays as it is\n";
    append_changes(finding.migration, text);
  }
  const std::size_t left = rewritten.findings.size() - carried;
  text += users(carried) + " carried over";
  text += left == 0 ? "\n" : ", " + users(left) + " left\n";
  text += unknown;
  if (rewritten.has_lost_comments) text += "comments of the YAML are not kept\n";
  return text;
}

}  // namespace execcred::migrate
