// SPDX-License-Identifier: Apache-2.0
// execcred install: copies the plugins beside this program into a directory, for an init container
// whose image has no cp.
#include "commands.hpp"

#include "install_directory.hpp"
#include "install_files.hpp"
#include "table.hpp"

#include <execcred/base/try.hpp>
#include <execcred/os/deadline.hpp>

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace execcred::cli {
namespace {

namespace fs = std::filesystem;

// Copying takes less than a second; a file system that does not respond must not block the start of
// a Pod.
constexpr std::chrono::minutes kLimit(5);
constexpr std::string_view kTimeoutHint = "check that the directory's file system responds";

std::string report(const std::vector<InstalledPlugin>& plugins) {
  Table table({"DONE", "PLUGIN", "BYTES", "SHA256"});
  for (const InstalledPlugin& plugin : plugins) {
    table.add({plugin.done, plugin.name, std::to_string(plugin.size), plugin.digest});
  }
  return table.text();
}

class Install final : public Command {
 public:
  void add_options(CommandOptions& options) override {
    options.add_operands(directories_, {.usage = "DIR", .takes = Takes::directory});
    options.group("Input");
    options.add("plugin", plugins_,
                {.value = "NAME",
                 .help = "Plugin to copy, or kubectl-execcred; default: all beside execcred"});
    options.add_example("Copy all plugins", "execcred install ./plugins");
    options.add_example(
        "Copy two of them",
        "execcred install --plugin=execcred-spiffe --plugin=execcred-aws ./plugins");
  }

  Result<Outcome> run() override {
    if (directories_.size() != 1) {
      return Error{.kind = Error::Kind::configuration,
                   .message = directories_.empty()
                                  ? "no directory is given"
                                  : std::to_string(directories_.size()) + " directories are given",
                   .hint = "write execcred install DIR; the directory must exist"};
    }
    deadline::start(kProgram, kLimit, kTimeoutHint);
    const fs::path source = TRY(own_directory());
    const std::vector<std::string> names = TRY(choose_plugins(source, plugins_));
    const InstallDirectory target = TRY(InstallDirectory::open(directories_.front()));
    TRY(target.check_is_not(source));
    const std::vector<InstalledPlugin> done = TRY(install_plugins(source, names, target));
    return Outcome{.text = SecretString(report(done))};
  }

 private:
  std::vector<std::string> directories_;
  std::vector<std::string> plugins_;
};

}  // namespace

std::unique_ptr<Command> make_install() { return std::make_unique<Install>(); }

}  // namespace execcred::cli
