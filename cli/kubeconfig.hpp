// SPDX-License-Identifier: Apache-2.0
// execcred kubeconfig: one kubeconfig for a whole inventory. A ClusterProfile that cannot be
// resolved is reported and left out, so that it does not affect the others. If no cluster is left,
// nothing is written, unless --allow-empty is given.
#pragma once

#include "command.hpp"
#include "replacement.hpp"

#include <execcred/kube/kubeconfig_writer.hpp>

namespace execcred::cli {

class Kubeconfig final : public Command {
 public:
  void add_options(CommandOptions& options) override;
  Result<Outcome> run() override;

 private:
  Result<Outcome> write(KubeconfigWriter& writer, Outcome outcome) const;

  std::string mapping_path_;
  ProfileSource source_;
  bool only_healthy_ = false;
  bool strict_ = false;
  bool may_be_empty_ = false;
  Replacement output_;
};

}  // namespace execcred::cli
