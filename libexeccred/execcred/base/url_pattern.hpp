// SPDX-License-Identifier: Apache-2.0
// The patterns of --allow-server, --allow-proxy and --allow-audience.
//
//   https://HOST[:PORT][/PATH]
//
//   HOST  api.example.com     exactly this name
//         *.example.com       one or more labels before it, never the bare domain
//         10.0.0.1  [fd00::1] this address
//         [10.0.0.0/8]        an address of this network (CIDR; host names never match)
//   PORT  absent: the scheme's default; a number; * for any
//   PATH  absent: none (or "/"); exact; or a prefix that ends in "/*"
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/base/url.hpp>

#include <string>
#include <string_view>

namespace execcred {

class UrlPattern {
 public:
  enum class Use { server, proxy };  // https only, or http, https and socks5

  // Fails (configuration), saying what is wrong with the pattern.
  static Result<UrlPattern> parse(std::string_view text, Use use);

  // False for a URL with a query, for every pattern.
  bool matches(const Url& url) const;
  const std::string& text() const { return text_; }

 private:
  enum class HostRule { exact, subdomains, network };

  static Result<void> parse_host_rule(std::string_view text, UrlPattern& pattern);
  static Result<void> parse_port_rule(std::string_view text, UrlPattern& pattern);
  static Result<void> parse_path_rule(std::string_view text, UrlPattern& pattern);
  bool host_matches(const Host& host) const;

  std::string text_;
  std::string scheme_;
  HostRule host_rule_ = HostRule::exact;
  Host host_;  // subdomains: the name after "*."
  IpNetwork network_;
  bool any_port_ = false;
  std::uint16_t port_ = 0;
  std::string path_;  // as in Url
  bool path_is_prefix_ = false;
};

// Patterns for other texts are an exact text, or a prefix that ends in "*". Returns what is wrong
// with such a pattern, as "has …" ("*" alone, a "*" elsewhere, a control character); empty for a
// valid one.
std::string_view fault_of_text_pattern(std::string_view text);

// --allow-audience: exact, a prefix that ends in "*", "server" (the audience must equal the
// cluster's server), or "any".
class AudiencePattern {
 public:
  static Result<AudiencePattern> parse(std::string_view text);
  // `server` is spec.cluster.server, empty where there is none.
  bool matches(std::string_view audience, std::string_view server) const;
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace execcred
