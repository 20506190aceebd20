// SPDX-License-Identifier: Apache-2.0
// Valid and invalid client certificates and keys.
#pragma once

#include <cstdint>
#include <string>

namespace execcred::test {

struct Pair {
  std::string certificate = {};  // PEM
  std::string key = {};          // PEM, PKCS#8; messages may never show it
  std::string certificate_der = {};
  std::string key_der = {};
  std::string encrypted_key = {};
};

struct PairWish {
  std::int64_t begins = -3600;  // seconds from now
  std::int64_t ends = 24L * 3600;
  std::string usage = "clientAuth";  // empty: no such extension
  bool is_ca = false;
};

Pair make_pair(const PairWish& wish = {});

}  // namespace execcred::test
