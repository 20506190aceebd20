// SPDX-License-Identifier: Apache-2.0
// The error of a value that is missing because the client sent no cluster information.
#pragma once

#include <execcred/base/error.hpp>

namespace execcred {

// Completes the error of a missing value that a ClusterProfile could have set. Its hint has the
// other remedies. The first one becomes that the client sends the cluster's information.
Error lacks_cluster_info(Error error);

}  // namespace execcred
