// SPDX-License-Identifier: Apache-2.0
// The endpoint that gives a container its credentials: EKS Pod Identity, and ECS.
//
// Plain http is allowed only to the hosts of such agents: this machine, 169.254.170.2 (ECS),
// 169.254.170.23 and fd00:ec2::23 (EKS). Every other host must be https.
#pragma once

#include <execcred/aws/credentials.hpp>
#include <execcred/base/call_context.hpp>
#include <execcred/base/environment.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/text.hpp>
#include <execcred/exec/inputs.hpp>
#include <execcred/http/http.hpp>

#include <filesystem>
#include <optional>
#include <string>

namespace execcred::aws {

struct ContainerEndpoint {
  std::string url = {};
  std::filesystem::path token_file = {};  // plan_container() reads the token from it
  SecretString token = {};

  bool is_https() const { return ascii_lower(url).starts_with("https:"); }
};

// Reads AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or _FULL_URI, and
// AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE or _TOKEN; nullopt if neither URI is set. Fails
// (configuration) if the URL is malformed, or if plain http is not allowed to its host.
Result<std::optional<ContainerEndpoint>> container_endpoint(const Environment& environment);

// Reads the container's token, which determines the identity. Fails if its file cannot be read.
Status plan_container(ContainerEndpoint& endpoint, Inputs& inputs);

// Asks the agent, never through a proxy. `tls` is for an https URL.
Result<AwsCredentials> ask_container(const ContainerEndpoint& endpoint, const TlsSettings& tls,
                                     CallContext& call);

}  // namespace execcred::aws
