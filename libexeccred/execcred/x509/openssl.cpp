// SPDX-License-Identifier: Apache-2.0
#include <execcred/x509/openssl.hpp>

#include <execcred/base/allocation.hpp>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

namespace execcred {
namespace {

// The digests of certificate signatures. X.509 finds digests by these names; ciphers are found by
// other names. Registering all of both would take a tenth of the time of a request over TLS.
bool register_digests() {
  const std::array digests = {EVP_sha1(), EVP_sha224(), EVP_sha256(), EVP_sha384(), EVP_sha512()};
  return std::ranges::all_of(digests,
                             [](const EVP_MD* digest) { return EVP_add_digest(digest) == 1; });
}

// Must be called before register_digests(). The first fetched algorithm fills OpenSSL's map of
// names. Digests that were registered before would be added to the map under each of their names,
// also under the text of the OID.
bool fill_names() {
  EVP_MD* const digest = EVP_MD_fetch(nullptr, "SHA2-256", nullptr);
  EVP_MD_free(digest);
  return digest != nullptr;
}

void* allocate(std::size_t size, const char* /*file*/, int /*line*/) {
  return size == 0 ? nullptr : allocate_or_end(size);
}

void* reallocate(void* memory, std::size_t size, const char* /*file*/, int /*line*/) {
  return reallocate_or_end(memory, size);
}

void release(void* memory, const char* /*file*/, int /*line*/) { std::free(memory); }

// Without memory OpenSSL 3.0 crashes in some places, and rejects a valid certificate in others. In
// a program with an out-of-memory handler, a failed allocation of OpenSSL ends the program too.
void follow_new_handler() {
  if (has_memory_handler()) CRYPTO_set_mem_functions(allocate, reallocate, release);
}

}  // namespace

Status start_openssl() {
  static const bool kIsReady = [] {
    follow_new_handler();
    constexpr std::uint64_t kOptions =
        OPENSSL_INIT_NO_LOAD_CRYPTO_STRINGS | OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT |
        OPENSSL_INIT_NO_ADD_ALL_CIPHERS | OPENSSL_INIT_NO_ADD_ALL_DIGESTS;
    return OPENSSL_init_crypto(kOptions, nullptr) == 1 && fill_names() && register_digests();
  }();
  if (kIsReady) return {};
  return Error::internal("cannot start OpenSSL");
}

}  // namespace execcred
