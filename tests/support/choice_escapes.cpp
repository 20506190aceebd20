// SPDX-License-Identifier: Apache-2.0
#include "choice_escapes.hpp"

#include <algorithm>
#include <cctype>

namespace execcred::test {
namespace {

std::string in_upper_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

// Texts that look like `good`, encode a part of it, or have invisible characters.
Texts look_alikes(const std::string& good) {
  const std::string stem = good.substr(0, good.size() - 1);
  return {stem + "\u0430",  stem + "\uff41", stem + "\u0131",   stem + "%61",     stem + "%2561",
          stem + "\\u0061", stem + "&#97;",  good + "\u200b",   good + "\u00a0",  good + "\u202e",
          "\ufeff" + good,  good + "\u0301", stem + "\xc1\xa1", good + "\u2024x", stem + "\u2215x"};
}

Texts texts(const std::string& good, const std::string& prefix) {
  const std::string stem = good.substr(0, good.size() - 1);
  return {good + "/",
          good + "//",
          good + "/../x",
          good + "/./x",
          good + "/..",
          prefix + "../x",
          prefix + "x/../../y",
          prefix + "*",
          prefix + "?",
          prefix + "[a]",
          "*",
          "any",
          "server",
          stem + "*",
          " " + good,
          good + " ",
          good + " x",
          good + "," + prefix + "x",
          prefix + "x," + good,
          "x," + good,
          good + ";x",
          good + "|x",
          good + "#x",
          good + "?x=y",
          good + "&x=y",
          good + "\\x",
          good + "'x",
          good + "\"x",
          good + "$x",
          good + "`x`",
          good + "%00",
          good + "%2f..",
          good + "%0a",
          "x" + good,
          "." + good,
          "/" + good,
          good + "{clusterName}",
          good + "{{.x}}",
          good + "<x>",
          in_upper_case(good),
          std::string(1, static_cast<char>(std::toupper(static_cast<unsigned char>(good[0])))) +
              good.substr(1),
          std::string(9000, 'x')};
}

}  // namespace

std::vector<ChoiceEscape> choice_escapes(const std::string& good, const std::string& prefix,
                                         const Texts& others) {
  std::vector<ChoiceEscape> escapes;
  for (const std::string& text : texts(good, prefix) + look_alikes(good) + others) {
    escapes.push_back({.json = blackbox::json_string(text), .argument = text});
  }
  for (const std::string control : {"\n", "\r", "\t", "\x01", "\x7f", "\x1b[0m"}) {
    for (const std::string& text : {good + control, control + good, good + control + "x"}) {
      escapes.push_back({.json = blackbox::json_string(text), .argument = text});
    }
  }
  const std::string quoted = blackbox::json_string(good);
  const std::string open = quoted.substr(0, quoted.size() - 1);
  // An argument cannot contain a NUL.
  for (const std::string& json :
       {open + R"(\u0000")", open + R"(\u0000x")", R"("\u0000)" + good + "\"", "[" + quoted + "]",
        "[" + quoted + R"(,"x"])", "[[" + quoted + "]]", R"({"value":)" + quoted + "}",
        R"({"0":)" + quoted + "}", std::string("7"), std::string("true"), std::string("[]"),
        std::string("{}")}) {
    escapes.push_back({.json = json});
  }
  return escapes;
}

std::string problem_of_escape(const Outcome& outcome, const std::string& name) {
  if (outcome.exit_code != 1 && outcome.exit_code != 2) return blackbox::describe(outcome);
  return blackbox::violation_of_failure(outcome, outcome.exit_code, name);
}

}  // namespace execcred::test
