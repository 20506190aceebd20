// SPDX-License-Identifier: Apache-2.0
// What a plugin is: its options, and how it comes by a credential.
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/base/environment.hpp>
#include <execcred/base/result.hpp>
#include <execcred/exec/access_rules.hpp>
#include <execcred/exec/exec_credential.hpp>
#include <execcred/exec/option_set.hpp>
#include <execcred/exec/settings.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace execcred {

// --debug: what happens, with the milliseconds since the start, on standard error. Callers give
// no secret.
class DebugLog {
 public:
  DebugLog(std::string program, bool is_enabled);
  void operator()(std::string_view step) const;

 private:
  std::string program_;
  bool is_enabled_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Made once by the runner, and passed on.
struct Services {
  const Clock& clock;
  const Environment& environment;
  const DebugLog& debug;
  // When --timeout ends the run.
  std::chrono::steady_clock::time_point deadline = {};
};

// What is asked for: the client's document, and what the common options say about it.
struct CredentialRequest {
  ExecInfo info;
  std::string cluster_name;  // --cluster, or spec.cluster.config.clusterName; may be empty
  AccessRules rules;         // which the cluster has passed
  const Settings* settings = nullptr;  // for messages

  // See template.hpp; `option` is named in errors.
  Result<std::string> expand(std::string_view option, std::string_view text) const;
  // The flag, variable or field that set it; the option itself, "--key", where none did.
  std::string as_typed(std::string_view option) const;
};

class Provider {
 public:
  virtual ~Provider() = default;

  // Called once, before anything else. The variables must live as long as the provider.
  virtual void add_options(OptionSet& options) = 0;

  // Called once, when the flags and the environment were read, and before the ClusterProfile's
  // fields are: for options whose value decides what a ClusterProfile may set
  // (OptionSet::change).
  virtual Status change_options(OptionSet& /*options*/, const Settings& /*settings*/) { return {}; }

  // It makes tokens for an audience, so one of a ClusterProfile's choice needs --allow-audience.
  // Asked after change_options.
  virtual bool mints_tokens() const { return false; }

  // Called once, after the options were read and the cluster was checked against the access
  // rules. Returns the credential with its own end; the runner sets the claimed one.
  virtual Result<Credential> get_credential(const CredentialRequest& request,
                                            const Services& services) = 0;
};

}  // namespace execcred
