// SPDX-License-Identifier: Apache-2.0
// The common parts of the commands: interface, input files, output.
#pragma once

#include "command_options.hpp"
#include "fleet.hpp"
#include "profile_source.hpp"

#include <execcred/base/result.hpp>
#include <execcred/kube/provider_mapping.hpp>

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

// Adds --parallel.
void add_parallel_option(CommandOptions& options, FleetOptions& fleet);
// Adds --timeout, a time limit of a plugin's run. The current value of `timeout` is the default.
void add_timeout_option(CommandOptions& options, Duration& timeout, std::string_view help);

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

}  // namespace execcred::cli
