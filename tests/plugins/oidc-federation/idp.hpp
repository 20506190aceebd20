// SPDX-License-Identifier: Apache-2.0
// An identity provider that works, until a case scripts another answer: discovery, and a token
// endpoint that gives another opaque token for an hour with each call.
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
  // How often a token was asked for.
  std::size_t calls() const { return count(kToken); }

  // The discovery document, with more members.
  std::string discovery_document(const std::string& more = "") const;
  // The token endpoint's answer from now on.
  void answer(const std::string& body, int status = 200, const std::string& headers = {});

 private:
  std::atomic<int> tokens_ = 0;
};

// The members of a good reply with this token.
std::string token_reply(const std::string& token, const std::string& more = "");

}  // namespace execcred::test
