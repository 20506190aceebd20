// SPDX-License-Identifier: Apache-2.0
#include "servers.hpp"

#include "platform.hpp"

#include <execcred/base/text.hpp>

#include <map>
#include <set>
#include <string_view>

namespace execcred::init {
namespace {

using cli::is_below;

// Whether everybody can get a name there: a domain of the catalogue, or one such as co.uk.
bool is_public(std::string_view domain) {
  if (cli::is_shared_domain(domain)) return true;
  const std::vector<std::string_view> labels = split(domain, '.');
  constexpr std::size_t kCountry = 2;
  constexpr std::size_t kSecond = 4;
  return labels.size() < 2 || (labels.size() == 2 && labels.back().size() == kCountry &&
                               labels.front().size() <= kSecond);
}

std::string_view parent_of(std::string_view host) {
  const std::size_t dot = host.find('.');
  return dot == std::string_view::npos ? std::string_view() : host.substr(dot + 1);
}

// The longest domain that every name is below; empty if there is none.
std::string_view common_domain(const std::set<std::string>& names) {
  std::string_view domain = parent_of(*names.begin());
  for (const std::string& name : names) {
    while (!domain.empty() && (name == domain || !is_below(name, domain))) {
      domain = parent_of(domain);
    }
  }
  return domain;
}

std::string pattern(std::string_view host, const std::string& rest) {
  return "https://" + std::string(host) + rest;
}

}  // namespace

std::vector<std::string> server_patterns(const std::vector<Url>& servers) {
  std::map<std::string, std::set<std::string>> names;  // by what follows the host
  std::set<std::string> patterns;
  for (const Url& server : servers) {
    const std::string authority = authority_of(server.host, server.port);
    const std::string port =
        server.port == default_port("https") ? std::string() : ":" + std::to_string(server.port);
    const std::string host = authority.substr(0, authority.rfind(':'));
    if (server.host.kind == Host::Kind::name && server.path.empty()) {
      names[port].insert(host);
    } else {
      patterns.insert(pattern(host, port + server.path));
    }
  }
  for (const auto& [rest, hosts] : names) {
    const std::string_view domain = hosts.size() > 1 ? common_domain(hosts) : std::string_view();
    if (!domain.empty() && !is_public(domain)) {
      patterns.insert(pattern("*." + std::string(domain), rest));
      continue;
    }
    for (const std::string& host : hosts) patterns.insert(pattern(host, rest));
  }
  return {patterns.begin(), patterns.end()};
}

}  // namespace execcred::init
