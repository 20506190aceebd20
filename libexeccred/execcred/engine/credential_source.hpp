// SPDX-License-Identifier: Apache-2.0
// The credential of one cluster, for a controller that runs for long.
//
//   CredentialSource source(access, Environment::copy());
//   const auto credential = EXECCRED_TRY(source.get());   // before each request, from any thread
//   source.reject(credential);                         // the server answered 401
//
// The plugin runs if there is no valid credential, and again in the refresh window before its end.
// The rules are those of client-go's exec authenticator
// (k8s.io/client-go/plugin/pkg/client/auth/exec), which has no window: there, a request waits for
// the plugin whenever a credential has ended.
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/base/credential.hpp>
#include <execcred/base/duration.hpp>
#include <execcred/base/environment.hpp>
#include <execcred/base/result.hpp>
#include <execcred/engine/get_credential.hpp>

#include <chrono>
#include <memory>

namespace execcred {

struct CredentialSourceOptions {
  PluginRun run = {};
  // The length of the refresh window before a credential's end; at most a fifth of the credential's
  // lifetime.
  Duration refresh_before = std::chrono::minutes(5);
  // After a failure, the plugin is not run during a pause. The first pause lasts `first_pause`.
  // Each further failure doubles it, up to `longest_pause`.
  Duration first_pause = std::chrono::seconds(1);
  Duration longest_pause = std::chrono::seconds(30);
  std::shared_ptr<const Clock> clock = std::make_shared<SystemClock>();
};

class CredentialSource {
 public:
  // The plugin's environment is made from this one, as in get_credential().
  CredentialSource(Access access, Environment environment);
  CredentialSource(Access access, Environment environment, CredentialSourceOptions options);
  CredentialSource(const CredentialSource&) = delete;
  CredentialSource& operator=(const CredentialSource&) = delete;
  // No thread may be in get() at this time.
  ~CredentialSource();

  // Returns a credential that has not ended. One thread at a time runs the plugin. The others get a
  // valid credential at once if there is one, and otherwise wait for the result of the run. A
  // failure in the refresh window is ignored. Fails as get_credential() does. During the pause
  // after a failure, it fails with that failure and does not run the plugin.
  Result<std::shared_ptr<const Credential>> get();

  // Reports that the server refused this credential. If get() still returns this credential, the
  // next get() runs the plugin. The pause after a failure still applies.
  void reject(const std::shared_ptr<const Credential>& credential);

  const Access& access() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace execcred
