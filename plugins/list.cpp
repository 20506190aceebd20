// SPDX-License-Identifier: Apache-2.0
#include "list.hpp"

#include <aws/plugin.hpp>
#include <azure/plugin.hpp>
#include <bootstrap/plugin.hpp>
#include <google/plugin.hpp>
#include <oidc-federation/plugin.hpp>
#include <spiffe/plugin.hpp>
#include <static-secret/plugin.hpp>
#include <token-file/plugin.hpp>
#include <wrap/plugin.hpp>

#include <array>

namespace execcred {

std::span<const PluginDefinition> all_plugins() {
  static const std::array kPlugins = {
      token_file::plugin(), static_secret::plugin(), oidc_federation::plugin(),
      google::plugin(),     azure::plugin(),         aws::plugin(),
      spiffe::plugin(),     bootstrap::plugin(),     wrap::plugin(),
  };
  return kPlugins;
}

}  // namespace execcred
