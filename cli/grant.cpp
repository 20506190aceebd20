// SPDX-License-Identifier: Apache-2.0
// execcred grant: prints what each cluster must be told, so that the user of a plugin's credential
// may do what is asked for. Sends nothing to a cluster; with --check, asks it whether it is told.
#include "commands.hpp"

#include "access_options.hpp"
#include "doctor/examination.hpp"
#include "doctor/output.hpp"
#include "fleet.hpp"
#include "grant/catalogue.hpp"
#include "grant/examine.hpp"
#include "grant/output.hpp"
#include "next_command.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/engine/get_credential.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace execcred::cli {
namespace {

constexpr const char* kBothForms =
    "--can=get/pods@default grants single rules, repeated for each; --cluster-role=view binds a "
    "ClusterRole of the cluster";

// Whether the name may be a part of a path, as RBAC's names must.
bool is_role_name(std::string_view name) {
  return is_visible_ascii(name) && name != "." && name != ".." &&
         name.find_first_of("/%") == std::string_view::npos;
}

// An error for each cluster without a result.
void report(const std::vector<grant::Item>& items, Outcome& outcome) {
  for (const grant::Item& item : items) {
    const engine::Step* const step = item.examined.failed_step();
    if (step == nullptr) continue;
    outcome.problems.push_back(
        {.kind = Error::Kind::no_credential,
         .message = printable(item.examined.full_name()) + ": " + step->message,
         .hint = step->hint});
  }
}

// 1 is worse than 3, and both than 0. A code that is set already has its reason.
int worse(int code, int before) { return code == 1 || before == 0 ? code : before; }

// The steps that --check is about. Doctor skips them where the server is not verified.
bool is_granted(const engine::Item& item, bool asks_permissions) {
  const auto passed = [&item](engine::StepId id) {
    const engine::Verdict verdict = item.step(id).verdict;
    return verdict == engine::Verdict::ok || verdict == engine::Verdict::warn;
  };
  return item.verdict() != engine::Verdict::fail && passed(engine::StepId::authenticate) &&
         (!asks_permissions || passed(engine::StepId::authorize));
}

class Grant final : public Command {
 public:
  void add_options(CommandOptions& options) override;
  Result<Outcome> run() override;

 private:
  Result<grant::Rules> rules() const;
  Outcome check(std::vector<engine::Target> targets, const grant::Rules& rules, Outcome outcome);
  // Of `command`, with the rights that were asked for.
  NextCommand next(std::string_view command) const;
  Outcome print(std::vector<engine::Target> targets, const grant::Rules& rules, Outcome outcome);

  AccessOptions targets_;
  std::vector<std::string> permissions_;
  std::string cluster_role_;
  bool binds_groups_ = false;
  bool is_check_ = false;
  Duration timeout_ = kPluginLimit;
  FleetOptions fleet_{.shows_progress = true};
  std::string format_;
};

void Grant::add_options(CommandOptions& options) {
  targets_.add_to(options, true);
  options.group("Rights");
  options.add("can", permissions_,
              {.value = "VERB/RESOURCE[.GROUP][@NAMESPACE]",
               .help = "What the user may do there; RESOURCE may have a /SUBRESOURCE"});
  options.add("cluster-role", cluster_role_,
              {.value = "NAME", .help = "Instead of --can: ClusterRole of the cluster to bind"});
  options.add("bind-groups", binds_groups_,
              {.help = "Bind the user's groups too, except those of system:"});
  options.group("Examination");
  options.add("check", is_check_,
              {.help = "Ask each cluster whether it is granted, and print no objects"});
  add_parallel_option(options, fleet_);
  add_timeout_option(options, timeout_,
                     "Time limit of the plugin, and of each step over the network");
  add_format_option(options, format_, {"yaml", "text", "json"});
  format_.clear();
  options.add_example("Print what one cluster must be told, so that the controller reads its Pods",
                      "execcred grant -m mapping.json -f profiles/ --name fleet/spoke-1 "
                      "--can get/pods --can list/pods");
  options.add_example("Explain it for every cluster, with a ClusterRole",
                      "execcred grant -m mapping.json -f profiles/ --cluster-role view -o text");
}

Result<grant::Rules> Grant::rules() const {
  if (permissions_.empty() == cluster_role_.empty()) {
    return Error::configuration(permissions_.empty() ? "neither --can nor --cluster-role is given"
                                                     : "--can and --cluster-role are both given",
                                kBothForms);
  }
  if (!cluster_role_.empty() && !is_role_name(cluster_role_)) {
    return Error::configuration(
        "--cluster-role: " + in_quotes(cluster_role_) + " is no name of a ClusterRole",
        "as in --cluster-role=view");
  }
  return grant::Rules{.permissions = TRY(doctor::parse_permissions(permissions_)),
                      .cluster_role = cluster_role_,
                      .binds_groups = binds_groups_};
}

NextCommand Grant::next(std::string_view command) const {
  NextCommand next(command);
  next.add(targets_).add(timeout_, fleet_).add_each("can", permissions_);
  return next;
}

Outcome Grant::check(std::vector<engine::Target> targets, const grant::Rules& rules,
                     Outcome outcome) {
  const doctor::ExaminationOptions options{
      .timeout = timeout_, .permissions = rules.permissions, .environment = Environment::copy()};
  const FleetItems<engine::Item> result = examine_all(std::move(targets), options, fleet_);
  const std::vector<engine::Item>& items = result.items;
  if (format_ == "json") {
    outcome.text = SecretString(doctor::write_json(items));
  } else if (format_ == "yaml") {
    outcome.text = SecretString(doctor::write_yaml(items));
  } else {
    NextCommand grant = next("grant");
    grant.add("cluster-role", cluster_role_);
    if (binds_groups_) grant.add_flag("bind-groups");
    const std::string lines = lines_for_refused(items, grant, targets_.name);
    outcome.text =
        SecretString(items.size() == 1 ? doctor::write_one(items.front(), false, {}, lines)
                                       : doctor::write_table(items, true, {}, lines));
  }
  int code = exit_code_of(items);
  const bool asks = !rules.permissions.empty();
  for (const engine::Item& item : items) {
    const bool is_refused = item.verdict() != engine::Verdict::fail && !is_granted(item, asks);
    if (is_refused) code = 1;
  }
  outcome.exit_code = worse(code, outcome.exit_code);
  conclude(result.end, outcome);
  return outcome;
}

Outcome Grant::print(std::vector<engine::Target> targets, const grant::Rules& rules,
                     Outcome outcome) {
  FleetItems<grant::Item> done = grants_of(std::move(targets), rules, timeout_, fleet_);
  const auto granted =
      std::count_if(done.items.begin(), done.items.end(),
                    [](const grant::Item& item) { return !item.readings.empty(); });
  const std::string doctor = granted == 0 ? std::string() : next("doctor").line();
  outcome.text = SecretString(format_ == "json"   ? write_json(done.items)
                              : format_ == "text" ? write_text(done.items) + doctor
                                                  : write_yaml(done.items));
  const bool is_yaml = format_ != "json" && format_ != "text";
  if (is_yaml) outcome.notes += doctor;
  if (granted > 1 && is_yaml) {
    outcome.notes += std::string(kProgram) + ": " + std::to_string(granted) +
                     " documents, each for its own cluster: --name=NAMESPACE/NAME prints one\n";
  }
  report(done.items, outcome);
  std::vector<engine::Item> examined;
  examined.reserve(done.items.size());
  for (grant::Item& item : done.items) examined.push_back(std::move(item.examined));
  outcome.exit_code = worse(exit_code_of(examined), outcome.exit_code);
  conclude(done.end, outcome);
  return outcome;
}

Result<Outcome> Grant::run() {
  const grant::Rules wanted = TRY(rules());
  TRY(targets_.source.check());
  if (is_check_) TRY(doctor::check_proxy(Environment::copy()));
  Outcome outcome;
  std::vector<engine::Target> targets = TRY(targets_.targets(outcome));
  // With no ClusterProfile that could be used, there is nothing to write.
  if (targets.empty() && outcome.exit_code != 0) return outcome;
  return is_check_ ? check(std::move(targets), wanted, std::move(outcome))
                   : print(std::move(targets), wanted, std::move(outcome));
}

}  // namespace

std::unique_ptr<Command> make_grant() { return std::make_unique<Grant>(); }

}  // namespace execcred::cli
