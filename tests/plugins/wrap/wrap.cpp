// SPDX-License-Identifier: Apache-2.0
#include "wrap.hpp"

#include <algorithm>

namespace execcred::test {

std::string with_token(const std::string& token, const std::string& more_status,
                       std::string_view version) {
  return exec_credential(R"({"token":")" + token + "\"" + more_status + "}", version);
}

Wrap::Wrap() { set_output(with_token(token)); }

void Wrap::set_program(const std::string& script) const {
  sandbox.script("bin/program", "echo run >> '" + sandbox.at("runs") +
                                    "'\nfor a in \"$@\"; do printf '%s\\n' \"$a\"; done > '" +
                                    sandbox.at("arguments") + "'\n" + script);
}

void Wrap::set_output(const std::string& output) const {
  set_program("/bin/cat '" + sandbox.write("output", output) + "'\n");
}

std::size_t Wrap::runs() const {
  const std::string runs = blackbox::read_text(sandbox.at("runs"));
  return static_cast<std::size_t>(std::count(runs.begin(), runs.end(), '\n'));
}

std::string Wrap::command_with(const Texts& arguments) const {
  return "--command=" + command_json(Texts{program} + arguments);
}

std::string Wrap::arguments_seen() const { return blackbox::read_text(sandbox.at("arguments")); }

std::string Wrap::log_line(std::string_view field) const {
  const std::string lines = blackbox::read_text(log);
  const std::size_t end = lines.find_last_not_of('\n');
  if (end == std::string::npos) return {};
  const std::size_t begin = lines.rfind('\n', end);
  return blackbox::json_at(lines.substr(begin == std::string::npos ? 0 : begin + 1), field);
}

blackbox::Command Wrap::command(const Ask& ask) const {
  Texts arguments = {"--log-file=" + log};
  if (ask.has_command) arguments.push_back(command_with({}));
  Texts variables = Texts{"EXECCRED_CACHE_DIR=" + cache_path} + ask.variables;
  if (ask.has_cluster) {
    variables = variables + asked_for(ask.server, ask.config, ask.more_of_cluster, ask.version);
  }
  return plugin_command("execcred-wrap", arguments + ask.arguments, std::move(variables));
}

}  // namespace execcred::test
