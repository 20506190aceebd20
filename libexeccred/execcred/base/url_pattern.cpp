// SPDX-License-Identifier: Apache-2.0
#include <execcred/base/url_pattern.hpp>

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace execcred {
namespace {

std::string hint_for(std::string_view text) {
  const std::size_t scheme_end = text.find("://");
  const std::string_view rest =
      text.substr(scheme_end == std::string_view::npos ? 0 : scheme_end + 3);
  const std::string_view authority = rest.substr(0, rest.find('/'));
  if (text.find(',') != std::string_view::npos) {
    return "give the option once for each";
  }
  const bool may_be_v6 = std::count(authority.begin(), authority.end(), ':') > 1 &&
                         authority.find_first_of("[@") == std::string_view::npos;
  if (may_be_v6) {
    return "an IPv6 address stands in brackets: https://[fd00::1]";
  }
  return "patterns are https://HOST[:PORT][/PATH], a proxy's may begin with http:// or socks5://; "
         "see docs/options.md";
}

Error wrong(std::string_view text, std::string_view why) {
  return Error::configuration(redacted_url(text) + " is no pattern: it " + std::string(why),
                              hint_for(text));
}

}  // namespace

Result<UrlPattern> UrlPattern::parse(std::string_view text, Use use) {
  UrlPattern pattern;
  pattern.text_ = text;
  const std::size_t scheme_end = text.find("://");
  pattern.scheme_ = ascii_lower(text.substr(0, std::min(scheme_end, text.size())));
  const bool known =
      use == Use::server ? pattern.scheme_ == "https" : default_port(pattern.scheme_) != 0;
  if (scheme_end == std::string_view::npos || !known) {
    return wrong(text, use == Use::server ? "does not start with https://"
                                          : "does not start with http://, https:// or socks5://");
  }
  const std::string_view rest = text.substr(scheme_end + 3);
  const std::size_t bracket = rest.find(']');
  const bool bracketed = rest.starts_with('[') && bracket != std::string_view::npos;
  const std::size_t slash = std::min(rest.find('/', bracketed ? bracket : 0), rest.size());
  const std::string_view authority = rest.substr(0, slash);
  const std::size_t colon = authority.find(':', bracketed ? bracket : 0);
  const bool has_port = colon != std::string_view::npos;
  pattern.port_ = default_port(pattern.scheme_);
  if (has_port) TRY(parse_port_rule(authority.substr(colon + 1), pattern));
  TRY(parse_host_rule(authority.substr(0, colon), pattern));
  TRY(parse_path_rule(rest.substr(slash), pattern));
  return pattern;
}

Status UrlPattern::parse_port_rule(std::string_view text, UrlPattern& pattern) {
  if (text == "*") {
    pattern.any_port_ = true;
    return {};
  }
  const auto [end, problem] =
      std::from_chars(text.data(), text.data() + text.size(), pattern.port_);
  if (problem != std::errc() || end != text.data() + text.size() || pattern.port_ == 0 ||
      text.front() == '0') {
    return wrong(pattern.text_, "has a port that is neither a number from 1 to 65535 nor *");
  }
  return {};
}

Status UrlPattern::parse_host_rule(std::string_view text, UrlPattern& pattern) {
  if (text.starts_with('[') && text.ends_with(']') && text.find('/') != std::string_view::npos) {
    const std::optional<IpNetwork> network = parse_ip_network(text.substr(1, text.size() - 2));
    if (!network) return wrong(pattern.text_, "has a malformed network in brackets");
    pattern.host_rule_ = HostRule::network;
    pattern.host_.kind = Host::Kind::address;
    pattern.network_ = *network;
    return {};
  }
  if (text.starts_with("*.")) {
    pattern.host_rule_ = HostRule::subdomains;
    text.remove_prefix(2);
  }
  Result<Host> host = parse_host(text);
  if (!host) return wrong(pattern.text_, host.error().message);
  if (pattern.host_rule_ == HostRule::subdomains && host->kind != Host::Kind::name) {
    return wrong(pattern.text_, "has a * before an address");
  }
  if (host->name.ends_with('.') || host->name.starts_with('[')) {
    return wrong(pattern.text_, "has a host with the root's dot or an IPv6 zone");
  }
  pattern.host_ = std::move(host).value();
  return {};
}

Status UrlPattern::parse_path_rule(std::string_view text, UrlPattern& pattern) {
  pattern.path_is_prefix_ = text.ends_with("/*");
  if (pattern.path_is_prefix_) text.remove_suffix(1);
  if (text.find('*') != std::string_view::npos) {
    return wrong(pattern.text_, "has a * in its path that is not a last segment");
  }
  // The path must follow the rules for a path in a URL.
  const Result<Url> url = parse_url("https://pattern" + std::string(text));
  if (!url) return wrong(pattern.text_, url.error().message);
  if (!url->query.empty()) return wrong(pattern.text_, "has a query");
  const std::string_view digits = text.substr(std::min<std::size_t>(1, text.size()));
  if (pattern.host_.kind == Host::Kind::address && pattern.host_rule_ == HostRule::exact &&
      !digits.empty() && std::all_of(digits.begin(), digits.end(), is_digit)) {
    Error error = wrong(pattern.text_, "looks like a network, and those stand in brackets");
    error.hint = "write https://[10.0.0.0/8] for 10.0.0.0/8";
    return error;
  }
  pattern.path_ = pattern.path_is_prefix_ ? std::string(text) : url->path;
  return {};
}

bool UrlPattern::host_matches(const Host& host) const {
  switch (host_rule_) {
    case HostRule::exact:
      return host == host_;
    case HostRule::subdomains:
      return host.kind == Host::Kind::name && host.name.size() > host_.name.size() + 1 &&
             host.name.ends_with(host_.name) &&
             host.name[host.name.size() - host_.name.size() - 1] == '.';
    case HostRule::network:
      return host.kind == Host::Kind::address && network_.contains(host.address);
  }
  return false;
}

bool UrlPattern::matches(const Url& url) const {
  if (!url.query.empty() || url.scheme != scheme_) return false;
  if (!any_port_ && url.port != port_) return false;
  if (!host_matches(url.host)) return false;
  if (!path_is_prefix_) return url.path == path_;
  return (url.path.empty() ? std::string_view("/") : std::string_view(url.path)).starts_with(path_);
}

std::string_view fault_of_text_pattern(std::string_view text) {
  if (text == "*") return "has nothing before its *";
  if (has_control_character(text)) return "has a control character";
  const std::size_t star = text.find('*');
  if (star != std::string_view::npos && star != text.size() - 1) return "has a * before its end";
  return {};
}

Result<AudiencePattern> AudiencePattern::parse(std::string_view text) {
  AudiencePattern pattern;
  pattern.text_ = text;
  const std::string_view fault = fault_of_text_pattern(text);
  if (!fault.empty()) {
    return Error::configuration(
        in_quotes(text) + " is no audience pattern: it " + std::string(fault),
        "write the audience, a prefix that ends in *, 'server', or 'any'");
  }
  return pattern;
}

bool AudiencePattern::matches(std::string_view audience, std::string_view server) const {
  if (text_ == "any") return true;
  if (text_ == "server") return !server.empty() && audience == server;
  if (!text_.ends_with('*')) return audience == text_;
  return audience.starts_with(std::string_view(text_).substr(0, text_.size() - 1));
}

}  // namespace execcred
