// SPDX-License-Identifier: Apache-2.0
// What determines the credential of the inner plugin, which is not run for this.
#pragma once

#include <execcred/exec/inner_program.hpp>
#include <execcred/exec/inputs.hpp>

namespace execcred::bootstrap {

// Records the machine, the client's whole description of the cluster, and each variable that
// execcred's plugins read.
void plan_inner_plugin(const InnerCommand& command, Inputs& inputs);

}  // namespace execcred::bootstrap
