// SPDX-License-Identifier: Apache-2.0
#include <execcred/base/environment.hpp>

#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

namespace execcred {

Environment::Environment(std::vector<std::string> entries) {
  std::erase_if(entries, [](const std::string& entry) {
    const std::size_t mark = entry.find('=');
    return mark == 0 || mark == std::string::npos;
  });
  entries_ = std::make_shared<const std::vector<std::string>>(std::move(entries));
}

Environment Environment::copy() {
  std::vector<std::string> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    entries.emplace_back(*entry);
  }
  return Environment(std::move(entries));
}

Environment Environment::take() {
  Environment taken = copy();
  static char* nothing[] = {nullptr};
  environ = nothing;
  return taken;
}

std::optional<std::string_view> Environment::get(std::string_view name) const {
  // NOLINTNEXTLINE(modernize-loop-convert): <ranges> for one loop costs more than it shows
  for (auto at = entries_->rbegin(); at != entries_->rend(); ++at) {
    const std::string_view entry = *at;
    if (entry.size() <= name.size() || entry[name.size()] != '=' || !entry.starts_with(name)) {
      continue;
    }
    const std::string_view value = entry.substr(name.size() + 1);
    if (value.empty()) return std::nullopt;
    if (observer_) observer_(name, value);
    return value;
  }
  return std::nullopt;
}

Environment Environment::observed(Observer observer) const {
  Environment copy = *this;
  copy.observer_ = std::move(observer);
  return copy;
}

const std::vector<std::string>& Environment::entries() const {
  if (observer_) {
    std::string all;
    for (const std::string& entry : *entries_) all.append(entry).push_back('\0');
    observer_({}, all);
  }
  return *entries_;
}

bool Environment::has_names_with(std::string_view prefix) const {
  return std::ranges::any_of(
      *entries_, [prefix](const std::string_view entry) { return entry.starts_with(prefix); });
}

std::vector<std::string> last_of_each_name(const std::vector<std::string>& entries) {
  std::set<std::string_view> names;
  std::vector<std::string> unique;
  // NOLINTNEXTLINE(modernize-loop-convert): <ranges> for one loop costs more than it shows
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    const std::string_view name = std::string_view(*entry).substr(0, entry->find('='));
    if (names.insert(name).second) unique.push_back(*entry);
  }
  std::reverse(unique.begin(), unique.end());
  return unique;
}

}  // namespace execcred
