// SPDX-License-Identifier: Apache-2.0
// The common parts of the commands: interface, input files, output.
#pragma once

#include "command_options.hpp"
#include "fleet.hpp"
#include "profile_source.hpp"

#include <execcred/base/result.hpp>
#include <execcred/kube/access.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::cli {

inline constexpr std::string_view kProgram = "execcred";

struct Outcome {
  SecretString text = {};            // for standard output
  std::string notes = {};            // for standard error: what was done
  std::vector<Error> warnings = {};  // written to standard error, one after the other
  std::vector<Error> problems = {};  // the same, as errors
  int exit_code = 0;
  bool needs_reader =
      false;  // the whole output must be read; the reader of a table or a list may stop early
};

class Command {
 public:
  virtual ~Command() = default;
  // The options refer to the command, which must outlive them.
  virtual void add_options(CommandOptions& options) = 0;
  virtual Result<Outcome> run() = 0;
  // Instead of run(), where what was typed cannot be used: tells why in this command's own form, or
  // leaves it to the caller. Of the options, those that can be used are set.
  virtual Result<Outcome> refuse(Error error) { return error; }
};

// -m.
void add_mapping_option(CommandOptions& options, std::string& mapping, bool is_required = true);

// --name, --provider and --allow-empty: the ClusterProfiles of a source, and the access provider.
void add_choice_options(CommandOptions& options, std::string& name, std::string& provider,
                        bool& may_be_empty);

// -m, the ClusterProfiles' source, --name and --provider.
class AccessOptions {
 public:
  void add_to(CommandOptions& options);
  // Fails (configuration) for options that exclude each other; also reads the mapping.
  Result<ProviderMapping> mapping() const;
  // In the source's order; with names, only those of these names: an unknown name is a problem.
  // Adds unusable documents and the exit code to the outcome. Fails as ProfileSource::for_each
  // does.
  Status for_each_profile(const ReceiveProfile& receive, Outcome& outcome) const;
  // The same for a command that takes one; nullopt if the outcome is complete. Fails
  // (configuration) if there are several, and names them.
  Result<std::optional<ClusterProfile>> one_profile(Outcome& outcome) const;
  const std::string& provider() const { return provider_; }
  bool has_several_names() const;
  // "'profiles.yaml'" or "the hub", for messages.
  std::string title() const { return source_.title(); }

 private:
  // Those of --name, each once.
  std::vector<std::string> names() const;
  // The whole source is read, once.
  Status for_each_of(const std::vector<std::string>& names, const ReceiveProfile& receive,
                     Outcome& outcome) const;

  std::string mapping_path_;
  ProfileSource source_;
  std::string name_;
  std::string provider_;
  bool may_be_empty_ = false;
};

// --allow-empty.
void add_allow_empty_option(CommandOptions& options, bool& may_be_empty);

// Sets the messages and the exit code at the end of a command: 0; 1 if a document could not be
// used; 2 if none could be used (1 if a rule refused each). With a name, problems of other
// ClusterProfiles are warnings.
void conclude(Inventory inventory, const ProfileSource& source, const std::string& name,
              bool may_be_empty, Outcome& outcome);

// The same for a run over a fleet. The exit code shows the signal that ended the run; if threads
// are left, it writes the outcome and ends the process.
void conclude(const FleetEnd& end, Outcome& outcome);

Result<ProviderMapping> read_mapping(const std::string& path);

// --parallel.
void add_parallel_option(CommandOptions& options, FleetOptions& fleet);

// -o of a command that prints documents, a table or a list: one of the formats, of which the first
// is the default.
void add_format_option(CommandOptions& options, std::string& format,
                       const std::vector<std::string_view>& formats);
// An option with one value of about.choices, of which the first is the default. `noun` is for the
// message about other values: "'x' is no output format".
void add_choice_option(CommandOptions& options, std::string_view name, std::string& target,
                       About about, const std::string& noun = "choice");
// --color of a command whose text is for people: a value of Paint::of.
void add_color_option(CommandOptions& options, std::string& color);
// -o of a command that writes one file.
void add_output_file_option(CommandOptions& options, std::string& path);

// {"namespace": …, "name": …}
json::Value profile_reference(const ClusterProfile& profile);

}  // namespace execcred::cli
