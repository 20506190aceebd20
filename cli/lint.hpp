// SPDX-License-Identifier: Apache-2.0
// execcred lint: reports every problem of mappings, ClusterProfiles, kubeconfigs and Kueue's
// configuration at once. Changes nothing and runs nothing.
#pragma once

#include "command.hpp"
#include "lint/findings.hpp"

namespace execcred::cli {

class Lint final : public Command {
 public:
  void add_options(CommandOptions& options) override;
  Result<Outcome> run() override;

 private:
  // Adds the number of checked objects to `objects`.
  Status check_hub(lint::Run& run, std::size_t& objects) const;

  std::string text_of(const std::vector<lint::Finding>& findings, const lint::Looked& looked) const;
  // `profiles`: the operands with ClusterProfiles. Empty if there is not one mapping with
  // ClusterProfiles of one source.
  std::string next_command(const lint::Run& run, const std::vector<std::string>& profiles) const;

  std::vector<std::string> operands_;
  HubOptions hub_;
  std::filesystem::path plugin_directory_;
  bool no_files_ = false;
  bool may_be_empty_ = false;
  std::string consumer_;
  std::string fail_on_;
  std::string output_;
  std::string color_;
};

}  // namespace execcred::cli
