// SPDX-License-Identifier: Apache-2.0
// Runs execcred-wrap as clients do, around a program of the case.
#pragma once

#include "support/plugin_rig.hpp"

#include <string>
#include <string_view>

namespace execcred::test {

struct Ask {
  Texts arguments = {};
  Texts variables = {};
  std::string config = {};  // spec.cluster.config
  std::string more_of_cluster = {};
  std::string server = kSpoke;
  std::string_view version = blackbox::kV1;
  bool has_cluster = true;
  bool has_command = true;  // --command of the rig's program, without arguments
};

class Wrap : public PluginRig<Ask> {
 public:
  Wrap();

  blackbox::Command command(const Ask& ask) const override;

  // Sets the program's shell commands.
  void set_program(const std::string& script) const;
  // Sets what the program prints.
  void set_output(const std::string& output) const;
  // How often the program ran.
  std::size_t runs() const;
  // "--command=[PROGRAM,ARGUMENTS...]".
  std::string command_with(const Texts& arguments) const;
  // The program's arguments, one a line, as it got them last.
  std::string arguments_seen() const;
  std::string log_line(std::string_view field) const;

  std::string token = new_secret();
  std::string program = sandbox.at("bin/program");
  std::string log = sandbox.at("log");
};

// An ExecCredential with a token.
std::string with_token(const std::string& token, const std::string& more_status = {},
                       std::string_view version = blackbox::kV1);

}  // namespace execcred::test
