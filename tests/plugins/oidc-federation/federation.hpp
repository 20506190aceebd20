// SPDX-License-Identifier: Apache-2.0
// execcred-oidc-federation as clients run it, in front of a provider of a case's own.
#pragma once

#include "child_process.hpp"
#include "documents.hpp"
#include "idp.hpp"
#include "plugin_under_test.hpp"
#include "sandbox.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::test {

inline constexpr const char* kSpoke = "https://spoke-1.example.com:6443";
inline constexpr const char* kTokenType = "urn:ietf:params:oauth:token-type:";
inline constexpr const char* kGrantType = "urn:ietf:params:oauth:grant-type:";

using Texts = std::vector<std::string>;
using blackbox::milliseconds;
using blackbox::Outcome;

Texts operator+(Texts one, const Texts& other);

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

// The program with these arguments and variables alone.
blackbox::Command plugin_of(Texts arguments, Texts variables = {});

class Federation {
 public:
  explicit Federation(const Identity* client_ca = nullptr);

  Texts arguments(const Ask& ask) const;
  blackbox::Command command(const Ask& ask) const;
  Outcome run(const Ask& ask) const;
  // The same, with an empty cache.
  Outcome run_cold(const Ask& ask) const;
  void clear_cache() const;

  // Another token in the subject's file.
  void set_subject(const std::string& content);

  Idp idp;
  blackbox::Sandbox sandbox;
  std::string subject;       // the subject token: a JWT
  std::string subject_path;  // its file
  std::string ca_path;
  std::string cache_path;
};

std::string token_of(const Outcome& outcome);
// Seconds from now to the claimed end; fails the case where there is none.
std::int64_t claimed_seconds(const Outcome& outcome);
// What is claimed of a credential that ends in so many seconds.
std::int64_t claim_for(std::int64_t seconds);

// A JWT that no message may show, with these claims after iss, sub, aud and exp.
std::string new_subject(std::int64_t seconds = 3600, const std::string& more_claims = "");
// A word without dots that no message may show.
std::string new_secret();

}  // namespace execcred::test
