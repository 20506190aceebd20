// SPDX-License-Identifier: Apache-2.0
// Allocation for C libraries that report a lack of memory as another error, such as an invalid
// certificate or a reply that ends early.
#pragma once

#include <cstddef>

namespace execcred {

// Whether the program has an out-of-memory handler (end_without_memory). If not, a library keeps
// its own allocator: a controller decides about its memory itself.
bool has_memory_handler();

// As malloc, realloc, calloc and strdup of the C library, and freed by free(). A failure calls the
// handler, which ends the program.
void* allocate_or_end(std::size_t size);
void* reallocate_or_end(void* memory, std::size_t size);
void* allocate_zeros_or_end(std::size_t count, std::size_t size);
char* duplicate_or_end(const char* text);

}  // namespace execcred
