// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"

#include <execcred/base/text.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace execcred::migrate {
namespace {

constexpr std::string_view kLogging = "logging; execcred's plugins have --debug";

// The flags that Go's k8s.io/klog adds to programs.
constexpr std::array kLoggingFlags = std::to_array<Rule>({
    drop("v", kLogging).as_short('v'),
    drop("vmodule", kLogging),
    drop("log-dir", kLogging),
    drop("log-file", kLogging),
    drop("log-file-max-size", kLogging),
    drop("log-backtrace-at", kLogging),
    drop("stderrthreshold", kLogging),
    drop("logtostderr", kLogging).as_toggle(),
    drop("alsologtostderr", kLogging).as_toggle(),
    drop("add-dir-header", kLogging).as_toggle(),
    drop("one-output", kLogging).as_toggle(),
    drop("skip-headers", kLogging).as_toggle(),
    drop("skip-log-headers", kLogging).as_toggle(),
});

// Go programs accept '_' instead of '-' in the name of a flag.
bool is_same_name(std::string_view one, std::string_view other) {
  const auto plain = [](char c) { return c == '_' ? '-' : c; };
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [plain](char a, char b) { return plain(a) == plain(b); });
}

template <class Matches>
const Rule* find(std::span<const Rule> flags, Matches matches) {
  for (const std::span<const Rule> table : {flags, std::span<const Rule>(kLoggingFlags)}) {
    const auto found = std::find_if(table.begin(), table.end(), matches);
    if (found != table.end()) return &*found;
  }
  return nullptr;
}

class Reader {
 public:
  Reader(const std::vector<std::string>& arguments, const Peer& peer)
      : arguments_(arguments), peer_(peer) {}

  Arguments read() {
    for (; index_ < arguments_.size(); ++index_) {
      const std::string_view argument = arguments_[index_];
      if (argument.size() > 1 && argument.front() == '-') {
        take_flag(argument);
      } else if (words_ < peer_.subcommand.size() && argument == peer_.subcommand[words_]) {
        ++words_;
      } else {
        read_.unread.push_back({"argument " + std::to_string(index_ + 1), "it is no flag"});
      }
    }
    return std::move(read_);
  }

 private:
  void take_flag(std::string_view argument) {
    const std::size_t dashes = argument.starts_with("--") ? 2 : 1;
    const std::size_t equals = std::min(argument.find('='), argument.size());
    const std::string_view name = argument.substr(dashes, equals - dashes);
    const Rule* rule = nullptr;
    if (dashes == 2 || name.size() > 1) {
      rule = find(peer_.flags, [name](const Rule& flag) { return is_same_name(flag.name, name); });
    }
    std::string_view why = "it is not known";
    if (rule == nullptr && peer_.takes_abbreviations && dashes == 2) {
      const auto starts = [name](const Rule& flag) { return flag.name.starts_with(name); };
      const auto count = std::count_if(peer_.flags.begin(), peer_.flags.end(), starts);
      if (count == 1) rule = find(peer_.flags, starts);
      if (count > 1) why = "it is the start of several flags; write the whole flag";
    }
    if (rule != nullptr) return take_value(*rule, argument, equals, equals + 1);
    const char letter = argument[1];
    if (dashes == 1)
      rule = find(peer_.flags, [letter](const Rule& r) { return r.short_name == letter; });
    if (rule != nullptr) return take_value(*rule, argument, 2, equals == 2 ? 3 : 2);
    // Only the letter of -xVALUE may be shown.
    read_.unread.push_back(
        {printable(argument.substr(0, dashes == 1 ? 2 : equals)), std::string(why)});
    const bool has_value = equals < argument.size();
    const bool next_is_value = index_ + 1 < arguments_.size() &&
                               !arguments_[index_ + 1].starts_with('-') &&
                               words_ == peer_.subcommand.size();
    if (!has_value && next_is_value) ++index_;
  }

  // The value starts at `start`, or is the next argument.
  void take_value(const Rule& rule, std::string_view argument, std::size_t flag_end,
                  std::size_t start) {
    Given given{.rule = &rule, .typed = std::string(argument.substr(0, flag_end)), .value = {}};
    const bool is_inline = start < argument.size() || argument.ends_with('=');
    if (is_inline) {
      given.value = argument.substr(start);
    } else if (rule.shape == Rule::Shape::toggle) {
      given.value = "true";
    } else if (index_ + 1 < arguments_.size()) {
      given.value = arguments_[++index_];
    } else {
      read_.unread.push_back({given.typed, "it has no value"});
      return;
    }
    read_.given.push_back(std::move(given));
  }

  const std::vector<std::string>& arguments_;
  const Peer& peer_;
  std::size_t index_ = 0;
  std::size_t words_ = 0;  // of the subcommand, passed so far
  Arguments read_;
};

}  // namespace

Arguments read_arguments(const std::vector<std::string>& arguments, const Peer& peer) {
  return Reader(arguments, peer).read();
}

}  // namespace execcred::migrate
