// SPDX-License-Identifier: Apache-2.0
// The authorities of a trust domain: JWT-SVIDs signed with ES256 and X.509-SVIDs below a CA, as
// SPIRE makes them, and invalid ones.
#pragma once

#include "openssl_handles.hpp"
#include "workload_wire.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace execcred::test {

struct JwtWish {
  std::string spiffe_id = {};
  std::vector<std::string> audiences = {};
  std::int64_t seconds = 300;  // until it ends
  std::string header = {};     // JSON, instead of the usual one
  std::string claims = {};     // JSON, instead of what is above
};

struct X509Wish {
  std::string spiffe_id = {};
  std::string common_name = "workload";  // may be empty
  std::string organization = "SPIRE";
  std::int64_t seconds = 3600;
  // In the syntax of openssl's configuration, instead of the leaf's usual ones.
  std::vector<std::pair<std::string, std::string>> extensions = {};
};

class SvidIssuer {
 public:
  SvidIssuer();

  std::string jwt(const JwtWish& wish) const;
  // The leaf, an intermediate and the bundle of the authority above it.
  X509SvidWire x509(const X509Wish& wish) const;

 private:
  std::string sign(std::string_view signing_input) const;

  KeyPtr jwt_key_;
  KeyPtr root_key_;
  KeyPtr middle_key_;
  std::string root_;    // DER
  std::string middle_;  // DER
};

std::string base64url(std::string_view bytes);

}  // namespace execcred::test
