// SPDX-License-Identifier: Apache-2.0
#include "platform.hpp"

#include <execcred/base/rfc3339.hpp>

#include <utility>

namespace execcred::test {

std::string platform_credentials(const std::string& id, const std::string& secret,
                                 const std::string& token, std::int64_t seconds,
                                 const std::string& more) {
  const std::string end = format_rfc3339(
      std::chrono::sys_seconds(std::chrono::seconds(blackbox::seconds_since_epoch() + seconds)));
  return R"({"Code":"Success","Type":"AWS-HMAC","LastUpdated":"2026-01-01T00:00:00Z",)"
         R"("AccessKeyId":")" +
         id + R"(","SecretAccessKey":")" + secret + R"(","Token":")" + token +
         R"(","Expiration":")" + end + "\"" + more + "}";
}

Instance::Instance(Rig& rig) : ScriptedServer(Transport::plain), token(new_secret()) {
  on(kMetadataToken, [this](Stream& stream, const Received& request) {
    const std::string lifetime = request.header("X-aws-ec2-metadata-token-ttl-seconds");
    const bool is_good = request.method == "PUT" && lifetime == "21600";
    stream.write(is_good ? reply(200, token) : reply(400, "bad request"));
  });
  const std::string session = new_secret();
  rig.sts.know("ASIAINSTANCE", rig.secret, session);
  give(kRolePath, "node-role");
  give(std::string(kRolePath) + "node-role",
       platform_credentials("ASIAINSTANCE", rig.secret, session));
  give(kZone, "us-east-2b");
}

void Instance::give(const std::string& path, const std::string& body, int status) {
  on(path, [this, body, status](Stream& stream, const Received& request) {
    const bool is_good =
        request.method == "GET" && request.header("X-aws-ec2-metadata-token") == token;
    stream.write(is_good ? reply(status, body) : reply(401, "<html>Unauthorized</html>"));
  });
}

Agent::Agent(Rig& rig, std::string authorization) : ScriptedServer(Transport::plain) {
  const std::string session = new_secret();
  rig.sts.know("ASIACONTAINER", rig.secret, session);
  on("/v1/credentials",
     [body = platform_credentials("ASIACONTAINER", rig.secret, session),
      wanted = std::move(authorization)](Stream& stream, const Received& request) {
       const bool is_good = request.method == "GET" && request.header("Authorization") == wanted;
       stream.write(is_good ? reply(200, body) : reply(401, "no"));
     });
}

}  // namespace execcred::test
