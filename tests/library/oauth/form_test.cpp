// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <execcred/base/encoding.hpp>
#include <execcred/base/form.hpp>

namespace execcred::test {
namespace {

TEST_CASE("form: the example of RFC 6749, appendix B") {
  CHECK(form_urlencode(" %&+\xc2\xa3\xe2\x82\xac").reveal() == "+%25%26%2B%C2%A3%E2%82%AC");
}

TEST_CASE("form: every byte is encoded reversibly, and no byte can end a value") {
  for (int value = 0; value < 256; ++value) {
    const char byte = static_cast<char>(value);
    const SecretString encoded = form_urlencode({&byte, 1});
    const std::string_view text = encoded.reveal();
    CAPTURE(value);
    if (text.size() == 1) {
      CHECK((text[0] == byte || (byte == ' ' && text[0] == '+')));
      CHECK(std::string_view("&=%\r\n").find(text[0]) == std::string_view::npos);
    } else {
      REQUIRE(text.size() == 3);
      CHECK(std::stoi(std::string(text.substr(1)), nullptr, 16) == value);
      CHECK(text[0] == '%');
    }
  }
}

TEST_CASE("form: fields keep their order, and a name may be repeated") {
  Form form;
  CHECK(form.encoded().empty());
  form.add("resource", "https://b/");
  form.add("resource", "https://a/");
  form.add("empty", "");
  form.add("a&b", SecretString("c=d e"));
  CHECK(form.encoded().reveal() ==
        "resource=https%3A%2F%2Fb%2F&resource=https%3A%2F%2Fa%2F&empty=&a%26b=c%3Dd+e");
  CHECK(form.has("empty"));
  CHECK_FALSE(form.has("Empty"));
  CHECK_FALSE(form.fields().front().is_secret);
  CHECK(form.fields().back().is_secret);
}

}  // namespace
}  // namespace execcred::test
