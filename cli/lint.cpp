// SPDX-License-Identifier: Apache-2.0
#include "lint.hpp"

#include "lint_files.hpp"

#include <algorithm>

namespace execcred::cli {

void Lint::add_options(OptionSet& options) {
  options
      .add("plugin-dir", plugin_directory_, "DIR",
           "Where the programs of /plugins are on this machine")
      .no_environment();
  options.add("no-files", no_files_, "Look at no file but those given: not at the programs")
      .no_environment();
  options
      .add_parsed("output", output_, "FORMAT", "text or json",
                  [](const std::string& text) {
                    return parse_output(text, {"text", "json"});
                  })
      .short_name('o')
      .default_text(output_)
      .no_environment();
  options.add_operands(operands_);
}

Result<Outcome> Lint::run() {
  if (operands_.empty()) {
    return Error{.kind = Error::Kind::configuration,
                 .message = "no file is given",
                 .hint = "name files or folders; - is standard input"};
  }
  lint::Run run;
  run.limits = {.looks_at_programs = !no_files_, .plugin_directory = plugin_directory_};
  std::size_t files = 0;
  for (auto operand = operands_.begin(); operand != operands_.end(); ++operand) {
    if (std::find(operands_.begin(), operand, *operand) != operand) continue;
    files += lint::check_operand(run, *operand);
  }
  lint::sort_by_file(run.findings);
  const bool is_wrong = lint::count(run.findings, lint::Severity::error) > 0;
  return Outcome{
      .text = SecretString(output_ == "json" ? json::to_indented_text(lint::to_json(run.findings))
                                             : lint::to_text(run.findings, files)),
      .exit_code = is_wrong ? 2 : 0};
}

}  // namespace execcred::cli
