// SPDX-License-Identifier: Apache-2.0
// Runs execcred-aws as clients do, against servers that each case starts. Nothing outside is
// called: there is no instance unless a case provides one.
#pragma once

#include "sts.hpp"
#include "support/plugin_rig.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::test {

inline constexpr const char* kEks = "https://0123ABCD.gr7.us-west-2.eks.amazonaws.com";
inline constexpr const char* kKeyId = "AKIAEXAMPLE1";
inline constexpr const char* kRole = "arn:aws:iam::123456789012:role/reader";
inline constexpr const char* kOtherRole = "arn:aws:iam::123456789012:role/path/writer";

struct Ask {
  std::string cluster = "demo";      // --cluster-id; empty: not given
  std::string region = "us-west-2";  // --region; empty: not given
  Texts arguments = {};
  Texts variables = {};
  bool has_keys = true;       // the rig's, in the environment
  std::string server = kEks;  // empty: no document from the client
  std::string config = {};    // spec.cluster.config
  bool has_cache = true;      // the case's directory
  bool is_traced = false;     // --debug
  milliseconds patience = blackbox::kPatience;
};

class Rig : public PluginRig<Ask> {
 public:
  Rig();

  Texts arguments(const Ask& ask) const;
  blackbox::Command command(const Ask& ask) const override;

  // ~/.aws/credentials and ~/.aws/config.
  void set_credentials(const std::string& text) const;
  void set_config(const std::string& text) const;

  // Why the answer is not a valid token for the cluster; "" if it is one.
  std::string problem(const Outcome& outcome, const std::string& cluster = "demo") const;
  TokenVerdict verdict(const Outcome& outcome, const std::string& cluster = "demo") const;

  Sts sts;
  std::string secret;  // of kKeyId
  std::string ca_path;
  std::string web_identity;       // a JWT
  std::string web_identity_path;  // its file
};

// The variables that select the rig's web identity and this role.
Texts web_identity_of(const Rig& rig, const std::string& role = kRole);

// A JWT for STS that no message may show.
std::string new_web_identity(const std::string& subject, std::int64_t seconds = 3600,
                             const std::string& issuer = "https://issuer.example");

// A secret access key, which no message may show.
std::string new_secret_key();

}  // namespace execcred::test
