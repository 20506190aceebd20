// SPDX-License-Identifier: Apache-2.0
#include "kubeconfig.hpp"

#include <execcred/file_write.hpp>
#include <execcred/text.hpp>

#include <utility>

namespace execcred::cli {

void Kubeconfig::add_options(OptionSet& options) {
  add_mapping_option(options, mapping_path_);
  source_.add_to(options);
  options
      .add("only-healthy", only_healthy_,
           "Leave out clusters whose condition ControlPlaneHealthy is not True")
      .no_environment();
  options.add("strict", strict_, "Write nothing if any ClusterProfile cannot be used")
      .no_environment();
  options.add("output", output_, "FILE", "Replace this file, instead of printing")
      .short_name('o')
      .no_environment();
}

Status Kubeconfig::add_profiles(const ProviderMapping& mapping, KubeconfigWriter& writer,
                                std::vector<Error>& problems) const {
  const auto add = [&](const Result<ClusterProfile>& profile) -> Status {
    if (!profile) return profile.error();
    if (only_healthy_ && !profile->is_healthy) return {};
    TRY_ASSIGN(const Access access, resolve_access(mapping, *profile));
    return writer.add(access);
  };
  return source_.for_each({}, [&](const Result<ClusterProfile>& profile) -> Status {
    Status added = add(profile);
    if (!added) problems.push_back(std::move(added).error());
    return {};
  });
}

Result<Outcome> Kubeconfig::write(KubeconfigWriter& writer, std::vector<Error> problems) const {
  const std::size_t clusters = writer.size();
  Outcome outcome{.problems = std::move(problems)};
  outcome.exit_code = outcome.problems.empty() ? 0 : 1;
  if (strict_ && outcome.exit_code != 0) return outcome;
  const std::string text = writer.take_text();
  if (output_.empty()) {
    outcome.text = SecretString(text);
    return outcome;
  }
  TRY_ASSIGN(const Written written, replace_file(output_, text));
  outcome.text = SecretString(
      in_quotes(output_) + (written == Written::replaced ? " has " : " is unchanged, with ") +
      std::to_string(clusters) + (clusters == 1 ? " cluster\n" : " clusters\n"));
  return outcome;
}

Result<Outcome> Kubeconfig::run() {
  TRY(source_.check());
  TRY_ASSIGN(const ProviderMapping mapping, read_mapping(mapping_path_));
  KubeconfigWriter writer;
  std::vector<Error> problems;
  TRY(add_profiles(mapping, writer, problems));
  return write(writer, std::move(problems));
}

}  // namespace execcred::cli
