// SPDX-License-Identifier: Apache-2.0
// The profiles of the shared config and credentials files.
#pragma once

#include "config_file.hpp"

#include <execcred/base/environment.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::aws {

class Profile {
 public:
  // Either section may be nullptr; both must outlive the profile.
  Profile(std::string name, const ConfigSection* credentials, const ConfigSection* config)
      : name_(std::move(name)), credentials_(credentials), config_(config) {}

  const std::string& name() const { return name_; }
  // Whether a section has the setting. The credentials file takes precedence over the config file.
  bool has(std::string_view setting) const { return section_with(setting) != nullptr; }
  // The setting's value; empty if it is not set or is empty. Fails (configuration) if it has
  // several lines or a tab.
  Result<std::string> text(std::string_view setting) const;
  // Such as "line 3 of '/home/me/.aws/config'"; empty if the setting has no comment.
  std::string comment_place(std::string_view setting) const;

  // The section of only one of the files; nullptr if the file has none.
  const ConfigSection* credentials() const { return credentials_; }
  const ConfigSection* config() const { return config_; }

 private:
  const ConfigSection* section_with(std::string_view setting) const;

  std::string name_;
  const ConfigSection* credentials_;
  const ConfigSection* config_;
};

// Reads a file of at most so many bytes, and fails as read_secret_file() does.
using ReadFile = std::function<Result<SecretString>(const std::filesystem::path&, std::size_t)>;

class Profiles {
 public:
  // Reads the files that AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE name, or
  // ~/.aws/credentials and ~/.aws/config if they exist. Fails (configuration) as read_secret_file
  // and parse_config_file do, or if a profile occurs twice.
  static Result<Profiles> load(const Environment& environment, const ReadFile& read_shared);

  std::optional<Profile> find(std::string_view name) const;
  // The files that were searched, for messages.
  const std::string& places() const { return places_; }

 private:
  std::vector<ConfigSection> credentials_;
  std::vector<ConfigSection> config_;  // profiles alone, by their names
  std::string places_;
};

// Replaces "~/" at the beginning by HOME; empty if HOME is not set.
std::filesystem::path expand_home(const std::string& path, const Environment& environment);

}  // namespace execcred::aws
