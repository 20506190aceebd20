// SPDX-License-Identifier: Apache-2.0
#include <execcred/http/route.hpp>

#include <execcred/base/text.hpp>
#include <execcred/http/http.hpp>

#include <algorithm>

namespace execcred {
namespace {

bool is_in_network(std::string_view text, const Host& host) {
  const std::optional<IpNetwork> network = parse_ip_network(text);
  return network && host.kind == Host::Kind::address && network->contains(host.address);
}

bool is_name_or_below(std::string_view exception, std::string_view name) {
  if (exception.starts_with("*.")) exception.remove_prefix(1);
  if (exception.empty() || exception == ".") return false;
  if (exception.front() == '.') return name.ends_with(exception);
  return name == exception || name.ends_with("." + std::string(exception));
}

// Whether an exception of the form HOST[:PORT] applies to the URL.
bool names_host(std::string_view exception, const Url& url) {
  IpAddress address;
  std::string_view host = exception;
  const std::size_t colon = exception.rfind(':');
  if (colon != std::string_view::npos && !parse_ip_address(exception, address) &&
      !exception.ends_with(']')) {
    if (exception.substr(colon + 1) != std::to_string(url.port)) return false;
    host = exception.substr(0, colon);
  }
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (parse_ip_address(host, address)) {
    return url.host.kind == Host::Kind::address && url.host.address == address;
  }
  if (url.host.kind == Host::Kind::address) return false;
  std::string_view name = url.host.name;
  if (name.ends_with('.')) name.remove_suffix(1);
  return is_name_or_below(host, name);
}

}  // namespace

bool is_proxy_exception(std::string_view exceptions, const Url& url) {
  std::string list = ascii_lower(exceptions);
  for (char& c : list) c = is_space(c) ? ',' : c;
  const std::vector<std::string_view> parts = split(list, ',');
  return std::any_of(parts.begin(), parts.end(), [&url](std::string_view part) {
    return !part.empty() && (part == "*" || is_in_network(part, url.host) || names_host(part, url));
  });
}

std::string text_of_url(const Url& url, const Host& host) {
  std::string text = url.scheme + "://" + authority_of(host, url.port);
  text += url.path.empty() ? "/" : url.path;
  if (!url.query.empty()) text += "?" + url.query;
  return text;
}

namespace {

std::string either(const Environment& environment, std::string_view upper, std::string_view lower) {
  return std::string(environment.get(upper).value_or(environment.get(lower).value_or("")));
}

}  // namespace

ProxySettings proxy_of(const Environment& environment) {
  ProxySettings proxy;
  proxy.url = either(environment, "HTTPS_PROXY", "https_proxy");
  if (proxy.url.empty()) return proxy;
  if (proxy.url.find("://") == std::string::npos) proxy.url.insert(0, "http://");
  proxy.exceptions = either(environment, "NO_PROXY", "no_proxy");
  if (!proxy.exceptions.empty()) proxy.exceptions += ',';
  proxy.exceptions += "localhost,127.0.0.0/8,::1";
  return proxy;
}

}  // namespace execcred
