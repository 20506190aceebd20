// SPDX-License-Identifier: Apache-2.0
#include <execcred/base/digest.hpp>

#include <execcred/base/encoding.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

namespace execcred {
namespace {

// FIPS 180-4, section 4.2.2: derived from the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, 64> kConstants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t read_word(const std::uint8_t* bytes) {
  return std::uint32_t{bytes[0]} << 24U | std::uint32_t{bytes[1]} << 16U |
         std::uint32_t{bytes[2]} << 8U | std::uint32_t{bytes[3]};
}

// The functions of section 4.1.2, with the standard's names.
std::uint32_t ch(std::uint32_t x, std::uint32_t y, std::uint32_t z) { return (x & y) ^ (~x & z); }
std::uint32_t maj(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  return (x & y) ^ (x & z) ^ (y & z);
}
std::uint32_t upper_sigma_0(std::uint32_t x) {
  return std::rotr(x, 2) ^ std::rotr(x, 13) ^ std::rotr(x, 22);
}
std::uint32_t upper_sigma_1(std::uint32_t x) {
  return std::rotr(x, 6) ^ std::rotr(x, 11) ^ std::rotr(x, 25);
}
std::uint32_t lower_sigma_0(std::uint32_t x) {
  return std::rotr(x, 7) ^ std::rotr(x, 18) ^ (x >> 3U);
}
std::uint32_t lower_sigma_1(std::uint32_t x) {
  return std::rotr(x, 17) ^ std::rotr(x, 19) ^ (x >> 10U);
}

}  // namespace

Sha256::~Sha256() {
  explicit_bzero(block_.data(), block_.size());
  explicit_bzero(state_.data(), sizeof state_);
}

// Section 6.2.2.
void Sha256::take_block(const std::uint8_t* block) {
  std::array<std::uint32_t, 64> schedule;
  for (std::size_t t = 0; t < 16; ++t) schedule[t] = read_word(block + 4 * t);
  for (std::size_t t = 16; t < 64; ++t) {
    schedule[t] = lower_sigma_1(schedule[t - 2]) + schedule[t - 7] +
                  lower_sigma_0(schedule[t - 15]) + schedule[t - 16];
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t t = 0; t < 64; ++t) {
    const std::uint32_t t1 = h + upper_sigma_1(e) + ch(e, f, g) + kConstants[t] + schedule[t];
    const std::uint32_t t2 = upper_sigma_0(a) + maj(a, b, c);
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const std::array<std::uint32_t, 8> change = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < state_.size(); ++i) state_[i] += change[i];
  explicit_bzero(schedule.data(), sizeof schedule);
}

Sha256& Sha256::add(std::string_view piece) {
  size_ += piece.size();
  while (!piece.empty()) {
    const std::size_t count = std::min(piece.size(), kBlockSize - filled_);
    std::memcpy(block_.data() + filled_, piece.data(), count);
    filled_ += count;
    piece.remove_prefix(count);
    if (filled_ < kBlockSize) break;
    take_block(block_.data());
    filled_ = 0;
  }
  return *this;
}

// Section 5.1.1: the padding is a one bit, zeros, and the size in bits.
Sha256Digest Sha256::finish() {
  constexpr std::size_t kSizeAt = kBlockSize - sizeof size_;
  const std::uint64_t bits = size_ * 8;
  block_[filled_++] = 0x80;
  if (filled_ > kSizeAt) {
    std::fill(block_.begin() + static_cast<std::ptrdiff_t>(filled_), block_.end(), std::uint8_t{0});
    take_block(block_.data());
    filled_ = 0;
  }
  std::fill(block_.begin() + static_cast<std::ptrdiff_t>(filled_), block_.end(), std::uint8_t{0});
  for (std::size_t i = 0; i < sizeof bits; ++i) {
    block_[kSizeAt + i] = static_cast<std::uint8_t>(bits >> (56 - 8 * i));
  }
  take_block(block_.data());
  Sha256Digest digest = {};
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
  }
  return digest;
}

Sha256Digest sha256(std::string_view text) { return Sha256().add(text).finish(); }

Sha256Digest hmac_sha256(std::string_view key, std::string_view message) {
  constexpr std::size_t kBlockSize = 64;
  constexpr char kInner = 0x36;
  constexpr char kOuter = 0x5c;
  const auto text_of = [](const Sha256Digest& digest) {
    return std::string_view(reinterpret_cast<const char*>(digest.data()), digest.size());
  };
  std::array<char, kBlockSize> pad = {};
  Sha256Digest hashed = {};
  if (key.size() > kBlockSize) {
    hashed = sha256(key);
    key = text_of(hashed);
  }
  std::copy(key.begin(), key.end(), pad.begin());
  for (char& byte : pad) byte ^= kInner;
  Sha256Digest digest =
      Sha256().add(std::string_view(pad.data(), pad.size())).add(message).finish();
  for (char& byte : pad) byte ^= kInner ^ kOuter;
  digest = Sha256().add(std::string_view(pad.data(), pad.size())).add(text_of(digest)).finish();
  explicit_bzero(pad.data(), pad.size());
  explicit_bzero(hashed.data(), hashed.size());
  return digest;
}

std::string to_hex(const Sha256Digest& digest) {
  std::string text;
  text.reserve(2 * digest.size());
  for (const std::uint8_t byte : digest) append_hex(byte, text);
  return text;
}

namespace {

constexpr std::string_view kNul("\0", 1);

std::string first_digits(const Sha256Digest& digest) {
  constexpr std::size_t kDigits = 32;
  return to_hex(digest).substr(0, kDigits);
}

}  // namespace

std::string fingerprint(std::string_view what, std::string_view secret) {
  return first_digits(Sha256().add(what).add(kNul).add(secret).finish());
}

std::string fingerprint(std::string_view what, const std::vector<std::string>& secrets) {
  Sha256 hash;
  hash.add(what).add(kNul);
  for (const std::string& secret : secrets) hash.add(secret).add(kNul);
  return first_digits(hash.finish());
}

}  // namespace execcred
