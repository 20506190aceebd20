// SPDX-License-Identifier: Apache-2.0
// The profiles of the shared config and credentials files.
#pragma once

#include "config_file.hpp"

#include <execcred/base/environment.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::aws {

class Profile {
 public:
  // Either may be nullptr; they must outlive it.
  Profile(std::string name, const ConfigSection* credentials, const ConfigSection* config)
      : name_(std::move(name)), credentials_(credentials), config_(config) {}

  const std::string& name() const { return name_; }
  // The credentials file takes precedence over the config file.
  bool has(std::string_view setting) const { return find(setting) != nullptr; }
  // Empty where it is not set, or set to nothing. Fails (configuration) for more than one line.
  Result<std::string> text(std::string_view setting) const;

  // Each file's section alone.
  const ConfigSection* credentials() const { return credentials_; }
  const ConfigSection* config() const { return config_; }

 private:
  const SecretString* find(std::string_view setting) const;

  std::string name_;
  const ConfigSection* credentials_;
  const ConfigSection* config_;
};

class Profiles {
 public:
  // AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE, or ~/.aws/credentials and ~/.aws/config where
  // they are there. Fails (configuration) as read_secret_file and parse_config_file do.
  static Result<Profiles> load(const Environment& environment);

  std::optional<Profile> find(std::string_view name) const;
  // For messages: the files that were searched.
  const std::string& places() const { return places_; }

 private:
  std::vector<ConfigSection> credentials_;
  std::vector<ConfigSection> config_;  // profiles alone, by their names
  std::string places_;
};

// "~/x" is below HOME.
std::filesystem::path expand_home(const std::string& path, const Environment& environment);

}  // namespace execcred::aws
