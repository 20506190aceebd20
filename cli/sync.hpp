// SPDX-License-Identifier: Apache-2.0
// execcred sync: writes the credentials of an inventory's clusters to folders and Secrets, for
// programs that run no plugin, and renews them.
#pragma once

#include "command.hpp"
#include "fleet.hpp"

#include "sync/contents.hpp"
#include "sync/driver.hpp"
#include "sync/folder_target.hpp"
#include "sync/journal.hpp"
#include "sync/names.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace execcred::cli {

class Sync final : public Command {
 public:
  void add_options(CommandOptions& options) override;
  Result<Outcome> run() override;
  Result<Outcome> refuse(Error error) override;

 private:
  class Targets;

  void add_target_options(CommandOptions& options);
  void add_running_options(CommandOptions& options);
  Status check();
  bool asks_hub() const;
  Result<Outcome> synchronize(sync::Journal& journal);
  // Fails (unavailable) if another process holds the Lease.
  Status wait_for_lease(const Lease& lease, const StopEvent& stop) const;
  Result<Outcome> run_once(sync::Driver& driver) const;
  sync::DriverSettings driver_settings() const;
  Status add_targets(Targets& targets, sync::Journal& journal) const;
  Result<std::unique_ptr<sync::FolderTarget>> folder_target() const;
  Result<std::unique_ptr<sync::ProfileFeed>> feed(const StopEvent& stop) const;
  Result<std::unique_ptr<Lease>> lease(const StopEvent& stop) const;
  Result<HubClient> connect(const StopEvent& stop) const;

  std::string mapping_path_;
  ProfileSource source_;
  bool may_be_empty_ = false;

  std::string folder_;
  std::optional<mode_t> file_mode_;
  std::string folder_group_;
  std::vector<sync::SecretFormat> formats_;
  std::string secret_namespace_;
  std::optional<std::string> secret_name_;
  std::string instance_ = "default";
  bool prunes_ = true;

  bool is_once_ = false;
  bool is_dry_ = false;
  FleetOptions fleet_;
  sync::RenewalRules renewal_;
  std::string lease_;
  std::string listen_;
  std::string log_format_;
};

}  // namespace execcred::cli
