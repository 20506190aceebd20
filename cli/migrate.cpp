// SPDX-License-Identifier: Apache-2.0
// execcred migrate: rewrites users of other plugins in a kubeconfig or mapping file to execcred's.
// Runs nothing; a user that cannot be rewritten completely stays unchanged.
#include "commands.hpp"

#include "migrate/document.hpp"
#include "migrate/report.hpp"
#include "replacement.hpp"

#include <execcred/base/environment.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/engine/program.hpp>
#include <execcred/kube/cluster_profile.hpp>
#include <execcred/os/file.hpp>

#include <unistd.h>

namespace execcred::cli {
namespace {

Result<std::string> parse_plugin_dir(const std::string& text) {
  if (text.starts_with('/')) return text;
  return Error{.kind = Error::Kind::configuration,
               .message = in_quotes(text) + " is no absolute path",
               .hint =
                   "write the absolute path: clients start a command below a relative one from the "
                   "folder that their caller is in"};
}

class Migrate final : public Command {
 public:
  void add_options(CommandOptions& options) override {
    options.add_operands(files_, {.usage = "FILE", .takes = Takes::file});
    options.group("Input");
    options.add_parsed("plugin-dir", plugin_dir_,
                       {.value = "DIR",
                        .help = "Directory where the client finds execcred's plugins",
                        .takes = Takes::directory,
                        .default_text = plugin_dir_},
                       parse_plugin_dir);
    options.add("context", context_,
                {.value = "NAME", .help = "Only the user of this context of the kubeconfig"});
    options.add("wrap", wraps_,
                {.help = "Let execcred-wrap run the programs that no plugin replaces"});
    output_.add_to(options, true);
    options.add_example("Show what would change", "execcred migrate kubeconfig.yaml");
    options.add_example(
        "Replace the file, for plugins in another folder",
        "execcred migrate --plugin-dir=/usr/bin -o kubeconfig.yaml kubeconfig.yaml");
  }

  Result<Outcome> run() override {
    const std::string text = TRY(read());
    TRY(output_.check(files_.front()));
    migrate::RewriteOptions choices{.plugin_dir = plugin_dir_, .context = context_};
    if (wraps_) {
      choices.wrapped_path = [](const std::string& name) {
        const engine::ProgramFinding found = engine::look_at_program(name, Environment::copy());
        return found.verdict == engine::Verdict::fail ? std::string() : found.path;
      };
    }
    const migrate::Rewritten rewritten =
        TRY(migrate::rewrite(text, choices).context("reading " + in_quotes(files_.front())));
    const std::string report = migrate::report(rewritten, plugin_dir_);
    Outcome outcome{.exit_code = migrate::is_complete(rewritten) ? 0 : 1};
    if (output_.is_printed()) {
      outcome.notes = report;
      outcome.text = SecretString(rewritten.text);
      return outcome;
    }
    const std::string done = TRY(output_.apply(rewritten.text, {}, files_.front()));
    if (output_.is_diff()) outcome.notes = report;
    outcome.text = SecretString(output_.is_diff() ? done : report + done);
    return outcome;
  }

 private:
  Result<std::string> read() const {
    if (files_.size() != 1) {
      return Error::configuration(std::to_string(files_.size()) + " files are given",
                                  "execcred migrate takes one kubeconfig or mapping file, or '-'");
    }
    if (files_.front() == "-") return read_stream(STDIN_FILENO, kMaxInventory, "standard input");
    return read_untrusted_file(files_.front(), kMaxInventory);
  }

  std::vector<std::string> files_;
  std::string context_;
  std::string plugin_dir_ = "/plugins";
  bool wraps_ = false;
  Replacement output_;
};

}  // namespace

std::unique_ptr<Command> make_migrate() { return std::make_unique<Migrate>(); }

}  // namespace execcred::cli
