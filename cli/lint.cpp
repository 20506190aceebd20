// SPDX-License-Identifier: Apache-2.0
// execcred lint: reports every problem of mappings, ClusterProfiles, kubeconfigs and Kueue's
// configuration at once. Changes nothing and runs nothing.
#include "commands.hpp"

#include "catalogue.hpp"
#include "lint/choices.hpp"
#include "lint/documents.hpp"
#include "lint/files.hpp"
#include "lint/findings.hpp"
#include "lint/places.hpp"
#include "lint/remote_secrets.hpp"
#include "lint/sarif.hpp"
#include "list_text.hpp"
#include "next_command.hpp"

#include <execcred/base/try.hpp>
#include <execcred/hub/profiles.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/os/deadline.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace execcred::cli {
namespace {

// Pages are small, because the API's JSON of one Secret may have a megabyte and a half.
constexpr std::size_t kSecretsPage = 40;

// The hub's ClusterProfiles have a Run of their own, so that their names are not compared with
// those in files: a file may be the one that was applied to the hub.
Status check_profiles(HubClient& hub, const HubOptions& options, lint::Run& run,
                      std::size_t& objects) {
  lint::Run of_hub{.limits = run.limits};
  const ProfileQuery query = {.name_space = options.name_space(), .selector = options.selector()};
  deadline::enter_phase("reading ClusterProfiles from the hub");
  Status read = for_each_profile_of(hub, query, [&](const ListItem& item) -> Status {
    ++objects;
    const lint::Scope scope(of_hub, "hub: ClusterProfile " + full_name_of(item.object));
    if (item.problem) {
      scope.error({}, item.problem->message, item.problem->hint);
      return {};
    }
    const Result<json::ObjectReader> reader = json::ObjectReader::open(item.object, "");
    if (reader) {
      lint::check_cluster_profile(scope, *reader, lint::ProfileOf::list);
    } else {
      scope.add(lint::Severity::error, reader.error());
    }
    return {};
  });
  deadline::enter_phase(nullptr);
  std::move(of_hub.findings.begin(), of_hub.findings.end(), std::back_inserter(run.findings));
  std::move(of_hub.inputs.begin(), of_hub.inputs.end(), std::back_inserter(run.inputs));
  std::move(of_hub.providers.begin(), of_hub.providers.end(), std::back_inserter(run.providers));
  return read;
}

Status check_remote_secrets(HubClient& hub, const HubOptions& options, lint::Run& run,
                            std::size_t& objects) {
  deadline::enter_phase("reading Istio's remote Secrets from the hub");
  const HubResource resource{
      .version = "v1", .resource = "secrets", .name_space = options.name_space()};
  lint::RemoteSecrets secrets;
  const HubListQuery query = {.label_selector = std::string(lint::kIstioLabel) + "=true",
                              .page_size = kSecretsPage};
  const Result<std::string> listed = hub.list(resource, query, [&](ListItem item) -> Result<bool> {
    ++objects;
    if (item.problem) {
      lint::Scope(run, "hub: Secret " + full_name_of(item.object))
          .as(lint::rule::kHub)
          .warning({}, item.problem->message, item.problem->hint);
      return true;
    }
    secrets.add(TRY(take_secret(std::move(item.object), true)));
    return true;
  });
  Status read = listed ? Status() : listed.error();
  secrets.report(run);
  if (read || read.error().kind != Error::Kind::no_credential) return read;
  // A user that may read ClusterProfiles may lack the right to read Secrets.
  const lint::Scope scope = lint::Scope(run, "hub: Secrets").as(lint::rule::kHub);
  scope.warning({}, "were not searched for two of one Istio cluster: " + read.error().message,
                read.error().hint);
  return {};
}

Error nothing_to_do() {
  return Error::configuration(
      "no file is given", "name files or folders; - is standard input; --from-hub reads the hub");
}

Error nothing_found() {
  return Error{.kind = Error::Kind::configuration,
               .message = "the hub holds no ClusterProfile",
               .hint =
                   "--namespace and --selector say where on the hub to look; --allow-empty accepts "
                   "an empty hub"};
}

class Lint final : public Command {
 public:
  void add_options(CommandOptions& options) override;
  Result<Outcome> run() override;

 private:
  // Adds the number of checked objects to `objects`.
  Status check_hub(lint::Run& run, std::size_t& objects) const;

  std::string text_of(const std::vector<lint::Finding>& findings, const lint::Looked& looked) const;
  // `profiles`: the operands with ClusterProfiles. Empty if there is not one mapping with
  // ClusterProfiles of one source.
  std::string next_command(const lint::Run& run, const std::vector<std::string>& profiles) const;

  std::vector<std::string> operands_;
  HubOptions hub_;
  std::filesystem::path plugin_directory_;
  bool no_files_ = false;
  bool may_be_empty_ = false;
  std::string consumer_;
  std::string fail_on_;
  std::string output_;
  std::string color_;
};

void Lint::add_options(CommandOptions& options) {
  options.add_operands(operands_, {.usage = "FILE...", .takes = Takes::file});
  options.group("Input");
  options.add("plugin-dir", plugin_directory_,
              {.value = "DIR",
               .help = "Directory of this machine that stands for /plugins",
               .takes = Takes::directory});
  options.add("no-files", no_files_,
              {.help = "Check only the given files, not the programs that they name"});
  add_allow_empty_option(options, may_be_empty_);
  add_consumer_option(options, consumer_);
  hub_.add_to(options);
  add_format_option(options, output_, {"text", "json", "yaml", "name", "wide", "sarif"});
  add_choice_option(options, "fail-on", fail_on_,
                    {.value = "SEVERITY",
                     .help = "Lowest severity that makes the exit code 1",
                     .choices = {"error", "warning"}});
  add_color_option(options, color_);
  options.add_example("Check a mapping and a folder of ClusterProfiles together",
                      "execcred lint mapping.json profiles/");
  options.add_example("Check files whose programs are not on this machine",
                      "execcred lint --no-files -o json mapping.json");
}

Status Lint::check_hub(lint::Run& run, std::size_t& objects) const {
  HubClient hub = TRY(hub_.connect());
  TRY(check_profiles(hub, hub_, run, objects));
  return check_remote_secrets(hub, hub_, run, objects);
}

std::string Lint::text_of(const std::vector<lint::Finding>& findings,
                          const lint::Looked& looked) const {
  if (output_ == "json" || output_ == "yaml") {
    return document_text(lint::to_json(findings, looked), output_);
  }
  if (output_ == "sarif") return json::to_indented_text(lint::to_sarif(findings));
  if (output_ == "name") return lint::to_names(findings);
  const Paint paint = Paint::of(color_);
  return output_ == "wide" ? lint::to_table(findings, looked, paint)
                           : lint::to_text(findings, looked, paint);
}

std::string Lint::next_command(const lint::Run& run,
                               const std::vector<std::string>& profiles) const {
  const bool has_one_source = hub_.is_used() == profiles.empty();
  if (run.mapping_files.size() != 1 || !has_one_source) return {};
  const std::vector<std::string>& rights = catalogue().consumer(consumer_)->rights;
  NextCommand doctor("doctor");
  const std::string& mapping = run.mapping_files.front();
  doctor.add_mapping(mapping == lint::kStandardInput ? "-" : mapping)
      .add_profiles(profiles)
      .add(hub_);
  if (!rights.empty()) return doctor.add_each("can", rights).line();
  std::string line = doctor.add_each("can", catalogue().example_rights).line();
  if (line.empty()) return line;
  return "in the next command, --can is an example of what the controller may do in a cluster\n" +
         line;
}

Result<Outcome> Lint::run() {
  TRY(hub_.check());
  if (operands_.empty() && !hub_.is_used()) return nothing_to_do();
  lint::Run run;
  run.limits = {.looks_at_programs = !no_files_,
                .plugin_directory = plugin_directory_,
                .may_be_empty = may_be_empty_,
                .consumer = consumer_,
                .chooses = [this](const ProfileName& name) { return hub_.chooses(name); }};
  lint::Looked looked;
  std::set<std::string_view> operands;
  std::vector<std::string> profiles;
  for (const std::string& operand : operands_) {
    if (!operands.insert(operand).second) continue;
    const std::size_t before = run.places_of_profiles.size();
    looked.files += lint::check_operand(run, operand);
    if (run.places_of_profiles.size() > before) profiles.push_back(operand);
  }
  Outcome outcome;
  if (hub_.is_used()) {
    Status checked = check_hub(run, looked.objects);
    if (!checked && run.findings.empty()) return std::move(checked).error();
    if (!checked) outcome.problems.push_back(std::move(checked).error());
  }
  lint::check_choices(run);
  lint::place_late_findings(run);
  lint::sort_by_file(run.findings);
  looked.passed_over = run.passed_over;
  std::string text = text_of(run.findings, looked);
  const bool is_wrong =
      lint::count(run.findings, lint::Severity::error) > 0 ||
      (fail_on_ == "warning" && lint::count(run.findings, lint::Severity::warning) > 0);
  if (!outcome.problems.empty()) outcome.exit_code = exit_code(outcome.problems.front().kind);
  if (is_wrong) outcome.exit_code = 1;
  // Nothing could be checked.
  if (looked.files + looked.objects == run.unread && outcome.problems.empty() && !may_be_empty_) {
    if (!is_wrong) outcome.problems.push_back(nothing_found());
    outcome.exit_code = 2;
  }
  const bool is_for_people = output_ == "text" || output_ == "wide";
  if (is_for_people && outcome.exit_code == 0) {
    text += next_command(run, profiles);
  }
  outcome.text = SecretString(text);
  return outcome;
}

}  // namespace

std::unique_ptr<Command> make_lint() { return std::make_unique<Lint>(); }

}  // namespace execcred::cli
