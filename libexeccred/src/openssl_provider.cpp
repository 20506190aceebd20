// SPDX-License-Identifier: Apache-2.0
#include "openssl_provider.hpp"

#include <openssl/core_dispatch.h>
#include <openssl/provider.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

extern "C" OSSL_provider_init_fn ossl_default_provider_init;

namespace execcred {
namespace {

constexpr std::size_t kMaxFunctions = 16;
constexpr std::size_t kMaxAlgorithms = 64;

using Names = std::span<const std::string_view>;

// By their first names. SHA-3 and SHAKE are ML-KEM's too; AES-256-CTR and -ECB are the random
// generator's.
constexpr std::string_view kDigests[] = {"SHA1",     "SHA2-224",     "SHA2-256",  "SHA2-384",
                                         "SHA2-512", "SHA2-512/256", "SHA3-224",  "SHA3-256",
                                         "SHA3-384", "SHA3-512",     "SHAKE-128", "SHAKE-256"};
constexpr std::string_view kCiphers[] = {"NULL",        "AES-128-GCM", "AES-256-GCM",
                                         "AES-128-CBC", "AES-256-CBC", "ChaCha20-Poly1305",
                                         "AES-256-CTR", "AES-256-ECB"};
constexpr std::string_view kMacs[] = {"HMAC"};
constexpr std::string_view kKdfs[] = {"HKDF", "TLS13-KDF", "TLS1-PRF"};
constexpr std::string_view kKeys[] = {"RSA",     "RSA-PSS", "EC",         "X25519",
                                      "ED25519", "ED448",   "ML-KEM-768", "X25519MLKEM768"};
constexpr std::string_view kKeyExchanges[] = {"ECDH", "X25519"};
constexpr std::string_view kSignatures[] = {"RSA", "ECDSA", "ED25519", "ED448"};
constexpr std::string_view kKems[] = {"ML-KEM-768", "X25519MLKEM768"};
// "DER" is what turns PEM and the envelope of a PKCS#8 key into a key's own form.
constexpr std::string_view kDecoders[] = {"RSA", "RSA-PSS", "EC", "ED25519", "ED448", "DER"};

// Empty for the kinds of which everything is offered: they are few, or nothing asks for them.
Names wanted(int operation) {
  switch (operation) {
    case OSSL_OP_DIGEST:
      return kDigests;
    case OSSL_OP_CIPHER:
      return kCiphers;
    case OSSL_OP_MAC:
      return kMacs;
    case OSSL_OP_KDF:
      return kKdfs;
    case OSSL_OP_KEYMGMT:
      return kKeys;
    case OSSL_OP_KEYEXCH:
      return kKeyExchanges;
    case OSSL_OP_SIGNATURE:
      return kSignatures;
    case OSSL_OP_KEM:
      return kKems;
    case OSSL_OP_DECODER:
      return kDecoders;
    default:
      return {};
  }
}

bool is_wanted(const OSSL_ALGORITHM& algorithm, Names names) {
  const std::string_view all = algorithm.algorithm_names;
  return std::ranges::find(names, all.substr(0, all.find(':'))) != names.end();
}

OSSL_FUNC_provider_query_operation_fn* query_default = nullptr;

// OpenSSL asks again for each name that it does not know.
const OSSL_ALGORITHM* query(void* context, int operation, int* must_not_keep) {
  static std::array<std::array<OSSL_ALGORITHM, kMaxAlgorithms>, OSSL_OP__HIGHEST + 1> tables = {};
  const OSSL_ALGORITHM* const offered = query_default(context, operation, must_not_keep);
  const Names names = wanted(operation);
  if (offered == nullptr || names.empty()) return offered;
  auto& table = tables.at(static_cast<std::size_t>(operation));
  if (table.front().algorithm_names != nullptr) return table.data();
  auto* end = table.begin();
  for (const auto* one = offered; one->algorithm_names != nullptr; ++one) {
    if (!is_wanted(*one, names)) continue;
    if (end + 1 == table.end()) return offered;  // one place is for the end's mark
    *end++ = *one;
  }
  *end = {};
  return table.data();
}

int start_narrow_provider(const OSSL_CORE_HANDLE* handle, const OSSL_DISPATCH* in,
                          const OSSL_DISPATCH** out, void** context) {
  static std::array<OSSL_DISPATCH, kMaxFunctions> functions = {};
  if (ossl_default_provider_init(handle, in, out, context) != 1) return 0;
  auto* end = functions.begin();
  for (const auto* one = *out; one->function_id != 0; ++one) {
    if (end + 1 == functions.end()) return 0;
    *end = *one;
    if (one->function_id == OSSL_FUNC_PROVIDER_QUERY_OPERATION) {
      query_default = OSSL_FUNC_provider_query_operation(one);
      end->function = reinterpret_cast<void (*)()>(query);
    }
    ++end;
  }
  *out = functions.data();
  return query_default != nullptr ? 1 : 0;
}

}  // namespace

bool load_narrow_provider() {
  constexpr const char* kName = "execcred";
  return OSSL_PROVIDER_add_builtin(nullptr, kName, start_narrow_provider) == 1 &&
         OSSL_PROVIDER_load(nullptr, kName) != nullptr;
}

}  // namespace execcred
