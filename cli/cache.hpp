// SPDX-License-Identifier: Apache-2.0
// execcred cache: lists and removes what plugins of this user have cached. It never shows secrets.
#pragma once

#include "command.hpp"

#include <execcred/cache/directory.hpp>

#include <string>
#include <vector>

namespace execcred::cli {

class Cache final : public Command {
 public:
  void add_options(CommandOptions& options) override;
  Result<Outcome> run() override;

 private:
  Result<Outcome> list() const;
  Result<Outcome> clear() const;
  Result<Outcome> path() const;

  std::vector<std::string> actions_;
  std::string directory_;
  std::string output_;
  std::string color_;
};

}  // namespace execcred::cli
