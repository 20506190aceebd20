// SPDX-License-Identifier: Apache-2.0
// execcred get: runs the plugin of one ClusterProfile, as a controller would, and prints the
// credential. The plugin's standard error is shown. With --all, or with several names, runs the
// plugins of all these ClusterProfiles, and prints the results.
#include "commands.hpp"

#include "access_options.hpp"
#include "declared_options.hpp"
#include "fleet.hpp"
#include "get_fleet.hpp"
#include "plugin_output.hpp"

#include <execcred/base/rfc3339.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/engine/get_credential.hpp>
#include <execcred/exec/provider.hpp>
#include <execcred/os/deadline.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

namespace execcred::cli {
namespace {

using std::chrono::sys_seconds;

constexpr std::array<std::string_view, 4> kFormats = {"exec-credential", "token", "header", "json"};
constexpr std::array<std::string_view, 5> kFleetFormats = {"text", "json", "yaml", "name", "wide"};

std::optional<sys_seconds> expiration(const Credential& credential) {
  if (!credential.expires_at) return std::nullopt;
  return std::chrono::floor<std::chrono::seconds>(*credential.expires_at);
}

void append_member(SecretString& out, std::string_view name, std::string_view text) {
  if (text.empty()) return;
  std::string member;
  member.reserve(2 * (name.size() + text.size()) + 8);
  member += out.reveal().ends_with('{') ? "\n  " : ",\n  ";
  json::write_string(name, member);
  member += ": ";
  json::write_string(text, member);
  out.append(member);
  wipe(member);
}

SecretString write_json(const Access& access, const Credential& credential) {
  SecretString out("{");
  append_member(out, "clusterProfile", access.cluster_profile);
  append_member(out, "provider", access.provider);
  append_member(out, "server", access.cluster.server);
  if (const std::optional<sys_seconds> time = expiration(credential)) {
    append_member(out, "expirationTimestamp", format_rfc3339(*time));
  }
  append_member(out, "token", credential.token.reveal());
  append_member(out, "clientCertificateData", credential.client_certificate);
  append_member(out, "clientKeyData", credential.client_key.reveal());
  out.append("\n}\n");
  return out;
}

Result<SecretString> write_token(std::string_view lead, const Credential& credential) {
  if (credential.token.empty()) {
    return Error::no_credential("the credential is a client certificate, not a token",
                                "use -o exec-credential or -o json");
  }
  SecretString out(lead);
  out.append(credential.token.reveal());
  out.append("\n");
  return out;
}

class Get final : public Command {
 public:
  void add_options(CommandOptions& options) override;
  Result<Outcome> run() override;

 private:
  Result<Credential> run_plugin(const Access& access) const;
  Result<SecretString> credential_text(const ProviderMapping& mapping,
                                       const ClusterProfile& profile) const;

  // Whether --all or several names are given.
  bool is_for_fleet() const { return is_for_all_ || access_.has_several_names(); }
  Status check();
  Result<Outcome> get_one() const;
  Result<Outcome> get_every() const;

  AccessOptions access_;
  bool is_for_all_ = false;
  FleetOptions fleet_{.shows_progress = true};
  Duration timeout_ = kPluginLimit;
  bool debug_ = false;
  std::string output_;
  std::string color_;
};

void Get::add_options(CommandOptions& options) {
  access_.add_to(options);
  options.group("Plugin");
  options.add("all", is_for_all_,
              {.help = "Run the plugins of all ClusterProfiles, and print a table"});
  add_parallel_option(options, fleet_);
  add_timeout_option(options, timeout_, "Time limit of the plugin, at most 60s");
  add_format_option(options, output_,
                    {"exec-credential", "token", "header", "json", "text", "yaml", "name", "wide"});
  output_.clear();
  add_color_option(options, color_);
  options.add("debug", debug_,
              {.help = "Report each step on standard error, and those of the plugin",
               .variable = "EXECCRED_DEBUG"});
  options.add_example("Print the credential of one cluster of many, as a header for curl -H @-",
                      "execcred get -m mapping.json -f profiles/ --name fleet/spoke-1 -o header");
  options.add_example("See for which clusters there is a credential, and until when",
                      "execcred get -m mapping.json -f profiles/ --all");
}

Result<Credential> Get::run_plugin(const Access& access) const {
  const DebugLog debug{std::string(kProgram), debug_};
  const std::string program = in_quotes(access.exec.command);
  debug("ClusterProfile " + access.cluster_profile + ", provider " + in_quotes(access.provider) +
        " of " + access.source + ", for " + redacted_url(access.cluster.server));
  debug("running " + program + " with " + std::to_string(access.exec.args.size()) + " arguments, " +
        (access.exec.provide_cluster_info ? "" : "no ") + "cluster information, for at most " +
        format_duration(timeout_));
  std::vector<std::string> variables = Environment::copy().entries();
  // Other plugins may not know this variable.
  if (debug_ && is_plugin_of_ours(access.exec.command)) variables.emplace_back("EXECCRED_DEBUG=1");
  PluginOutput output;
  const auto start = std::chrono::steady_clock::now();
  Result<Credential> credential = get_credential(
      access, Environment(std::move(variables)),
      PluginRun{.limit = timeout_,
                .on_error_output = [&output](std::string_view text) { output.take(text); },
                .on_end =
                    [&](int exit_code, int signal) {
                      const auto elapsed = std::chrono::round<std::chrono::milliseconds>(
                          std::chrono::steady_clock::now() - start);
                      output.end(signal == 0 && exit_code != 0);
                      debug(program + " ended with " +
                            (signal == 0 ? "exit code " + std::to_string(exit_code)
                                         : "signal " + std::to_string(signal)) +
                            " after " + format_duration(elapsed));
                    },
                .ends_with_signals = true});
  output.end(false);
  if (credential) {
    debug("got " +
          std::string(credential->token.empty() ? "a client certificate" : "a bearer token") +
          (credential->expires_at ? ", until " + format_rfc3339(*expiration(*credential))
                                  : ", without an end"));
  }
  return credential;
}

Result<SecretString> Get::credential_text(const ProviderMapping& mapping,
                                          const ClusterProfile& profile) const {
  const Access access = TRY(resolve_access(mapping, profile, access_.provider));
  const Credential credential = TRY(run_plugin(access));
  if (output_ == "token") return write_token("", credential);
  if (output_ == "header") return write_token("Authorization: Bearer ", credential);
  if (output_ == "json") return write_json(access, credential);
  return write_exec_credential(access.exec.api_version, credential, expiration(credential));
}

Status Get::check() {
  using Formats = std::span<const std::string_view>;
  const Formats formats = is_for_fleet() ? Formats(kFleetFormats) : Formats(kFormats);
  if (!is_for_fleet() && fleet_.parallel != FleetOptions().parallel) {
    return Error::configuration("--parallel is given for one cluster",
                                "it is for several clusters, as with --all");
  }
  if (output_.empty()) output_ = formats.front();
  if (std::find(formats.begin(), formats.end(), output_) != formats.end()) return {};
  const auto list = [](Formats words) { return join({words.begin(), words.end()}, ", "); };
  return Error::configuration(
      "--output: " + in_quotes(output_) + " is no output format " +
          (is_for_all_      ? "of --all, which shows no credential"
           : is_for_fleet() ? "of several clusters, which shows no credential"
                            : "of a credential"),
      is_for_fleet() ? "it may be " + list(kFleetFormats)
                     : "it may be " + list(kFormats) + "; with --all, " + list(kFleetFormats));
}

Result<Outcome> Get::get_one() const {
  const ProviderMapping mapping = TRY(access_.mapping());
  Outcome outcome{.needs_reader = true};
  const std::optional<ClusterProfile> profile = TRY(access_.one_profile(outcome));
  // The time limit for reading the hub does not apply to the plugin, which has --timeout.
  deadline::stop();
  if (!profile) {
    // Of JSON, one document is promised, and the credential's is an object.
    if (outcome.exit_code == 0 && output_ == "json") outcome.text = SecretString("{}\n");
    return outcome;
  }
  Result<SecretString> text = credential_text(mapping, *profile);
  if (text) {
    outcome.text = std::move(text).value();
  } else {
    outcome.exit_code = exit_code(text.error().kind);
    outcome.problems.push_back(std::move(text).error());
  }
  return outcome;
}

Result<Outcome> Get::get_every() const {
  const engine::Mapping mapping = TRY(access_.mapping_with_problems());
  std::vector<FleetTarget> targets;
  bool is_any_chosen = false;
  Outcome outcome;
  TRY(access_.for_each_profile(
      [&](const ClusterProfile& profile) -> Status {
        targets.push_back(fleet_target(mapping, profile, access_.provider));
        is_any_chosen = is_any_chosen || !targets.back().is_skipped();
        return {};
      },
      outcome));
  // The time limit for reading the hub does not apply to the plugins.
  deadline::stop();
  if (!targets.empty() && !is_any_chosen) {
    outcome.exit_code = 2;
    outcome.problems.push_back(
        {.kind = Error::Kind::configuration,
         .message =
             access_.source.title() + " holds no ClusterProfile with a provider of the mapping",
         .hint = "execcred resolve shows what each ClusterProfile lists"});
  }
  const bool is_nothing_left = targets.empty() && outcome.exit_code != 0;
  if (outcome.exit_code == 2 || is_nothing_left) return outcome;
  FleetItems<FleetItem> done = get_all(std::move(targets), timeout_, fleet_);
  outcome.text = SecretString(fleet_text(done.items, output_, Paint::of(color_)));
  const DebugLog debug{std::string(kProgram), debug_};
  for (const FleetItem& item : done.items) {
    debug(item.full_name() + ": " + in_quotes(item.command) + " took " +
          format_duration(std::chrono::round<std::chrono::milliseconds>(item.duration)));
    if (item.result == FleetResult::fail) outcome.exit_code = 1;
  }
  conclude(done.end, outcome);
  return outcome;
}

Result<Outcome> Get::run() {
  TRY(check());
  return is_for_fleet() ? get_every() : get_one();
}

}  // namespace

std::unique_ptr<Command> make_get() { return std::make_unique<Get>(); }

}  // namespace execcred::cli
