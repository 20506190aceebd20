// SPDX-License-Identifier: Apache-2.0
// execcred kubeconfig: one kubeconfig for a whole inventory. A ClusterProfile that cannot be
// resolved is reported and left out, so that it does not affect the others. If no cluster is left,
// nothing is written, unless --allow-empty is given.
#include "commands.hpp"

#include "replacement.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/kube/kubeconfig_writer.hpp>

#include <map>
#include <utility>
#include <vector>

namespace execcred::cli {
namespace {

// Finds ClusterProfiles that are one cluster: they have the same inventory-member-id.
class Members {
 public:
  // Adds a warning if the cluster is in the kubeconfig already.
  void add(const ClusterProfile& profile, std::vector<Error>& warnings) {
    if (profile.inventory_member_id.empty()) return;
    const First own{profile.full_name(), profile.has_member_label};
    const auto [found, is_new] = first_.emplace(profile.inventory_member_id, own);
    const First& first = found->second;
    if (is_new || first.name == own.name) return;
    const bool are_labels = first.has_label && own.has_label;
    warnings.push_back(Error::configuration(
        "ClusterProfiles " + in_quotes(first.name) + " and " + in_quotes(own.name) +
            " are one cluster: both have the " + (are_labels ? "label " : "label or property ") +
            std::string(kInventoryMemberLabel) + "=" + printable(profile.inventory_member_id),
        "remove one of them, or choose with --selector"));
  }

 private:
  struct First {
    std::string name;
    bool has_label = false;
  };
  std::map<std::string, First> first_;  // by the ID
};

class Kubeconfig final : public Command {
 public:
  void add_options(CommandOptions& options) override {
    add_mapping_option(options, mapping_path_);
    source_.add_to(options);
    options.group("Input");
    options.add("only-healthy", only_healthy_,
                {.help = "Leave out clusters whose ControlPlaneHealthy or Joined is False"});
    options.add("strict", strict_, {.help = "Write nothing if any ClusterProfile cannot be used"});
    add_allow_empty_option(options, may_be_empty_);
    output_.add_to(options);
    options.add_example("Write a kubeconfig for the ClusterProfiles of a folder",
                        "execcred kubeconfig -m mapping.json -f profiles/ -o fleet.kubeconfig");
    options.add_example("Print one for all healthy clusters that the hub knows",
                        "execcred kubeconfig -m mapping.json --from-hub --only-healthy");
  }

  Result<Outcome> run() override {
    TRY(source_.check());
    TRY(output_.check());
    const ProviderMapping mapping = TRY(read_mapping(mapping_path_));
    KubeconfigWriter writer;
    Members members;
    std::vector<Error> warnings;
    std::size_t unhealthy = 0;
    const auto add = [&](const ClusterProfile& profile) -> Status {
      if (only_healthy_ && profile.is_unhealthy()) {
        ++unhealthy;
        return {};
      }
      const Access access = TRY(resolve_access(mapping, profile));
      TRY(writer.add(access));
      members.add(profile, warnings);
      return {};
    };
    Inventory inventory = TRY(source_.for_each(add));
    Outcome outcome = {.warnings = std::move(warnings)};
    conclude(std::move(inventory), source_, {}, may_be_empty_, outcome);
    const bool is_empty = writer.size() == 0 && !may_be_empty_;
    if (is_empty && unhealthy > 0) {
      outcome.problems.push_back(
          Error::configuration(source_.title() + " holds no healthy ClusterProfile",
                               "ControlPlaneHealthy or Joined is False for all; "
                               "--allow-empty writes a kubeconfig without clusters"));
    }
    // If no cluster can be written, the exit code is 2. With 1, the usable clusters are written,
    // except with --strict.
    if (is_empty) outcome.exit_code = 2;
    if (is_empty || (strict_ && outcome.exit_code != 0)) return outcome;
    return write(writer, std::move(outcome));
  }

 private:
  Result<Outcome> write(KubeconfigWriter& writer, Outcome outcome) const {
    const std::size_t clusters = writer.size();
    const std::string text = writer.take_text();
    if (output_.is_printed()) {
      outcome.text = SecretString(text);
      return outcome;
    }
    const std::string what = std::to_string(clusters) + (clusters == 1 ? " cluster" : " clusters");
    outcome.text = SecretString(TRY(output_.apply(text, what)));
    return outcome;
  }

  std::string mapping_path_;
  ProfileSource source_;
  bool only_healthy_ = false;
  bool strict_ = false;
  bool may_be_empty_ = false;
  Replacement output_;
};

}  // namespace

std::unique_ptr<Command> make_kubeconfig() { return std::make_unique<Kubeconfig>(); }

}  // namespace execcred::cli
