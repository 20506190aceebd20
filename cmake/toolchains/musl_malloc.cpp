// SPDX-License-Identifier: Apache-2.0
// malloc for processes of one thread that live for milliseconds. Zig's maps 64 KB for each size
// that is asked for, and unmaps what is not aligned: 40 system calls and 170 page faults in one
// request over TLS. Linked into every musl binary by cmake/Compiler.cmake.
#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <cwchar>
#include <tuple>

#include <pthread.h>
#include <sys/mman.h>

namespace {

// A block is a header and what its user gets, which starts at a multiple of kUnit.
struct Header {
  std::size_t size;  // of the whole block, a multiple of kUnit, and perhaps kIsKept
};
struct FreeBlock {
  FreeBlock* next;
};

constexpr std::size_t kUnit = 16;
static_assert(sizeof(Header) <= kUnit && sizeof(FreeBlock) <= kUnit - sizeof(Header));
constexpr std::size_t kIsKept = 1;  // never used again: it does not start where its block does
constexpr std::size_t kPage = 4096;
constexpr std::size_t kArena = 128 * 1024;
constexpr std::size_t kChunk = 512 * 1024;
// Up to kLinear one list for each size, then four for each power of two. Larger blocks are mapped.
constexpr std::size_t kLinear = 1024;
constexpr std::size_t kLargest = 128 * 1024;
constexpr std::size_t kMost = PTRDIFF_MAX - kLargest;

// All in one place: each page that is touched costs as much as 500 instructions.
struct Heap {
  bool is_used;
  std::array<FreeBlock*, kLinear / kUnit + 1 + 4 * 7> lists;
  char* at;     // what follows is unused, up to `end`
  char* fresh;  // what follows was never used, and so is zero
  char* end;
  char arena[kArena];
};
alignas(kPage) Heap heap = {};

constexpr std::size_t round_up(std::size_t size, std::size_t unit) {
  return (size + unit - 1) / unit * unit;
}

constexpr std::size_t block_size(std::size_t wanted) {
  const std::size_t size = round_up(wanted + sizeof(Header), kUnit);
  if (size <= kLinear) return size;
  return round_up(size, std::bit_floor(size - 1) / 4);
}

constexpr std::size_t list_of(std::size_t size) {
  if (size <= kLinear) return size / kUnit;
  const std::size_t half = std::bit_floor(size - 1);
  const auto doublings = static_cast<std::size_t>(std::countr_zero(half / kLinear));
  return kLinear / kUnit + 4 * doublings + (size - half) / (half / 4);
}
static_assert(list_of(kLargest) < std::tuple_size_v<decltype(Heap::lists)>);

Header* header_of(void* memory) { return static_cast<Header*>(memory) - 1; }

std::size_t usable_size(const Header& header) {
  const bool is_pooled = header.size <= kLargest && (header.size & kIsKept) == 0;
  return (header.size & ~kIsKept) - (is_pooled ? sizeof(Header) : kUnit);
}

void* map(std::size_t size) {
  void* const mapped =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return mapped == MAP_FAILED ? nullptr : mapped;
}

void* no_memory() {
  errno = ENOMEM;
  return nullptr;
}

bool add_chunk() {
  const bool is_first = heap.at == nullptr;
  char* const chunk = is_first ? heap.arena : static_cast<char*>(map(kChunk));
  if (chunk == nullptr) return false;
  const std::size_t after = reinterpret_cast<std::uintptr_t>(chunk) % kUnit;
  heap.at = chunk + (kUnit - after) + kUnit - sizeof(Header);
  heap.fresh = chunk;
  heap.end = chunk + (is_first ? kArena : kChunk);
  return true;
}

void* new_block(std::size_t size) {
  if (static_cast<std::size_t>(heap.end - heap.at) < size && !add_chunk()) return no_memory();
  auto* const header = reinterpret_cast<Header*>(heap.at);
  heap.at += size;
  heap.fresh = std::max(heap.fresh, heap.at);
  header->size = size;
  return header + 1;
}

// The pages before what its user gets belong to the block, whose size tells that it is mapped.
void* map_block(std::size_t wanted) {
  const std::size_t size = round_up(wanted + kUnit, kPage);
  auto* const mapped = static_cast<char*>(map(size));
  if (mapped == nullptr) return no_memory();
  void* const memory = mapped + kUnit;
  header_of(memory)->size = size;
  return memory;
}

}  // namespace

extern "C" {

void* malloc(std::size_t wanted) {
  if (wanted > kMost) return no_memory();
  const std::size_t size = block_size(wanted);
  if (size > kLargest) return map_block(wanted);
  heap.is_used = true;  // a page that is read before it is written faults twice
  FreeBlock*& list = heap.lists[list_of(size)];
  if (list == nullptr) return new_block(size);
  FreeBlock* const block = list;
  list = block->next;
  return block;
}

void free(void* memory) {
  if (memory == nullptr) return;
  Header* const header = header_of(memory);
  const std::size_t size = header->size;
  if ((size & kIsKept) != 0) return;
  if (size > kLargest) {
    const int kept = errno;
    munmap(static_cast<char*>(memory) - kUnit, size);
    errno = kept;
    return;
  }
  if (reinterpret_cast<char*>(header) + size == heap.at) {
    heap.at = reinterpret_cast<char*>(header);
    return;
  }
  auto* const block = static_cast<FreeBlock*>(memory);
  FreeBlock*& list = heap.lists[list_of(size)];
  block->next = list;
  list = block;
}

void* calloc(std::size_t count, std::size_t size) {
  std::size_t wanted = 0;
  if (__builtin_mul_overflow(count, size, &wanted)) return no_memory();
  const char* const fresh = heap.fresh;
  auto* const memory = static_cast<char*>(malloc(wanted));
  if (memory == nullptr) return nullptr;
  // To write zeros over zeros would touch each page.
  const bool is_fresh = memory >= fresh && memory < heap.end;
  if (header_of(memory)->size <= kLargest && !is_fresh) std::memset(memory, 0, wanted);
  return memory;
}

void* realloc(void* memory, std::size_t wanted) {
  if (memory == nullptr) return malloc(wanted);
  Header* const header = header_of(memory);
  const std::size_t has = usable_size(*header);
  if (wanted <= has && has - wanted < kPage) return memory;
  void* const moved = malloc(wanted);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, memory, std::min(has, wanted));
  free(memory);
  return moved;
}

void* aligned_alloc(std::size_t alignment, std::size_t wanted) {
  if (alignment <= kUnit) return malloc(wanted);
  if (!std::has_single_bit(alignment) || alignment > kPage || wanted > kMost) {
    errno = EINVAL;
    return nullptr;
  }
  auto* const memory = static_cast<char*>(malloc(wanted + alignment));
  if (memory == nullptr) return nullptr;
  char* const aligned = memory + alignment - reinterpret_cast<std::uintptr_t>(memory) % alignment;
  header_of(aligned)->size = (round_up(wanted, kUnit) + kUnit) | kIsKept;
  return aligned;
}

int posix_memalign(void** memory, std::size_t alignment, std::size_t wanted) {
  void* const found = aligned_alloc(alignment, wanted);
  if (found == nullptr) return errno;
  *memory = found;
  return 0;
}

void* memalign(std::size_t alignment, std::size_t wanted) {
  return aligned_alloc(alignment, wanted);
}

void* valloc(std::size_t wanted) { return aligned_alloc(kPage, wanted); }

void* reallocarray(void* memory, std::size_t count, std::size_t size) {
  std::size_t wanted = 0;
  if (__builtin_mul_overflow(count, size, &wanted)) return no_memory();
  return realloc(memory, wanted);
}

std::size_t malloc_usable_size(void* memory) {
  return memory == nullptr ? 0 : usable_size(*header_of(memory));
}

// Zig's take their memory from Zig's malloc, whatever is linked in its place.
char* strndup(const char* text, std::size_t most) {
  const std::size_t size = strnlen(text, most);
  auto* const copy = static_cast<char*>(malloc(size + 1));
  if (copy == nullptr) return nullptr;
  std::memcpy(copy, text, size);
  copy[size] = '\0';
  return copy;
}

char* strdup(const char* text) { return strndup(text, std::strlen(text)); }

wchar_t* wcsdup(const wchar_t* text) {
  const std::size_t size = (std::wcslen(text) + 1) * sizeof(wchar_t);
  auto* const copy = static_cast<wchar_t*>(malloc(size));
  return copy == nullptr ? nullptr : static_cast<wchar_t*>(std::memcpy(copy, text, size));
}

// There is no lock in the functions above, so there is no second thread.
int pthread_create(pthread_t* /*thread*/, const pthread_attr_t* /*attributes*/,
                   void* (* /*start*/)(void*), void* /*argument*/) {
  return EAGAIN;
}
}
