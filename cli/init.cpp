// SPDX-License-Identifier: Apache-2.0
// execcred init: writes what a consumer needs for the ClusterProfiles of a hub: the mapping, the
// rights on the hub, and the consumer's own manifests. Changes no file that exists.
#include "commands.hpp"

#include "declared_options.hpp"
#include "init/fleet_needs.hpp"
#include "init/pieces.hpp"
#include "next_command.hpp"
#include "replacement.hpp"
#include "suggestion.hpp"
#include "text_diff.hpp"
#include "used_files.hpp"

#include <execcred/base/shell_words.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/kube/profile_hint.hpp>
#include <execcred/os/file.hpp>
#include <execcred/os/file_write.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace execcred::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMappingFile = "mapping.json";

std::string hint_for(const std::string& provider) {
  const std::vector<std::string> near = nearest_words(provider, catalogue().provider_names(), 3);
  return (near.empty() ? std::string() : "near names are " + join(near, ", ") + "; ") +
         "--plugin=" + shell_word(printable(provider) + "=execcred-PLUGIN") + " decides";
}

std::vector<init::Piece> files_of(const init::FleetNeeds& fleet, const std::string& plugins) {
  const json::Value mapping = init::mapping_of(fleet, plugins);
  std::vector<init::Piece> files = {
      {.file = std::string(kMappingFile), .text = json::to_indented_text(mapping)},
      {.file = "rbac.yaml", .text = init::rbac_of(fleet)}};
  for (init::Piece& piece : init::pieces_of(fleet, mapping, plugins))
    files.push_back(std::move(piece));
  return files;
}

// What shows each value that a person must fill in.
std::string fill_in_notes(const std::string& mapping) {
  std::string notes;
  for (const auto& [value, shown_by] : catalogue().fill_ins) {
    if (mapping.find(value) == std::string::npos) continue;
    notes.append(kProgram).append(": replace ").append(value);
    notes.append("; it is shown by: ").append(shown_by).append("\n");
  }
  return notes;
}

class Init final : public Command {
 public:
  void add_options(CommandOptions& options) override {
    source_.add_to(options);
    add_allow_empty_option(options, may_be_empty_);
    options.group("Output");
    add_consumer_option(options, consumer_);
    options.add("output", directory_,
                {.letter = 'o',
                 .value = "DIR",
                 .help = "Directory for the files; it is made if it does not exist",
                 .takes = Takes::directory,
                 .is_required = true});
    options.add("plugin", plugins_,
                {.value = "NAME=PLUGIN", .help = "Plugin for the access provider of this name"});
    options.add(
        "plugin-dir", plugin_directory_,
        {.value = "DIR", .help = "Where the consumer has the plugins", .takes = Takes::directory});
    options.add("dry-run", is_dry_, {.help = "Show what would be written, and write nothing"});
    options.add("force", is_forced_, {.help = "Replace files that exist"});
    options.add_example("Write what Kueue needs for the hub's ClusterProfiles",
                        "execcred init --from-hub --for kueue -o fleet-kueue");
    options.add_example(
        "Show it for files, with a plugin for a name that is not known",
        "execcred init -f profiles/ -o fleet --plugin p=execcred-token-file --dry-run");
  }

  Result<Outcome> run() override {
    TRY(source_.check());
    if (!fs::path(plugin_directory_).is_absolute()) {
      return Error::configuration(
          "--plugin-dir: " + in_quotes(plugin_directory_) + " is no absolute path",
          "it is a directory of the consumer's container");
    }
    const KnownConsumer& consumer = *catalogue().consumer(consumer_);
    init::FleetNeeds fleet(consumer, TRY(plugins()));
    Outcome outcome;
    Inventory inventory = TRY(source_.for_each([&fleet](const ClusterProfile& profile) -> Status {
      fleet.add(profile);
      return {};
    }));
    conclude(std::move(inventory), source_, {}, may_be_empty_, outcome);
    if (outcome.exit_code == 2) return outcome;
    for (const std::string& remark : fleet.remarks()) {
      outcome.notes += std::string(kProgram) + ": " + remark + "\n";
    }
    for (const std::string& problem : fleet.problems()) {
      outcome.problems.push_back(Error::no_credential(problem, kMendProfile));
      outcome.exit_code = 1;
    }
    for (const std::string& provider : fleet.unknown()) {
      outcome.problems.push_back(Error::no_credential(
          "provider " + in_quotes(provider) + " is not known, and left out", hint_for(provider)));
      outcome.exit_code = 1;
    }
    if (fleet.needs().empty() && !may_be_empty_) {
      const std::string nothing = "no access provider of the ClusterProfiles gets an entry";
      if (fleet.unknown().empty() && fleet.remarks().empty()) {
        outcome.problems.push_back(Error::configuration(nothing));
        outcome.exit_code = 2;
      } else {
        outcome.notes += std::string(kProgram) + ": " + nothing + ", so nothing is written\n";
      }
      return outcome;
    }
    const std::vector<init::Piece> files = files_of(fleet, plugin_directory_);
    TRY(write(files, outcome));
    outcome.notes += fill_in_notes(files.front().text);
    if (!is_dry_) outcome.text = SecretString(std::string(outcome.text.reveal()) + next_command());
    return outcome;
  }

 private:
  Result<std::map<std::string, std::string>> plugins() const {
    std::map<std::string, std::string> chosen;
    for (const std::string& text : plugins_) {
      const std::size_t equals = text.rfind('=');
      const std::string plugin = equals == std::string::npos ? "" : text.substr(equals + 1);
      if (equals == 0 || catalogue().find_plugin(plugin) == nullptr || plugin.empty()) {
        return Error::configuration("--plugin: " + in_quotes(text) + " is no NAME=PLUGIN",
                                    "PLUGIN is one of execcred's, as in corp=execcred-token-file");
      }
      const auto [known, is_new] = chosen.emplace(text.substr(0, equals), plugin);
      if (!is_new && known->second != plugin) {
        return Error::configuration("--plugin: " + in_quotes(known->first) + " is given " +
                                    known->second + " and " + plugin);
      }
    }
    return chosen;
  }

  // Fails (configuration) if --force would replace a file of ClusterProfiles.
  Status check_forced(const std::vector<init::Piece>& files) const {
    std::vector<UsedFile> used;
    for (const std::string& path : source_.paths()) {
      used.push_back({.source = "--clusterprofile", .path = path});
    }
    for (const init::Piece& file : files) {
      used.push_back({.source = "--output",
                      .path = (fs::path(directory_) / file.file).native(),
                      .is_output = true});
    }
    return is_forced_ ? check_outputs(used) : Status();
  }

  // Writes the files that do not exist, and shows how the others differ.
  Status write(const std::vector<init::Piece>& files, Outcome& outcome) const {
    TRY(check_forced(files));
    std::error_code failed;
    if (!is_dry_) fs::create_directories(directory_, failed);
    if (failed) {
      return Error::configuration("cannot make the directory " + in_quotes(directory_) + ": " +
                                  failed.message());
    }
    std::string text;
    for (const init::Piece& file : files) {
      const std::string path = (fs::path(directory_) / file.file).native();
      const bool exists = fs::exists(fs::symlink_status(path, failed));
      std::string present;
      if (exists) present = TRY(read_untrusted_file(path, kMaxInventory));
      if (exists && present == file.text) {
        outcome.notes += std::string(kProgram) + ": " + in_quotes(path) + " is unchanged\n";
        continue;
      }
      if (is_dry_ || (exists && !is_forced_)) {
        text += unified_diff(present, file.text, printable(path), printable(path) + " (new)");
        if (!is_dry_) outcome.exit_code = 1;
        continue;
      }
      TRY(replace_file(path, file.text));
      outcome.notes += std::string(kProgram) + ": " + in_quotes(path) + " is written\n";
    }
    if (!is_dry_ && outcome.exit_code == 1 && !text.empty()) {
      outcome.problems.push_back(Error::no_credential(
          "files that exist differ, and are left as they are", "--force replaces them"));
    }
    outcome.text = SecretString(text);
    return {};
  }

  std::string next_command() const {
    NextCommand lint("lint");
    lint.add("for", consumer_).add_operand(directory_);
    for (const std::string& path : source_.paths()) lint.add_operand(path);
    return lint.add(source_.hub()).line();
  }

  ProfileSource source_;
  std::string consumer_;
  std::string directory_;
  std::string plugin_directory_ = "/plugins";
  std::vector<std::string> plugins_;
  bool is_dry_ = false;
  bool is_forced_ = false;
  bool may_be_empty_ = false;
};

}  // namespace

std::unique_ptr<Command> make_init() { return std::make_unique<Init>(); }

}  // namespace execcred::cli
