// SPDX-License-Identifier: Apache-2.0
// The common parts of the commands: interface, input files, output.
#pragma once

#include "command_options.hpp"
#include "fleet.hpp"
#include "profile_source.hpp"

#include <execcred/base/result.hpp>
#include <execcred/engine/target.hpp>

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
  // Called instead of run() if the command line cannot be used. Reports the error in the command's
  // own format, or returns it for the caller to report. Options that were typed with a valid value
  // are set.
  virtual Result<Outcome> refuse(Error error) { return error; }
};

// Adds -m.
void add_mapping_option(CommandOptions& options, std::string& mapping, bool is_required = true);

// Adds --name, --provider and --allow-empty, which choose the ClusterProfiles of a source and the
// access provider.
void add_choice_options(CommandOptions& options, std::string& name, std::string& provider,
                        bool& may_be_empty);

// The options of a command that resolves ClusterProfiles: -m, the options of the source, --name,
// --provider and --allow-empty.
class AccessOptions {
 public:
  void add_to(CommandOptions& options);
  // Checks the options of the source, and reads the mapping. Fails (configuration) if options
  // exclude each other or the mapping cannot be used.
  Result<ProviderMapping> mapping() const;
  // The same for a command that does what it can: a problem of an entry is one of the
  // ClusterProfiles that choose the entry. Fails (configuration) also if the mapping lacks
  // --provider.
  Result<engine::Mapping> mapping_with_problems() const;
  // Passes the ClusterProfiles to `receive`, in the source's order. With --name, passes only those
  // with one of its names; a name that matches none is a problem, unless --allow-empty is given.
  // Adds the problems of unusable documents and the exit code to `outcome`. Fails as
  // ProfileSource::for_each does.
  Status for_each_profile(const ReceiveProfile& receive, Outcome& outcome) const;
  // The same for a command that takes one ClusterProfile. Returns nullopt if none was found;
  // `outcome` is then complete. Fails (configuration) with their names if there are several.
  Result<std::optional<ClusterProfile>> one_profile(Outcome& outcome) const;
  const std::string& provider() const { return provider_; }
  bool has_several_names() const;
  // "'profiles.yaml'" or "the hub", for messages.
  std::string title() const { return source_.title(); }

 private:
  // The names that --name lists, without duplicates.
  std::vector<std::string> names() const;
  // for_each_profile() for several names. Reads the whole source once.
  Status for_each_of(const std::vector<std::string>& names, const ReceiveProfile& receive,
                     Outcome& outcome) const;

  std::string mapping_path_;
  ProfileSource source_;
  std::string name_;
  std::string provider_;
  bool may_be_empty_ = false;
};

// Adds --allow-empty.
void add_allow_empty_option(CommandOptions& options, bool& may_be_empty);

// Sets the messages and the exit code at the end of a command. The exit code is 1 if there is any
// problem, and 2 if no ClusterProfile could be used. It is 1 instead of 2 if rules refused all of
// them, or if `may_be_empty`. If a ClusterProfile of this `name` was found, documents that cannot
// be read are warnings, because they are other ClusterProfiles.
void conclude(Inventory inventory, const ProfileSource& source, const std::string& name,
              bool may_be_empty, Outcome& outcome);

// The same for a run over many clusters that a signal may have ended: the exit code is then 128
// plus the signal's number. If threads are still running, writes the outcome and ends the process.
void conclude(const FleetEnd& end, Outcome& outcome);

Result<ProviderMapping> read_mapping(const std::string& path);
// With the problems of its entries. Fails (configuration) if the file is no mapping, or lacks
// `provider` if that is given.
Result<engine::Mapping> read_mapping_with_problems(const std::string& path,
                                                   const std::string& provider);

// Adds --parallel.
void add_parallel_option(CommandOptions& options, FleetOptions& fleet);

// Adds -o for a command that prints documents, a table or a list. The first of `formats` is the
// default.
void add_format_option(CommandOptions& options, std::string& format,
                       const std::vector<std::string_view>& formats);
// Adds an option whose value is one of about.choices. The first is the default. `noun` names the
// value in the error message: "'x' is no output format".
void add_choice_option(CommandOptions& options, std::string_view name, std::string& target,
                       About about, const std::string& noun = "choice");
// Adds --for. The value is the name of a consumer in the catalogue.
void add_consumer_option(CommandOptions& options, std::string& consumer);
// Adds --color for a command whose text is for people. The value is for Paint::of().
void add_color_option(CommandOptions& options, std::string& color);
// Adds -o for a command that writes one file.
void add_output_file_option(CommandOptions& options, std::string& path);

// {"namespace": …, "name": …}
json::Value profile_reference(const ClusterProfile& profile);

}  // namespace execcred::cli
