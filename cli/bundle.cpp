// SPDX-License-Identifier: Apache-2.0
#include "bundle.hpp"

#include "archive.hpp"
#include "declared_options.hpp"
#include "doctor/output.hpp"
#include "lint/choices.hpp"
#include "lint/files.hpp"
#include "lint/options.hpp"
#include "replacement.hpp"
#include "version.hpp"

#include <execcred/base/clock.hpp>
#include <execcred/base/hidden.hpp>
#include <execcred/base/rfc3339.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/json/json.hpp>
#include <execcred/kube/access.hpp>
#include <execcred/kube/provider_mapping.hpp>
#include <execcred/os/file.hpp>
#include <execcred/os/process.hpp>
#include <execcred/os/signal_block.hpp>

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace execcred::cli {
namespace {

using json::Value;

constexpr std::size_t kMaxLog = 64UL * 1024 * 1024;
constexpr std::size_t kMaxLine = 64UL * 1024;

std::vector<MappedProvider> providers_of(const BundleInput& input) {
  if (input.mapping_path.empty()) return {};
  const Result<std::string> text = read_untrusted_file(input.mapping_path, kMaxMapping);
  return text ? inspect_provider_mapping(*text).mapping.providers : std::vector<MappedProvider>();
}

std::string mapping_text(const BundleInput& input) {
  const Result<std::string> text = read_untrusted_file(input.mapping_path, kMaxMapping);
  return text ? text_without_secrets(*text) : std::string();
}

// Of each ClusterProfile, what the commands use.
std::string profiles_text(const std::vector<ClusterProfile>& profiles) {
  json::Array items;
  for (const ClusterProfile& profile : profiles) {
    json::Array providers;
    for (const AccessProvider& provider : profile.access_providers) {
      Value one((json::Object()));
      one.add("name", Value(provider.name));
      one.add("cluster", provider.cluster);
      providers.push_back(std::move(one));
    }
    Value item((json::Object()));
    item.add("namespace", Value(profile.name_space));
    item.add("name", Value(profile.name));
    item.add("accessProviders", Value(std::move(providers)));
    items.push_back(std::move(item));
  }
  return text_without_secrets(json::to_text(Value(std::move(items))));
}

std::string lint_text(const BundleInput& input) {
  lint::Run run;
  lint::Looked looked{.files = lint::check_operand(run, input.mapping_path)};
  for (const std::string& path : input.profile_paths) {
    if (path != "-") looked.files += lint::check_operand(run, path);
  }
  lint::check_choices(run);
  lint::sort_by_file(run.findings);
  looked.passed_over = run.passed_over;
  return json::to_indented_text(lint::to_json(run.findings, looked));
}

// The log files that the entries and the environment name.
std::set<std::string> logs_of(const std::vector<MappedProvider>& providers,
                              const Environment& environment) {
  constexpr std::string_view kVariable = "EXECCRED_LOG_FILE";
  std::set<std::string> paths;
  if (const auto path = environment.get(kVariable)) paths.emplace(*path);
  for (const MappedProvider& provider : providers) {
    for (const lint::Argument& argument : lint::split_arguments(provider.exec.args, nullptr)) {
      if (argument.name == "log-file") paths.insert(argument.value);
    }
    for (const EnvironmentVariable& variable : provider.exec.env) {
      if (variable.name == kVariable) paths.insert(variable.value);
    }
  }
  return paths;
}

// The lines of the last hour.
std::string recent_lines(const std::string& path, TimePoint now) {
  std::string recent;
  for (const std::string& file : {path + ".1", path}) {
    const Result<std::string> text = read_untrusted_file(file, kMaxLog);
    if (!text) continue;
    for (const std::string_view line : split(*text, '\n')) {
      const Result<Value> run = json::parse(line.substr(0, kMaxLine));
      const Value* const time = run ? run->find("time") : nullptr;
      if (time == nullptr || time->string() == nullptr) continue;
      const Result<TimePoint> at = parse_rfc3339(*time->string());
      if (at && *at >= now - std::chrono::hours(1)) recent.append(line).append("\n");
    }
  }
  return recent;
}

// The run of a plugin for the first of the ClusterProfiles that list it, or for none.
Access access_of(const MappedProvider& provider, const std::vector<ClusterProfile>& profiles) {
  const ProviderMapping alone{.providers = {provider}};
  for (const ClusterProfile& profile : profiles) {
    Result<Access> access = resolve_access(alone, profile);
    if (access) return std::move(access).value();
  }
  Access access;
  access.exec = provider.exec;
  access.exec.provide_cluster_info = false;
  return access;
}

std::string settings_of(const MappedProvider& provider, const BundleInput& input) {
  const Access access = access_of(provider, input.profiles);
  execcred::Command command{.path = provider.exec.command,
                            .arguments = {"--show-config"},
                            .environment = environment_of_plugin(access, input.environment),
                            .limit = input.limit};
  command.arguments.insert(command.arguments.end(), access.exec.args.begin(),
                           access.exec.args.end());
  const Result<Finished> run = run_command(command);
  if (!run) return run.error().message + "\n";
  return std::string(run->output.reveal()) + run->error_output;
}

struct Member {
  std::string name;
  std::string text;
  // Certificates and IDs are shown: what is a secret is known by its name, and replaced already.
  bool has_ids = false;
};

// The paths of the home directory, the longest first: as HOME has it, and as it is without links
// and needless parts; and that of the user database.
std::vector<std::string> homes_of(const Environment& environment) {
  namespace fs = std::filesystem;
  std::vector<std::string> homes;
  const auto add = [&homes](const fs::path& path) {
    if (!path.is_absolute()) return;
    std::error_code failed;
    for (const fs::path& home : {path, path.lexically_normal(), fs::canonical(path, failed)}) {
      std::string text = home.native();
      while (text.ends_with('/')) text.pop_back();
      if (!text.empty()) homes.push_back(std::move(text));
    }
  };
  if (const auto home = environment.get("HOME")) add(*home);
  const passwd* const user = getpwuid(geteuid());
  if (user != nullptr && user->pw_dir != nullptr) add(user->pw_dir);
  std::sort(homes.begin(), homes.end(),
            [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
  return homes;
}

// Line by line, without secrets and control characters, and with "~" for the home directory.
std::string scrubbed(const Member& member, const std::vector<std::string>& homes) {
  const std::string safe =
      member.has_ids ? without_tokens(member.text) : without_secrets(member.text);
  std::string clean;
  for (const std::string_view line : split(safe, '\n')) clean += printable(line) + "\n";
  if (clean.ends_with("\n\n") || clean == "\n") clean.pop_back();
  for (const std::string& home : homes) {
    for (std::size_t at = clean.find(home); at != std::string::npos;
         at = clean.find(home, at + 1)) {
      clean.replace(at, home.size(), "~");
    }
  }
  return clean;
}

std::vector<Member> members_of(const BundleInput& input, TimePoint now) {
  std::vector<Member> members = {{.name = "doctor.json", .text = doctor::write_json(*input.items)},
                                 {.name = "version.json", .text = version_json(), .has_ids = true}};
  const std::vector<MappedProvider> providers = providers_of(input);
  if (!input.mapping_path.empty()) {
    members.push_back({.name = "mapping.yaml", .text = mapping_text(input), .has_ids = true});
    members.push_back(
        {.name = "clusterprofiles.yaml", .text = profiles_text(input.profiles), .has_ids = true});
    members.push_back({.name = "lint.json", .text = lint_text(input)});
  }
  std::string log;
  for (const std::string& path : logs_of(providers, input.environment)) {
    log += recent_lines(path, now);
  }
  members.push_back({.name = "log.jsonl", .text = std::move(log)});
  for (std::size_t i = 0; i < providers.size(); ++i) {
    if (!is_plugin_of_ours(providers[i].exec.command)) continue;
    members.push_back({.name = "show-config-" + std::to_string(i) + ".txt",
                       .text = settings_of(providers[i], input)});
  }
  return members;
}

}  // namespace

Status write_bundle(NewFile& file, const BundleInput& input) {
  const TimePoint now = SystemClock().now();
  const std::vector<std::string> homes = homes_of(input.environment);
  std::vector<ArchiveFile> files = {{.name = "CONTENTS"}};
  for (const Member& member : members_of(input, now)) {
    std::string text = scrubbed(member, homes);
    files.front().text += member.name + "  " + std::to_string(text.size()) + " bytes\n";
    files.push_back({.name = member.name, .text = std::move(text)});
  }
  constexpr mode_t kMode = S_IRUSR | S_IWUSR;
  const SignalBlock held(SignalBlock::Signals::ending);
  TRY(file.fill(tar_gz(files, now), kMode).context("writing --bundle"));
  return file.take_place().context("writing --bundle");
}

}  // namespace execcred::cli
