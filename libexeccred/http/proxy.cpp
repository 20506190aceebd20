// SPDX-License-Identifier: Apache-2.0
#include <execcred/http/http.hpp>

namespace execcred {
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
