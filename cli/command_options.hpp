// SPDX-License-Identifier: Apache-2.0
// What a command of execcred declares: its options, its operands and its examples. Parsing, --help,
// manual pages and shell completion read it.
//
//   options.group("Output");
//   options.add("strict", strict_, {.help = "Write nothing if any ClusterProfile cannot be used"});
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/option_set.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::cli {

// What a shell completes a value to, where no choices are known.
enum class Takes { text, file, directory };

// The texts are literals, and not copied.
struct About {
  char letter = 0;              // 'm' for -m, or none
  std::string_view value = {};  // "PATH"; empty for a switch
  std::string_view help = {};
  Takes takes = Takes::text;
  std::vector<std::string_view> choices = {};
  std::string default_text = {};
  std::string_view variable = {};  // of the environment; an empty one counts as unset
  bool is_required = false;
};

// Reads texts, one unless the option repeats, into the command's variable.
using Store = std::function<Status(const std::vector<std::string>&)>;

struct DeclaredOption {
  std::string_view name = {};  // "output"
  std::string_view group = {};
  About about = {};
  bool is_repeatable = false;
  Store store = {};

  bool is_switch() const { return about.value.empty(); }
  std::string flag() const { return "--" + std::string(name); }
  std::string usage() const { return flag() + (is_switch() ? "" : "=" + std::string(about.value)); }
};

struct Operands {
  std::string_view usage = {};  // "FILE..."; empty for a command that takes none
  Takes takes = Takes::text;
  std::vector<std::string_view> choices = {};
};

class CommandOptions {
 public:
  // The heading, in --help, of the options that are added from now on.
  void group(std::string_view title) { group_ = title; }

  void add(std::string_view name, bool& target, const About& about);
  // Its value is the default, unless that is empty.
  void add(std::string_view name, std::string& target, About about);
  void add(std::string_view name, std::filesystem::path& target, const About& about);
  void add(std::string_view name, std::vector<std::string>& target, const About& about);
  // Any type that `parse` makes of one text.
  template <class T, class Parse>
  void add_parsed(std::string_view name, T& target, const About& about, Parse parse) {
    add({.name = name,
         .about = about,
         .store = [&target, parse](const std::vector<std::string>& texts) -> Status {
           target = TRY(parse(texts.front()));
           return {};
         }});
  }

  // Arguments that are no option, in their order; without this they are an error.
  void add_operands(std::vector<std::string>& target, Operands operands);
  void add_example(std::string_view purpose, std::string_view command) {
    examples_.push_back({purpose, command});
  }

  const std::vector<DeclaredOption>& all() const { return options_; }
  const DeclaredOption* find(std::string_view name) const;
  const DeclaredOption* find_letter(char letter) const;
  const Operands& operands() const { return operands_; }
  std::vector<std::string>* operands_target() const { return operands_target_; }
  const std::vector<Example>& examples() const { return examples_; }

 private:
  void add(DeclaredOption option);

  std::string_view group_ = "Common";
  std::vector<DeclaredOption> options_;
  Operands operands_;
  std::vector<std::string>* operands_target_ = nullptr;
  std::vector<Example> examples_;
};

}  // namespace execcred::cli
