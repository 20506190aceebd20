// SPDX-License-Identifier: Apache-2.0
#include "recorder.hpp"

namespace blackbox {
namespace {

std::vector<std::string> split_at_nul(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\0', start);
    parts.push_back(text.substr(start, end - start));
    if (end == std::string::npos) break;
    start = end + 1;
  }
  return parts;
}

}  // namespace

Recorder::Recorder() {
  // The shell's files in /proc have what the kernel was given, before the shell changed it.
  command_ = sandbox_.script(
      "recorder",
      "cat /proc/$$/cmdline > " + sandbox_.at("arguments") + "\ncat /proc/$$/environ > " +
          sandbox_.at("environment") + "\nreadlink /proc/$$/fd/0 > " + sandbox_.at("input") +
          "\nreadlink /proc/$$/cwd > " + sandbox_.at("directory") + "\n" + printing("t0ken"));
}

std::vector<std::string> Recorder::arguments() const {
  // "/bin/sh", the script, and then its arguments.
  std::vector<std::string> all = split_at_nul(read_text(sandbox_.path() / "arguments"));
  return all.size() < 2 ? std::vector<std::string>{"(none)"}
                        : std::vector<std::string>(all.begin() + 2, all.end());
}

std::vector<std::string> Recorder::environment() const {
  return split_at_nul(read_text(sandbox_.path() / "environment"));
}

std::vector<std::string> Recorder::values_of(std::string_view name) const {
  const std::string start = std::string(name) + "=";
  std::vector<std::string> values;
  for (const std::string& entry : environment()) {
    if (entry.starts_with(start)) values.push_back(entry.substr(start.size()));
  }
  return values;
}

std::string Recorder::standard_input() const { return read_text(sandbox_.path() / "input"); }
std::string Recorder::working_directory() const { return read_text(sandbox_.path() / "directory"); }

Outcome record(const Recorder& recorder, std::string_view more_of_exec, std::string_view more,
               std::string_view more_of_cluster, std::vector<std::string> environment) {
  const Inventory inventory(
      mapping({mapped("p", recorder.command(), more_of_exec, more)}),
      profile("c1", {provider("p", "https://10.1.2.3:6443", more_of_cluster)}));
  return inventory.run("get", {"-o", "token"}, std::move(environment));
}

}  // namespace blackbox
