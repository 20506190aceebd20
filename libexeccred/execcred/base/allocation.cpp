// SPDX-License-Identifier: Apache-2.0
#include <execcred/base/allocation.hpp>

#include <cstdlib>
#include <cstring>
#include <new>

namespace execcred {
namespace {

void* checked(void* memory, std::size_t size) {
  if (memory == nullptr && size > 0) {
    if (const std::new_handler handler = std::get_new_handler()) handler();
  }
  return memory;
}

}  // namespace

bool has_memory_handler() { return std::get_new_handler() != nullptr; }

void* allocate_or_end(std::size_t size) { return checked(std::malloc(size), size); }

void* reallocate_or_end(void* memory, std::size_t size) {
  return checked(std::realloc(memory, size), size);
}

void* allocate_zeros_or_end(std::size_t count, std::size_t size) {
  return checked(std::calloc(count, size), count * size);
}

char* duplicate_or_end(const char* text) {
  return static_cast<char*>(checked(strdup(text), sizeof(char)));
}

}  // namespace execcred
