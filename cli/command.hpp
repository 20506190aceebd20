// SPDX-License-Identifier: Apache-2.0
// What the subcommands of execcred share: their shape, their input files, their output.
#pragma once

#include <execcred/access.hpp>
#include <execcred/option_set.hpp>
#include <execcred/result.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred::cli {

struct Outcome {
  SecretString text = {};            // for standard output
  std::string notes = {};            // for standard error: what was done
  std::vector<Error> problems = {};  // told on standard error, one after the other
  int exit_code = 0;
};

class Command {
 public:
  virtual ~Command() = default;
  virtual void add_options(OptionSet& options) = 0;
  virtual Result<Outcome> run() = 0;
};

// -m and -f; -f repeats where `profiles` is a list.
template <class Paths>
void add_input_options(OptionSet& options, std::string& mapping, Paths& profiles) {
  options
      .add("clusterprofile-provider-file", mapping, "PATH",
           "Mapping file: which program stands for which access provider")
      .short_name('m')
      .required()
      .no_environment();
  options
      .add("clusterprofile", profiles, "PATH|-",
           "ClusterProfiles, YAML or JSON: a file, a folder, or standard input")
      .short_name('f')
      .required()
      .no_environment();
}

// -m, -f, --name and --provider: a mapping, and the ClusterProfiles to look at.
class AccessOptions {
 public:
  void add_to(OptionSet& options);

  Result<ProviderMapping> mapping() const;
  // In the order of the files; with --name, only those it names. Fails (configuration) where
  // there is none.
  Result<std::vector<ClusterProfile>> profiles() const;
  // Fails (configuration) where there are several, naming them.
  Result<ClusterProfile> one_profile() const;
  const std::string& provider() const { return provider_; }

 private:
  std::string mapping_path_;
  std::string profiles_path_;
  std::string name_;
  std::string provider_;
};

// The ClusterProfiles of a file, of a folder's manifests, or of standard input ("-").
Status for_each_profile_in(const std::string& path, const ReceiveClusterProfile& receive);

Result<ProviderMapping> read_mapping(const std::string& path);

// One of a few words for -o.
Result<std::string> parse_output(const std::string& text, const std::vector<std::string>& choices);

// {"namespace": …, "name": …}
json::Value profile_reference(const ClusterProfile& profile);

}  // namespace execcred::cli
