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

// Section 4, padded. CR and LF are ignored, as in Go's encoding/base64; anything else that is not
// in the alphabet, wrong padding and stray bits are nullopt.
std::optional<std::string> decode_base64(std::string_view text);

// Section 5, unpadded (JWTs, RFC 7515). Strict: no white space, no padding, no stray bits.
std::optional<std::string> decode_base64url(std::string_view text);

// The bytes of section 4's digits at the front of a text, with white space between them, up to the
// first other character. Less strict and faster: stray bits are ignored.
std::string decode_base64_front(std::string_view front);

std::string encode_base64(std::string_view bytes);
// Section 5, unpadded.
SecretString encode_base64url(std::string_view bytes);

// 0 to 15; -1 for what is no hexadecimal digit.
int hex_value(char c);
inline bool is_hex_digit(char c) { return hex_value(c) >= 0; }
// Two digits in lower case.
void append_hex(unsigned char byte, std::string& out);
// 16 digits in lower case.
std::string hex_digits(std::uint64_t number);

// RFC 3986, section 2.1: all but the unreserved characters (letters, digits, -._~) becomes %XX.
std::string percent_encode(std::string_view text);
// The same for a secret; the characters of `kept` are not encoded either.
SecretString percent_encode_secret(std::string_view text, std::string_view kept = {});
// The byte that is encoded as %XX at `at`; -1 if there is none.
int percent_decoded_byte(std::string_view text, std::size_t at);
// nullopt for a '%' that two digits do not follow.
std::optional<SecretString> percent_decode(std::string_view text);

// One name or value of application/x-www-form-urlencoded: as percent_encode, with '+' for a space.
// What Go's and Python's encoders write.
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
