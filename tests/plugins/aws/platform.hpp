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

// Credentials in the format of both services; `more` adds members.
std::string platform_credentials(const std::string& id, const std::string& secret,
                                 const std::string& token, std::int64_t seconds = 3600,
                                 const std::string& more = "");

// IMDSv2 only: a GET without the token of the PUT request is answered with 401.
class Instance : public ScriptedServer {
 public:
  // The rig's STS accepts its credentials.
  explicit Instance(Rig& rig);

  // The variables of a run on this instance.
  Texts variables() const {
    return {"AWS_EC2_METADATA_DISABLED=false", "AWS_EC2_METADATA_SERVICE_ENDPOINT=" + url()};
  }
  // Sets the answer to a request with the token.
  void give(const std::string& path, const std::string& body, int status = 200);

  std::string token;  // of the metadata service
};

// Gives credentials to a request that has this Authorization header.
class Agent : public ScriptedServer {
 public:
  Agent(Rig& rig, std::string authorization);

  Texts variables() const {
    return {"AWS_CONTAINER_CREDENTIALS_FULL_URI=" + url("/v1/credentials")};
  }
  std::size_t calls() const { return count("/v1/credentials"); }
};

}  // namespace execcred::test
