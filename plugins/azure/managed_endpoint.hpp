// SPDX-License-Identifier: Apache-2.0
// The endpoint of the managed identity, by the platform's variables.
#pragma once

#include <execcred/base/environment.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>

#include <string>
#include <string_view>

namespace execcred::azure {

struct ManagedEndpoint {
  enum class Kind { imds, app_service };
  Kind kind = Kind::imds;
  std::string url = {};      // without a query
  SecretString header = {};  // App Service: IDENTITY_HEADER

  std::string_view api_version() const;
  // The query parameter that names an identity by its resource ID.
  std::string_view resource_parameter() const;
};

// Fails (configuration) if the endpoint is neither https nor local, or if the platform is not
// supported.
Result<ManagedEndpoint> managed_endpoint(const Environment& environment);

}  // namespace execcred::azure
