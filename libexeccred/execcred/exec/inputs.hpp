// SPDX-License-Identifier: Apache-2.0
// What a plan reads. Each input that is read here becomes a part of the cache's key, so a plugin
// cannot use an input that its key lacks.
//
// A file is read once, here, and the plan passes its content on to the request: a file that is
// replaced in between cannot give one identity's credential the key of another.
//
// The plugin's options are recorded without being read: those that are set and used, unless they
// are declared as not_identity(), with a reason. What a plan reads for its request alone (the CA of
// a token server) is read when the provider is asked, and says nothing about whose credential it
// is.
#pragma once

#include <execcred/base/environment.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/cache/key.hpp>
#include <execcred/exec/bearer_token.hpp>
#include <execcred/exec/provider.hpp>
#include <execcred/os/file.hpp>

#include <filesystem>
#include <set>
#include <string>
#include <string_view>

namespace execcred {

class Inputs {
 public:
  // The arguments must outlive the inputs. The request must have settings.
  Inputs(const CredentialRequest& request, const Environment& environment);
  Inputs(const Inputs&) = delete;
  Inputs& operator=(const Inputs&) = delete;

  // The environment. Each variable that is read of it is recorded by a fingerprint; entries() are
  // recorded as a whole. A call that asks the provider has the same variables in its context.
  const Environment& environment() const { return observed_; }

  // The same variables, of which nothing is recorded: the plan records by other means what it uses
  // of them, or `why` they do not count.
  const Environment& unrecorded_environment(std::string_view /*why*/) const { return unrecorded_; }

  // The cluster as the client describes it: server, tls-server-name, proxy and CA are recorded.
  // nullptr if the client sent none.
  const Cluster* cluster();
  // Records spec.cluster with all its members, for a program that may use members that execcred
  // does not know.
  void add_whole_cluster();
  // The request, for checks and messages. Nothing is recorded.
  const CredentialRequest& request() const { return request_; }

  // Expands the templates in the option's text, and records the result.
  Result<std::string> expand(std::string_view option, std::string_view text);

  // Reads the token in a file. Its identity is recorded under `name`: of a JWT all claims that stay
  // when the token is renewed, of any other token its fingerprint. Fails as read_bearer_token()
  // does.
  Result<BearerToken> token_file(std::string_view name, const std::filesystem::path& path);
  // Reads a file, and records a fingerprint of its content. Fails as read_secret_file() does.
  Result<SecretString> secret_file(std::string_view name, const std::filesystem::path& path,
                                   std::size_t max_bytes = kMaxSecretFile);
  // Reads a file, of which nothing is recorded: the plan records by other means what it uses of it,
  // or `why` it does not count.
  static Result<SecretString> unrecorded_file(std::string_view /*why*/,
                                              const std::filesystem::path& path) {
    return read_secret_file(path);
  }
  // Records a token that was read otherwise, as token_file() does.
  void add_token(std::string_view name, const BearerToken& token);
  // The same for one that need not be a bearer token, such as a SAML assertion.
  void add_token(std::string_view name, const SecretString& token);
  // Records a secret by its fingerprint.
  void add_secret(std::string_view name, std::string_view secret);
  // Records what the plan concluded from several inputs.
  void add(std::string_view name, std::string_view value) { key_.add(name, value); }

  // Record the machine or Pod, and the process as a local agent attests it, because the answer of
  // a server on this machine depends on who asks.
  void add_machine();
  void add_process();

  const CacheKey& key() const { return key_; }

 private:
  void add_options(const Settings& settings);
  void add_option(const Option& option, const std::vector<std::string>& texts);
  void add_variable(std::string_view name, std::string_view value);

  const CredentialRequest& request_;
  const Environment& unrecorded_;
  Environment observed_;
  CacheKey key_;
  std::set<std::string, std::less<>> recorded_;  // names that were recorded once
};

}  // namespace execcred
