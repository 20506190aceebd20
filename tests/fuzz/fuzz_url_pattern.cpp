// SPDX-License-Identifier: Apache-2.0
// Patterns: this target decides each match a second time, by comparing texts. The input is a
// pattern, a line break, and a URL.
#include "fuzz.hpp"
#include "url_text.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/url_pattern.hpp>

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <string>

namespace execcred::fuzz {
namespace {

// The bits as "0000101000…", or empty if the text is not an address.
std::string bits_of(const std::string& address) {
  std::array<unsigned char, 16> bytes = {};
  std::size_t size = 0;
  if (inet_pton(AF_INET, address.c_str(), bytes.data()) == 1) size = 4;
  if (size == 0 && inet_pton(AF_INET6, address.c_str(), bytes.data()) == 1) size = 16;
  std::string bits;
  for (std::size_t i = 0; i < size; ++i) bits += std::bitset<8>(bytes[i]).to_string();
  return bits;
}

std::string without_brackets(const std::string& host) {
  return host.starts_with('[') ? host.substr(1, host.size() - 2) : host;
}

bool host_matches(const std::string& pattern, const std::string& host) {
  const std::string bits = bits_of(without_brackets(host));
  if (pattern.starts_with("*.")) {
    const std::string suffix = pattern.substr(1);
    return bits.empty() && host.size() > suffix.size() && host.ends_with(suffix);
  }
  const std::string address = without_brackets(pattern);
  if (const std::size_t slash = address.find('/'); slash != std::string::npos) {
    const std::string network = bits_of(address.substr(0, slash));
    const std::size_t length = std::stoul(address.substr(slash + 1));
    return bits.size() == network.size() && bits.starts_with(network.substr(0, length));
  }
  return bits.empty() ? host == pattern : bits == bits_of(address);
}

struct Text {
  std::string scheme;
  std::string host;
  std::string port;
  std::string path;
};

// SCHEME://HOST[:PORT][/PATH], known to be well formed.
Text taken_apart(std::string_view whole) {
  Text text;
  const std::size_t scheme_end = whole.find("://");
  text.scheme = ascii_lower(whole.substr(0, scheme_end));
  std::string_view rest = whole.substr(scheme_end + 3);
  const std::size_t bracket = rest.starts_with('[') ? rest.find(']') : 0;
  const std::size_t host_end = std::min(rest.find_first_of(":/", bracket), rest.size());
  text.host = ascii_lower(rest.substr(0, host_end));
  rest.remove_prefix(host_end);
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  text.port = slash == 0 ? std::to_string(default_port(text.scheme)) : rest.substr(1, slash - 1);
  text.path = rest.size() == slash ? "/" : rest.substr(slash);
  return text;
}

bool matches(std::string_view pattern_text, std::string_view url_text) {
  if (url_text.find('?') != std::string_view::npos) return false;
  const Text pattern = taken_apart(pattern_text);
  const Text url = taken_apart(url_text);
  const bool is_prefix = pattern.path.ends_with("/*");
  const std::string path = pattern.path.substr(0, pattern.path.size() - (is_prefix ? 1 : 0));
  return url.scheme == pattern.scheme && (pattern.port == "*" || url.port == pattern.port) &&
         host_matches(pattern.host, url.host) &&
         (is_prefix ? url.path.starts_with(path) : url.path == path);
}

void check_pair(std::string_view pattern_text, std::string_view text, UrlPattern::Use use) {
  const Result<UrlPattern> pattern = UrlPattern::parse(pattern_text, use);
  if (!pattern) {
    require(pattern.error().kind == Error::Kind::configuration, "a pattern is configuration");
    return;
  }
  require(pattern->text() == pattern_text, "a pattern keeps its text");
  require(pattern_text.find('@') == std::string_view::npos, "no user info in a pattern");
  const Result<Url> url = parse_url(text);
  if (!url) return;
  const bool is_match = pattern->matches(*url);
  require(is_match == matches(pattern_text, text), "matched by its text too");
  require(is_match == pattern->matches(*parse_url(url_text(*url))),
          "the URL made of its parts is matched alike");
}

}  // namespace

void check(std::string_view input) {
  const std::vector<std::string_view> given = parts(input, "\n", 2);
  for (const UrlPattern::Use use : {UrlPattern::Use::server, UrlPattern::Use::proxy}) {
    check_pair(given[0], given[1], use);
  }
  // Patterns similar to the URL: with each suffix of its host, also within a label.
  const Result<Url> url = parse_url(given[1]);
  if (!url) return;
  const std::string& host = url->host.name;
  for (std::size_t i = 0; i < std::min<std::size_t>(host.size(), 20); ++i) {
    const std::string tail = host.substr(i) + ":*/*";
    check_pair("https://*." + tail, given[1], UrlPattern::Use::server);
    check_pair("https://" + tail, given[1], UrlPattern::Use::server);
  }
}

}  // namespace execcred::fuzz
