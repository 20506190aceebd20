// SPDX-License-Identifier: Apache-2.0
// Plain text: trimming, quoting for messages, and the name rules of Kubernetes. ASCII rules only;
// nothing here depends on a locale.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace execcred {

bool is_space(char c);
bool is_digit(char c);
bool is_alphanumeric(char c);
std::string_view trim(std::string_view text);
std::string ascii_lower(std::string_view text);
// The parts between separators; "" gives one empty part, as "a," gives two.
std::vector<std::string_view> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);

// Nothing but 0x21 to 0x7e.
bool is_visible_ascii(std::string_view text);

// A control character of ASCII (below 0x20, and 0x7f).
bool has_control_character(std::string_view text);

// The size of the UTF-8 character (RFC 3629) at the front of a text that is not empty; 0 for bytes
// that are none.
std::size_t utf8_length(std::string_view text);

// One line that a terminal shows as it is: control characters, C1 controls, direction marks and
// bytes that are no UTF-8 become \xNN.
std::string printable(std::string_view text);

// 'text' in single quotes, printable, cut after 120 bytes: for input quoted in a message.
std::string in_quotes(std::string_view text);

// RFC 1123 as Kubernetes uses it: a label is at most 63 of [a-z0-9-], starting and ending with a
// letter or digit; a subdomain is such labels joined by dots, at most 253 in all, but there no
// single label is bounded.
bool is_dns1123_label(std::string_view text);
bool is_dns1123_subdomain(std::string_view text);

// "allow-server" → "allowServer", the spelling of a flag in spec.cluster.config.
std::string camel_case(std::string_view dashed);
// "allow-server" → "EXECCRED_ALLOW_SERVER".
std::string environment_name(std::string_view dashed);

}  // namespace execcred
