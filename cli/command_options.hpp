// SPDX-License-Identifier: Apache-2.0
// The declaration of a command: its options, operands and examples. Parsing, --help, manual pages
// and shell completion use it.
//
//   options.group("Output");
//   options.add("strict", strict_, {.help = "Write nothing if any ClusterProfile cannot be used"});
#pragma once

#include "used_files.hpp"

#include <execcred/base/environment.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/option_set.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace execcred::cli {

// What a value that has no list of choices is. The command replaces a new_file, which must be none
// that it reads.
enum class Takes { text, file, new_file, directory };

// How a shell completes such a value: "file", "directory" or "".
std::string_view completion_of(Takes takes);

// How a shell completes a plugin's option.
Takes takes_of(const Option& option);

// The string views must refer to literals, because they are not copied.
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

// Parses the typed texts, and stores the value in the command's variable. An option that is not
// repeatable has one text.
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
  // Sets the heading in --help for the options that are added after this call.
  void group(std::string_view title) { group_ = title; }

  void add(std::string_view name, bool& target, const About& about);
  // The current value of `target` is the default. --help shows it, unless it is empty.
  void add(std::string_view name, std::string& target, About about);
  void add(std::string_view name, std::filesystem::path& target, const About& about);
  void add(std::string_view name, std::vector<std::string>& target, const About& about);
  // An option of any type. `parse` makes a Result of that type from one text.
  template <class T, class Parse>
  void add_parsed(std::string_view name, T& target, const About& about, Parse parse) {
    add({.name = name,
         .about = about,
         .store = [&target, parse](const std::vector<std::string>& texts) -> Status {
           target = TRY(parse(texts.front()));
           return {};
         }});
  }

  // Stores the arguments that are not options in `target`, in their order. Without this call, such
  // an argument is an error.
  void add_operands(std::vector<std::string>& target, Operands operands);
  void add_example(std::string_view purpose, std::string_view command) {
    examples_.push_back({purpose, command});
  }

  // Adds files that the command reads though no option or operand names them.
  using OtherFiles = std::function<std::vector<UsedFile>(const Environment&)>;
  void add_files(OtherFiles files) { other_files_.push_back(std::move(files)); }

  const std::vector<DeclaredOption>& all() const { return options_; }
  const std::vector<OtherFiles>& other_files() const { return other_files_; }
  const DeclaredOption* find(std::string_view name) const;
  const DeclaredOption* find_letter(char letter) const;
  const Operands& operands() const { return operands_; }
  std::vector<std::string>* operands_target() const { return operands_target_; }
  const std::vector<Example>& examples() const { return examples_; }

 private:
  void add(DeclaredOption option);

  std::string_view group_ = "Common";
  std::vector<DeclaredOption> options_;
  std::vector<OtherFiles> other_files_;
  Operands operands_;
  std::vector<std::string>* operands_target_ = nullptr;
  std::vector<Example> examples_;
};

}  // namespace execcred::cli
