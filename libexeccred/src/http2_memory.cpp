// SPDX-License-Identifier: Apache-2.0
#include "http2_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <new>

namespace execcred {
namespace {

// In front of each block, because realloc must know its size.
struct alignas(std::max_align_t) Block {
  std::size_t size;
};

void* allocate(std::size_t size, void* /*user_data*/) {
  if (size > std::numeric_limits<std::size_t>::max() - sizeof(Block)) return nullptr;
  void* memory = ::operator new(sizeof(Block) + size, std::nothrow);
  if (memory == nullptr) return nullptr;
  return new (memory) Block{.size = size} + 1;
}

Block* block_of(void* memory) { return static_cast<Block*>(memory) - 1; }

void release(void* memory, void* /*user_data*/) {
  if (memory != nullptr) ::operator delete(block_of(memory));
}

void* allocate_zeroed(std::size_t count, std::size_t size, void* user_data) {
  if (size != 0 && count > std::numeric_limits<std::size_t>::max() / size) return nullptr;
  void* memory = allocate(count * size, user_data);
  return memory == nullptr ? nullptr : std::memset(memory, 0, count * size);
}

void* reallocate(void* memory, std::size_t size, void* user_data) {
  if (memory == nullptr) return allocate(size, user_data);
  void* larger = allocate(size, user_data);
  if (larger == nullptr) return nullptr;
  std::memcpy(larger, memory, std::min(size, block_of(memory)->size));
  release(memory, user_data);
  return larger;
}

}  // namespace

nghttp2_mem* http2_memory() {
  static nghttp2_mem memory = {nullptr, allocate, release, allocate_zeroed, reallocate};
  return &memory;
}

}  // namespace execcred
