// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4), for cache keys and for signatures.
//
// execcred has its own implementation because of the start-up time: a cached run must not
// initialise libcrypto, which takes longer than the rest of the run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace execcred {

using Sha256Digest = std::array<std::uint8_t, 32>;

// The digest of a message that comes in pieces. The destructor overwrites the buffers.
class Sha256 {
 public:
  Sha256() = default;
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  ~Sha256();

  Sha256& add(std::string_view piece);
  // No piece may be added after this call.
  Sha256Digest finish();

 private:
  static constexpr std::size_t kBlockSize = 64;

  void take_block(const std::uint8_t* block);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, kBlockSize> block_ = {};
  std::size_t filled_ = 0;  // of block_
  std::uint64_t size_ = 0;  // of all pieces, in bytes
};

Sha256Digest sha256(std::string_view text);

// HMAC (RFC 2104) with SHA-256. The caller must overwrite a digest that is used as a key.
Sha256Digest hmac_sha256(std::string_view key, std::string_view message);

// Hexadecimal digits in lower case.
std::string to_hex(const Sha256Digest& digest);

// Represents a secret in a cache key: 32 hexadecimal digits of SHA-256 over `what`, a NUL and the
// secret. It differs for two secrets, and for two uses of one secret. It reveals nothing about a
// secret that cannot be guessed.
std::string fingerprint(std::string_view what, std::string_view secret);
// The same for several secrets: each is followed by a NUL.
std::string fingerprint(std::string_view what, const std::vector<std::string>& secrets);

}  // namespace execcred
