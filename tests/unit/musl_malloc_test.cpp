// SPDX-License-Identifier: Apache-2.0
// The release binaries' malloc, under other names.
#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <map>
#include <random>
#include <string>
#include <tuple>

#include <pthread.h>
#include <sys/mman.h>

#include <doctest/doctest.h>

#define malloc musl_malloc
#define free musl_free
#define calloc musl_calloc
#define realloc musl_realloc
#define aligned_alloc musl_aligned_alloc
#define posix_memalign musl_posix_memalign
#define memalign musl_memalign
#define valloc musl_valloc
#define reallocarray musl_reallocarray
#define malloc_usable_size musl_malloc_usable_size
#define strndup musl_strndup
#define strdup musl_strdup
#define wcsdup musl_wcsdup
#define pthread_create musl_pthread_create
#include "../../cmake/toolchains/musl_malloc.cpp"
#undef malloc
#undef free
#undef calloc
#undef realloc
#undef aligned_alloc
#undef posix_memalign
#undef memalign
#undef valloc
#undef reallocarray
#undef malloc_usable_size
#undef strndup
#undef strdup
#undef wcsdup
#undef pthread_create

namespace {

// What the heap's user wrote, and expects to find.
class Blocks {
 public:
  explicit Blocks(unsigned seed) : random_(seed) {}
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;
  ~Blocks() {
    while (!kept_.empty()) release();
  }

  std::size_t some_size() {
    const std::size_t most = std::size_t{1} << std::uniform_int_distribution(0, 19)(random_);
    return std::uniform_int_distribution<std::size_t>(0, most)(random_);
  }

  void keep(void* memory, std::size_t size, std::size_t alignment = 16) {
    REQUIRE(memory != nullptr);
    REQUIRE(reinterpret_cast<std::uintptr_t>(memory) % alignment == 0);
    const auto* begin = static_cast<unsigned char*>(memory);
    const auto next = kept_.upper_bound(begin);
    if (next != kept_.end()) REQUIRE(begin + size <= next->first);
    if (next != kept_.begin()) {
      const auto& [before, content] = *std::prev(next);
      REQUIRE(before + content.size() <= begin);
    }
    std::string content(size, '\0');
    for (char& c : content) c = static_cast<char>(random_());
    std::memcpy(memory, content.data(), size);
    kept_.emplace(begin, std::move(content));
  }

  // Takes one out, still as it was written.
  std::pair<void*, std::string> take() {
    const auto at = std::next(kept_.begin(), static_cast<long>(random_() % kept_.size()));
    auto* const memory = const_cast<unsigned char*>(at->first);
    REQUIRE(std::memcmp(memory, at->second.data(), at->second.size()) == 0);
    auto node = kept_.extract(at);
    return {memory, std::move(node.mapped())};
  }

  void release() { musl_free(take().first); }

  void resize() {
    const auto [memory, content] = take();
    const std::size_t size = some_size();
    void* const moved = musl_realloc(memory, size);
    REQUIRE(std::memcmp(moved, content.data(), std::min(size, content.size())) == 0);
    keep(moved, size);
  }

  void act() {
    const std::size_t size = some_size();
    const std::size_t alignment = std::size_t{1} << std::uniform_int_distribution(0, 12)(random_);
    switch (kept_.size() < 3 ? 0 : random_() % 6) {
      case 0:
        return keep(musl_malloc(size), size);
      case 1: {
        auto* const zeros = static_cast<unsigned char*>(musl_calloc(1, size));
        REQUIRE(std::all_of(zeros, zeros + size, [](unsigned char c) { return c == 0; }));
        return keep(zeros, size);
      }
      case 2:
        return keep(musl_aligned_alloc(alignment, size), size, alignment);
      case 3:
        return resize();
      default:
        return release();
    }
  }

 private:
  std::mt19937 random_;
  std::map<const unsigned char*, std::string> kept_;
};

TEST_SUITE("musl malloc") {
  TEST_CASE("blocks are aligned, apart from each other, and keep what was written") {
    for (unsigned seed = 1; seed <= 5; ++seed) {
      Blocks blocks(seed);
      for (int i = 0; i < 5000; ++i) blocks.act();
    }
  }

  TEST_CASE("freed memory is used again") {
    for (const std::size_t size : {1UL, 100UL, 5000UL, 100'000UL}) {
      CAPTURE(size);
      void* const first = musl_malloc(size);
      void* const second = musl_malloc(size);
      musl_free(first);
      CHECK(musl_malloc(size) == first);
      musl_free(second);
      musl_free(first);
    }
  }

  TEST_CASE("what cannot be had is refused") {
    CHECK(musl_malloc(SIZE_MAX) == nullptr);
    CHECK(errno == ENOMEM);
    CHECK(musl_calloc(SIZE_MAX / 2, 3) == nullptr);
    CHECK(musl_aligned_alloc(24, 1) == nullptr);
    CHECK(errno == EINVAL);
    void* const small = musl_malloc(1);
    CHECK(musl_realloc(small, SIZE_MAX) == nullptr);
    musl_free(small);
    musl_free(nullptr);
  }

  TEST_CASE("copies of texts end where they should") {
    char* const all = musl_strdup("spoke-1");
    CHECK(std::string(all) == "spoke-1");
    CHECK(musl_malloc_usable_size(all) >= 8);
    char* const front = musl_strndup("spoke-1", 5);
    CHECK(std::string(front) == "spoke");
    wchar_t* const wide = musl_wcsdup(L"spoke");
    CHECK(std::wcscmp(wide, L"spoke") == 0);
    for (void* const memory : std::initializer_list<void*>{all, front, wide}) musl_free(memory);
    CHECK(musl_reallocarray(nullptr, SIZE_MAX / 2, 3) == nullptr);
  }

  TEST_CASE("there is no second thread, since there is no lock") {
    pthread_t thread = {};
    CHECK(musl_pthread_create(&thread, nullptr, nullptr, nullptr) == EAGAIN);
  }
}

}  // namespace
