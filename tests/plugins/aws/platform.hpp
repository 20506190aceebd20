// SPDX-License-Identifier: Apache-2.0
// The metadata service of an instance and the agent of a container, on loopback.
#pragma once

#include "rig.hpp"
#include "support/scripted_server.hpp"

#include <string>

namespace execcred::test {

inline constexpr const char* kMetadataToken = "/latest/api/token";
inline constexpr const char* kRolePath = "/latest/meta-data/iam/security-credentials/";
inline constexpr const char* kZone = "/latest/meta-data/placement/availability-zone/";

// Credentials as both answer them, with more members.
std::string platform_credentials(const std::string& id, const std::string& secret,
                                 const std::string& token, std::int64_t seconds = 3600,
                                 const std::string& more = "");

// Version 2 alone: a GET without the token that a PUT gave is 401.
class Instance : public ScriptedServer {
 public:
  // Its credentials are known to the rig's STS.
  explicit Instance(Rig& rig);

  // The variables for a run on it.
  Texts variables() const {
    return {"AWS_EC2_METADATA_DISABLED=false", "AWS_EC2_METADATA_SERVICE_ENDPOINT=" + url()};
  }
  // The answer for a request with the token.
  void give(const std::string& path, const std::string& body, int status = 200);

  std::string token;  // of the metadata service
};

// Gives credentials to who shows the authorization.
class Agent : public ScriptedServer {
 public:
  Agent(Rig& rig, std::string authorization);

  Texts variables() const {
    return {"AWS_CONTAINER_CREDENTIALS_FULL_URI=" + url("/v1/credentials")};
  }
  std::size_t calls() const { return count("/v1/credentials"); }
};

}  // namespace execcred::test
