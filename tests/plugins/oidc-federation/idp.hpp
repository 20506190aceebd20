// SPDX-License-Identifier: Apache-2.0
// An identity provider with discovery and a token endpoint, which gives a new opaque token for one
// hour with each call, until a case sets another answer.
#pragma once

#include "support/scripted_server.hpp"

#include <atomic>
#include <string>

namespace execcred::test {

inline constexpr const char* kDiscovery = "/.well-known/openid-configuration";
inline constexpr const char* kToken = "/token";

class Idp : public ScriptedServer {
 public:
  explicit Idp(const Identity* client_ca = nullptr);

  std::string issuer() const { return url(); }
  std::string token_url() const { return url(kToken); }
  // How often a token was requested.
  std::size_t calls() const { return count(kToken); }

  // The discovery document, with more members.
  std::string discovery_document(const std::string& more = "") const;
  // Sets the token endpoint's answer from now on.
  void answer(const std::string& body, int status = 200, const std::string& headers = {});

 private:
  std::atomic<int> tokens_ = 0;
};

// A valid reply with this token.
std::string token_reply(const std::string& token, const std::string& more = "");

}  // namespace execcred::test
