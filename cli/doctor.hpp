// SPDX-License-Identifier: Apache-2.0
// execcred doctor: examines every step of a controller's request, for one cluster or for all, and
// names the first cause of a failure. Changes nothing.
#pragma once

#include "target_options.hpp"

#include "doctor/examine_all.hpp"
#include "doctor/kubeconfig_targets.hpp"

#include <execcred/engine/get_credential.hpp>
#include <execcred/os/file_write.hpp>

#include <optional>
#include <string>
#include <vector>

namespace execcred::cli {

class Doctor final : public Command {
 public:
  void add_options(CommandOptions& options) override;
  Result<Outcome> run() override;

 private:
  Status check() const;
  std::string beside_log() const;
  Result<std::vector<engine::Target>> targets(Outcome& outcome,
                                              std::vector<ClusterProfile>& profiles) const;
  void add_input_options(CommandOptions& options);
  void add_examination_options(CommandOptions& options);
  void add_log_options(CommandOptions& options);
  Result<doctor::ExaminationOptions> examination_options() const;
  Result<Outcome> read_log() const;
  std::string text_of(const std::vector<engine::Item>& items) const;
  std::string next_commands(const std::vector<engine::Item>& items) const;
  Status check_files() const;
  static Status give_out(const std::string& text, std::optional<NewFile> file, Outcome& outcome);

  TargetOptions targets_;
  bool all_contexts_ = false;
  Duration timeout_ = kPluginLimit;
  FleetOptions fleet_{.shows_progress = true};
  std::vector<std::string> permissions_;
  std::string authentication_config_;
  bool no_request_ = false;
  Duration warn_before_ = std::chrono::hours(24 * 30);
  bool is_debug_ = false;
  std::string format_;
  std::string color_;
  std::string output_file_;
  std::string bundle_;
  std::string log_;
  std::optional<Duration> since_;
};

}  // namespace execcred::cli
