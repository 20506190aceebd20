// SPDX-License-Identifier: Apache-2.0
#include "identity.hpp"

#include "managed_identity.hpp"
#include "workload_identity.hpp"

#include <execcred/base/try.hpp>

namespace execcred::azure {
namespace {

Result<IdentityKind> chosen_kind(const Options& options) {
  if (options.identity) return *options.identity;
  if (!options.federated_token_file.empty()) return IdentityKind::workload;
  return Error{
      .kind = Error::Kind::configuration,
      .message = "no identity is chosen, and " + std::string(kTokenFileVariable) + " is not set",
      .hint =
          "for workload identity, let the Pod have the label "
          "azure.workload.identity/use: \"true\", or pass --federated-token-file, "
          "--client-id and --tenant-id; for a managed identity, pass "
          "--identity=managed"};
}

}  // namespace

Result<std::unique_ptr<Identity>> open_identity(const Options& options, const Settings& settings,
                                                Inputs& inputs) {
  const IdentityKind kind = TRY(chosen_kind(options));
  if (kind == IdentityKind::managed) return open_managed_identity(options, inputs);
  return open_workload_identity(options, settings, inputs);
}

}  // namespace execcred::azure
