// SPDX-License-Identifier: Apache-2.0
#include <execcred/exec/cluster_info.hpp>

#include <execcred/base/cause.hpp>

#include <string>
#include <utility>

namespace execcred {

Error lacks_cluster_info(Error error) {
  std::string remedies = std::move(error.hint);
  error.hint =
      "set provideClusterInfo: true where the client runs this plugin, so that the ClusterProfile "
      "can name it";
  if (!remedies.empty()) error.hint += "; or " + remedies;
  error.cause = cause::kClusterInfoMissing;
  return error;
}

}  // namespace execcred
