// SPDX-License-Identifier: Apache-2.0
// A provider can give random bytes as well, but RAND_status would start the other generators then.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <execcred/x509/openssl_random.hpp>

#include <openssl/rand.h>
#include <sys/random.h>

#include <cerrno>
#include <cstddef>

namespace execcred {
namespace {

int fill(unsigned char* bytes, int size) {
  auto missing = static_cast<std::size_t>(size);
  while (missing > 0) {
    const ssize_t got = getrandom(bytes, missing, 0);
    if (got < 0 && errno != EINTR) return 0;
    if (got <= 0) continue;
    bytes += got;
    missing -= static_cast<std::size_t>(got);
  }
  return 1;
}

int is_ready() { return 1; }

}  // namespace

bool use_random_of_kernel() {
  static const RAND_METHOD kKernel = {.seed = nullptr,
                                      .bytes = fill,
                                      .cleanup = nullptr,
                                      .add = nullptr,
                                      .pseudorand = fill,
                                      .status = is_ready};
  return RAND_set_rand_method(&kKernel) == 1;
}

}  // namespace execcred
