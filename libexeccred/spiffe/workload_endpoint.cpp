// SPDX-License-Identifier: Apache-2.0
#include <execcred/spiffe/workload_endpoint.hpp>

#include <execcred/base/text.hpp>

#include <charconv>
#include <utility>

namespace execcred {
namespace {

constexpr std::size_t kMaxSocketPath = 107;  // sun_path less its NUL, unix(7)
constexpr std::string_view kForms =
    "it looks like unix:///run/spire/agent.sock or tcp://127.0.0.1:8081";

Error wrong(std::string_view text, std::string_view problem,
            std::string hint = std::string(kForms)) {
  return Error{
      .kind = Error::Kind::configuration,
      .message = "the Workload API's address " + redacted_url(text) + " " + std::string(problem),
      .hint = std::move(hint)};
}

Result<WorkloadEndpoint> parse_unix(std::string_view text, std::string_view rest) {
  std::string_view path = rest;
  if (path.starts_with("//")) path.remove_prefix(2);
  if (path.empty()) return wrong(text, "has no path");
  if (path.substr(0, path.find('/')).find('@') != std::string_view::npos) {
    return wrong(text, "has user information");
  }
  if (!path.starts_with('/')) {
    return wrong(text, "has a path that is not absolute",
                 "write three slashes: unix:///" + std::string(path));
  }
  if (path.starts_with("//")) return wrong(text, "has more slashes than unix:///PATH");
  if (path == "/") return wrong(text, "has no path");
  if (path.size() > kMaxSocketPath) {
    return wrong(text, "has a path of more than 107 bytes, which no socket can have");
  }
  return WorkloadEndpoint{.text = std::string(text), .path = std::string(path)};
}

// ADDRESS:PORT, an IPv6 address in brackets.
Result<WorkloadEndpoint> parse_tcp(std::string_view text, std::string_view rest) {
  if (!rest.starts_with("//")) return wrong(text, "has no '//' behind its scheme");
  rest.remove_prefix(2);
  if (rest.find('@') != std::string_view::npos) return wrong(text, "has user information");
  if (rest.find('/') != std::string_view::npos) return wrong(text, "has a path, which tcp has not");
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos || rest.ends_with(']')) return wrong(text, "has no port");

  std::string_view host = rest.substr(0, colon);
  const bool is_bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (is_bracketed) host = host.substr(1, host.size() - 2);
  WorkloadEndpoint endpoint = {.text = std::string(text)};
  if (!parse_ip_address(host, endpoint.address) || endpoint.address.v6 != is_bracketed) {
    return wrong(text, "has a host that is no IP address");
  }
  const std::string_view port = rest.substr(colon + 1);
  const auto [end, problem] =
      std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
  if (problem != std::errc() || end != port.data() + port.size() || endpoint.port == 0) {
    return wrong(text, "has no port between 1 and 65535");
  }
  return endpoint;
}

}  // namespace

Result<WorkloadEndpoint> parse_workload_endpoint(std::string_view text) {
  if (text.starts_with('/')) {
    return wrong(text, "is a path, not a URI", "write unix://" + std::string(text));
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return wrong(text, "is no URI");
  const std::string_view scheme = text.substr(0, colon);
  if (scheme != "unix" && scheme != "tcp") return wrong(text, "is neither a unix nor a tcp URI");
  if (!is_visible_ascii(text)) return wrong(text, "has white space or other characters than ASCII");
  if (text.find('?') != std::string_view::npos) return wrong(text, "has a query");
  if (text.find('#') != std::string_view::npos) return wrong(text, "has a fragment");
  if (text.find('%') != std::string_view::npos) return wrong(text, "has percent-encoding");
  const std::string_view rest = text.substr(colon + 1);
  return scheme == "unix" ? parse_unix(text, rest) : parse_tcp(text, rest);
}

}  // namespace execcred
