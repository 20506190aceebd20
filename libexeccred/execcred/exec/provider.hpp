// SPDX-License-Identifier: Apache-2.0
// The interface of a plugin: its options, and how it gets a credential.
#pragma once

#include <execcred/base/call_context.hpp>
#include <execcred/base/result.hpp>
#include <execcred/cache/credential_cache.hpp>
#include <execcred/exec/access_rules.hpp>
#include <execcred/exec/exec_credential.hpp>
#include <execcred/exec/option_set.hpp>
#include <execcred/exec/settings.hpp>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace execcred {

// The log of --debug: writes each step, with the milliseconds since the start, to standard error.
// Callers must not pass a secret.
class DebugLog {
 public:
  DebugLog(std::string program, bool is_enabled);
  void operator()(std::string_view step) const;

 private:
  std::string program_;
  bool is_enabled_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// The request: the client's document, and the common options that belong to it.
struct CredentialRequest {
  std::string_view plugin = {};  // the name of its binary
  ExecInfo info;
  std::string document;      // of the client, unchanged; empty if there is none
  std::string cluster_name;  // --cluster, or spec.cluster.config.clusterName; may be empty
  AccessRules rules;         // the cluster has passed them
  Duration max_age = {};     // --max-age
  const Settings* settings = nullptr;  // for messages

  // Expands `text` (docs/options.md). Errors name `option`.
  Result<std::string> expand(std::string_view option, std::string_view text) const;
  // As Settings::as_typed() does.
  std::string as_typed(std::string_view option) const;
  // The context of an error about the file that the option names: "reading --key 'PATH'".
  std::string reading(std::string_view option, const std::filesystem::path& path) const;
};

// What ties a plugin's credential to one server, as far as its options say.
struct Binding {
  enum class Kind {
    any_server,     // nothing: a server that gets it can use it at another one
    named_server,   // the server's name alone, which the writer of a ClusterProfile sets
    stored_server,  // the server that is stored with it; the plugin compares server, CA and proxy
    one_server,     // it is of no use elsewhere: a certificate, whose key is not sent, or the
                    // cluster's own token
  };

  Kind kind = Kind::any_server;
  // any_server: why another server could use it, or empty if an option that is missing decides;
  // named_server: where the name is used, as it is typed ("{server.host} in --token-file").
  std::string text = {};
  bool warns_in_show_config = false;  // of any server, as lint does
  // What needs spec.cluster beside the options that are declared so, as it is typed ("--via").
  std::vector<std::string> needs_cluster = {};
  // What the plugin needs of spec.cluster, checked before the access rules are; null: nothing.
  Status (*check_cluster)(const Cluster& cluster) = nullptr;
};

// What can be said about the options without asking anybody.
struct Finding {
  enum class Severity {
    refusal,  // a run fails with it
    error,    // only `execcred lint` shows it, and what follows
    warning,
    info,
  };

  Severity severity = Severity::warning;
  Error error = {};
  std::string_view variable = {};  // what it is about; empty: the arguments
};

// The finding about a ClusterProfile's value that the plugin refuses.
inline Finding refused_field(const Error& error) {
  return {.severity = Finding::Severity::error,
          .error = {.message = "is refused by the plugin: " + error.message, .hint = error.hint}};
}

// The findings of a check that refuses.
std::vector<Finding> refusals(Status checked);

class Inputs;

// The cache of a plan. It names the cache's code itself, so only the program of a plugin that makes
// one contains that code.
struct PlanCache {
  // NOLINTNEXTLINE(google-explicit-constructor): a plan's cache is its options
  PlanCache(CacheOptions its_options) : options(std::move(its_options)) {}

  CacheOptions options;
  Result<Credential> (*get)(const CacheOptions& options, const CacheKey& key,
                            const CredentialCache::Ask& ask, const CallContext& run) = get_kept;

 private:
  static Result<Credential> get_kept(const CacheOptions& options, const CacheKey& key,
                                     const CredentialCache::Ask& ask, const CallContext& run);
};

// How a run gets its credential, decided before anybody is asked.
struct Plan {
  // Asks the provider. It is the only part of a run that may talk to one, and may be called more
  // than once.
  CredentialCache::Ask ask = {};
  // Where the credential is kept for other runs; nullopt: it is not kept. The key of the entry has
  // all that the plan read of its Inputs.
  std::optional<PlanCache> cache = std::nullopt;
  // Makes the client's credential of what was kept or just issued, in each run and without asking
  // anybody. Empty: it is the client's credential.
  std::function<Result<Credential>(Credential issued, const CallContext& run)> finish = {};
  // Whose credential it will be, in the provider's own terms: an AWS role's ARN, a Google account.
  // Empty if only the provider knows.
  std::string principal = {};
};

// A plugin. A program that only checks configurations makes one too, and never requests a
// credential from it.
class Provider {
 public:
  virtual ~Provider() = default;

  // Called once, before anything else. The variables must live as long as the provider.
  virtual void add_options(OptionSet& options) = 0;

  // What can be said about the options, by any of them or together. Called after the flags and the
  // environment were read. It makes no request and reads no file. `environment` is for variables
  // that belong to no option.
  virtual std::vector<Finding> check(const Settings& /*settings*/,
                                     const Environment& /*environment*/) const {
    return {};
  }
  // The first refusal of check().
  Status refusal(const Settings& settings, const Environment& environment) const;

  // What ties the credential to one server. plugin_main() applies the rules for the connection by
  // it, and lint reports by it what remains open.
  //
  // A name binds nothing to a connection: the writer of a ClusterProfile also chooses the proxy,
  // and whether and by which CA the server is verified. So where {server.host} chooses the
  // credential, or the audience must equal the server, it is named_server.
  Binding binding(const Settings& settings) const;

  // Called after the options were read and the cluster was checked against the access rules. It
  // reads what determines the credential, only through `inputs`, and asks nobody. Its arguments
  // outlive the plan.
  virtual Result<Plan> plan(const Settings& settings, Inputs& inputs) const = 0;

  // Makes the plan, and gets its credential from the cache or the provider. The credential's
  // expires_at is its own end; plugin_main() computes the time that the answer claims.
  Result<Credential> get_credential(const CredentialRequest& request, const CallContext& run) const;

 protected:
  // What the credential itself is tied to, however it was chosen. Only what the controller's side
  // set counts (Settings::given).
  virtual Binding bind(const Settings& /*settings*/) const {
    return {.text = "such a token is good at more than one server"};
  }
};

}  // namespace execcred
