// SPDX-License-Identifier: Apache-2.0
// The receiver's side of Signature Version 4. It is written from the specification, with OpenSSL,
// and checks what the plugin signs.
#pragma once

#include "support/scripted_server.hpp"

#include <map>
#include <string>

namespace execcred::test {

struct SigningKeyPair {
  std::string secret = {};
  std::string session_token = {};  // empty: the request may have none
};

// By access key id.
using KnownKeys = std::map<std::string, SigningKeyPair, std::less<>>;

// The signer of a request with an Authorization header, or why the request is invalid.
struct Verdict {
  std::string key_id = {};
  std::string region = {};
  std::string problem = {};  // empty: it is valid
};
Verdict judge_signed_request(const Received& request, const KnownKeys& keys);

// The signer of an EKS token, by the rules of its receiver: at most 4096 bytes, the path "/", no
// repeated or unknown parameter, a recent date, and a signature over the cluster.
struct TokenVerdict {
  std::string key_id = {};
  std::string region = {};
  std::string host = {};
  std::string date = {};  // X-Amz-Date
  std::string problem = {};
};
TokenVerdict judge_token(const std::string& token, const std::string& cluster,
                         const KnownKeys& keys);

}  // namespace execcred::test
