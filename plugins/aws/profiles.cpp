// SPDX-License-Identifier: Apache-2.0
#include "profiles.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

namespace execcred::aws {
namespace {

constexpr std::size_t kMaxFile = 1024 * 1024;

struct SharedFile {
  std::filesystem::path path = {};
  bool is_named = false;  // by a variable
};

SharedFile shared_file(const Environment& environment, std::string_view variable,
                       const std::string& default_path) {
  if (const auto named = environment.get(variable)) {
    return {.path = expand_home(std::string(*named), environment), .is_named = true};
  }
  return {.path = expand_home(default_path, environment)};
}

Result<std::vector<ConfigSection>> read(const SharedFile& file, const ReadFile& read_shared) {
  // An empty path or /dev/null means that there is no file.
  if (file.path.empty() || file.path == "/dev/null") return std::vector<ConfigSection>();
  const auto read_it = [&]() -> Result<std::vector<ConfigSection>> {
    // A home that is missing or belongs to another user has no such files.
    std::error_code unknown;
    if (!file.is_named && !std::filesystem::exists(file.path, unknown)) {
      return std::vector<ConfigSection>();
    }
    const SecretString content = TRY(read_shared(file.path, kMaxFile));
    std::vector<ConfigSection> sections = TRY(parse_config_file(content.reveal()));
    for (ConfigSection& section : sections) section.file = file.path.native();
    return sections;
  };
  return read_it()
      .context("reading " + in_quotes(file.path.native()))
      .hint(
          "it is one of the shared files of AWS, which AWS_CONFIG_FILE and "
          "AWS_SHARED_CREDENTIALS_FILE name; /dev/null stands for none");
}

// The profile of a section "profile build", 'profile "build"' or "default"; empty for other kinds
// of sections.
std::string profile_of_config(std::string_view section) {
  constexpr std::string_view kPrefix = "profile";
  if (section == "default") return std::string(section);
  if (!section.starts_with(kPrefix)) return {};
  std::string_view name = section.substr(kPrefix.size());
  if (name.empty() || !is_space(name.front())) return {};
  name = trim(name);
  for (const char quote : {'"', '\''}) {
    if (name.size() > 2 && name.front() == quote && name.back() == quote) {
      name = name.substr(1, name.size() - 2);
    }
  }
  return std::string(name);
}

const ConfigSection* section_of(const std::vector<ConfigSection>& sections, std::string_view name) {
  const auto found =
      std::find_if(sections.begin(), sections.end(),
                   [name](const ConfigSection& section) { return section.name == name; });
  return found == sections.end() ? nullptr : &*found;
}

}  // namespace

const ConfigSection* Profile::section_with(std::string_view setting) const {
  for (const ConfigSection* const section : {credentials_, config_}) {
    if (section != nullptr && section->find(setting) != nullptr) return section;
  }
  return nullptr;
}

std::string Profile::comment_place(std::string_view setting) const {
  const ConfigSection* const section = section_with(setting);
  const std::size_t line = section == nullptr ? 0 : section->setting(setting)->comment_line;
  if (line == 0) return {};
  return "line " + std::to_string(line) + " of " + in_quotes(section->file);
}

Result<std::string> Profile::text(std::string_view setting) const {
  const ConfigSection* const section = section_with(setting);
  if (section == nullptr) return std::string();
  const SecretString* const found = section->find(setting);
  if (!has_control_character(found->reveal())) return std::string(found->reveal());
  return Error::configuration("the setting " + in_quotes(setting) + " of the profile " +
                              in_quotes(name_) + " has several lines, or a tab in it");
}

Result<Profiles> Profiles::load(const Environment& environment, const ReadFile& read_shared) {
  const SharedFile credentials =
      shared_file(environment, "AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials");
  const SharedFile config = shared_file(environment, "AWS_CONFIG_FILE", "~/.aws/config");
  Profiles profiles;
  profiles.places_ =
      in_quotes(config.path.native()) + " and " + in_quotes(credentials.path.native());
  profiles.credentials_ = TRY(read(credentials, read_shared));
  std::vector<ConfigSection> sections = TRY(read(config, read_shared));
  std::set<std::string> names;
  for (ConfigSection& section : sections) {
    section.name = profile_of_config(section.name);
    if (section.name.empty()) continue;
    if (!names.insert(section.name).second) {
      return Error::configuration(in_quotes(config.path.native()) + " has the profile " +
                                  in_quotes(section.name) + " twice");
    }
    profiles.config_.push_back(std::move(section));
  }
  return profiles;
}

std::optional<Profile> Profiles::find(std::string_view name) const {
  const ConfigSection* const credentials = section_of(credentials_, name);
  const ConfigSection* const config = section_of(config_, name);
  if (credentials == nullptr && config == nullptr) return std::nullopt;
  return Profile(std::string(name), credentials, config);
}

std::filesystem::path expand_home(const std::string& path, const Environment& environment) {
  if (!path.starts_with("~/")) return path;
  const auto home = environment.get("HOME");
  if (!home) return {};
  return std::filesystem::path(*home) / path.substr(2);
}

}  // namespace execcred::aws
