// SPDX-License-Identifier: Apache-2.0
// Addresses of the Workload API: an accepted one has one meaning, and inet_pton reads the same IP.
#include "fuzz.hpp"
#include "line.hpp"

#include <execcred/spiffe/workload_endpoint.hpp>

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

namespace execcred::fuzz {
namespace {

void check_unix(std::string_view text, const WorkloadEndpoint& endpoint) {
  require(endpoint.path.size() > 1 && endpoint.path.size() <= 107, "a path that a socket can have");
  require(endpoint.path.front() == '/' && endpoint.path[1] != '/', "absolute");
  require(text == "unix:" + endpoint.path || text == "unix://" + endpoint.path,
          "the path is all of the URI");
  require(endpoint.port == 0, "it has no port");
  require(!endpoint.text.starts_with("unix://") || endpoint.text[7] == '/', "no user, no host");
}

void check_tcp(std::string_view text, const WorkloadEndpoint& endpoint) {
  require(text.starts_with("tcp://") && endpoint.port != 0, "it has a port");
  require(text.find('@') == std::string_view::npos, "no user");
  const std::string_view rest = text.substr(6);
  const std::size_t colon = rest.rfind(':');
  require(std::stoul(std::string(rest.substr(colon + 1))) == endpoint.port, "which is its own");
  std::string host(rest.substr(0, colon));
  const bool is_v6 = host.front() == '[';
  if (is_v6) host = host.substr(1, host.size() - 2);
  require(endpoint.address.v6 == is_v6, "IPv6 is in brackets");
  std::array<unsigned char, 16> bytes = {};
  require(inet_pton(is_v6 ? AF_INET6 : AF_INET, host.c_str(), bytes.data()) == 1,
          "inet_pton takes the address");
  require(std::memcmp(bytes.data(), endpoint.address.bytes.data(), is_v6 ? 16 : 4) == 0,
          "and reads it alike");
}

// The text before an at sign may be a password.
void check_redaction(std::string_view input) {
  constexpr std::string_view kCanary = "QanaryQ";
  const std::size_t at = input.find('@');
  const bool is_in_user = at != std::string_view::npos && input.find_first_of("/?#") > at;
  if (!is_in_user || input.find(kCanary) != std::string_view::npos) return;
  for (const std::string_view lead : {"tcp://", "tcp://u:", "unix://u:", "http://"}) {
    const Result<WorkloadEndpoint> endpoint =
        parse_workload_endpoint(std::string(lead).append(kCanary).append(input));
    require(!endpoint, "user information is never taken");
    require(endpoint.error().message.find(kCanary) == std::string::npos &&
                endpoint.error().hint.find(kCanary) == std::string::npos,
            "a password is not shown");
  }
}

void check_endpoint(std::string_view text) {
  const Result<WorkloadEndpoint> endpoint = parse_workload_endpoint(text);
  if (!endpoint) {
    require(endpoint.error().kind == Error::Kind::configuration,
            "a malformed one is configuration");
    require(!endpoint.error().hint.empty(), "with a remedy");
    return;
  }
  require(endpoint->text == text, "kept as it was written");
  require(text.find_first_of("?#%") == std::string_view::npos, "no query, fragment, escape");
  require(std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; }),
          "visible ASCII");
  if (endpoint->path.empty()) {
    check_tcp(text, *endpoint);
  } else {
    check_unix(text, *endpoint);
  }
}

}  // namespace

void check_workload_endpoint(std::string_view input) {
  check_endpoint(input);
  check_endpoint("unix://" + std::string(input));
  check_endpoint("tcp://" + std::string(input));
  check_redaction(input);
}

}  // namespace execcred::fuzz
