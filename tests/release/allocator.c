// SPDX-License-Identifier: Apache-2.0
// Uses the malloc of the release binaries, correctly or with the misuse that the argument names. A
// misuse that is not detected ends with 0.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 3000

// volatile, so that the compiler does not know that these are malloc and free.
static void* (*volatile take)(size_t) = malloc;
static void (*volatile give_back)(void*) = free;

static int use(void) {
  static unsigned char* blocks[COUNT];
  for (size_t i = 0; i < COUNT; ++i) {
    const size_t size = i * 37 % 200000;
    blocks[i] = take(size);
    if (blocks[i] == NULL || (uintptr_t)blocks[i] % 16 != 0) return 1;
    memset(blocks[i], (int)(i % 251), size);
  }
  for (size_t i = 0; i < COUNT; ++i) {
    const size_t size = i * 37 % 200000;
    for (size_t at = 0; at < size; ++at) {
      if (blocks[i][at] != i % 251) return 1;
    }
    if (i % 2 == 0) blocks[i] = realloc(blocks[i], size * 2);
    if (size > 0 && blocks[i][size - 1] != i % 251) return 1;
  }
  for (size_t i = 0; i < COUNT; ++i) give_back(blocks[i]);
  unsigned char* const zeroed = calloc(1000, 100);
  for (size_t at = 0; at < 100000; ++at) {
    if (zeroed[at] != 0) return 1;
  }
  give_back(zeroed);
  void* aligned = NULL;
  if (posix_memalign(&aligned, 4096, 100) != 0 || (uintptr_t)aligned % 4096 != 0) return 1;
  give_back(aligned);
  char* const copy = strdup("text");
  const int same = strcmp(copy, "text") == 0;
  give_back(copy);
  return same && calloc(SIZE_MAX, 2) == NULL ? 0 : 1;
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "use";
  if (strcmp(what, "use") == 0) return use();
  char* const block = take(24);
  if (strcmp(what, "overflow") == 0) memset(block, 1, 64);
  if (strcmp(what, "one-byte-overflow") == 0) block[24] = 1;
  give_back(strcmp(what, "foreign-pointer") == 0 ? block + 16 : block);
  if (strcmp(what, "double-free") == 0) give_back(block);
  return 0;
}
