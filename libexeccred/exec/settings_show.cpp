// SPDX-License-Identifier: Apache-2.0
// Settings as people read them: --show-config, and the places that messages name.
#include <execcred/base/text.hpp>
#include <execcred/exec/settings.hpp>

#include <algorithm>
#include <utility>

namespace execcred {
namespace {

std::string value_of(const Option& option, const Setting& setting) {
  std::string value =
      setting.texts.empty() ? option.default_text : printable(join(setting.texts, ","));
  if (option.is_secret && !setting.texts.empty()) value = "(set)";
  if (value.empty()) value = option.is_switch() ? "false" : "-";
  return value;
}

}  // namespace

std::string Settings::where_from(std::string_view name) const {
  const Option* const option = options_.find(name);
  if (option == nullptr) return "unset";
  const Setting& setting = get(name);
  switch (setting.origin) {
    case Setting::Origin::flag:
      return option->flag();
    case Setting::Origin::profile_argument:
      return option->flag() + " behind --from-profile";
    case Setting::Origin::environment:
      return environment_name(name);
    case Setting::Origin::profile_config:
      return std::string(kConfigPath) + "." + setting.config_field;
    case Setting::Origin::variable:
      return std::string(setting.variable);
    case Setting::Origin::unset:
      return option->default_text.empty() ? "unset" : option->default_origin;
  }
  return {};
}

std::string Settings::show() const {
  std::size_t name_width = 0;
  std::size_t value_width = 0;
  std::vector<std::pair<const Option*, std::string>> rows;
  for (const Option& option : options_.all()) {
    std::string value = value_of(option, get(option.name));
    name_width = std::max(name_width, option.flag().size());
    value_width = std::max(value_width, value.size());
    rows.emplace_back(&option, std::move(value));
  }
  std::string text;
  for (const auto& [option, value] : rows) {
    text += option->flag() + std::string(name_width + 2 - option->flag().size(), ' ');
    text += value + std::string(value_width + 2 - value.size(), ' ');
    text += where_from(option->name) + "\n";
  }
  return text;
}

}  // namespace execcred
