// SPDX-License-Identifier: Apache-2.0
#include "unit/expect.hpp"

#include <doctest/doctest.h>
#include <execcred/base/shell_words.hpp>

#include <array>
#include <cstdio>
#include <string>
#include <vector>

namespace execcred {
namespace {

using Texts = std::vector<std::string>;

// The words as the system's shell splits them, each in brackets.
std::string words_of_shell(const std::string& text) {
  std::string quoted;
  for (const char c : "printf '[%s]' " + text) {
    quoted += c == '\'' ? "'\\''" : std::string(1, c);
  }
  FILE* const shell = popen(("exec /bin/sh -c '" + quoted + "'").c_str(), "r");
  REQUIRE(shell != nullptr);
  std::string output;
  std::array<char, 256> buffer = {};
  while (std::fgets(buffer.data(), buffer.size(), shell) != nullptr) output += buffer.data();
  CHECK(pclose(shell) == 0);
  return output;
}

std::string in_brackets(const Texts& words) {
  std::string text;
  for (const std::string& word : words) text += "[" + word + "]";
  return text;
}

}  // namespace

TEST_CASE("shell words: the same as a shell's if there is nothing to expand") {
  for (const std::string text :
       {"/bin/x", "  /bin/x  a\tb ", "'/opt/my tool' '' \"\"", R"(/x a\ b)", R"("a\$b" "a\`b")",
        R"("a\\b" "a\"b" "a\nb" "a\'b")", R"('a\nb' 'a"b' 'a$b')", R"(a"b"'c'd)", R"(\'\"\\\$)",
        R"(''"")", R"("it's" 'say "so"')", R"(a'b c'd "e f"g)", "a \\\t b", "'\xc3\xa9' \xc3\xa9",
        R"(--option="a b" --other='c')"}) {
    CAPTURE(text);
    const Result<Texts> words = split_shell_words(text);
    REQUIRE(words);
    CHECK(in_brackets(*words) == words_of_shell(text));
  }
}

TEST_CASE("shell words: variables, operators and comments are plain text") {
  const Result<Texts> words = split_shell_words("/x $HOME `id` $(id) ; | > * ~ #c \"$HOME\"");
  REQUIRE(words);
  CHECK(*words == Texts{"/x", "$HOME", "`id`", "$(id)", ";", "|", ">", "*", "~", "#c", "$HOME"});
  CHECK(split_shell_words("a\r\nb")->size() == 2);
  CHECK(split_shell_words("")->empty());
  CHECK(split_shell_words(" \t\n")->empty());
}

TEST_CASE("shell words: unclosed quotes, a final backslash and NUL are refused, not shown") {
  for (const auto& [told, texts] : std::vector<test::Refusals>{
           {"has a ' without its end", {"s3cret '", "'s3cret"}},
           {"has a \" without its end",
            {"s3cret \"", "\"s3cret", "\"s3cret\\\"", "s3cret''\"a'", "a \"s3cret\\"}},
           {"ends in a backslash", {"s3cret \\"}},
       }) {
    for (const std::string& bad : texts) {
      CAPTURE(bad);
      const Result<Texts> words = split_shell_words(bad);
      test::check_fails(words, Error::Kind::configuration, told);
      CHECK_FALSE(test::contains(test::full_text(words.error()), "s3cret"));
    }
  }
  test::check_fails(split_shell_words(std::string_view("a\0b", 3)), Error::Kind::configuration,
                    "has a NUL byte");
}

}  // namespace execcred
