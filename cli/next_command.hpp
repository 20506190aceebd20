// SPDX-License-Identifier: Apache-2.0
// The way from a hub to clusters that accept their users: init, lint, doctor, grant, doctor. Each
// prints the next command, with the paths and options that it was given.
#pragma once

#include "access_options.hpp"
#include "fleet.hpp"

#include <execcred/base/duration.hpp>
#include <execcred/engine/report.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred::cli {

// A command line of execcred for a shell. All parts are printable. There is no next command that
// reads standard input: this command has read it.
class NextCommand {
 public:
  explicit NextCommand(std::string_view command);

  // Adds --NAME=VALUE, or nothing if the value is empty.
  NextCommand& add(std::string_view name, std::string_view value);
  NextCommand& add_each(std::string_view name, const std::vector<std::string>& values);
  NextCommand& add_flag(std::string_view name);
  NextCommand& add_operand(std::string_view path);
  // Adds -m.
  NextCommand& add_mapping(std::string_view path);
  // Adds -f for each of these.
  NextCommand& add_profiles(const std::vector<std::string>& paths);
  NextCommand& add(const HubOptions& hub);
  // All but --name and --allow-empty.
  NextCommand& add(const AccessOptions& targets);
  // Those that differ from the defaults.
  NextCommand& add(Duration plugin_limit, const FleetOptions& fleet);

  // "next: TEXT AFTER\n"; empty if there is no next command.
  std::string line(std::string_view after = {}) const;

 private:
  NextCommand& add_word(std::string_view start, std::string_view value);
  NextCommand& add_path(std::string_view start, std::string_view path);

  std::string text_;
  bool reads_stream_ = false;
};

// For each cluster that refuses its user: the line with the command `grant`, whose output kubectl
// applies to that cluster. `grant` has all options but --name. Of many clusters, only the first are
// listed.
std::string lines_for_refused(const std::vector<engine::Item>& items, const NextCommand& grant,
                              const std::string& name);

}  // namespace execcred::cli
