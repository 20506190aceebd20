// SPDX-License-Identifier: Apache-2.0
// Allocation for C libraries that report a lack of memory as another error, such as an invalid
// certificate or a reply that ends early.
#pragma once

#include <cstddef>

namespace execcred {

// Whether the program has an out-of-memory handler (end_without_memory). Without one, a library
// keeps its own allocator, because a controller manages its memory itself.
bool has_memory_handler();

// Like malloc, realloc, calloc and strdup of the C library; free() releases the memory. If an
// allocation fails, the handler is called, which ends the program.
void* allocate_or_end(std::size_t size);
void* reallocate_or_end(void* memory, std::size_t size);
void* allocate_zeros_or_end(std::size_t count, std::size_t size);
char* duplicate_or_end(const char* text);

}  // namespace execcred
