// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <execcred/base/copyable_secret.hpp>
#include <execcred/base/secret.hpp>

#include <malloc.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <sstream>
#include <type_traits>
#include <utility>

// Freed memory must not be read, so the array form of operator delete searches each block before it
// frees the block. It searches while a test has set the text that must not be there.
namespace {
std::string_view g_needle;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
int g_freed = 0;            // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
int g_leaks = 0;            // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

void release(void* block) noexcept {
  if (block != nullptr && !g_needle.empty()) {
    ++g_freed;
    const std::size_t size = malloc_usable_size(block);
    if (memmem(block, size, g_needle.data(), g_needle.size()) != nullptr) ++g_leaks;
  }
  std::free(block);  // NOLINT(cppcoreguidelines-no-malloc)
}
}  // namespace

void* operator new[](std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return std::malloc(size > 0 ? size : 1);  // NOLINT(cppcoreguidelines-no-malloc)
}
void* operator new[](std::size_t size) {
  void* block = operator new[](size, std::nothrow);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
void operator delete[](void* block) noexcept { release(block); }
void operator delete[](void* block, std::size_t /*size*/) noexcept { release(block); }

namespace execcred {
namespace {

constexpr std::string_view kCanary = "canary-7f3a9c";

// Counts the blocks that are freed during its lifetime, and those with the text.
class FreedMemory {
 public:
  FreedMemory() {
    g_freed = 0;
    g_leaks = 0;
    g_needle = kCanary;
  }
  FreedMemory(const FreedMemory&) = delete;
  FreedMemory& operator=(const FreedMemory&) = delete;
  ~FreedMemory() { g_needle = {}; }

  int freed() const { return g_freed; }
  int leaks() const { return g_leaks; }
};

template <class Stream, class T>
concept Printable = requires(Stream& stream, const T& value) {
  stream << value;
};
template <class T>
concept Comparable = requires(const T& a, const T& b) {
  a == b;
};

static_assert(Printable<std::ostream, std::string> && !Printable<std::ostream, SecretString>);
static_assert(!Printable<std::ostringstream, SecretString>);
static_assert(!Comparable<SecretString>);
static_assert(!std::is_copy_constructible_v<SecretString>);
static_assert(!std::is_copy_assignable_v<SecretString>);
static_assert(!std::is_convertible_v<SecretString, std::string_view>);
static_assert(!std::is_convertible_v<SecretString, std::string>);
static_assert(!std::is_convertible_v<std::string, SecretString>);
static_assert(std::is_nothrow_move_constructible_v<SecretString>);

TEST_CASE("SecretString: freed memory contains no part of the text") {
  FreedMemory memory;
  { const SecretString secret(kCanary); }
  CHECK(memory.freed() == 1);
  {
    SecretString growing(kCanary);
    for (int i = 0; i < 100; ++i) growing.append(kCanary);
    CHECK(growing.size() == 101 * kCanary.size());
  }
  {
    SecretString assigned(kCanary);
    assigned = SecretString("other");
    const SecretString copied = assigned.copy();
    const SecretString trimmed = SecretString("  canary-7f3a9c\n").trimmed();
    CHECK(trimmed.reveal() == kCanary);
  }
  {
    SecretString filled;
    std::memcpy(filled.reserve(64), kCanary.data(), kCanary.size());  // without grow()
  }
  CHECK(memory.freed() > 6);
  CHECK(memory.leaks() == 0);
}

TEST_CASE("SecretString: appends, moves and copies its text") {
  SecretString secret;
  CHECK(secret.empty());
  CHECK(secret.reveal().empty());
  secret.append("");
  CHECK(secret.empty());
  secret.append("ab");
  secret.append(std::string_view("\0c", 2));
  CHECK(secret.reveal() == std::string_view("ab\0c", 4));

  const SecretString copy = secret.copy();
  SecretString moved = std::move(secret);
  CHECK(moved.reveal() == copy.reveal());
  moved = SecretString("new");
  CHECK(moved.reveal() == "new");
  CHECK(copy.size() == 4);
}

TEST_CASE("SecretString: a moved-from one is empty") {
  SecretString first("text");
  const SecretString second(std::move(first));
  CHECK(first.empty());  // NOLINT(bugprone-use-after-move): that is the point
  SecretString third("text");
  SecretString fourth("other");
  fourth = std::move(third);
  CHECK(third.empty());  // NOLINT(bugprone-use-after-move)
  CHECK(fourth.reveal() == "text");
}

TEST_CASE("SecretString: reserve and grow append in place, and keep the existing text") {
  SecretString secret("12");
  std::memcpy(secret.reserve(1000), "3456", 4);
  CHECK(secret.reveal() == "12");
  secret.grow(4);
  CHECK(secret.reveal() == "123456");
}

TEST_CASE("SecretString: trimmed removes white space around the text, but not inside it") {
  CHECK(SecretString(" \t\n\v\f\ra b\r\n").trimmed().reveal() == "a b");
  CHECK(SecretString("\n \n").trimmed().empty());
  CHECK(SecretString().trimmed().empty());
}

TEST_CASE("CopyableSecret: a copy has its own text, also inside a struct that is copied") {
  struct User {
    std::string name;
    CopyableSecret token;
  };
  const User first = {.name = "a", .token = SecretString("text")};
  User second = first;
  CHECK(second.token.reveal() == "text");
  CHECK(second.token.reveal().data() != first.token.reveal().data());
  second.token.append("s");
  CHECK(first.token.reveal() == "text");
  second = first;
  CHECK(second.token.reveal() == "text");
  const User& same = second;
  second = same;
  CHECK(second.token.reveal() == "text");
  const SecretString taken = std::move(second.token);
  CHECK(taken.reveal() == "text");
}

TEST_CASE("wipe: empties a string and overwrites all of its buffer") {
  std::string text = "long enough for the heap: " + std::string(kCanary);
  text.resize(text.size() - 4);  // the cut end is still in the buffer
  const std::size_t capacity = text.capacity();
  wipe(text);
  CHECK(text.empty());
  REQUIRE(text.capacity() == capacity);
  CHECK(std::string(text.data(), capacity) == std::string(capacity, '\0'));

  std::string nothing;
  wipe(nothing);
  CHECK(nothing.empty());
}

}  // namespace
}  // namespace execcred
