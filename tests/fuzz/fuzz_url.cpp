// SPDX-License-Identifier: Apache-2.0
// URLs: an accepted URL has one meaning. The URL made of its parts is the same. It has no user
// info, no dot segment, and nothing else that two parsers read differently.
#include "fuzz.hpp"
#include "url_text.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/url.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace execcred::fuzz {
namespace {

int hex_digit(char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  return static_cast<int>(kDigits.find(static_cast<char>(c | 0x20)));
}

// Decodes once, as a server does.
std::string percent_decoded(std::string_view path) {
  std::string text;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] != '%') {
      text.push_back(path[i]);
      continue;
    }
    text.push_back(static_cast<char>(hex_digit(path[i + 1]) * 16 + hex_digit(path[i + 2])));
    i += 2;
  }
  return text;
}

void check_path(const std::string& path) {
  require(path.empty() || (path.front() == '/' && path != "/"), "a path starts with a slash");
  const std::string decoded = percent_decoded(path);
  require(
      std::count(decoded.begin(), decoded.end(), '/') == std::count(path.begin(), path.end(), '/'),
      "decoding makes no segment");
  require(decoded.find('%') == std::string::npos && decoded.find('\\') == std::string::npos,
          "nothing is left to decode, or to read as a slash");
  for (const std::string_view segment : split(decoded, '/')) {
    const std::string_view name = segment.substr(0, segment.find(';'));
    require(name != "." && name != "..", "no segment leads elsewhere");
  }
}

void check_url(std::string_view input, const Url& url) {
  require(input.size() <= 2048, "a URL is bounded");
  require(std::all_of(input.begin(), input.end(), [](char c) { return c > 0x20 && c < 0x7f; }),
          "visible ASCII");
  require(input.find_first_of("\\#\"<>^`{|}") == std::string_view::npos, "no byte that needs care");
  const std::string_view rest = input.substr(input.find("://") + 3);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?"));
  require(authority.find('@') == std::string_view::npos, "no user info");
  require(url.port != 0, "a port");
  require(!url.host.name.empty(), "a host");
  // An address with a zone is a name in brackets, so that no pattern for addresses matches it.
  require(url.host.name.find('%') == std::string::npos ||
              (url.host.kind == Host::Kind::name && url.host.name.starts_with('[')),
          "no host but an address in a zone has a '%'");
  check_path(url.path);

  const Result<Url> again = parse_url(url_text(url));
  require(again.has_value(), "the parts are a URL");
  require(again->scheme == url.scheme && again->host == url.host && again->port == url.port &&
              again->path == url.path && again->query == url.query,
          "the parts are the whole");
  const Result<Url> as_user =
      parse_url(url.scheme + "://user@" + url_text(url).substr(url.scheme.size() + 3));
  require(!as_user, "user info is never taken");
}

// The text before an at sign may be a password.
void check_redaction(std::string_view input) {
  constexpr std::string_view kCanary = "QanaryQ";
  const std::size_t at = input.rfind('@');
  if (at == std::string_view::npos || input.find(kCanary) != std::string_view::npos) return;
  for (const std::string_view lead : {"https://", "//", "http://u:"}) {
    const std::string text = std::string(lead).append(kCanary).append(input);
    require(redacted_url(text).find(kCanary) == std::string::npos, "a password is not shown");
  }
}

}  // namespace

void check(std::string_view input) {
  const Result<Url> url = parse_url(input);
  if (url) {
    check_url(input, *url);
  } else {
    require(url.error().kind == Error::Kind::configuration, "a malformed URL is configuration");
  }
  check_redaction(input);
}

}  // namespace execcred::fuzz
