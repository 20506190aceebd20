// SPDX-License-Identifier: Apache-2.0
#include <execcred/x509/openssl.hpp>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace execcred {
namespace {

// What certificates are signed with. By these names X.509 finds digests; ciphers are found by
// others. Registering all of both would take a tenth of the time of a request over TLS.
bool register_digests() {
  const std::array digests = {EVP_sha1(), EVP_sha224(), EVP_sha256(), EVP_sha384(), EVP_sha512()};
  return std::ranges::all_of(digests,
                             [](const EVP_MD* digest) { return EVP_add_digest(digest) == 1; });
}

// The first algorithm that is fetched fills OpenSSL's map of names; what was registered before
// would be written into it under each of its names, as text of its OID too.
bool fill_names() {
  EVP_MD* const digest = EVP_MD_fetch(nullptr, "SHA2-256", nullptr);
  EVP_MD_free(digest);
  return digest != nullptr;
}

void* checked(void* memory, std::size_t size) {
  if (memory == nullptr && size > 0) {
    if (const std::new_handler handler = std::get_new_handler()) handler();
  }
  return memory;
}

void* allocate(std::size_t size, const char* /*file*/, int /*line*/) {
  return size == 0 ? nullptr : checked(std::malloc(size), size);
}

void* reallocate(void* memory, std::size_t size, const char* /*file*/, int /*line*/) {
  return checked(std::realloc(memory, size), size);
}

void release(void* memory, const char* /*file*/, int /*line*/) { std::free(memory); }

// Without memory OpenSSL 3.0 crashes in places, and in others finds a good certificate wanting. In
// a program that has chosen how it ends then, OpenSSL's allocations end it too.
void follow_new_handler() {
  if (std::get_new_handler() != nullptr) CRYPTO_set_mem_functions(allocate, reallocate, release);
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
  return Error{.kind = Error::Kind::internal, .message = "cannot start OpenSSL"};
}

}  // namespace execcred
