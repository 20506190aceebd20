// SPDX-License-Identifier: Apache-2.0
#include <execcred/base/url.hpp>

#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace execcred {
namespace {

constexpr std::size_t kMaxUrl = 2048;

// RFC 3986 section 2: the characters that a URL may contain, '%' included.
bool is_url_byte(char c) {
  constexpr std::string_view kMarks = "-._~:/?#[]@!$&'()*+,;=%";
  return is_alphanumeric(c) || kMarks.find(c) != std::string_view::npos;
}

Status check_bytes(std::string_view text) {
  if (text.size() > kMaxUrl) return Error::configuration("is longer than 2048 bytes");
  for (const char c : text) {
    if (c == '\\') return Error::configuration("has a backslash");
    if (static_cast<unsigned char>(c) >= 0x80) {
      return Error::configuration("has a character outside ASCII; write the host in its xn-- form");
    }
    if (!is_url_byte(c)) return Error::configuration("has a character that no URL may hold");
  }
  return {};
}

// inet_aton, browsers and Go disagree on "127.1", "0x7f000001" and "010.0.0.1": a host whose last
// label is a number must be a dotted quad.
bool looks_numeric(std::string_view name) {
  const std::string_view last = name.substr(name.rfind('.') + 1);
  if (last.starts_with("0x")) return std::all_of(last.begin() + 2, last.end(), is_hex_digit);
  return !last.empty() && std::all_of(last.begin(), last.end(), is_digit);
}

Status check_host_name(std::string_view name) {
  if (name.size() > 253) return Error::configuration("has a host name of more than 253 bytes");
  if (name.ends_with('.')) name.remove_suffix(1);  // the DNS root; no pattern includes it
  for (const std::string_view label : split(name, '.')) {
    if (label.empty()) return Error::configuration("has a host name with an empty label");
    if (label.size() > 63)
      return Error::configuration("has a host name with a label of more than 63 bytes");
    if (!is_alphanumeric_or(label, "-_") || label.front() == '-' || label.back() == '-') {
      return Error::configuration("has a host that is no DNS name");
    }
  }
  if (looks_numeric(name)) return Error::configuration("has a numeric host that is no dotted quad");
  return {};
}

Result<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (problem != std::errc() || end != text.data() + text.size() || port == 0 ||
      text.front() == '0') {
    return Error::configuration("has a port that is no number from 1 to 65535");
  }
  return port;
}

Status check_path(std::string_view path) {
  const std::string lower = ascii_lower(path);
  for (std::size_t i = lower.find('%'); i != std::string::npos; i = lower.find('%', i + 1)) {
    if (percent_decoded_byte(lower, i) < 0) {
      return Error::configuration("has a '%' that starts no percent-encoding");
    }
    const std::string_view code(lower.data() + i + 1, 2);
    if (code == "2e" || code == "2f" || code == "5c" || code == "25" || code < "20" ||
        code == "7f") {
      return Error::configuration(
          "has a percent-encoded dot, slash, percent sign or control character");
    }
  }
  if (path.find_first_of("[]@") != std::string_view::npos) {
    return Error::configuration("has a path with a bracket or an at sign");
  }
  for (const std::string_view whole : split(path, '/')) {
    // Some servers drop ";parameters" first: "..;" is ".." to them.
    const std::string_view segment = whole.substr(0, whole.find(';'));
    if (segment == "." || segment == "..")
      return Error::configuration("has a '.' or '..' in its path");
  }
  return {};
}

// Parses "HOST[:PORT]" into the parts of `url`.
Status parse_authority(std::string_view authority, Url& url) {
  std::string_view host = authority;
  std::string_view port;
  bool has_port = false;
  const std::size_t bracket = authority.rfind(']');
  const std::size_t colon = authority.rfind(':');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    host = authority.substr(0, colon);
    port = authority.substr(colon + 1);
    has_port = true;
  }
  url.host = TRY(parse_host(host));
  if (has_port) {
    if (port.empty()) return Error::configuration("has a ':' without a port");
    url.port = TRY(parse_port(port));
    return {};
  }
  url.port = default_port(url.scheme);
  if (url.port == 0) return Error::configuration("needs a port");
  return {};
}

}  // namespace

std::uint16_t default_port(std::string_view scheme) {
  if (scheme == "https") return 443;
  if (scheme == "http") return 80;
  return scheme == "socks5" ? 1080 : 0;
}

bool parse_ip_address(std::string_view text, IpAddress& address) {
  address = {};
  if (text.find('\0') != std::string_view::npos) return false;
  const std::string terminated(text);
  if (inet_pton(AF_INET, terminated.c_str(), address.bytes.data()) == 1) return true;
  address.v6 = inet_pton(AF_INET6, terminated.c_str(), address.bytes.data()) == 1;
  return address.v6;
}

std::optional<IpNetwork> parse_ip_network(std::string_view text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const std::string_view digits = text.substr(std::min(slash + 1, text.size()));
  IpNetwork network;
  const auto [end, problem] =
      std::from_chars(digits.data(), digits.data() + digits.size(), network.bits);
  const bool is_number = problem == std::errc() && end == digits.data() + digits.size();
  if (!is_number || !parse_ip_address(text.substr(0, slash), network.base)) return std::nullopt;
  if (network.bits > (network.base.v6 ? 128U : 32U)) return std::nullopt;
  return network;
}

bool IpNetwork::contains(const IpAddress& address) const {
  if (address.v6 != base.v6) return false;
  for (unsigned i = 0; i < bits; ++i) {
    const unsigned mask = 0x80U >> (i % 8);
    if (((address.bytes[i / 8] ^ base.bytes[i / 8]) & mask) != 0) return false;
  }
  return true;
}

namespace {

// An address with a zone (RFC 6874): fe80::1%25eth0. It becomes a name, so that no pattern for an
// address or network matches it.
Result<Host> parse_zoned_host(std::string_view text) {
  const std::size_t percent = text.find('%');
  const std::string_view zone = text.substr(std::min(percent + 3, text.size()));
  IpAddress address;
  if (text.substr(percent, 3) != "%25" || zone.empty() ||
      !std::all_of(zone.begin(), zone.end(), is_alphanumeric) ||
      !parse_ip_address(text.substr(0, percent), address) || !address.v6) {
    return Error::configuration("has a malformed IPv6 zone");
  }
  return Host{.name = "[" + ascii_lower(text) + "]"};
}

}  // namespace

Result<Host> parse_host(std::string_view text) {
  Host host;
  if (text.empty()) return Error::configuration("has no host");
  if (text.front() == '[') {
    if (text.back() != ']') return Error::configuration("has a '[' without a ']'");
    const std::string_view inner = text.substr(1, text.size() - 2);
    if (inner.find('%') != std::string_view::npos) return parse_zoned_host(inner);
    host.kind = Host::Kind::address;
    host.name = ascii_lower(inner);
    if (!parse_ip_address(inner, host.address) || !host.address.v6) {
      return Error::configuration("has brackets around what is no IPv6 address");
    }
    return host;
  }
  host.name = ascii_lower(text);
  if (parse_ip_address(text, host.address) && !host.address.v6) {
    host.kind = Host::Kind::address;
    return host;
  }
  host.address = {};
  TRY(check_host_name(host.name));
  return host;
}

Result<Url> parse_url(std::string_view text) {
  TRY(check_bytes(text));
  const std::size_t scheme_end = text.find("://");
  if (scheme_end == std::string_view::npos || scheme_end == 0)
    return Error::configuration("has no scheme://");
  Url url;
  url.scheme = ascii_lower(text.substr(0, scheme_end));
  if (!std::all_of(url.scheme.begin(), url.scheme.end(), is_alphanumeric)) {
    return Error::configuration("has a malformed scheme");
  }
  std::string_view rest = text.substr(scheme_end + 3);
  if (rest.find('#') != std::string_view::npos) return Error::configuration("has a fragment");
  if (const std::size_t mark = rest.find('?'); mark != std::string_view::npos) {
    url.query = rest.substr(mark + 1);
    if (url.query.empty()) return Error::configuration("has an empty query");
    rest = rest.substr(0, mark);
  }
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  const std::string_view authority = rest.substr(0, slash);
  const std::string_view path = rest.substr(slash);
  if (authority.find('@') != std::string_view::npos) return Error::configuration("has user info");
  TRY(parse_authority(authority, url));
  TRY(check_path(path));
  if (path != "/") url.path = path;
  return url;
}

namespace {

// The user info of the URL, with the '@' at its end; empty if there is none.
std::string_view user_info_of(std::string_view url) {
  const std::size_t scheme_end = url.find("://");
  if (scheme_end == std::string_view::npos) return {};
  const std::size_t begin = scheme_end + 3;
  const std::size_t at = url.substr(0, url.find_first_of("/?#", begin)).rfind('@');
  if (at == std::string_view::npos || at < begin) return {};
  return url.substr(begin, at + 1 - begin);
}

std::optional<SecretString> decoded_user_info(std::string_view text) {
  // Go's net/url takes no other character.
  const bool is_valid = is_alphanumeric_or(text, "-._~:!$&'()*+,;=%@");
  std::optional<SecretString> decoded = is_valid ? percent_decode(text) : std::nullopt;
  if (decoded && has_control_character(decoded->reveal())) return std::nullopt;
  return decoded;
}

}  // namespace

Result<Proxy> parse_proxy(std::string_view text) {
  std::string_view info = user_info_of(text);
  std::string plain(text);
  if (!info.empty()) plain.erase(text.find("://") + 3, info.size());
  Proxy proxy = {.url = TRY(parse_url(plain))};
  if (proxy.url.scheme != "http" && proxy.url.scheme != "https" && proxy.url.scheme != "socks5") {
    return Error::configuration("starts with none of http://, https:// and socks5://");
  }
  if (!proxy.url.query.empty()) return Error::configuration("has a query");
  if (info.empty()) return proxy;
  info.remove_suffix(1);
  const std::size_t colon = std::min(info.find(':'), info.size());
  std::optional<SecretString> user = decoded_user_info(info.substr(0, colon));
  std::optional<SecretString> password =
      decoded_user_info(info.substr(std::min(colon + 1, info.size())));
  if (!user || !password || user->reveal().find(':') != std::string_view::npos) {
    return Error::configuration("has malformed user info");
  }
  proxy.user = user->reveal();
  proxy.password = *std::move(password);
  return proxy;
}

std::string redacted_url(std::string_view text) {
  const std::size_t end = text.find_first_of("?#");
  const std::size_t at = text.rfind('@');
  const bool has_user = at != std::string_view::npos;
  if (end != std::string_view::npos && (!has_user || at < end)) {
    std::string shown = redacted_url(text.substr(0, end));
    return shown.insert(shown.size() - 1, text[end] == '?' ? "?…" : "#…");
  }
  if (!has_user) return in_quotes(text);
  // A password may contain "//" too: only the one after a scheme begins a host.
  const std::size_t scheme_end = std::min(text.find("://"), text.size());
  const std::string_view scheme = text.substr(0, scheme_end);
  const bool has_scheme =
      scheme_end < at && std::all_of(scheme.begin(), scheme.end(), is_alphanumeric);
  const std::string head(has_scheme ? text.substr(0, scheme_end + 3) : std::string_view());
  // The end may be a part of a password, or the at sign a part of a query.
  if (end != std::string_view::npos) text = {};
  return in_quotes(head + "…" + std::string(text.substr(std::min(at, text.size()))));
}

std::string redacted_urls(std::string_view text) {
  if (text.find("://") == std::string_view::npos) return std::string(text);
  const std::string quoted = redacted_url(text);
  if (quoted == in_quotes(text)) return std::string(text);
  return quoted.substr(1, quoted.size() - 2);
}

std::string authority_of(const Host& host, std::uint16_t port) {
  const bool needs_brackets = host.kind == Host::Kind::address && host.address.v6;
  const std::string name = needs_brackets ? "[" + host.name + "]" : host.name;
  return name + ":" + std::to_string(port);
}

std::string origin_of(const Url& url) {
  return url.scheme + "://" + authority_of(url.host, url.port);
}

}  // namespace execcred
