// SPDX-License-Identifier: Apache-2.0
// Replaces two parts of the toolchain's C++ runtime that cost a one-shot process more than its own
// work does. Linked into every musl binary by the toolchain file.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

// Zig's malloc maps a slab, and unmaps what is not aligned, for each size that is asked for: 18
// system calls in execcred-token-file. The first allocations come from here instead, by moving an
// offset; what is freed is used again only if it was the last. After that malloc takes over.
constexpr std::size_t kArenaSize = 128 * 1024;
constexpr std::size_t kAlignment = alignof(std::max_align_t);
alignas(kAlignment) char arena[kArenaSize];
std::atomic<std::size_t> arena_used = 0;

constexpr std::size_t round_up(std::size_t size) {
  return (size + kAlignment - 1) / kAlignment * kAlignment;
}

bool is_in_arena(const void* memory) {
  const auto start = reinterpret_cast<std::uintptr_t>(arena);
  return reinterpret_cast<std::uintptr_t>(memory) - start < kArenaSize;
}

void* take_from_arena(std::size_t size) {
  std::size_t used = arena_used.load(std::memory_order_relaxed);
  do {
    if (size > kArenaSize - used) return nullptr;
  } while (
      !arena_used.compare_exchange_weak(used, used + round_up(size), std::memory_order_relaxed));
  return arena + used;
}

}  // namespace

void* operator new(std::size_t size) {
  if (size == 0) size = 1;
  if (void* memory = take_from_arena(size)) return memory;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}

void operator delete(void* memory) noexcept {
  if (!is_in_arena(memory)) std::free(memory);
}

void operator delete(void* memory, std::size_t size) noexcept {
  if (!is_in_arena(memory)) return std::free(memory);
  const auto start = static_cast<std::size_t>(static_cast<char*>(memory) - arena);
  std::size_t end = start + round_up(size == 0 ? 1 : size);
  arena_used.compare_exchange_strong(end, start, std::memory_order_relaxed);
}

// The default terminate handler names the type of an uncaught exception with it: 180 KB of code
// and 1,300 relocations, for a message that plugin_main's last catch makes impossible.
extern "C" char* __cxa_demangle(const char* /*name*/, char* /*buffer*/, std::size_t* /*size*/,
                                int* status) {
  constexpr int kInvalidName = -2;
  if (status != nullptr) *status = kInvalidName;
  return nullptr;
}
