// SPDX-License-Identifier: Apache-2.0
// musl's mallocng as one unit, from musl's source (scripts/lib/musl.sh), in place of the malloc of
// Zig's C library, which checks nothing: mallocng ends the process when it meets a double free, a
// pointer that is not its own, or a write behind a block. What follows replaces its glue.h, which
// needs parts of musl that Zig's library hides or lacks. Linked into every musl binary by the
// toolchain file.
#define _GNU_SOURCE
#define MALLOC_GLUE_H
#include <elf.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

// For tests/release/hardening.py, beside that of hardening_note.cpp.
#define ALLOCATOR "allocator=mallocng\n"
static const struct {
  uint32_t name_size, text_size, type;
  char name[12];
  char text[sizeof(ALLOCATOR)];
} hardening_note __attribute__((used, aligned(4), section(".note.execcred.hardening"))) = {
    sizeof("execcred"), sizeof(ALLOCATOR), 1, "execcred", ALLOCATOR};

#define assert(x) ((x) ? (void)0 : __builtin_trap())
#define ctx __malloc_context
#define size_classes __malloc_size_classes
#define alloc_meta __malloc_alloc_meta
#define is_allzero __malloc_allzerop
#define USE_MADV_FREE 0
#define DISABLE_ALIGNED_ALLOC 0
#define RDLOCK_IS_EXCLUSIVE 1
// As for a process of several threads, always.
#define MT 1
#define LOCK_OBJ_DEF

static pthread_mutex_t heap_lock = PTHREAD_MUTEX_INITIALIZER;

static inline void rdlock(void) { pthread_mutex_lock(&heap_lock); }
static inline void wrlock(void) { pthread_mutex_lock(&heap_lock); }
static inline void unlock(void) { pthread_mutex_unlock(&heap_lock); }
static inline void upgradelock(void) {}

// Zig's fork calls it as musl's does: before, and then in the parent (0) and in the child.
void __malloc_atfork(int who) {
  if (who < 0) {
    wrlock();
  } else {
    unlock();
  }
}

static inline uintptr_t brk_to(uintptr_t end) { return (uintptr_t)syscall(SYS_brk, end); }
#define brk(end) brk_to(end)

static inline uint64_t get_random_secret(void) {
  uint64_t secret;
  // Sixteen bytes, of which the stack protector takes the first eight.
  memcpy(&secret, (const char*)getauxval(AT_RANDOM) + 8, sizeof secret);
  return secret;
}

#ifndef PAGESIZE
static inline size_t get_page_size(void) { return getauxval(AT_PAGESZ); }
#endif

static inline int a_ctz_32(uint32_t bits) { return __builtin_ctz(bits); }
static inline int a_clz_32(uint32_t bits) { return __builtin_clz(bits); }
static inline int a_cas(volatile int* at, int expected, int wanted) {
  return __sync_val_compare_and_swap(at, expected, wanted);
}
static inline void a_or(volatile int* at, int bits) { __sync_fetch_and_or(at, bits); }

#include "mallocng/malloc.c"

#include "mallocng/aligned_alloc.c"
#include "mallocng/free.c"
#include "mallocng/malloc_usable_size.c"
#include "mallocng/realloc.c"

#include "memalign.c"
#include "posix_memalign.c"
#include "reallocarray.c"

// calloc.c takes these two from a header that has far more, and that this macro empties.
#define _INTERNAL_RELOC_H
#define weak_alias(old, new)
#define __malloc_replaced 0
#include "calloc.c"

void* valloc(size_t size) { return memalign(PGSZ, size); }

// Zig's take their memory from Zig's malloc, whatever is linked in its place.
#include "../string/strdup.c"
#include "../string/strndup.c"
#include "../string/wcsdup.c"
