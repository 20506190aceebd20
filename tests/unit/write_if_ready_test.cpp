// SPDX-License-Identifier: Apache-2.0
#include <execcred/os/deadline.hpp>

#include <doctest/doctest.h>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <string>

using execcred::deadline::write_if_ready;

namespace {

struct Pipe {
  Pipe() { REQUIRE(pipe2(ends.data(), O_CLOEXEC) == 0); }
  ~Pipe() {
    close(ends[0]);
    close(ends[1]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  std::array<int, 2> ends = {};
};

std::string content(int descriptor) {
  std::string text(std::size_t{1} << 20, '\0');
  const ssize_t size = read(descriptor, text.data(), text.size());
  REQUIRE(size > 0);
  return text.substr(0, static_cast<std::size_t>(size));
}

std::string numbers() {
  std::string text;
  for (int number = 0; text.size() < 200'000; ++number) text += std::to_string(number) + "\n";
  return text;
}

}  // namespace

TEST_CASE("write_if_ready: of a text that is longer than a pipe, what fits is written at once") {
  const Pipe pipe;
  const std::string text = numbers();
  write_if_ready(pipe.ends[1], text);
  const int capacity = fcntl(pipe.ends[1], F_GETPIPE_SZ);
  REQUIRE(capacity > 0);
  CHECK(content(pipe.ends[0]) == text.substr(0, static_cast<std::size_t>(capacity)));
}

TEST_CASE("write_if_ready: a full pipe gets nothing, and a read one gets all") {
  const Pipe pipe;
  write_if_ready(pipe.ends[1], numbers());
  write_if_ready(pipe.ends[1], "not this");
  CHECK(content(pipe.ends[0]).find("not this") == std::string::npos);
  write_if_ready(pipe.ends[1], "but this");
  CHECK(content(pipe.ends[0]) == "but this");
}
