// SPDX-License-Identifier: Apache-2.0
#include "container.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/http/retry.hpp>
#include <execcred/oauth/failure.hpp>
#include <execcred/os/deadline.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace execcred::aws {
namespace {

constexpr std::string_view kHost = "http://169.254.170.2";

bool is_agent(const Host& host) {
  if (host.kind == Host::Kind::name) return host.name == "localhost";
  if (!host.address.v6 && host.address.bytes[0] == 127) return true;
  constexpr std::array<std::string_view, 4> kAgents = {"169.254.170.2", "169.254.170.23",
                                                       "fd00:ec2::23", "::1"};
  return std::any_of(kAgents.begin(), kAgents.end(), [&](std::string_view text) {
    IpAddress known;
    return parse_ip_address(text, known) && known == host.address;
  });
}

Status check_url(const std::string& text) {
  const Result<Url> url = parse_url(text);
  if (!url) return Error::configuration("the URL " + url.error().message);
  if (url->scheme == "https" || (url->scheme == "http" && is_agent(url->host))) return {};
  const std::string shown = in_quotes(origin_of(*url));
  if (url->scheme != "http") return Error::configuration(shown + " is neither https nor http");
  return Error::configuration(
      shown + " is plain http to a host that is no container's agent",
      "http is for loopback, 169.254.170.2, 169.254.170.23 and fd00:ec2::23");
}

Result<SecretString> read_token(const ContainerEndpoint& endpoint) {
  const auto read = [&]() -> Result<SecretString> {
    const SecretString content =
        TRY(Inputs::unrecorded_file("its token is recorded", endpoint.token_file));
    SecretString token = content.trimmed();
    if (!token.empty() && !has_control_character(token.reveal())) return token;
    return Error::no_credential(token.empty() ? "it is empty" : "it is no value of a header");
  };
  return read().context("reading AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE " +
                        in_quotes(endpoint.token_file.native()));
}

}  // namespace

Result<std::optional<ContainerEndpoint>> container_endpoint(const Environment& environment) {
  ContainerEndpoint endpoint;
  const auto relative = environment.get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  if (relative) {
    endpoint.url = std::string(kHost).append(*relative);
    if (!relative->starts_with('/')) {
      return Error::configuration("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI does not begin with '/'");
    }
  } else if (const auto full = environment.get("AWS_CONTAINER_CREDENTIALS_FULL_URI")) {
    endpoint.url = *full;
  } else {
    return std::optional<ContainerEndpoint>();
  }
  TRY(check_url(endpoint.url)
          .context(relative ? "reading AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"
                            : "reading AWS_CONTAINER_CREDENTIALS_FULL_URI")
          .hint("EKS Pod Identity and ECS set it for a container"));
  if (const auto file = environment.get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")) {
    endpoint.token_file = *file;
  } else if (const auto token = environment.get("AWS_CONTAINER_AUTHORIZATION_TOKEN")) {
    if (has_control_character(*token)) {
      return Error::configuration("AWS_CONTAINER_AUTHORIZATION_TOKEN is no value of a header");
    }
    endpoint.token = SecretString(*token);
  }
  return std::optional(std::move(endpoint));
}

Status plan_container(ContainerEndpoint& endpoint, Inputs& inputs) {
  inputs.add_machine();
  if (!endpoint.token_file.empty()) endpoint.token = TRY(read_token(endpoint));
  inputs.add_token("container.token", endpoint.token);
  return {};
}

Result<AwsCredentials> ask_container(const ContainerEndpoint& endpoint, const TlsSettings& tls,
                                     CallContext& call) {
  deadline::enter_phase("asking the container's agent for credentials");
  const Url url = TRY(parse_url(endpoint.url));
  const std::string server = origin_of(url);
  HttpRequest request = {.url = endpoint.url, .allow_plain_http = true};
  request.add_header("Accept", "application/json");
  if (!endpoint.token.empty()) {
    request.headers.push_back({.name = "Authorization", .value = endpoint.token.copy()});
  }
  call.debug("asking " + server + " for the container's credentials");
  const auto client = make_http_client({.tls = tls}, call);  // no proxy
  const HttpResponse reply =
      TRY(send_with_retries(*client, std::move(request), call)
              .context("asking " + server + " for the container's credentials"));
  if (reply.status != 200) {
    Error failure = status_failure(reply, server);
    if (reply.status == 401 || reply.status == 403 || reply.status == 404) {
      failure.hint = "the agent refuses the container's token, or has no role for it";
    }
    return failure;
  }
  const json::SecretValue document = TRY(json_object_of(reply, server));
  Result<AwsCredentials> credentials = aws_credentials_of_json(*document, "Token");
  if (credentials && credentials->session_token.empty()) {
    credentials = Error::no_credential("its credentials lack a session token");
  }
  return std::move(credentials).context("reading what " + server + " answered");
}

}  // namespace execcred::aws
