// SPDX-License-Identifier: Apache-2.0
// The messages of the SPIFFE Workload API, encoded and decoded by hand, to compare with the
// product's decoder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::test {

struct JwtSvidWire {
  std::string spiffe_id = {};
  std::string svid = {};
  std::string hint = {};
};

struct X509SvidWire {
  std::string spiffe_id = {};
  std::string certificates = {};  // DER, the leaf first
  std::string private_key = {};   // PKCS#8 DER
  std::string bundle = {};        // DER
  std::string hint = {};
};

// Protocol buffers: a field with a length. An empty one is left out, as proto3 does.
std::string wire_field(std::uint32_t number, std::string_view bytes);
// The same, but an empty field is written too.
std::string wire_field_always(std::uint32_t number, std::string_view bytes);
std::string wire_number(std::uint32_t number, std::uint64_t value);

std::string jwt_svid_response(const std::vector<JwtSvidWire>& svids);
std::string x509_svid_response(const std::vector<X509SvidWire>& svids);

struct JwtSvidRequestWire {
  std::vector<std::string> audiences = {};
  std::vector<std::string> spiffe_ids = {};  // at most one is allowed
  bool is_malformed = false;
};
JwtSvidRequestWire read_jwt_svid_request(std::string_view message);

}  // namespace execcred::test
