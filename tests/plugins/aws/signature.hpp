// SPDX-License-Identifier: Apache-2.0
// The receiver's side of Signature Version 4, by OpenSSL and written from the specification, to
// judge what the plugin signs.
#pragma once

#include "support/scripted_server.hpp"

#include <map>
#include <string>

namespace execcred::test {

struct SigningKeyPair {
  std::string secret = {};
  std::string session_token = {};  // empty: none may be shown
};

// By access key id.
using KnownKeys = std::map<std::string, SigningKeyPair, std::less<>>;

// Of a request with an Authorization header: the signer, or why it is invalid.
struct Verdict {
  std::string key_id = {};
  std::string region = {};
  std::string problem = {};  // empty: it is good
};
Verdict judge_signed_request(const Received& request, const KnownKeys& keys);

// Of an EKS token, by the rules of its receiver: at most 4096 bytes, the path "/", no parameter
// twice, none unknown, a fresh date, the cluster signed.
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
