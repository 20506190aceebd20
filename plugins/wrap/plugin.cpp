// SPDX-License-Identifier: Apache-2.0
// execcred-wrap: gives the client what another program prints, within the guarantees of execcred's
// own plugins: the access rules before the program runs, a deadline, a cache, an error with a
// cause.
#include "advice.hpp"
#include "arguments.hpp"
#include "options.hpp"
#include "output.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/inputs.hpp>
#include <execcred/exec/jwt.hpp>
#include <execcred/exec/plugin_main.hpp>
#include <execcred/os/deadline.hpp>
#include <execcred/os/file.hpp>
#include <execcred/os/program_file.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace execcred::wrap {
namespace {

constexpr std::size_t kMaxIdentityFile = 1024 * 1024;
constexpr std::size_t kMaxShown = 497;  // without "..."

// The program's file: another one at this path is another program.
void add_file(const std::string& path, Inputs& inputs) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return;  // the run will fail
  for (const auto number :
       {static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino),
        static_cast<std::uint64_t>(status.st_size),
        static_cast<std::uint64_t>(status.st_mtim.tv_sec),
        static_cast<std::uint64_t>(status.st_mtim.tv_nsec)}) {
    inputs.add("program.file", std::to_string(number));
  }
}

// Whether the line says something: the border of a table does not. Bytes beyond ASCII are letters,
// except in UTF-8's box drawing, E2 94 and E2 95.
bool has_words(std::string_view line) {
  while (!line.empty()) {
    const bool is_box = line.starts_with("\xE2\x94") || line.starts_with("\xE2\x95");
    const bool is_letter =
        is_alphanumeric(line.front()) || static_cast<unsigned char>(line.front()) >= 0x80;
    if (!is_box && is_letter) return true;
    line.remove_prefix(std::min<std::size_t>(is_box ? 3 : 1, line.size()));
  }
  return false;
}

// The last line that says something, or else the last one.
std::string_view last_line(std::string_view text) {
  text = trim(text);
  const std::vector<std::string_view> lines = split(text, '\n');
  const auto found = std::find_if(lines.rbegin(), lines.rend(), has_words);
  if (found != lines.rend()) return trim(*found);
  return lines.empty() ? std::string_view() : trim(lines.back());
}

// Shows with --debug what the program wrote on standard error, and quotes its last line in `error`.
void report(const std::string& said, const CallContext& call, Error* error) {
  for (const std::string_view line : split(said, '\n')) {
    if (!trim(line).empty()) call.debug("the program: " + shown_text(line, kMaxShown));
  }
  const std::string_view line = last_line(said);
  if (error == nullptr || line.empty()) return;
  error->context.push_back("the program wrote: " + shown_text(line, kMaxShown));
}

class Wrap final : public Provider {
 public:
  void add_options(OptionSet& set) override { wrap::add_options(set, options_); }

  std::vector<Finding> check(const Settings& settings,
                             const Environment& /*environment*/) const override {
    std::vector<Finding> findings = refusals(check_options(options_, settings));
    advise(options_, settings, findings);
    return findings;
  }

  Result<Plan> plan(const Settings& settings, Inputs& inputs) const override {
    InnerCommand command = {.program = options_.command.program};
    command.arguments = TRY(expand_arguments(options_, inputs.request()));
    const bool has_document = !inputs.request().document.empty();
    const bool passes_document = passes_cluster(options_, settings) && has_document;
    std::vector<std::string> environment = environment_of_command(inputs.unrecorded_environment(
        "what the program gets of it is recorded, without what a terminal changes"));
    if (options_.is_cached) TRY(add_inputs(command, passes_document, inputs));
    if (passes_document) environment.push_back(document_for_program(inputs.request()));

    std::optional<PlanCache> cache;
    if (options_.is_cached) {
      cache = options_.cache;
      cache->options.times.endless_lifetime = inputs.request().max_age;
    }
    return Plan{
        .ask = [this, command = std::move(command), environment = std::move(environment)](
                   CallContext& call) { return run(command, environment, call); },
        .cache = std::move(cache),
        .finish = [this, &request = inputs.request()](
                      Credential credential, const CallContext& /*run*/) -> Result<Credential> {
          TRY(check_audience(credential.token, request.as_typed("--expect-audience"),
                             options_.expect_audiences));
          return credential;
        }};
  }

 private:
  Status add_inputs(const InnerCommand& command, bool passes_document, Inputs& inputs) const {
    inputs.add("user", std::to_string(geteuid()) + ":" + std::to_string(getegid()));
    inputs.add_machine();  // as which the program may ask
    inputs.add("program", command.program);
    add_file(command.program, inputs);
    for (const std::string& argument : command.arguments) inputs.add_secret("argument", argument);
    add_environment(false, inputs);
    if (passes_document) {
      inputs.add_whole_cluster();
      inputs.add("apiVersion", full_name(inputs.request().info.version));
    }
    for (const std::string& path : options_.identity_files) {
      TRY(inputs.secret_file("identity-file", path, kMaxIdentityFile)
              .context("reading " + inputs.request().as_typed("--identity-file")));
    }
    return {};
  }

  Result<Issued> run(const InnerCommand& command, const std::vector<std::string>& environment,
                     const CallContext& call) const {
    deadline::enter_phase("running the program");
    InnerRun run = run_inner_program({.command = command,
                                      .environment = environment,
                                      .directory = "/",
                                      .passes_exit_codes = is_plugin_of_ours(command.program),
                                      .names_causes = true,
                                      .token_field = options_.token_field},
                                     call);
    if (run.failure) {
      report(run.said, call, &*run.failure);
      return *std::move(run.failure);
    }
    Result<Credential> credential = read_output(options_, run.output, call.clock.now());
    if (!credential) {
      report(run.said, call, &credential.error());
      const std::string doing = "reading what " + in_quotes(command.program) + " printed";
      return Result<Issued>(std::move(credential).error()).context(doing);
    }
    report(run.said, call, nullptr);
    return Issued{.credential = std::move(*credential), .target = command.program};
  }

  Binding bind(const Settings& settings) const override {
    Binding binding = {.text = "nobody knows at which servers the program's credential is good",
                       .warns_in_show_config = true};
    if (has_placeholder(options_.command.arguments, "config.")) {
      binding.needs_cluster = {"{config.FIELD} in " + settings.where_from("command")};
    }
    return binding;
  }

  Options options_;
};

}  // namespace

PluginDefinition plugin() {
  return {
      .info = {.name = "execcred-wrap",
               .summary = "Gives the client what another program prints, within execcred's "
                          "rules.",
               .examples = {{{"Print the token that a program prints, with EXECCRED_COMMAND set",
                              "execcred-wrap --output=token"},
                             {"Keep the credential, so that many processes run the program once",
                              "execcred-wrap --output=token --cache"}}}},
      .make = [] { return std::unique_ptr<Provider>(std::make_unique<Wrap>()); }};
}

}  // namespace execcred::wrap
