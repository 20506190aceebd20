// SPDX-License-Identifier: Apache-2.0
// The identity that asks Entra for a token, and its method.
#pragma once

#include "options.hpp"

#include <execcred/base/call_context.hpp>
#include <execcred/base/result.hpp>
#include <execcred/cache/credential_cache.hpp>
#include <execcred/exec/inputs.hpp>
#include <execcred/exec/settings.hpp>

#include <memory>

namespace execcred::azure {

class Identity {
 public:
  virtual ~Identity() = default;

  // Requests a token. Fails with no_credential, unavailable or configuration.
  virtual Result<Issued> ask(CallContext& call) const = 0;
};

// Reads the local inputs (the federated token, variables); sends nothing. `options` must outlive
// the identity. Fails (configuration, no_credential).
Result<std::unique_ptr<Identity>> open_identity(const Options& options, const Settings& settings,
                                                Inputs& inputs);

}  // namespace execcred::azure
