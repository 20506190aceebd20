// SPDX-License-Identifier: Apache-2.0
#include "material.hpp"

#include "documents.hpp"
#include "plugin_under_test.hpp"
#include "support/issuer.hpp"

#include <ctime>

namespace execcred::test {
namespace {

std::string asn1_time(std::int64_t from_now) {
  const std::time_t time = blackbox::seconds_since_epoch() + from_now;
  std::tm parts = {};
  gmtime_r(&time, &parts);
  char text[32] = {};
  std::strftime(text, sizeof text, "%Y%m%d%H%M%SZ", &parts);
  return text;
}

}  // namespace

Pair make_pair(const PairWish& wish) {
  Wish certificate{.not_before = asn1_time(wish.begins), .not_after = asn1_time(wish.ends)};
  if (wish.is_ca) certificate.extensions.emplace_back("basicConstraints", "critical,CA:TRUE");
  if (!wish.usage.empty()) certificate.extensions.emplace_back("extendedKeyUsage", wish.usage);
  const KeyPtr key = make_ec_key();
  const CertificatePtr made = make_certificate(*key, certificate);
  Pair pair{.certificate = pem_of(*made),
            .key = pkcs8_pem(*key),
            .certificate_der = der_of(*made),
            .key_der = pkcs8_der(*key),
            .encrypted_key = encrypted_pkcs8_pem(*key)};
  const std::string marker = "KEY-----\n";
  blackbox::remember_secret(pair.key.substr(pair.key.find(marker) + marker.size(), 60));
  return pair;
}

}  // namespace execcred::test
