// SPDX-License-Identifier: Apache-2.0
#include "next_command.hpp"

#include <execcred/base/cause.hpp>
#include <execcred/base/shell_words.hpp>
#include <execcred/base/text.hpp>
#include <execcred/engine/get_credential.hpp>

#include <algorithm>
#include <array>
#include <set>

namespace execcred::cli {
namespace {

constexpr std::string_view kNext = "next: ";

// The causes that end when the cluster is told what grant prints.
constexpr std::array kRefusals = {cause::kForbidden, cause::kUnauthorizedUnknownIssuer,
                                  cause::kUnauthorizedAudience, cause::kUnauthorizedUnknownCa,
                                  cause::kUnauthorizedOther};

bool is_refused(const engine::Item& item) {
  return item.verdict() == engine::Verdict::fail &&
         std::find(kRefusals.begin(), kRefusals.end(), item.cause()) != kRefusals.end();
}

}  // namespace

NextCommand::NextCommand(std::string_view command)
    : text_(std::string(kProgram) + " " + std::string(command)) {}

NextCommand& NextCommand::add_word(std::string_view start, std::string_view value) {
  text_.append(" ").append(start).append(shell_word(printable(value)));
  return *this;
}

NextCommand& NextCommand::add(std::string_view name, std::string_view value) {
  return value.empty() ? *this : add_word("--" + std::string(name) + "=", value);
}

NextCommand& NextCommand::add_each(std::string_view name, const std::vector<std::string>& values) {
  for (const std::string& value : values) add(name, value);
  return *this;
}

NextCommand& NextCommand::add_flag(std::string_view name) {
  text_.append(" --").append(name);
  return *this;
}

NextCommand& NextCommand::add_path(std::string_view start, std::string_view path) {
  reads_stream_ = reads_stream_ || path == "-";
  return add_word(start, path);
}

NextCommand& NextCommand::add_operand(std::string_view path) {
  const bool is_like_option = path.size() > 1 && path.starts_with('-');
  return add_path(is_like_option ? "./" : "", path);
}

NextCommand& NextCommand::add_mapping(std::string_view path) { return add_path("-m=", path); }

NextCommand& NextCommand::add_profiles(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) add_path("-f=", path);
  return *this;
}

NextCommand& NextCommand::add(const HubOptions& hub) {
  if (hub.is_used()) add_flag("from-hub");
  add("kubeconfig", hub.kubeconfig());
  add("context", hub.context());
  add("namespace", hub.name_space());
  return add("selector", hub.selector().text());
}

NextCommand& NextCommand::add(const AccessOptions& targets) {
  add_mapping(targets.mapping_path).add_profiles(targets.source.paths()).add(targets.source.hub());
  return add("provider", targets.provider);
}

NextCommand& NextCommand::add(Duration plugin_limit, const FleetOptions& fleet) {
  if (plugin_limit != kPluginLimit) add("timeout", format_duration(plugin_limit));
  const bool is_usual = fleet.parallel == FleetOptions().parallel;
  return is_usual ? *this : add("parallel", std::to_string(fleet.parallel));
}

std::string NextCommand::line(std::string_view after) const {
  if (reads_stream_) return {};
  return std::string(kNext).append(text_).append(after).append("\n");
}

std::string lines_for_refused(const std::vector<engine::Item>& items, const NextCommand& grant,
                              const std::string& name) {
  constexpr std::size_t kMost = 10;
  const bool is_alone = items.size() == 1 && name.empty();
  std::string lines;
  std::size_t refused = 0;
  // Clusters of two namespaces may share a name, and then not the context either.
  std::multiset<std::string_view> names;
  for (const engine::Item& item : items) names.insert(item.name);
  for (const engine::Item& item : items) {
    if (!is_refused(item) || ++refused > kMost) continue;
    NextCommand command = grant;
    if (!is_alone) command.add("name", item.full_name());
    const std::string context = names.count(item.name) == 1 ? item.name : item.full_name();
    lines += command.line(" | kubectl --context=" + shell_word(printable(context)) + " apply -f -");
  }
  if (refused <= kMost || lines.empty()) return lines;
  return lines + "and so for " + std::to_string(refused - kMost) + " more, with their --name\n";
}

}  // namespace execcred::cli
