// SPDX-License-Identifier: Apache-2.0
// Bytes as text: base64 and hexadecimal (RFC 4648), percent-encoding (RFC 3986), forms, UTF-8.
#pragma once

#include <execcred/base/secret.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace execcred {

// RFC 4648 section 4, with padding. CR and LF are ignored, as in Go's encoding/base64. Returns
// nullopt for any other character outside the alphabet, for wrong padding, and for bits after the
// last byte that are not zero.
std::optional<std::string> decode_base64(std::string_view text);

// RFC 4648 section 5, without padding (JWTs, RFC 7515). Returns nullopt for white space, padding,
// and bits after the last byte that are not zero.
std::optional<std::string> decode_base64url(std::string_view text);

// Decodes the digits of section 4 at the front of a text, up to the first character that is neither
// a digit nor white space. It is less strict and faster than decode_base64(): an incomplete last
// group of digits is ignored.
std::string decode_base64_front(std::string_view front);

std::string encode_base64(std::string_view bytes);
// RFC 4648 section 5, without padding.
SecretString encode_base64url(std::string_view bytes);

// The value, 0 to 15; -1 if the character is not a hexadecimal digit.
int hex_value(char c);
inline bool is_hex_digit(char c) { return hex_value(c) >= 0; }
// Appends two digits in lower case.
void append_hex(unsigned char byte, std::string& out);
// 16 digits in lower case.
std::string hex_digits(std::uint64_t number);

// RFC 3986, section 2.1: each character except the unreserved ones (letters, digits, -._~) becomes
// %XX.
std::string percent_encode(std::string_view text);
// The same for a secret; the characters of `unencoded` stay as they are.
SecretString percent_encode_secret(std::string_view text, std::string_view unencoded = {});
// The byte that is encoded as %XX at `at`; -1 if there is none.
int percent_decoded_byte(std::string_view text, std::size_t at);
// Returns nullopt if two hexadecimal digits do not follow a '%'.
std::optional<SecretString> percent_decode(std::string_view text);

// A name or a value in application/x-www-form-urlencoded: as percent_encode(), but a space becomes
// '+'. Go's and Python's encoders write the same.
SecretString form_urlencode(std::string_view text);
std::optional<SecretString> form_urldecode(std::string_view text);

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t length = 0;  // in bytes; 0: the bytes are no UTF-8
};

// The character at the front of a text that is not empty. RFC 3629: no overlong forms, no
// surrogates, nothing above U+10FFFF.
CodePoint decode_utf8(std::string_view text);

}  // namespace execcred
