// SPDX-License-Identifier: Apache-2.0
// Replaces four parts of the toolchain's runtime that cost a one-shot process more than its own
// work does. Linked into every musl binary by the toolchain file.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>

namespace {

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

template <class T>
std::unique_ptr<T[], Free> allocate(std::size_t count) {
  return std::unique_ptr<T[], Free>(static_cast<T*>(std::calloc(count, sizeof(T))));
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

// libc++'s own lie in a section that the linker cannot place beside what calls them.
void* operator new(std::size_t size) {
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}

void operator delete(void* memory) noexcept { std::free(memory); }

void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }

extern "C" {

// Zig's compares byte by byte, and a bundle of CA certificates is 220 KB.
void* memchr(const void* memory, int value, std::size_t size) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  const auto* at = static_cast<const unsigned char*>(memory);
  const auto wanted = static_cast<unsigned char>(value);
  for (std::uint64_t word = 0; size >= sizeof(word); at += sizeof(word), size -= sizeof(word)) {
    std::memcpy(&word, at, sizeof(word));
    word ^= kOnes * wanted;  // a byte that is wanted is zero now
    if (((word - kOnes) & ~word & kHighBits) != 0) break;
  }
  for (; size > 0; ++at, --size) {
    if (*at == wanted) return const_cast<unsigned char*>(at);
  }
  return nullptr;
}

// Zig's moves elements byte by byte: a twentieth of a request over TLS went into OpenSSL's three
// lists of cipher suites. This one sorts where they are, and moves each once.
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

// The default terminate handler names the type of an uncaught exception with it: 180 KB of code
// and 1,300 relocations, for a message that plugin_main's last catch makes impossible.
char* __cxa_demangle(const char* /*name*/, char* /*buffer*/, std::size_t* /*size*/, int* status) {
  constexpr int kInvalidName = -2;
  if (status != nullptr) *status = kInvalidName;
  return nullptr;
}
}
