// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <execcred/base/encoding.hpp>

#include <vector>

namespace execcred {
namespace {

struct Case {
  std::string_view bytes;
  std::string_view text;
};

TEST_CASE("encode_base64 and decode_base64: the test vectors of RFC 4648") {
  for (const Case& c : {Case{"", ""}, Case{"f", "Zg=="}, Case{"fo", "Zm8="}, Case{"foo", "Zm9v"},
                        Case{"foob", "Zm9vYg=="}, Case{"fooba", "Zm9vYmE="},
                        Case{"foobar", "Zm9vYmFy"}, Case{"\xfb\xff\xfe", "+//+"}}) {
    CAPTURE(c.text);
    CHECK(encode_base64(c.bytes) == c.text);
    CHECK(decode_base64(c.text) == std::string(c.bytes));
  }
}

TEST_CASE("encode_base64: every byte at every position is decoded to itself") {
  for (std::size_t lead = 0; lead < 3; ++lead) {
    for (int i = 0; i < 256; ++i) {
      const std::string bytes = std::string(lead, 'x') + static_cast<char>(i);
      CAPTURE(i);
      REQUIRE(decode_base64(encode_base64(bytes)) == bytes);
    }
  }
}

TEST_CASE("decode_base64: ignores line breaks, as Go does") {
  CHECK(decode_base64("Zm9v\r\nYg==\n") == "foob");
  CHECK(decode_base64("Z\nm\n9\nv") == "foo");
  CHECK(decode_base64("Zg=\n=") == "f");
  CHECK(decode_base64("\r\n") == "");
}

TEST_CASE("decode_base64: refuses wrong padding, other bytes and unused bits that are not zero") {
  for (const std::string_view text : {
           std::string_view("Zg"),        std::string_view("Zg="),
           std::string_view("Zg==="),     std::string_view("Z==="),
           std::string_view("===="),      std::string_view("="),
           std::string_view("Zm9v===="),  std::string_view("Zm9v="),
           std::string_view("Zg==Zg=="),  std::string_view("Z=g="),
           std::string_view("=Zg="),      std::string_view("Zm8=Zm9v"),
           std::string_view("Zh=="),      std::string_view("Zm9="),
           std::string_view("Zm9v Yg=="), std::string_view(" Zm9v"),
           std::string_view("Zm9v\t"),    std::string_view("Zm-v"),
           std::string_view("Zm_v"),      std::string_view("Zm9v\0Zm9", 8),
           std::string_view("Zm9\xc3"),   std::string_view("Zm9vZ"),
           std::string_view("Zm.v"),
       }) {
    CAPTURE(text);
    CHECK_FALSE(decode_base64(text));
  }
}

TEST_CASE("decode_base64url: unpadded, in the URL alphabet") {
  CHECK(decode_base64url("") == "");
  CHECK(decode_base64url("Zg") == "f");
  CHECK(decode_base64url("Zm8") == "fo");
  CHECK(decode_base64url("Zm9v") == "foo");
  CHECK(decode_base64url("-__-") == "\xfb\xff\xfe");
  for (const std::string_view text : {"Zg==", "Zm8=", "Z", "Zm9vZ", "Zm9v\n", " Zg", "Zh", "Zm9",
                                      "+//+", "Zm9v.", "Z\rg", "Zg\xff"}) {
    CAPTURE(text);
    CHECK_FALSE(decode_base64url(text));
  }
}

TEST_CASE("encode_base64url: writes what decode_base64url reads, without padding") {
  CHECK(encode_base64url("").empty());
  CHECK(encode_base64url("f").reveal() == "Zg");
  CHECK(encode_base64url("fo").reveal() == "Zm8");
  CHECK(encode_base64url("foo").reveal() == "Zm9v");
  CHECK(encode_base64url("\xfb\xff\xfe").reveal() == "-__-");
  std::string bytes;
  for (int i = 0; i < 256; ++i) {
    bytes.push_back(static_cast<char>(i));
    CAPTURE(i);
    CHECK(decode_base64url(encode_base64url(bytes).reveal()) == bytes);
  }
}

TEST_CASE("decoding: each alphabet accepts exactly 64 of the 256 bytes") {
  std::vector<char> standard;
  std::vector<char> url;
  for (int i = 0; i < 256; ++i) {
    const std::string text = std::string("AAA") + static_cast<char>(i);
    if (i != '\r' && i != '\n' && i != '=' && decode_base64(text)) standard.push_back(text[3]);
    if (decode_base64url(text)) url.push_back(text[3]);
  }
  CHECK(standard.size() == 64);
  CHECK(url.size() == 64);
}

}  // namespace
}  // namespace execcred
