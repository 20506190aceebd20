// SPDX-License-Identifier: Apache-2.0
// URLs, parsed once into checked parts. Decisions are made on the parts, never on the text.
//
// The parser is stricter than RFC 3986 on purpose. It refuses a URL that two parsers could read
// differently, because this parser decides and the client's parser connects. So it accepts no
// backslash, no white space or control characters, ASCII only, no user info, no numeric host that
// is not a dotted quad, no dot segments ("..;x" is one too), and in the path no percent-encoded
// dot, slash, backslash, percent sign or control character.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace execcred {

struct IpAddress {
  std::array<std::uint8_t, 16> bytes = {};
  bool v6 = false;  // IPv4 uses the first four bytes

  bool operator==(const IpAddress&) const = default;
};

// The addresses of one family that begin with the same bits.
struct IpNetwork {
  IpAddress base = {};
  unsigned bits = 0;

  bool contains(const IpAddress& address) const;
};

struct Host {
  enum class Kind { name, address };
  Kind kind = Kind::name;
  std::string name = {};   // lower case; for an address as it was written, without brackets
  IpAddress address = {};  // where kind is address

  // Names compare by text, addresses by value ([::1] and [0::1] are one host).
  bool operator==(const Host& other) const {
    return kind == other.kind &&
           (kind == Kind::name ? name == other.name : address == other.address);
  }
};

struct Url {
  std::string scheme = {};  // lower case
  Host host = {};
  std::uint16_t port = 0;  // the scheme's default where the text has none
  std::string path = {};   // empty or starts with '/'; "/" alone is stored as empty
  std::string query = {};  // without '?'
};

// Fails (configuration) with a message that says what is wrong with the URL but does not quote it:
// callers name the field, and quote with redacted_url(). The text needs a port if its scheme has no
// default here (http 80, https 443, socks5 1080). A fragment is always refused.
Result<Url> parse_url(std::string_view text);

// Parses HOST or [IPv6] as in a URL. A name with the root's dot ("a.example.") differs from the
// name without it. An address with a zone ([fe80::1%25eth0]) is kept as a name, brackets included.
// Fails as parse_url() does.
Result<Host> parse_host(std::string_view text);

// Parses a dotted quad or an IPv6 address, without brackets or zone. Returns false for any other
// text.
bool parse_ip_address(std::string_view text, IpAddress& address);

// Parses ADDRESS/BITS (CIDR); nullopt for any other text. The address may have bits set after the
// first BITS.
std::optional<IpNetwork> parse_ip_network(std::string_view text);

struct Proxy {
  Url url = {};
  std::string user = {};
  SecretString password = {};
};

// As parse_url(), with Go's rules for the user info, which is percent-encoded. Fails if the URL has
// a query, or another scheme than http, https or socks5. Clients ignore its path.
Result<Proxy> parse_proxy(std::string_view text);

// The default port, or 0 for an unknown scheme.
std::uint16_t default_port(std::string_view scheme);

// "host:port"; an IPv6 address is in brackets.
std::string authority_of(const Host& host, std::uint16_t port);

// "https://host:port", for messages and cache keys, because a path or a query may be a secret.
std::string origin_of(const Url& url);

// The URL in quotes, for messages. Anything that could be user info becomes "…@", and a query or a
// fragment becomes "?…" or "#…".
std::string redacted_url(std::string_view text);

// The same without quotes, for a text that may be a URL. A text without "://" stays as it is.
std::string redacted_urls(std::string_view text);

}  // namespace execcred
