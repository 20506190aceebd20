// SPDX-License-Identifier: Apache-2.0
// The shared files of AWS: an accepted file, written again in a simple form, is read as the same.
// No section or setting occurs twice, and no message shows a value.
#include "fuzz.hpp"

#include <aws/config_file.hpp>
#include <execcred/base/text.hpp>

#include <set>
#include <string>
#include <vector>

namespace execcred::fuzz {
namespace {

std::string written(const std::vector<aws::ConfigSection>& sections) {
  std::string text;
  for (const aws::ConfigSection& section : sections) {
    text += "[" + section.name + "]\n";
    for (const aws::ConfigSetting& setting : section.settings) {
      text += setting.name + "=";
      // The lines after the first are indented.
      for (const char c : setting.value.reveal()) {
        text.push_back(c);
        if (c == '\n') text.push_back(' ');
      }
      text += "\n";
    }
  }
  return text;
}

void check_section(const aws::ConfigSection& section) {
  require(!section.name.empty() && trim(section.name) == section.name, "a section has a name");
  require(section.name.find_first_of("[]\n") == std::string::npos, "of one line, without brackets");
  std::set<std::string> names;
  for (const aws::ConfigSetting& setting : section.settings) {
    require(names.insert(setting.name).second, "no setting stands twice");
    require(!setting.name.empty() && ascii_lower(setting.name) == setting.name, "in lower case");
    require(section.find(setting.name) == &setting.value, "it is found by its name");
  }
}

}  // namespace

void check(std::string_view input) {
  const auto sections = aws::parse_config_file(input);
  if (!sections) {
    require(sections.error().kind == Error::Kind::configuration, "a malformed file");
    require(sections.error().message.size() < 100, "a message without the text");
    return;
  }
  std::set<std::string> names;
  for (const aws::ConfigSection& section : *sections) {
    require(names.insert(section.name).second, "no section stands twice");
    check_section(section);
  }
  const std::string text = written(*sections);
  const auto again = aws::parse_config_file(text);
  require(again.has_value(), "what was written is taken");
  require(written(*again) == text, "and is the same");
}

}  // namespace execcred::fuzz
