// SPDX-License-Identifier: Apache-2.0
// execcred: the command line for people who set up clusters, mappings and plugins.
#include "cache.hpp"
#include "command_line.hpp"
#include "completion.hpp"
#include "get.hpp"
#include "help.hpp"
#include "install.hpp"
#include "kubeconfig.hpp"
#include "lint.hpp"
#include "migrate.hpp"
#include "resolve.hpp"
#include "version.hpp"

#include <execcred/base/environment.hpp>
#include <execcred/os/deadline.hpp>
#include <execcred/os/process_setup.hpp>

#include <csignal>
#include <string>

namespace execcred::cli {
namespace {

struct Commands {
  Get get;
  Resolve resolve;
  Kubeconfig kubeconfig;
  Lint lint;
  Migrate migrate;
  Cache cache;
  Install install;
  Completion completion;
  Version version;
  CommandLine line;
  Complete complete{line};
  Help help{line};

  Commands() {
    line.add("get", "Run the plugin of a ClusterProfile and print the credential.", get);
    line.add("resolve", "Show what would run for each ClusterProfile, and why.", resolve);
    line.add("kubeconfig", "Write one kubeconfig for a whole inventory.", kubeconfig);
    line.add("lint", "Report every problem of mappings, ClusterProfiles and kubeconfigs.", lint);
    line.add("migrate", "Rewrite other plugins' exec entries to execcred's plugins.", migrate);
    line.add("cache", "Show what plugins keep in their cache, or remove it.", cache);
    line.add("install", "Copy the plugins into a directory, as an init container does.", install);
    line.add("completion", "Print a script that completes commands in a shell.", completion);
    line.add("version", "Print name and version.", version);
    line.add("__complete", "Answer the script of completion.", complete);
    line.add("help", "Explain a command.", help);
  }
};

int fail(const Error& error) {
  deadline::write_to_stderr(format_error(kProgram, error));
  return exit_code(error.kind);
}

int run_program(int argc, char** argv) {
  const Status ready = set_up_process();
  if (!ready) return fail(ready.error());
  // Ignored by the caller, it would hide how a plugin ended.
  std::signal(SIGCHLD, SIG_DFL);
  const Result<Outcome> outcome =
      Commands().line.run({argv + (argc > 0 ? 1 : 0), argv + argc}, Environment::copy());
  if (!outcome) return fail(outcome.error());
  deadline::write_to_stderr(outcome->notes);
  for (const Error& warning : outcome->warnings) {
    deadline::write_to_stderr(format_error(kProgram, warning, "warning"));
  }
  for (const Error& problem : outcome->problems) fail(problem);
  const std::string_view text = outcome->text.reveal();
  if (outcome->needs_reader) {
    const Status written = write_to_stdout(text);
    return written ? outcome->exit_code : fail(written.error());
  }
  const Result<bool> written = write_while_read(text);
  return written ? outcome->exit_code : fail(written.error());
}

}  // namespace
}  // namespace execcred::cli

int main(int argc, char** argv) {
  try {
    return execcred::cli::run_program(argc, argv);
  } catch (...) {
    return execcred::cli::fail({.message = "internal error", .hint = "please report it"});
  }
}
