// SPDX-License-Identifier: Apache-2.0
#include <execcred/exec/plugin_main.hpp>

#include <execcred/base/assert.hpp>
#include <execcred/base/cause.hpp>
#include <execcred/base/rfc3339.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/base/version.hpp>
#include <execcred/exec/access_rules.hpp>
#include <execcred/exec/inputs.hpp>
#include <execcred/exec/jwt.hpp>
#include <execcred/exec/profile_choice.hpp>
#include <execcred/exec/run_record.hpp>
#include <execcred/exec/settings.hpp>
#include <execcred/os/deadline.hpp>
#include <execcred/os/file.hpp>
#include <execcred/os/process_setup.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <optional>
#include <utility>

namespace execcred {
namespace {

constexpr std::size_t kMaxExecInfo = 128 * 1024;
constexpr Duration kShortestMaxAge = std::chrono::seconds(1);

Result<Duration> parse_max_age(const std::string& text) {
  const Duration max_age = TRY(parse_duration(text));
  if (max_age >= kShortestMaxAge) return max_age;
  return Error::configuration(in_quotes(text) + " is below 1s",
                              "clients would run the plugin for every request");
}

constexpr std::array<std::string_view, 2> kApiVersions = {"v1", "v1beta1"};
constexpr std::array<std::string_view, 2> kAudienceWords = {"server", "any"};

void add_rule_options(OptionSet& options, AccessRules& rules) {
  options.group("Access rules");
  options
      .add_parsed(
          "allow-server", rules.allow_server, "PATTERN",
          "Give credentials only for a matching spec.cluster.server",
          [](const std::string& text) { return UrlPattern::parse(text, UrlPattern::Use::server); })
      .example("https://*.example.com:6443")
      .limits_servers()
      .needs_cluster()
      .weakens("allows every address", {}, [](std::string_view pattern) {
        return pattern.find("/0]") != std::string_view::npos;
      });
  options
      .add_parsed(
          "allow-proxy", rules.allow_proxy, "PATTERN",
          "Allow a matching proxy-url, where proxies are refused",
          [](const std::string& text) { return UrlPattern::parse(text, UrlPattern::Use::proxy); })
      .only_with("allow-server")
      .no_environment();
  options
      .add("server-ca-file", rules.server_ca_file, "PATH",
           "Refuse a cluster CA with a certificate that this file lacks")
      .needs_cluster()
      .no_environment();
  options
      .add_parsed("allow-audience", rules.allow_audience, "PATTERN|server|any",
                  "Accept a matching audience from a ClusterProfile",
                  [](const std::string& text) { return AudiencePattern::parse(text); })
      .choices_besides_others(kAudienceWords)
      .weakens("lets a ClusterProfile choose the audience of a token", {},
               [](std::string_view pattern) { return pattern == "any"; });
}

// The subject of a JWT; empty for any other token.
std::string subject_of(const SecretString& token) {
  const Result<std::optional<UnverifiedClaims>> claims = unverified_claims(token);
  return claims && *claims ? (*claims)->subject : std::string();
}

// Removes the variable for the report, which is for this plugin only, and not for the programs that
// it runs.
Environment without_report(const Environment& environment) {
  std::vector<std::string> entries;
  for (const std::string& entry : environment.entries()) {
    if (!entry.starts_with(std::string(kReportVariable) + "=")) entries.push_back(entry);
  }
  return Environment(std::move(entries));
}

// One run of a plugin, from its arguments to the text for standard output.
class Run {
 public:
  Run(const PluginInfo& plugin, Provider& provider, Environment environment, RunRecord& record)
      : plugin_(plugin),
        provider_(provider),
        environment_(std::move(environment)),
        record_(record) {}

  Result<SecretString> answer(const std::vector<std::string>& arguments);

 private:
  Status read_arguments(const std::vector<std::string>& arguments);
  void open_log(const Status& environment);
  Result<SecretString> credential(const DebugLog& debug);
  Result<SecretString> show_config(const Status& environment, const DebugLog& debug);
  // Stores the document's text in `document`.
  Result<ExecInfo> exec_info(std::string& document, const DebugLog& debug) const;
  Result<std::string> read_exec_info() const;
  Status read_config(const ExecInfo& info, const DebugLog& debug);
  Status check_required(const ExecInfo& info) const;
  void add_settings(CredentialRequest& request) const;
  Status check_rules(const CredentialRequest& request) const;
  void warn_of_servers() const;
  Result<SecretString> ask_provider(const CredentialRequest& request, const DebugLog& debug);

  const PluginInfo& plugin_;
  Provider& provider_;
  Environment environment_;
  RunRecord& record_;
  SystemClock clock_;
  CommonOptions common_;
  OptionSet options_;
  Settings settings_{options_};
  std::chrono::steady_clock::time_point deadline_ = {};
};

Result<SecretString> Run::answer(const std::vector<std::string>& arguments) {
  provider_.add_options(options_);
  add_common_options(options_, common_);
  TRY(read_arguments(arguments));
  if (common_.help) {
    return SecretString(options_.help(std::string(plugin_.name) + " [OPTION]...", plugin_.summary,
                                      plugin_.examples));
  }
  if (common_.version) {
    return SecretString(std::string(plugin_.name) + " " + kVersion + "\n");
  }
  Status environment = settings_.read_environment(environment_);
  if (environment) environment = settings_.store();
  if (!common_.show_config) open_log(environment);
  if (!environment && !common_.show_config) return std::move(environment).error();
  record_.prepare(common_.timeout);
  deadline::start(plugin_.name, common_.timeout);
  deadline_ = std::chrono::steady_clock::now() + common_.timeout;
  const DebugLog debug(std::string(plugin_.name), common_.debug);
  if (common_.show_config) return show_config(environment, debug);
  TRY(settings_.check_uses());
  TRY(provider_.refusal(settings_, environment_));
  TRY(settings_.check_profile_arguments());
  return credential(debug);
}

// Before the boundary, a wrong argument is a fault of the mapping; behind it, of the
// ClusterProfile.
Status Run::read_arguments(const std::vector<std::string>& arguments) {
  Status read = settings_.read_arguments(arguments);
  if (read) read = settings_.store();
  if (read) return read;
  // This failure is logged too, if a flag or variable of the controller's side names the log.
  open_log(settings_.read_environment(environment_));
  if (settings_.is_behind_boundary()) return read;
  return std::move(read).cause(cause::kMappingInvalid);
}

// The run continues without a log: the client needs the credential.
void Run::open_log(const Status& environment) {
  const Setting& setting = settings_.get("log-file");
  if (!setting.is_from_controller()) return;
  const Status opened = record_.open_log(setting.texts.front());
  if (opened || !environment || !common_.debug) return;
  deadline::write_to_stderr(format_error(plugin_.name, opened.error(), "note"));
}

Result<SecretString> Run::credential(const DebugLog& debug) {
  CredentialRequest request;
  request.info = TRY(exec_info(request.document, debug));
  if (request.info.cluster) {
    // The same form as in messages, but without the quotes.
    std::string server = redacted_url(request.info.cluster->server);
    record_.set_server(server.substr(1, server.size() - 2));
    record_.prepare(common_.timeout);
  }
  TRY(read_config(request.info, debug));
  TRY(settings_.read_variables(environment_));
  TRY(settings_.store());
  add_settings(request);
  TRY(check_required(request.info).cause(cause::kMappingInvalid));
  deadline::enter_phase("checking the cluster");
  Result<SecretString> document = [&]() -> Result<SecretString> {
    TRY(check_rules(request));
    return ask_provider(request, debug);
  }();
  if (!request.info.cluster) return document;
  return std::move(document).context("getting a credential for " +
                                     redacted_url(request.info.cluster->server));
}

void Run::add_settings(CredentialRequest& request) const {
  request.plugin = plugin_.name;
  request.settings = &settings_;
  request.cluster_name = common_.cluster_name;
  request.rules = common_.rules;
  request.max_age = common_.max_age;
}

// A person who runs --show-config by hand sends no document.
Status Run::check_rules(const CredentialRequest& request) const {
  const ExecInfo& info = request.info;
  if (!common_.show_config || !request.document.empty()) {
    const Binding binding = provider_.binding(settings_);
    const bool is_named = binding.kind == Binding::Kind::named_server;
    if (binding.check_cluster != nullptr && info.cluster) {
      TRY(binding.check_cluster(*info.cluster));
    }
    TRY(check_cluster(common_.rules, info, is_named ? binding.text : ""));
  }
  TRY(check_audience_choice(options_, settings_, common_.rules, info));
  return check_choices(options_, settings_);
}

// Problems that would stop a run before it asks are printed. They do not stop --show-config, which
// helps to find them.
Result<SecretString> Run::show_config(const Status& environment, const DebugLog& debug) {
  bool is_sound = true;
  const auto check = [&](const auto& result) {
    if (result) return;
    is_sound = false;
    deadline::write_to_stderr(format_error(plugin_.name, result.error()));
  };
  check(environment);
  const Status used = settings_.check_uses();
  check(used);
  if (used) check(provider_.refusal(settings_, environment_));
  check(settings_.check_profile_arguments());
  CredentialRequest request;
  Result<ExecInfo> info = exec_info(request.document, debug);
  check(info);
  if (info) check(read_config(*info, debug));
  check(settings_.read_variables(environment_));
  if (common_.rules.allow_server.empty()) warn_of_servers();
  // Each call continues after the setting at which the previous one failed.
  for (Status stored = settings_.store(); !stored; stored = settings_.store()) check(stored);
  check(info ? check_required(*info) : settings_.check_required());
  add_settings(request);
  if (info) request.info = *std::move(info);
  if (is_sound) check(check_rules(request));
  // The plan asks nobody.
  if (is_sound && !request.document.empty()) {
    Inputs inputs(request, environment_);
    check(provider_.plan(settings_, inputs));
  }
  return SecretString(settings_.show());
}

void Run::warn_of_servers() const {
  const Binding binding = provider_.binding(settings_);
  if (!binding.warns_in_show_config) return;
  const Error warning = {
      .message = "--allow-server is not set, so any https server gets a token; " + binding.text,
      .hint = "add --allow-server=PATTERN for the intended servers"};
  deadline::write_to_stderr(format_error(plugin_.name, warning, "warning"));
}

// Without cluster information, the first remedy for a missing option that a ClusterProfile may set
// is that the client sends it.
Status Run::check_required(const ExecInfo& info) const {
  for (const Option& option : options_.all()) {
    if (!option.is_required) continue;
    Status given = settings_.check_given(option);
    if (given) continue;
    if (info.cluster || option.profile == Option::Profile::never) return given;
    return lacks_cluster_info(std::move(given).error());
  }
  return {};
}

Result<SecretString> Run::ask_provider(const CredentialRequest& request, const DebugLog& debug) {
  const CallContext run = {.clock = clock_,
                           .environment = environment_,
                           .debug = std::cref(debug),
                           .deadline = deadline_,
                           .notes = &record_.notes()};
  deadline::enter_phase("getting the credential");
  deadline::set_waiting_for_source(true);
  const TimePoint began = clock_.now();
  Credential credential = TRY(provider_.get_credential(request, run));
  // On a busy machine a credential of the cache can end before it is written. The next one is new,
  // unless it would cost a token that this run has sent already.
  const bool has_just_ended = credential.expires_at && *credential.expires_at > began &&
                              *credential.expires_at <= clock_.now();
  if (has_just_ended && !record_.notes().is_spent)
    credential = TRY(provider_.get_credential(request, run));
  deadline::set_waiting_for_source(false);
  if (record_.has_log() && record_.notes().identity.empty()) {
    record_.notes().identity = subject_of(credential.token);
  }
  const std::chrono::sys_seconds expiration = TRY(claimed_expiration(
      credential.expires_at, clock_.now(), common_.max_age, plugin_.is_cheap_to_ask));
  EXECCRED_ASSERT(!credential.expires_at ||
                  expiration <= std::chrono::ceil<std::chrono::seconds>(*credential.expires_at));
  debug("got " + std::string(credential.token.empty() ? "a client certificate" : "a bearer token") +
        ", claimed until " + format_rfc3339(expiration));
  return write_exec_credential(request.info.version, credential, expiration);
}

Result<std::string> Run::read_exec_info() const {
  if (common_.exec_info == "-") {
    return read_stream(STDIN_FILENO, kMaxExecInfo, "standard input");
  }
  return read_file(common_.exec_info, kMaxExecInfo);
}

Result<ExecInfo> Run::exec_info(std::string& document, const DebugLog& debug) const {
  deadline::enter_phase("reading the client's document");
  const std::string source = common_.exec_info.empty() ? "KUBERNETES_EXEC_INFO"
                             : common_.exec_info == "-"
                                 ? "--exec-info from standard input"
                                 : "--exec-info " + in_quotes(common_.exec_info);
  if (common_.exec_info.empty()) {
    document = environment_.get("KUBERNETES_EXEC_INFO").value_or("");
    if (document.empty()) return ExecInfo{.version = common_.api_version};
  } else {
    document = TRY(read_exec_info().context("reading " + source));
  }
  ExecInfo info =
      TRY(parse_exec_info(document, common_.api_version)
              .context("reading " + source)
              .hint("it must be an ExecCredential of client.authentication.k8s.io/v1 or v1beta1"));
  debug((info.cluster ? "asked for " + redacted_url(info.cluster->server) : std::string("asked")) +
        " in " + std::string(full_name(info.version)) +
        (info.cluster ? "" : ", without cluster information"));
  return info;
}

Status Run::read_config(const ExecInfo& info, const DebugLog& debug) {
  if (!info.cluster) return {};
  Status status = settings_.read_config(info.cluster->config);
  for (const std::string& message : settings_.ignored()) debug(message);
  return status;
}

// Some clients read standard error and standard output from one pipe, as one document.
bool has_one_output() {
  struct stat out = {};
  struct stat error = {};
  return fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &error) == 0 &&
         out.st_dev == error.st_dev && out.st_ino == error.st_ino && !S_ISCHR(out.st_mode);
}

void warn(std::string_view program, const RunNotes& notes) {
  if (notes.warning.empty() || has_one_output()) return;
  deadline::write_to_stderr(format_error(program, Error{.message = notes.warning}, "warning"));
}

int fail(std::string_view program, const Error& error) {
  deadline::write_to_stderr(format_error(program, error));
  return exit_code(error.kind);
}

Error internal_error() {
  return Error::internal("internal error", "please report it, with the output of --debug");
}

int run(const PluginInfo& plugin, Provider& provider, int argc, char** argv) {
  const Status ready = set_up_process();
  if (!ready) return fail(plugin.name, ready.error());
  end_without_memory(plugin.name);
  Environment environment = Environment::take();
  RunRecord record(plugin.name);
  if (const auto descriptor = environment.get(kReportVariable)) {
    record.take_report(*descriptor);
    environment = without_report(environment);
  }
  Run run(plugin, provider, std::move(environment), record);
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  // An exception is logged as well.
  const Result<SecretString> document = [&]() -> Result<SecretString> {
    try {
      return run.answer(arguments);
    } catch (...) {
      return internal_error();
    }
  }();
  if (!document) {
    // A time-out from here on would report a second error.
    deadline::stop();
    record.end(exit_code(document.error().kind), &document.error());
    return fail(plugin.name, document.error());
  }
  warn(plugin.name, record.notes());
  deadline::enter_phase("writing to standard output");
  const Status written = write_to_stdout(document->reveal());
  deadline::stop();
  record.end(written ? 0 : exit_code(written.error().kind), written ? nullptr : &written.error());
  return written ? 0 : fail(plugin.name, written.error());
}

}  // namespace

void add_common_options(OptionSet& options, CommonOptions& common) {
  options.not_identity("it belongs to the run, and not to the credential");
  options.group(kCommonGroup);
  options
      .add("exec-info", common.exec_info, "PATH|-",
           "Read the client's ExecCredential from a file, or standard input")
      .no_environment();
  options
      .add_parsed("api-version", common.api_version, "VERSION",
                  "v1 or v1beta1, where the client names none",
                  [](const std::string& text) { return parse_api_version(text); })
      .choices_besides_others(kApiVersions)
      .default_text("v1");
  options
      .add_parsed("timeout", common.timeout, "DURATION", "Time limit of the whole run, at most 60s",
                  parse_timeout)
      .default_text(format_duration(common.timeout));
  options
      .add_parsed("max-age", common.max_age, "DURATION",
                  "Longest lifetime if read from a file or Secret, or without an end",
                  parse_max_age)
      .default_text(format_duration(common.max_age));
  add_rule_options(options, common.rules);
  options.group(kCommonGroup);
  OptionBuilder cluster =
      options.add("cluster", common.cluster_name, "NAME", "The cluster's name, for templates")
          .names_cluster();
  if (options.reads_cluster_name()) {
    cluster.from_profile(Option::Profile::config, {"clusterName"}).form(kSubdomainForm);
  }
  options
      .add(kBoundaryFlag, common.from_profile,
           "Boundary: arguments after it come from a ClusterProfile")
      .no_environment();
  options.add("show-config", common.show_config, "Print every setting and where it came from")
      .no_environment();
  options.add("debug", common.debug, "Report each step on standard error");
  options.add("log-file", common.log_file, "PATH",
              "Append a line of JSON about each run to this file; never a secret");
  options.add("version", common.version, "Print name and version").no_environment();
  options.add("help", common.help, "Print this help").short_name('h').no_environment();
}

int plugin_main(const PluginDefinition& plugin, int argc, char** argv) {
  try {
    const std::unique_ptr<Provider> provider = plugin.make();
    return run(plugin.info, *provider, argc, argv);
  } catch (...) {
    return fail(plugin.info.name, internal_error());
  }
}

}  // namespace execcred
