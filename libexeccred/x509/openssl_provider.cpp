// SPDX-License-Identifier: Apache-2.0
#include <execcred/x509/openssl_provider.hpp>

#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/params.h>
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

// By their first names. SHA-3 and SHAKE are ML-KEM's too.
constexpr std::string_view kDigests[] = {"SHA1",     "SHA2-224",     "SHA2-256",  "SHA2-384",
                                         "SHA2-512", "SHA2-512/256", "SHA3-224",  "SHA3-256",
                                         "SHA3-384", "SHA3-512",     "SHAKE-128", "SHAKE-256"};
constexpr std::string_view kCiphers[] = {"NULL",        "AES-128-GCM", "AES-256-GCM",
                                         "AES-128-CBC", "AES-256-CBC", "ChaCha20-Poly1305"};
constexpr std::string_view kMacs[] = {"HMAC"};
constexpr std::string_view kKdfs[] = {"HKDF", "TLS13-KDF", "TLS1-PRF"};
constexpr std::string_view kKeys[] = {"RSA",     "RSA-PSS", "EC",         "X25519",
                                      "ED25519", "ED448",   "ML-KEM-768", "X25519MLKEM768"};
constexpr std::string_view kKeyExchanges[] = {"ECDH", "X25519"};
constexpr std::string_view kSignatures[] = {"RSA", "ECDSA", "ED25519", "ED448"};
constexpr std::string_view kKems[] = {"ML-KEM-768", "X25519MLKEM768"};
// "DER" is what turns PEM and the envelope of a PKCS#8 key into a key's own form.
constexpr std::string_view kDecoders[] = {"RSA", "RSA-PSS", "EC", "ED25519", "ED448", "DER"};
// What decoders take that is no PEM and no DER of X.509 and PKCS#8, or the same as another takes.
constexpr std::string_view kOtherForms[] = {",input=msblob", ",input=pvk", ",structure=rsa",
                                            ",structure=ec"};

// The groups of http_tls.cpp.
constexpr std::string_view kTlsGroups[] = {"secp256r1", "secp384r1", "secp521r1", "x25519",
                                           "X25519MLKEM768"};

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
  const std::string_view properties = algorithm.property_definition;
  const auto has_form = [properties](std::string_view form) { return properties.ends_with(form); };
  return std::ranges::find(names, all.substr(0, all.find(':'))) != names.end() &&
         std::ranges::none_of(kOtherForms, has_form);
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

OSSL_FUNC_provider_get_capabilities_fn* capabilities_of_default = nullptr;

struct GroupTaker {
  OSSL_CALLBACK* take;
  void* context;
};

int take_wanted_group(const OSSL_PARAM parameters[], void* context) {
  const auto& taker = *static_cast<const GroupTaker*>(context);
  const OSSL_PARAM* const name =
      OSSL_PARAM_locate_const(parameters, OSSL_CAPABILITY_TLS_GROUP_NAME);
  if (name == nullptr) return 0;
  const bool is_wanted =
      std::ranges::find(kTlsGroups, static_cast<const char*>(name->data)) != std::end(kTlsGroups);
  return is_wanted ? taker.take(parameters, taker.context) : 1;
}

int get_capabilities(void* provider, const char* capability, OSSL_CALLBACK* take, void* context) {
  if (std::string_view(capability) != "TLS-GROUP") {
    return capabilities_of_default(provider, capability, take, context);
  }
  GroupTaker taker = {.take = take, .context = context};
  return capabilities_of_default(provider, capability, take_wanted_group, &taker);
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
    if (one->function_id == OSSL_FUNC_PROVIDER_GET_CAPABILITIES) {
      capabilities_of_default = OSSL_FUNC_provider_get_capabilities(one);
      end->function = reinterpret_cast<void (*)()>(get_capabilities);
    }
    ++end;
  }
  *out = functions.data();
  return query_default != nullptr && capabilities_of_default != nullptr ? 1 : 0;
}

}  // namespace

bool load_narrow_provider() {
  constexpr const char* kName = "execcred";
  return OSSL_PROVIDER_add_builtin(nullptr, kName, start_narrow_provider) == 1 &&
         OSSL_PROVIDER_load(nullptr, kName) != nullptr;
}

}  // namespace execcred
