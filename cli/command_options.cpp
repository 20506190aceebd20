// SPDX-License-Identifier: Apache-2.0
#include "command_options.hpp"

#include <execcred/base/text.hpp>

#include <utility>

namespace execcred::cli {

std::string_view completion_of(Takes takes) {
  if (takes == Takes::directory) return "directory";
  return takes == Takes::text ? "" : "file";
}

Takes takes_of(const Option& option) {
  if (option.is_directory) return Takes::directory;
  const bool is_file = option.is_path() || option.value_name == "PATH|-";
  return is_file ? Takes::file : Takes::text;
}

void CommandOptions::add(DeclaredOption option) {
  option.group = group_;
  options_.push_back(std::move(option));
}

void CommandOptions::add(std::string_view name, bool& target, const About& about) {
  add_parsed(name, target, about, [](const std::string& text) -> Result<bool> {
    if (text == "true" || text == "1") return true;
    if (text == "false" || text == "0") return false;
    return Error::configuration(in_quotes(text) + " is neither true nor false",
                                "write true or 1, false or 0");
  });
}

void CommandOptions::add(std::string_view name, std::string& target, About about) {
  about.default_text = target;
  add_parsed(name, target, about,
             [](const std::string& text) -> Result<std::string> { return text; });
}

void CommandOptions::add(std::string_view name, std::filesystem::path& target, const About& about) {
  add_parsed(name, target, about, [](const std::string& text) -> Result<std::filesystem::path> {
    return std::filesystem::path(text);
  });
}

void CommandOptions::add(std::string_view name, std::vector<std::string>& target,
                         const About& about) {
  add({.name = name,
       .about = about,
       .is_repeatable = true,
       .store = [&target](const std::vector<std::string>& texts) -> Status {
         target = texts;
         return {};
       }});
}

void CommandOptions::add_operands(std::vector<std::string>& target, Operands operands) {
  operands_ = std::move(operands);
  operands_target_ = &target;
}

const DeclaredOption* CommandOptions::find(std::string_view name) const {
  for (const DeclaredOption& option : options_) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

const DeclaredOption* CommandOptions::find_letter(char letter) const {
  for (const DeclaredOption& option : options_) {
    if (letter != 0 && option.about.letter == letter) return &option;
  }
  return nullptr;
}

}  // namespace execcred::cli
