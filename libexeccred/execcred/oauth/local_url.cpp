// SPDX-License-Identifier: Apache-2.0
#include <execcred/oauth/local_url.hpp>

#include <execcred/base/form.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/exec/bearer_token.hpp>
#include <execcred/http/retry.hpp>
#include <execcred/oauth/failure.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace execcred {
namespace {

bool is_metadata_address(const IpAddress& address) {
  // AWS (also its container credentials), Google, Alibaba.
  constexpr std::array<std::string_view, 4> kAddresses = {"fd00:ec2::254", "fd00:ec2::23",
                                                          "fd20:ce::254", "100.100.100.200"};
  return std::any_of(kAddresses.begin(), kAddresses.end(), [&](std::string_view text) {
    IpAddress known;
    return parse_ip_address(text, known) && known == address;
  });
}

Result<SecretString> member_of(const HttpResponse& reply, const std::string& server,
                               const std::string& field) {
  const json::SecretValue document = TRY(json_object_of(reply, server));
  const json::Value* const member = document->find(field);
  SecretString token;
  if (member != nullptr && member->string() != nullptr) token = SecretString(*member->string());
  if (!token.empty()) return token;
  return Error::no_credential("the JSON that " + server + " answered has no string " +
                              in_quotes(field));
}

}  // namespace

bool is_local_host(const Host& host) {
  if (host.kind == Host::Kind::name) {
    return host.name == "localhost" || host.name == "metadata.google.internal";
  }
  const auto& bytes = host.address.bytes;
  if (is_metadata_address(host.address)) return true;
  if (!host.address.v6) return bytes[0] == 127 || (bytes[0] == 169 && bytes[1] == 254);
  IpAddress loopback;
  parse_ip_address("::1", loopback);
  return host.address == loopback || (bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80);
}

Status check_local_url(const std::string& text) {
  const Result<Url> url = parse_url(text);
  if (!url) return Error::configuration(redacted_url(text) + " " + url.error().message);
  if (url->scheme == "https") return {};
  const std::string shown = in_quotes(origin_of(*url));
  if (url->scheme != "http") return Error::configuration(shown + " is neither https nor http");
  if (is_local_host(url->host)) return {};
  return Error::configuration(
      shown + " is plain http to another machine",
      "http is for this machine, link-local addresses and metadata servers; use https");
}

Result<HttpResponse> ask_local_url(HttpRequest request, TlsSettings tls, CallContext& call) {
  TRY(check_local_url(request.url));
  const Url url = TRY(parse_url(request.url));
  const std::string server = origin_of(url);
  request.allow_plain_http = true;
  call.debug("asking " + server);
  const auto client =
      make_http_client({.tls = std::move(tls), .proxy = proxy_of(call.environment)}, call);
  HttpResponse reply = TRY(send_with_retries(*client, std::move(request), call));
  if (reply.status != 200) return status_failure(reply, server);
  return reply;
}

Result<SecretString> token_of_reply(const HttpResponse& reply, const std::string& server,
                                    const std::string& field) {
  SecretString content = reply.body.copy();
  if (!field.empty()) {
    content = TRY(member_of(reply, server, field));
  }
  return TRY(bearer_token(content).context("reading what " + server + " answered")).take();
}

}  // namespace execcred
