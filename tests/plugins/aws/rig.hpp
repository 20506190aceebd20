// SPDX-License-Identifier: Apache-2.0
// execcred-aws as clients run it, in front of servers of a case's own. Nothing outside is asked:
// there is no instance unless a case gives one.
#pragma once

#include "child_process.hpp"
#include "documents.hpp"
#include "plugin_under_test.hpp"
#include "sandbox.hpp"
#include "sts.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::test {

using Texts = std::vector<std::string>;
using blackbox::milliseconds;
using blackbox::Outcome;

Texts operator+(Texts one, const Texts& other);

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

class Rig {
 public:
  Rig();

  Texts arguments(const Ask& ask) const;
  blackbox::Command command(const Ask& ask) const;
  Outcome run(const Ask& ask) const;
  // The same, with an empty cache.
  Outcome run_cold(const Ask& ask) const;
  void clear_cache() const;

  // ~/.aws/credentials and ~/.aws/config.
  void set_credentials(const std::string& text) const;
  void set_config(const std::string& text) const;

  // Why the answer is no good token for the cluster; "" if it is.
  std::string problem(const Outcome& outcome, const std::string& cluster = "demo") const;
  TokenVerdict verdict(const Outcome& outcome, const std::string& cluster = "demo") const;

  Sts sts;
  blackbox::Sandbox sandbox;
  std::string secret;  // of kKeyId
  std::string cache_path;
  std::string ca_path;
  std::string web_identity;       // a JWT
  std::string web_identity_path;  // its file
};

// The variables of a web identity of the rig's for this role.
Texts web_identity_of(const Rig& rig, const std::string& role = kRole);

std::string token_of(const Outcome& outcome);
// Seconds from now to the claimed end; fails the case where there is none.
std::int64_t claimed_seconds(const Outcome& outcome);
// What is claimed of a session that ends in so many seconds.
std::int64_t claim_for(std::int64_t seconds);

// A JWT for STS that no message may show.
std::string new_web_identity(const std::string& subject, std::int64_t seconds = 3600,
                             const std::string& issuer = "https://issuer.example");
// A word that no message may show.
std::string new_secret();

}  // namespace execcred::test
