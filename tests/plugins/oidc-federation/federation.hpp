// SPDX-License-Identifier: Apache-2.0
// Runs execcred-oidc-federation as clients do, against a provider of the case.
#pragma once

#include "idp.hpp"
#include "support/plugin_rig.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::test {

inline constexpr const char* kTokenType = "urn:ietf:params:oauth:token-type:";
inline constexpr const char* kGrantType = "urn:ietf:params:oauth:grant-type:";

struct Ask {
  std::string flow = "token-exchange";
  Texts arguments = {};  // after those that every flow needs
  Texts variables = {};
  std::string server = kSpoke;  // empty: no document from the client
  std::string config = {};      // spec.cluster.config
  std::string more_of_cluster = {};
  std::string_view version = blackbox::kV1;
  bool by_issuer = false;   // instead of the token URL
  bool has_subject = true;  // the file, for flows that take one
  bool has_cache = true;    // the case's directory
  bool is_traced = false;   // --debug
  milliseconds patience = blackbox::kPatience;
};

inline blackbox::Command plugin_of(Texts arguments, Texts variables = {}) {
  return plugin_command("execcred-oidc-federation", std::move(arguments), std::move(variables));
}

class Federation : public PluginRig<Ask> {
 public:
  explicit Federation(const Identity* client_ca = nullptr);

  Texts arguments(const Ask& ask) const;
  blackbox::Command command(const Ask& ask) const override;

  // Replaces the content of the subject's file.
  void set_subject(const std::string& content);

  Idp idp;
  std::string subject;       // the subject token: a JWT
  std::string subject_path;  // its file
  std::string ca_path;
};

// A JWT that no message may show, with these claims after iss, sub, aud and exp.
std::string new_subject(std::int64_t seconds = 3600, const std::string& more_claims = "");

}  // namespace execcred::test
