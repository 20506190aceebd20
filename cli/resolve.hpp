// SPDX-License-Identifier: Apache-2.0
// execcred resolve: what would run for each ClusterProfile, and why that provider. Runs nothing.
#pragma once

#include "command.hpp"

namespace execcred::cli {

class Resolve final : public Command {
 public:
  void add_options(CommandOptions& options) override;
  Result<Outcome> run() override;

 private:
  using Receive = std::function<Status(const ClusterProfile&, const Access&)>;
  // Calls `receive` for each chosen ClusterProfile that can be resolved. Returns the outcome
  // without its text.
  Result<Outcome> for_each(const ProviderMapping& mapping, const Receive& receive) const;
  Result<Outcome> write_secrets(const ProviderMapping& mapping) const;
  Result<Outcome> write_lines(const ProviderMapping& mapping) const;
  Result<Outcome> write_table(const ProviderMapping& mapping) const;
  Result<Outcome> write_list(const ProviderMapping& mapping) const;

  AccessOptions access_;
  std::string output_;
};

}  // namespace execcred::cli
