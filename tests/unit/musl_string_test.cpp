// SPDX-License-Identifier: Apache-2.0
// The release binaries' string functions, under other names.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include <doctest/doctest.h>

#define strlen musl_strlen
#define explicit_bzero musl_explicit_bzero
#define memchr musl_memchr
#define qsort musl_qsort
#include "../../cmake/toolchains/musl_string.cpp"
#undef strlen
#undef explicit_bzero
#undef memchr
#undef qsort

namespace {

// Bytes that end where a page does that nobody may touch.
class EndOfPage {
 public:
  EndOfPage()
      : size_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
        memory_(
            mmap(nullptr, 2 * size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    REQUIRE(memory_ != MAP_FAILED);
    REQUIRE(mprotect(end(), size_, PROT_NONE) == 0);
  }
  EndOfPage(const EndOfPage&) = delete;
  EndOfPage& operator=(const EndOfPage&) = delete;
  ~EndOfPage() { munmap(memory_, 2 * size_); }

  char* end() const { return static_cast<char*>(memory_) + size_; }

 private:
  std::size_t size_;
  void* memory_;
};

struct Entry {
  int key;
  std::array<char, 60> rest;
};

int compare_entries(const void* left, const void* right) {
  return static_cast<const Entry*>(left)->key - static_cast<const Entry*>(right)->key;
}

TEST_CASE("strlen reads no page beyond the text's, wherever it starts") {
  const EndOfPage page;
  for (std::size_t length = 0; length < 40; ++length) {
    char* const text = page.end() - length - 1;
    std::memset(text, 'x', length);
    text[length] = '\0';
    CAPTURE(length);
    CHECK(musl_strlen(text) == length);
  }
}

TEST_CASE("strlen takes bytes of all values for text") {
  for (int value = 1; value < 256; ++value) {
    const std::string text(20, static_cast<char>(value));
    CHECK(musl_strlen(text.c_str()) == text.size());
  }
}

TEST_CASE("memchr finds the first such byte, and reads nothing beyond the end") {
  const EndOfPage page;
  for (std::size_t size = 0; size < 40; ++size) {
    char* const start = page.end() - size;
    for (std::size_t place = 0; place <= size; ++place) {
      std::memset(start, '\x81', size);
      if (place < size) start[place] = '\x80';
      if (place + 3 < size) start[place + 3] = '\x80';
      const void* const found = musl_memchr(start, 0x80, size);
      CHECK(found == (place < size ? start + place : nullptr));
    }
  }
}

TEST_CASE("explicit_bzero clears all and no more") {
  std::string bytes(100, 'x');
  musl_explicit_bzero(&bytes[10], 80);
  CHECK(bytes == std::string(10, 'x') + std::string(80, '\0') + std::string(10, 'x'));
  musl_explicit_bzero(bytes.data(), 0);
  CHECK(bytes.front() == 'x');
}

TEST_CASE("qsort orders whole entries as the C library's does") {
  std::mt19937 random(7);
  for (std::size_t count = 0; count < 200; count += 7) {
    std::vector<Entry> entries(count);
    for (Entry& entry : entries) {
      entry.key = std::uniform_int_distribution(0, 1000)(random);
      entry.rest.fill(static_cast<char>(entry.key));
    }
    std::vector<Entry> expected = entries;
    std::stable_sort(expected.begin(), expected.end(),
                     [](const Entry& left, const Entry& right) { return left.key < right.key; });
    musl_qsort(entries.data(), entries.size(), sizeof(Entry), compare_entries);
    for (std::size_t i = 0; i < count; ++i) {
      REQUIRE(entries[i].key == expected[i].key);
      REQUIRE(entries[i].rest == expected[i].rest);
    }
    sort_in_place(reinterpret_cast<char*>(expected.data()), count, sizeof(Entry), compare_entries);
    CHECK(
        std::is_sorted(expected.begin(), expected.end(),
                       [](const Entry& left, const Entry& right) { return left.key < right.key; }));
  }
}

}  // namespace
