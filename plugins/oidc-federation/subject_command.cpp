// SPDX-License-Identifier: Apache-2.0
#include "subject_command.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/bearer_token.hpp>
#include <execcred/exec/inner_program.hpp>

namespace execcred::oidc_federation {

void plan_command(Inputs& inputs) {
  inputs.add_machine();  // as which the program may ask
  add_environment(true, inputs);
}

Result<SecretString> run_subject_command(const InnerCommand& command, const CallContext& call) {
  const SecretString output =
      TRY(run_token_command(command, environment_of_command(call.environment), call));
  return bearer_token(output).context("reading what " + in_quotes(command.program) + " printed");
}

}  // namespace execcred::oidc_federation
