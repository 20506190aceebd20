// SPDX-License-Identifier: Apache-2.0
#include "svid.hpp"

namespace execcred::test {

Extensions leaf_extensions() {
  return {{"keyUsage", "critical,digitalSignature,keyEncipherment,keyAgreement"},
          {"extendedKeyUsage", "serverAuth,clientAuth"},
          {"basicConstraints", "critical,CA:FALSE"},
          {"subjectAltName", "URI:" + std::string(kId)}};
}

Extensions authority_extensions() {
  return {{"keyUsage", "critical,keyCertSign,cRLSign"},
          {"basicConstraints", "critical,CA:TRUE"},
          {"subjectAltName", "URI:spiffe://example.org"}};
}

Extensions with(Extensions extensions, const std::string& name, const std::string& value) {
  Extensions changed;
  for (auto& [other, usual] : extensions) {
    if (other != name) changed.emplace_back(other, usual);
  }
  if (!value.empty()) changed.emplace_back(name, value);
  return changed;
}

std::string make_leaf(EVP_PKEY& key, const Extensions& extensions) {
  return der_of(*make_certificate(
      key, {.common_name = "workload", .organization = "SPIRE", .extensions = extensions}));
}

std::string make_authority(const std::string& name, const Extensions& extensions) {
  return der_of(*make_certificate(
      a_key(), {.common_name = name, .organization = "SPIRE", .extensions = extensions}));
}

EVP_PKEY& a_key() {
  static const KeyPtr key = make_ec_key();
  return *key;
}

const std::string& an_authority() {
  static const std::string der = make_authority("root");
  return der;
}

X509SvidMessage message_with(const std::string& certificates) {
  return {.spiffe_id = std::string(kId),
          .certificates = certificates,
          .private_key = SecretString(pkcs8_der(a_key())),
          .bundle = an_authority()};
}

}  // namespace execcred::test
