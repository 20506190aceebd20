// SPDX-License-Identifier: Apache-2.0
// Functions of the C library that Zig's does byte by byte. Linked into every musl binary by the
// toolchain file.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>

namespace {

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

template <class T>
std::unique_ptr<T[], Free> allocate(std::size_t count) {
  return std::unique_ptr<T[], Free>(static_cast<T*>(std::calloc(count, sizeof(T))));
}

constexpr std::uint64_t kOnes = 0x0101010101010101;

constexpr bool has_zero_byte(std::uint64_t word) {
  return ((word - kOnes) & ~word & kOnes << 7U) != 0;
}

using Compare = int (*)(const void*, const void*);

// For when there is no memory.
void sort_in_place(char* base, std::size_t count, std::size_t size, Compare compare) {
  for (std::size_t end = 1; end < count; ++end) {
    for (char* one = base + end * size; one > base && compare(one - size, one) > 0; one -= size) {
      std::swap_ranges(one - size, one, one);
    }
  }
}

}  // namespace

extern "C" {

std::size_t strlen(const char* text) {
  const char* at = text;
  while (reinterpret_cast<std::uintptr_t>(at) % sizeof(std::uint64_t) != 0 && *at != '\0') ++at;
  if (*at == '\0') return static_cast<std::size_t>(at - text);
  // A word that is aligned lies in one page, and so may be read beyond the end.
  for (std::uint64_t word = 0;; at += sizeof(word)) {
    std::memcpy(&word, at, sizeof(word));
    if (has_zero_byte(word)) break;
  }
  while (*at != '\0') ++at;
  return static_cast<std::size_t>(at - text);
}

void explicit_bzero(void* memory, std::size_t size) {
  std::memset(memory, 0, size);
  __asm__ volatile("" : : "r"(memory) : "memory");
}

// A bundle of CA certificates is 220 KB.
void* memchr(const void* memory, int value, std::size_t size) {
  using Vector = unsigned char __attribute__((vector_size(16)));
  const auto* at = static_cast<const unsigned char*>(memory);
  const auto wanted = static_cast<unsigned char>(value);
  for (Vector bytes = {}; size >= sizeof(bytes); at += sizeof(bytes), size -= sizeof(bytes)) {
    std::memcpy(&bytes, at, sizeof(bytes));
    const auto is_wanted = bytes == wanted;
    std::array<std::uint64_t, 2> halves = {};
    std::memcpy(halves.data(), &is_wanted, sizeof(halves));
    if ((halves[0] | halves[1]) != 0) break;
  }
  for (; size > 0; ++at, --size) {
    if (*at == wanted) return const_cast<unsigned char*>(at);
  }
  return nullptr;
}

// A twentieth of a request over TLS went into moving the entries of OpenSSL's three lists of cipher
// suites. This one sorts them where they are, and moves each once.
void qsort(void* memory, std::size_t count, std::size_t size, Compare compare) {
  auto* const base = static_cast<char*>(memory);
  if (count < 2 || size == 0) return;
  const auto places = allocate<const char*>(count);
  const auto sorted = allocate<char>(count * size);
  if (places == nullptr || sorted == nullptr) return sort_in_place(base, count, size, compare);
  const std::span<const char*> order(places.get(), count);
  for (std::size_t i = 0; i < count; ++i) order[i] = base + i * size;
  std::stable_sort(order.begin(), order.end(), [compare](const char* left, const char* right) {
    return compare(left, right) < 0;
  });
  for (std::size_t i = 0; i < count; ++i) std::memcpy(&sorted[i * size], order[i], size);
  std::memcpy(base, sorted.get(), count * size);
}
}
