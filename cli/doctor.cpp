// SPDX-License-Identifier: Apache-2.0
// execcred doctor: examines every step of a controller's request, for one cluster or for all, and
// names the first cause of a failure. Changes nothing.
#include "commands.hpp"

#include "access_options.hpp"
#include "bundle.hpp"
#include "catalogue.hpp"
#include "doctor/examination.hpp"
#include "doctor/kubeconfig_targets.hpp"
#include "doctor/log_report.hpp"
#include "doctor/output.hpp"
#include "next_command.hpp"

#include <execcred/base/environment.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/engine/get_credential.hpp>
#include <execcred/os/file_write.hpp>
#include <execcred/os/signal_block.hpp>

#include <sys/stat.h>

#include <charconv>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace execcred::cli {
namespace {

// Parses a Go duration, or a number of days: "30d". Fails (configuration) for another text, and for
// a negative duration.
Result<Duration> parse_days(const std::string& text) {
  constexpr std::int64_t kMostDays = 36'500;
  std::int64_t days = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), days);
  const bool is_days =
      problem == std::errc() && end + 1 == text.data() + text.size() && *end == 'd';
  if (is_days && days >= 0 && days <= kMostDays) return Duration(std::chrono::hours(24 * days));
  if (is_days)
    return Error::configuration(in_quotes(text) + " is no number of days from 0 to 36500");
  const Result<Duration> duration = parse_duration(text);
  if (!duration) {
    return Error::configuration(duration.error().message, "write it as 30d, 12h or 90m");
  }
  if (*duration >= Duration::zero()) return *duration;
  return Error::configuration(in_quotes(text) + " is negative");
}

// Begins the file of the option. nullopt: none is asked for.
Result<std::optional<NewFile>> begin_file(const std::string& path, const std::string& option) {
  std::optional<NewFile> file;
  if (!path.empty() && path != "-") {
    file.emplace(TRY(NewFile::create(path).context("writing " + option)));
  }
  return file;
}

class Doctor final : public Command {
 public:
  void add_options(CommandOptions& options) override;
  Result<Outcome> run() override;

 private:
  Status check() const;
  std::string beside_log() const;
  Result<std::vector<engine::Target>> targets(Outcome& outcome,
                                              std::vector<ClusterProfile>& profiles) const;
  void add_input_options(CommandOptions& options);
  void add_examination_options(CommandOptions& options);
  void add_log_options(CommandOptions& options);
  Result<doctor::ExaminationOptions> examination_options() const;
  Result<Outcome> read_log() const;
  std::string text_of(const std::vector<engine::Item>& items) const;
  std::string next_commands(const std::vector<engine::Item>& items) const;
  static Status give_out(const std::string& text, std::optional<NewFile> file, Outcome& outcome);

  AccessOptions targets_;
  bool all_contexts_ = false;
  Duration timeout_ = kPluginLimit;
  FleetOptions fleet_{.shows_progress = true};
  std::vector<std::string> permissions_;
  std::string authentication_config_;
  bool no_request_ = false;
  Duration warn_before_ = std::chrono::hours(24 * 30);
  bool is_debug_ = false;
  std::string format_;
  std::string color_;
  std::string output_file_;
  std::string bundle_;
  std::string log_;
  std::optional<Duration> since_;
};

void Doctor::add_options(CommandOptions& options) {
  add_input_options(options);
  add_examination_options(options);
  add_log_options(options);
  options.add_example("Find out why one cluster does not work",
                      "execcred doctor -m mapping.json -f profiles/ --name fleet/spoke-1");
  options.add_example("Examine the whole inventory of the hub, and write metrics",
                      "execcred doctor -m mapping.json --from-hub -o prometheus "
                      "--output-file=execcred.prom");
}

void Doctor::add_input_options(CommandOptions& options) {
  targets_.add_to(options, false);
  options.add("all-contexts", all_contexts_,
              {.help = "Without -m: examine every context of the kubeconfig"});
}

void Doctor::add_examination_options(CommandOptions& options) {
  options.group("Examination");
  add_parallel_option(options, fleet_);
  add_timeout_option(options, timeout_,
                     "Time limit of the plugin, and of each step over the network");
  options.add("can", permissions_,
              {.value = "VERB/RESOURCE[.GROUP][@NAMESPACE]",
               .help = "Ask whether the credential's user may do this"});
  options.add("authentication-config", authentication_config_,
              {.value = "PATH",
               .help = "The API server's AuthenticationConfiguration, to compare tokens with",
               .takes = Takes::file});
  options.add("no-request", no_request_, {.help = "Make no HTTP request"});
  options.add_parsed("warn-before", warn_before_,
                     {.value = "DURATION",
                      .help = "Warn of credentials that end within this time and are not renewed",
                      .default_text = "30d"},
                     parse_days);
  add_format_option(options, format_,
                    {"text", "json", "prometheus", "html", "yaml", "name", "wide"});
  add_color_option(options, color_);
  options.add("output-file", output_file_,
              {.value = "PATH",
               .help = "File to replace; - is standard output, the default",
               .takes = Takes::new_file});
  options.add("bundle", bundle_,
              {.value = "FILE.tar.gz",
               .help = "Also write an archive for a bug report, without secrets",
               .takes = Takes::new_file});
  options.add(
      "debug", is_debug_,
      {.help = "Show the requests and replies, without secrets", .variable = "EXECCRED_DEBUG"});
}

void Doctor::add_log_options(CommandOptions& options) {
  options.group("Log");
  options.add("log", log_,
              {.value = "PATH",
               .help = "Show the runs in the plugins' --log-file, and examine nothing",
               .takes = Takes::file});
  options.add_parsed(
      "since", since_,
      {.value = "DURATION", .help = "With --log: only runs that are not older than this"},
      [](const std::string& text) -> Result<std::optional<Duration>> {
        const Duration duration = TRY(parse_days(text));
        return std::optional(duration);
      });
}

// The first option that is for an examination, and so must not be given with --log; empty if there
// is none. An option with its default value counts as absent.
std::string Doctor::beside_log() const {
  const Doctor usual;
  if (!targets_.mapping_path.empty() || !targets_.source.is_unused() || all_contexts_) {
    return "-m, -f, --from-hub, --kubeconfig, --namespace and --selector";
  }
  if (!targets_.name.empty()) return "--name";
  if (!targets_.provider.empty()) return "--provider";
  if (!permissions_.empty()) return "--can";
  if (no_request_) return "--no-request";
  if (!authentication_config_.empty()) return "--authentication-config";
  if (targets_.may_be_empty) return "--allow-empty";
  if (!bundle_.empty()) return "--bundle";
  if (fleet_.parallel != usual.fleet_.parallel) return "--parallel";
  if (timeout_ != usual.timeout_) return "--timeout";
  return warn_before_ == usual.warn_before_ ? std::string() : "--warn-before";
}

Status Doctor::check() const {
  if (!log_.empty()) {
    if (const std::string stray = beside_log(); !stray.empty()) {
      return Error::configuration("--log stands alone: it examines no cluster",
                                  "leave out " + stray);
    }
    if (format_ == "text" || format_ == "json") return {};
    return Error::configuration("-o " + format_ + " is not for --log", "it may be text or json");
  }
  if (since_) return Error::configuration("--since is given without --log");
  if (bundle_ == "-") {
    return Error::configuration("--bundle is written to a file, not to standard output",
                                "name it: --bundle=execcred.tar.gz");
  }
  if (!targets_.mapping_path.empty()) {
    if (all_contexts_)
      return Error::configuration("--all-contexts is given with -m", "it is for a kubeconfig");
    return targets_.source.check();
  }
  if (!targets_.source.has_kubeconfig_alone()) {
    return Error::configuration(
        "neither -m with ClusterProfiles nor --kubeconfig alone is given",
        "-m=MAPPING -f=PROFILES examines ClusterProfiles, --kubeconfig=PATH a kubeconfig");
  }
  if (!targets_.name.empty() || !targets_.provider.empty() || targets_.may_be_empty) {
    return Error::configuration("--name, --provider and --allow-empty are for ClusterProfiles",
                                "--context=NAME chooses a context of the kubeconfig");
  }
  if (all_contexts_ && !targets_.source.context().empty()) {
    return Error::configuration("--context and --all-contexts are both given");
  }
  return {};
}

// Adds the ClusterProfiles to `profiles` if there will be an archive.
Result<std::vector<engine::Target>> Doctor::targets(Outcome& outcome,
                                                    std::vector<ClusterProfile>& profiles) const {
  if (!targets_.mapping_path.empty()) {
    return targets_.targets(outcome, bundle_.empty() ? nullptr : &profiles);
  }
  return doctor::targets_of_kubeconfig({.path = targets_.source.kubeconfig(),
                                        .context = targets_.source.context(),
                                        .all_contexts = all_contexts_});
}

Result<doctor::ExaminationOptions> Doctor::examination_options() const {
  doctor::ExaminationOptions options{.timeout = timeout_,
                                     .warn_before = warn_before_,
                                     .no_request = no_request_,
                                     .environment = Environment::copy()};
  TRY(doctor::check_proxy(options.environment));
  options.permissions = TRY(doctor::parse_permissions(permissions_));
  if (!authentication_config_.empty()) {
    options.config = TRY(doctor::AuthenticationConfig::load(authentication_config_));
  }
  return options;
}

std::string Doctor::text_of(const std::vector<engine::Item>& items) const {
  if (format_ == "json") return doctor::write_json(items);
  if (format_ == "yaml") return doctor::write_yaml(items);
  if (format_ == "prometheus") return doctor::write_prometheus(items);
  if (format_ == "html") return doctor::write_html(items, SystemClock().now());
  if (format_ == "name") return doctor::write_names(items);
  // With --color=auto, a file has no colours.
  const bool is_for_file = !output_file_.empty() && output_file_ != "-";
  const Paint paint = Paint::of(is_for_file && color_ == "auto" ? "never" : color_);
  const std::string next = next_commands(items);
  if (format_ == "wide") return doctor::write_table(items, true, paint, next);
  if (items.size() == 1) return doctor::write_one(items.front(), is_debug_, paint, next);
  return items.empty() ? std::string() : doctor::write_table(items, false, paint, next);
}

std::string Doctor::next_commands(const std::vector<engine::Item>& items) const {
  if (targets_.mapping_path.empty()) return {};
  NextCommand grant("grant");
  // grant needs a right.
  grant.add(targets_)
      .add(timeout_, fleet_)
      .add_each("can", permissions_.empty() ? catalogue().example_rights : permissions_);
  return lines_for_refused(items, grant, targets_.name);
}

// Writes the text to the file, or else to standard output.
Status Doctor::give_out(const std::string& text, std::optional<NewFile> file, Outcome& outcome) {
  if (!file) {
    outcome.text = SecretString(text);
    return {};
  }
  constexpr mode_t kMode = S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH;
  const SignalBlock held(SignalBlock::Signals::ending);
  TRY(file->fill(text, kMode).context("writing --output-file"));
  return file->take_place().context("writing --output-file");
}

Result<Outcome> Doctor::read_log() const {
  std::optional<TimePoint> since;
  if (since_) since = SystemClock().now() - *since_;
  const std::vector<doctor::LoggedCluster> clusters = TRY(doctor::read_log(log_, since));
  std::optional<NewFile> file = TRY(begin_file(output_file_, "--output-file"));
  Outcome outcome;
  TRY(give_out(format_ == "json" ? write_log_json(clusters) : write_log_text(clusters),
               std::move(file), outcome));
  return outcome;
}

Result<Outcome> Doctor::run() {
  TRY(check());
  if (!log_.empty()) return read_log();
  const doctor::ExaminationOptions examination = TRY(examination_options());
  Outcome outcome;
  std::vector<ClusterProfile> profiles;
  std::vector<engine::Target> found = TRY(targets(outcome, profiles));
  // With nothing to examine and no document that could be used, there is nothing to write.
  if (found.empty() && outcome.exit_code != 0) return outcome;
  // The files are begun before the examination, which may take minutes.
  std::optional<NewFile> output = TRY(begin_file(output_file_, "--output-file"));
  std::optional<NewFile> bundle = TRY(begin_file(bundle_, "--bundle"));
  FleetItems<engine::Item> result = examine_all(std::move(found), examination, fleet_);
  const bool is_cut = result.end.signal != 0;
  // The metrics of an interrupted run are not written, because they would be incomplete.
  const bool is_withheld = is_cut && format_ == "prometheus";
  const int code = exit_code_of(result.items);
  outcome.exit_code = code == 1 || outcome.exit_code == 0 ? code : outcome.exit_code;
  // What was found is not lost if a file cannot be written, because the disk is full.
  const auto is_done = [&outcome](Status written) {
    if (written) return true;
    outcome.exit_code = exit_code(written.error().kind);
    outcome.problems.push_back(std::move(written.error()));
    return false;
  };
  if (!is_withheld) {
    const std::string text = text_of(result.items);
    if (!is_done(give_out(text, std::move(output), outcome))) outcome.text = SecretString(text);
  }
  if (is_debug_ && !(format_ == "text" && result.items.size() == 1)) {
    for (const engine::Item& item : result.items) {
      for (const std::string& line : item.exchange) {
        outcome.notes +=
            std::string(kProgram) + ": debug: " + printable(item.full_name()) + ": " + line + "\n";
      }
    }
  }
  if (bundle && is_done(write_bundle(*bundle, {.mapping_path = targets_.mapping_path,
                                               .profile_paths = targets_.source.paths(),
                                               .profiles = std::move(profiles),
                                               .items = &result.items,
                                               .environment = examination.environment,
                                               .limit = timeout_}))) {
    outcome.notes += std::string(kProgram) + ": " + in_quotes(bundle_) + " is written\n";
  }
  conclude(result.end, outcome);
  return outcome;
}

}  // namespace

std::unique_ptr<Command> make_doctor() { return std::make_unique<Doctor>(); }

}  // namespace execcred::cli
