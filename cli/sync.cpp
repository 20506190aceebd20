// SPDX-License-Identifier: Apache-2.0
// execcred sync: writes the credentials of an inventory's clusters to folders and Secrets, for
// programs that run no plugin, and renews them.
#include "commands.hpp"

#include "fleet.hpp"
#include "sync/contents.hpp"
#include "sync/driver.hpp"
#include "sync/feed.hpp"
#include "sync/folder_target.hpp"
#include "sync/journal.hpp"
#include "sync/listener.hpp"
#include "sync/names.hpp"
#include "sync/run_signals.hpp"
#include "sync/secret_target.hpp"

#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/hub/lease.hpp>
#include <execcred/os/process.hpp>
#include <execcred/os/process_setup.hpp>

#include <grp.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace execcred::cli {
namespace {

constexpr std::chrono::seconds kRequestTimeout(30);
// A request that begins while the lease is held must end before another process can hold it
// (lease.hpp).
constexpr std::chrono::seconds kTimeoutUnderLease(4);
// How long --once waits for the Lease: the duration of a Lease of client-go, and two attempts.
constexpr std::chrono::seconds kLeasePatience(24);
constexpr std::chrono::milliseconds kLeasePoll(200);

template <class Number>
std::optional<Number> parse_number(std::string_view text, int base = 10) {
  Number number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Result<std::optional<mode_t>> parse_file_mode(const std::string& text) {
  constexpr mode_t kAllowed = 0660;
  const std::optional<mode_t> mode = parse_number<mode_t>(text, 8);
  const bool is_mode = mode && (*mode & ~kAllowed) == 0 && (*mode & S_IRUSR) != 0;
  if (is_mode) return mode;
  return Error::configuration(
      in_quotes(text) + " is no mode of a credential's file",
      "write it in octal, such as 0600 or 0640: the owner may read, others may do nothing");
}

Result<std::vector<sync::SecretFormat>> parse_formats(const std::string& text) {
  std::vector<sync::SecretFormat> formats;
  for (const std::string_view name : split(text, ',')) {
    const sync::SecretFormat format = TRY(sync::parse_secret_format(name));
    if (std::find(formats.begin(), formats.end(), format) == formats.end()) {
      formats.push_back(format);
    }
  }
  return formats;
}

Result<sync::RenewalRules> parse_renewal(const std::string& text) {
  const std::optional<int> percent = parse_number<int>(text);
  if (percent && *percent >= 1 && *percent <= 99) {
    return sync::RenewalRules{.share = *percent / 100.0};
  }
  return Error::configuration(in_quotes(text) + " is no number from 1 to 99",
                              "it is the share of a credential's lifetime, in percent");
}

Result<std::string> parse_instance(const std::string& text) {
  if (!text.empty() && is_label_value(text)) return text;
  return Error::configuration(in_quotes(text) + " cannot be the value of a label",
                              "at most 63 letters, digits, '-', '_' and '.'");
}

Result<std::string> parse_secret_namespace(const std::string& text) {
  if (is_dns1123_label(text)) return text;
  return Error::configuration(in_quotes(text) + " cannot be the name of a namespace",
                              "it may be a namespace, or 'same' for that of each ClusterProfile");
}

Result<std::string> parse_lease(const std::string& text) {
  const std::size_t slash = text.find('/');
  const bool is_name = slash != std::string::npos && is_dns1123_label(text.substr(0, slash)) &&
                       is_dns1123_subdomain(text.substr(slash + 1));
  if (is_name) return text;
  return Error::configuration(in_quotes(text) + " is no name of a Lease",
                              "write it as NAMESPACE/NAME");
}

Result<gid_t> group_of(const std::string& name) {
  const std::optional<gid_t> number = parse_number<gid_t>(name);
  // chown() takes -1 for no change.
  if (number && *number != static_cast<gid_t>(-1)) return *number;
  const group* const found = getgrnam(name.c_str());
  if (found != nullptr) return found->gr_gid;
  return Error::configuration("--dir-group: there is no group " + in_quotes(name),
                              "write its name or its number");
}

std::uint64_t random_number() {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) == sizeof number) return number;
  return static_cast<std::uint64_t>(getpid());
}

// An identity for the Lease that is unique to this process.
std::string lease_identity() {
  std::array<char, 256> host = {};
  if (gethostname(host.data(), host.size() - 1) != 0) host.front() = '\0';
  return std::string(host.data()) + "_" + hex_digits(random_number());
}

class StopAtEnd {
 public:
  explicit StopAtEnd(const StopEvent& stop) : stop_(stop) {}
  StopAtEnd(const StopAtEnd&) = delete;
  StopAtEnd& operator=(const StopAtEnd&) = delete;
  ~StopAtEnd() { stop_.request(); }

 private:
  const StopEvent& stop_;
};

// Takes part in the election for the lease until it is destroyed, and then releases the lease. All
// writing must have ended before.
class Leader {
 public:
  static Result<std::unique_ptr<Leader>> start(Lease& lease, std::function<void()> on_change) {
    StopEvent end = TRY(StopEvent::make());
    lease.on_change(std::move(on_change));
    return std::unique_ptr<Leader>(new Leader(lease, std::move(end)));
  }
  Leader(const Leader&) = delete;
  Leader& operator=(const Leader&) = delete;
  ~Leader() {
    end_.request();
    thread_.join();
  }

 private:
  Leader(Lease& lease, StopEvent end)
      : end_(std::move(end)), thread_([&lease, this] { lease.run(end_); }) {}

  StopEvent end_;
  std::thread thread_;
};

// The folder and the Secrets that the options name.
class Targets {
 public:
  explicit Targets(sync::HubClients::Make connect)
      : connect_(connect), clients_(std::move(connect)) {}

  void add(std::unique_ptr<sync::FolderTarget> folder) { folder_ = std::move(folder); }
  void add(sync::SecretSettings settings, const sync::SecretNames& names,
           const std::vector<sync::SecretFormat>& formats) {
    secrets_ = std::make_unique<sync::SecretStore>(std::move(settings), clients_);
    for (const sync::SecretFormat format : formats) {
      forms_.push_back(std::make_unique<sync::SecretTarget>(*secrets_, names, format));
    }
  }

  std::vector<sync::Store*> stores() const {
    std::vector<sync::Store*> stores;
    if (folder_) stores.push_back(folder_.get());
    if (secrets_) stores.push_back(secrets_.get());
    return stores;
  }
  std::vector<sync::Target*> targets() const {
    std::vector<sync::Target*> targets;
    if (folder_) targets.push_back(folder_.get());
    for (const auto& form : forms_) targets.push_back(form.get());
    return targets;
  }

  Status watch(const StopEvent& stop) {
    if (!secrets_) return {};
    return secrets_->watch(TRY(connect_()), stop);
  }

 private:
  sync::HubClients::Make connect_;
  sync::HubClients clients_;
  std::unique_ptr<sync::FolderTarget> folder_;
  std::unique_ptr<sync::SecretStore> secrets_;
  std::vector<std::unique_ptr<sync::SecretTarget>> forms_;
};

class Sync final : public Command {
 public:
  void add_options(CommandOptions& options) override;
  Result<Outcome> run() override;
  Result<Outcome> refuse(Error error) override;

 private:
  void add_target_options(CommandOptions& options);
  void add_running_options(CommandOptions& options);
  Status check();
  bool asks_hub() const;
  Result<Outcome> synchronize(sync::Journal& journal);
  // Fails (unavailable) if another process holds the Lease.
  Status wait_for_lease(const Lease& lease, const StopEvent& stop) const;
  Result<Outcome> run_once(sync::Driver& driver) const;
  sync::DriverSettings driver_settings() const;
  Status add_targets(Targets& targets, sync::Journal& journal) const;
  Result<std::unique_ptr<sync::FolderTarget>> folder_target() const;
  Result<std::unique_ptr<sync::ProfileFeed>> feed(const StopEvent& stop) const;
  Result<std::unique_ptr<Lease>> lease(const StopEvent& stop) const;
  Result<HubClient> connect(const StopEvent& stop) const;

  std::string mapping_path_;
  ProfileSource source_;
  bool may_be_empty_ = false;

  std::string folder_;
  std::optional<mode_t> file_mode_;
  std::string folder_group_;
  std::vector<sync::SecretFormat> formats_;
  std::string secret_namespace_;
  std::optional<std::string> secret_name_;
  std::string instance_ = "default";
  bool prunes_ = true;

  bool is_once_ = false;
  bool is_dry_ = false;
  FleetOptions fleet_;
  sync::RenewalRules renewal_;
  std::string lease_;
  std::string listen_;
  std::string log_format_;
};

void Sync::add_options(CommandOptions& options) {
  add_mapping_option(options, mapping_path_);
  source_.add_to(options);
  add_allow_empty_option(options, may_be_empty_);
  add_target_options(options);
  add_running_options(options);
  options.add_example("Write a folder with a token file for each cluster, and renew what is due",
                      "execcred sync -m mapping.json -f profiles/ --to-dir=clusters --once");
  options.add_example("Show which of Argo CD's cluster Secrets would be written",
                      "execcred sync -m mapping.json --from-hub --to-secret=argocd "
                      "--secret-namespace=argocd --dry-run");
}

void Sync::add_target_options(CommandOptions& options) {
  options.group("Target");
  options.add("to-dir", folder_,
              {.value = "DIR",
               .help = "Write DIR/NAMESPACE/NAME/ for each cluster",
               .takes = Takes::directory});
  options.add_parsed("file-mode", file_mode_,
                     {.value = "MODE",
                      .help = "With --to-dir: mode of the files, such as 0640",
                      .default_text = "0600"},
                     parse_file_mode);
  options.add("dir-group", folder_group_,
              {.value = "GROUP", .help = "With --to-dir: group of the files and folders"});
  options.add_parsed("to-secret", formats_,
                     {.value = "FORMAT[,FORMAT]",
                      .help = "Formats of the Secrets to write in the hub",
                      .choices = {"kubeconfig", "cluster-api", "argocd", "istio", "token"}},
                     parse_formats);
  options.add_parsed("secret-namespace", secret_namespace_,
                     {.value = "NAMESPACE|same",
                      .help = "Namespace of the Secrets; same: that of each ClusterProfile"},
                     parse_secret_namespace);
  options.add_parsed("secret-name", secret_name_,
                     {.value = "TEMPLATE",
                      .help = "Names of the Secrets, with {name}, {namespace} and {format}",
                      .default_text = std::string(sync::SecretNames::kDefault)},
                     [](const std::string& text) -> Result<std::optional<std::string>> {
                       return std::optional(text);
                     });
  options.add_parsed("instance", instance_,
                     {.value = "NAME",
                      .help = "Change and remove only what is marked with this name",
                      .default_text = instance_},
                     parse_instance);
  options.add("prune", prunes_,
              {.help = "Remove targets of refused and (without -l) deleted ClusterProfiles",
               .default_text = "true"});
}

void Sync::add_running_options(CommandOptions& options) {
  options.group("Running");
  options.add("once", is_once_, {.help = "Write what is missing, changed or due, and exit"});
  options.add("dry-run", is_dry_, {.help = "Print what would change; run no plugin"});
  add_parallel_option(options, fleet_);
  options.add_parsed("renew-at", renewal_,
                     {.value = "PERCENT",
                      .help = "Renew after this share of a credential's lifetime",
                      .default_text = "two thirds"},
                     parse_renewal);
  options.add_parsed(
      "lease", lease_,
      {.value = "NAMESPACE/NAME", .help = "Write only while this process holds the Lease"},
      parse_lease);
  options.add(
      "listen", listen_,
      {.value = "[ADDRESS]:PORT", .help = "Serve /metrics, /healthz and /readyz over http"});
  add_choice_option(options, "log-format", log_format_,
                    {.value = "FORMAT", .help = "Format of the log", .choices = {"text", "json"}},
                    "log format");
}

bool Sync::asks_hub() const { return !formats_.empty() || !lease_.empty(); }

Status Sync::check() {
  TRY(source_.check(asks_hub()));
  if (folder_.empty() && formats_.empty()) {
    return Error::configuration(
        "neither --to-dir nor --to-secret is given",
        "--to-dir=DIR writes folders, --to-secret=FORMAT Secrets of the hub");
  }
  if (folder_.empty() && (file_mode_ || !folder_group_.empty())) {
    return Error::configuration("--file-mode and --dir-group are for --to-dir",
                                "Secrets have no modes: leave them out");
  }
  if (!formats_.empty() && secret_namespace_.empty()) {
    return Error::configuration("--to-secret is given without --secret-namespace",
                                "name a namespace, or 'same' for that of each ClusterProfile");
  }
  if (formats_.empty() && (!secret_namespace_.empty() || secret_name_)) {
    return Error::configuration("--secret-namespace and --secret-name are for --to-secret",
                                "leave them out, or say which format with --to-secret");
  }
  if (!listen_.empty()) TRY(sync::Listener::check(listen_));
  if (!listen_.empty() && (is_once_ || is_dry_)) {
    return Error::configuration("--listen is for a run without --once and --dry-run",
                                "a run that ends serves nothing: leave it out");
  }
  const std::vector<std::string>& paths = source_.paths();
  const bool reads_stream = std::find(paths.begin(), paths.end(), "-") != paths.end();
  if (reads_stream && !is_once_ && !is_dry_) {
    return Error::configuration("-f - is given without --once",
                                "standard input can be read only once");
  }
  return {};
}

sync::DriverSettings Sync::driver_settings() const {
  return {.mapping = mapping_path_,
          .name_space = source_.hub().name_space(),
          .rules = {.instance = instance_,
                    .parallel = fleet_.parallel,
                    .renewal = renewal_,
                    .prunes = prunes_,
                    .is_selection = !source_.hub().selector().empty(),
                    .may_be_empty = may_be_empty_,
                    .seed = random_number()},
          .environment = Environment::copy()};
}

Result<std::unique_ptr<sync::FolderTarget>> Sync::folder_target() const {
  sync::FolderSettings settings{.root = folder_,
                                .instance = instance_,
                                .file_mode = file_mode_.value_or(0600),
                                .removes_left_overs = !is_dry_};
  if (!folder_group_.empty()) settings.group = TRY(group_of(folder_group_));
  return sync::FolderTarget::open(std::move(settings));
}

Result<HubClient> Sync::connect(const StopEvent& stop) const {
  HubClient client = TRY(source_.hub().connect_for_long());
  client.stop_with(&stop);
  return client;
}

Result<std::unique_ptr<sync::ProfileFeed>> Sync::feed(const StopEvent& stop) const {
  if (!source_.hub().is_used()) return sync::file_feed(source_, mapping_path_);
  return sync::hub_feed(TRY(connect(stop)),
                        watch_profiles(source_.hub().name_space(), source_.hub().selector()));
}

Result<std::unique_ptr<Lease>> Sync::lease(const StopEvent& stop) const {
  const std::size_t slash = lease_.find('/');
  return Lease::make(TRY(connect(stop)), {.name_space = lease_.substr(0, slash),
                                          .name = lease_.substr(slash + 1),
                                          .identity = lease_identity()});
}

Status Sync::add_targets(Targets& targets, sync::Journal& journal) const {
  if (!folder_.empty()) targets.add(TRY(folder_target()));
  if (formats_.empty()) return {};
  const bool is_same = secret_namespace_ == "same";
  const sync::SecretNames names = TRY(sync::SecretNames::parse(secret_name_, formats_));
  targets.add({.instance = instance_,
               .name_space = is_same ? std::string() : secret_namespace_,
               .scanned = is_same ? source_.hub().name_space() : secret_namespace_,
               .timeout = lease_.empty() ? kRequestTimeout : kTimeoutUnderLease},
              names, formats_);
  if (is_same) {
    journal.write(
        sync::Level::warning,
        "everyone who can read Secrets in a ClusterProfile's namespace can read its credential",
        {{"hint",
          "--secret-namespace=same is given; name a namespace of its own to "
          "keep them apart"}});
  }
  return {};
}

Result<Outcome> Sync::synchronize(sync::Journal& journal) {
  TRY(check());
  // Ends what plugins leave running, when all threads below have ended.
  const OrphanGuard orphans;
  if (orphans.adopts()) reap_orphans();
  const StopEvent stop = TRY(StopEvent::make());
  Targets targets([this, &stop] { return connect(stop); });
  TRY(add_targets(targets, journal));
  const bool is_loop = !is_once_ && !is_dry_;
  std::unique_ptr<sync::ProfileFeed> profiles = TRY(feed(stop));
  const std::unique_ptr<Lease> turn = lease_.empty() || is_dry_ ? nullptr : TRY(lease(stop));
  sync::Driver driver(driver_settings(), {.stores = targets.stores(),
                                          .targets = targets.targets(),
                                          .feed = std::move(profiles),
                                          .journal = journal,
                                          .stop = stop,
                                          .lease = turn.get()});
  TRY(driver.read_mapping());
  const auto wake = [&driver] { driver.wake(); };
  // This is made before any thread is started, because every thread inherits the signal mask.
  const sync::RunSignals signals(stop, wake, is_loop);
  std::unique_ptr<sync::Listener> listener;
  // From here on, every return requests `stop`, which ends the threads of the objects above.
  const StopAtEnd end(stop);
  if (!is_loop) {
    // Only the inventory wakes a run with --once.
    const std::unique_ptr<Leader> leader = turn ? TRY(Leader::start(*turn, [] {})) : nullptr;
    if (turn) TRY(wait_for_lease(*turn, stop));
    Outcome outcome;
    if (!stop.is_requested()) outcome = TRY(run_once(driver));
    outcome.exit_code = signals.exit_code().value_or(outcome.exit_code);
    return outcome;
  }
  outlive_parent();
  if (!listen_.empty()) {
    listener = TRY(sync::Listener::open(
        listen_, [&driver] { return driver.figures(); }, stop));
    journal.write(sync::Level::info, "serves /metrics, /healthz and /readyz",
                  {{"address", listener->address()}});
  }
  TRY(targets.watch(stop));
  const std::unique_ptr<Leader> leader = turn ? TRY(Leader::start(*turn, wake)) : nullptr;
  TRY(driver.watch());
  TRY(driver.run());
  return Outcome{.exit_code = signals.exit_code().value_or(0)};
}

// Another process that holds the Lease and does not renew it may have been killed, so this one
// waits as long as one without --once does.
Status Sync::wait_for_lease(const Lease& lease, const StopEvent& stop) const {
  const auto end = std::chrono::steady_clock::now() + kLeasePatience;
  LeaseView view = lease.view();
  while (!view.is_held && !view.error && !view.is_renewed_by_another && !stop.is_requested()) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= end) break;
    view = lease.wait_for_change(view.generation, std::min(end, now + kLeasePoll));
  }
  if (view.is_held || stop.is_requested()) return {};
  const std::string doing = "waiting for the Lease " + in_quotes(lease_);
  if (view.error) return Status(*view.error).context(doing);
  return Status(Error::unavailable("another process holds the Lease: " + in_quotes(view.holder),
                                   "nothing was written; that process writes"))
      .context(doing);
}

Result<Outcome> Sync::run_once(sync::Driver& driver) const {
  TRY(driver.scan());
  if (source_.hub().is_used()) {
    TRY(driver.watch());
    driver.wait();
  }
  Outcome outcome;
  outcome.exit_code = driver.look();
  if (is_dry_) {
    outcome.text = SecretString(driver.plan(log_format_ == "json"));
    if (outcome.exit_code == 1) outcome.exit_code = 0;
  } else if (driver.is_usable()) {
    outcome.exit_code = sync::worse_exit_code(outcome.exit_code, driver.run_round());
  }
  return outcome;
}

Result<Outcome> Sync::run() {
  sync::Journal journal(log_format_ == "json");
  Result<Outcome> outcome = synchronize(journal);
  return outcome ? std::move(outcome) : refuse(std::move(outcome).error());
}

Result<Outcome> Sync::refuse(Error error) {
  if (log_format_ != "json") return error;
  sync::Journal(true).write(sync::Level::error, error);
  return Outcome{.exit_code = exit_code(error.kind)};
}

}  // namespace

std::unique_ptr<Command> make_sync() { return std::make_unique<Sync>(); }

}  // namespace execcred::cli
