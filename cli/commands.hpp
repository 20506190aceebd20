// SPDX-License-Identifier: Apache-2.0
// Every command of execcred. Each one is in the source file of its name.
#pragma once

#include "command_line.hpp"

#include <memory>

namespace execcred::cli {

void add_commands(CommandLine& line);

std::unique_ptr<Command> make_get();
std::unique_ptr<Command> make_resolve();
std::unique_ptr<Command> make_kubeconfig();
std::unique_ptr<Command> make_doctor();
std::unique_ptr<Command> make_explain();
std::unique_ptr<Command> make_grant();
std::unique_ptr<Command> make_init();
std::unique_ptr<Command> make_lint();
std::unique_ptr<Command> make_migrate();
std::unique_ptr<Command> make_sync();
std::unique_ptr<Command> make_cache();
std::unique_ptr<Command> make_install();
std::unique_ptr<Command> make_completion();
std::unique_ptr<Command> make_version();
// Of the commands that were added to the line before.
std::unique_ptr<Command> make_complete(const CommandLine& line);
std::unique_ptr<Command> make_help(const CommandLine& line);

}  // namespace execcred::cli
