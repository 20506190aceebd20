// SPDX-License-Identifier: Apache-2.0
// Prints the programs' declarations as JSON, from which manual pages, JSON Schemas and the tables
// of docs/ are generated.
//
//   {"version", "shared": [OPTION...],
//    "plugins": [{"name", "summary", "options": [OPTION...], "examples"}...],
//    "execcred": {"name", "summary",
//                 "commands": [{"name", "summary", "operands", "options", "examples"}...]}}
//
// "shared" has the options that several plugins have. They are also among the options of each of
// these plugins, marked with "isShared". A member of an option that is false, empty or absent is
// left out.
#include "commands.hpp"

#include "declared_options.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/version.hpp>
#include <execcred/exec/cache_options.hpp>
#include <execcred/json/json.hpp>
#include <list.hpp>

#include <cstdio>
#include <exception>
#include <string>
#include <utility>

namespace execcred::cli {
namespace {

template <class Texts>
json::Value list_of(const Texts& texts) {
  json::Array list;
  for (const auto& text : texts) list.emplace_back(std::string_view(text));
  return json::Value(std::move(list));
}

// Makes an object in which empty texts, empty lists and false flags are left out.
class Facts {
 public:
  template <class Text>
  Facts& text(std::string_view name, const Text& value) {
    if (!std::string_view(value).empty()) object_.add(name, json::Value(std::string_view(value)));
    return *this;
  }
  Facts& flag(std::string_view name, bool value) {
    if (value) object_.add(name, json::Value(value));
    return *this;
  }
  template <class Texts>
  Facts& list(std::string_view name, const Texts& texts) {
    if (!texts.empty()) object_.add(name, list_of(texts));
    return *this;
  }
  Facts& member(std::string_view name, json::Value value) {
    object_.add(name, std::move(value));
    return *this;
  }
  json::Value take() { return std::move(object_); }

 private:
  json::Value object_{json::Object()};
};

std::string letter_of(char letter) { return letter == 0 ? "" : std::string(1, letter); }

std::vector<std::string> variables_of(const Option& option) {
  std::vector<std::string> variables;
  if (option.has_environment) variables.push_back(environment_name(option.name));
  variables.insert(variables.end(), option.variables.begin(), option.variables.end());
  return variables;
}

json::Value form_of(const ValueForm& form) {
  Facts facts;
  facts.text("pattern", form.pattern);
  if (form.max_size > 0) {
    facts.member("maxSize", json::Value(json::Number{std::to_string(form.max_size)}));
  }
  return facts.take();
}

json::Value weakness_of(const Option& option) {
  return Facts()
      .text("effect", option.weakness)
      .text("hint", option.weakness_hint)
      .flag("ofSomeValues", option.is_weak != nullptr)
      .flag("isMinor", option.is_minor_weakness)
      .take();
}

json::Value facts_of(const Option& option, bool is_shared) {
  Facts facts;
  facts.text("name", option.name)
      .text("letter", letter_of(option.short_name))
      .text("value", option.value_name)
      .text("group", option.group)
      .text("help", option.help)
      .text("default", option.default_text)
      .text("example", option.example)
      .text("takes", completion_of(takes_of(option)))
      .list("choices", option.choices)
      .flag("hasOtherValues", option.has_other_values)
      .flag("isRequired", option.is_required)
      .flag("isRepeatable", option.is_repeatable)
      .flag("isTemplate", option.is_template)
      .flag("isCommand", option.is_command)
      .flag("isSecret", option.is_secret)
      .flag("isShared", is_shared)
      .list("variables", variables_of(option))
      .list("fields", option.config_fields)
      .text("sharedField", option.shared_field)
      .text("permission", option.permission)
      .flag("mayBeArgument", option.profile == Option::Profile::config_and_arguments);
  if (option.form != nullptr) facts.member("form", form_of(*option.form));
  if (!option.weakness.empty()) facts.member("weakness", weakness_of(option));
  return facts.take();
}

json::Value facts_of(const DeclaredOption& option) {
  const About& about = option.about;
  return Facts()
      .text("name", option.name)
      .text("letter", letter_of(about.letter))
      .text("value", about.value)
      .text("group", option.group)
      .text("help", about.help)
      .text("default", about.default_text)
      .text("takes", completion_of(about.takes))
      .list("choices", about.choices)
      .flag("isRequired", about.is_required)
      .flag("isRepeatable", option.is_repeatable)
      .list("variables", about.variable.empty() ? std::vector<std::string_view>()
                                                : std::vector<std::string_view>{about.variable})
      .take();
}

template <class Examples>
json::Value facts_of_examples(const Examples& examples) {
  json::Array list;
  for (const Example& example : examples) {
    list.push_back(
        Facts().text("purpose", example.purpose).text("command", example.command).take());
  }
  return json::Value(std::move(list));
}

// The options that all plugins have, and those that all plugins with a cache have.
class SharedOptions {
 public:
  SharedOptions() {
    add_common_options(set_, common_);
    add_cache_options(set_, cache_);
  }
  SharedOptions(const SharedOptions&) = delete;
  SharedOptions& operator=(const SharedOptions&) = delete;

  bool has(const Option& option) const {
    const Option* const found = set_.find(option.name);
    return found != nullptr && found->group == option.group && found->help == option.help;
  }
  json::Value facts() const {
    json::Array options;
    for (const Option& option : set_.all()) options.push_back(facts_of(option, true));
    return json::Value(std::move(options));
  }

 private:
  CacheOptions cache_;
  CommonOptions common_;
  OptionSet set_;
};

json::Value facts_of(const PluginDefinition& plugin, const SharedOptions& shared) {
  const DeclaredOptions known(plugin.info.name);
  json::Array options;
  for (const Option& option : known.set().all()) {
    options.push_back(facts_of(option, shared.has(option)));
  }
  return Facts()
      .text("name", plugin.info.name)
      .text("summary", plugin.info.summary)
      .flag("ignoresProfile", known.set().ignores_profile())
      .member("options", json::Value(std::move(options)))
      .member("examples", facts_of_examples(plugin.info.examples))
      .take();
}

json::Value facts_of(const CommandLine::Entry& entry) {
  json::Array options;
  for (const DeclaredOption& option : entry.options.all()) options.push_back(facts_of(option));
  const Operands& operands = entry.options.operands();
  return Facts()
      .text("name", entry.name)
      .text("summary", entry.summary)
      .member("operands",
              Facts().text("usage", operands.usage).list("choices", operands.choices).take())
      .member("options", json::Value(std::move(options)))
      .member("examples", facts_of_examples(entry.options.examples()))
      .take();
}

json::Value facts_of(const CommandLine& line) {
  const SharedOptions shared;
  json::Array plugins;
  for (const PluginDefinition& plugin : all_plugins()) plugins.push_back(facts_of(plugin, shared));
  json::Array commands;
  for (const auto& entry : line.entries()) {
    if (!entry->is_hidden()) commands.push_back(facts_of(*entry));
  }
  return Facts()
      .text("version", std::string_view(kVersion))
      .member("shared", shared.facts())
      .member("plugins", json::Value(std::move(plugins)))
      .member("execcred", Facts()
                              .text("name", kProgram)
                              .text("summary", CommandLine::kSummary)
                              .member("commands", json::Value(std::move(commands)))
                              .take())
      .take();
}

}  // namespace
}  // namespace execcred::cli

int main() {
  try {
    execcred::cli::CommandLine commands;
    execcred::cli::add_commands(commands);
    const std::string text = execcred::json::to_indented_text(execcred::cli::facts_of(commands));
    const bool is_written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    return is_written && std::fflush(stdout) == 0 ? 0 : 1;
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "plugin-facts: error: %s\n", exception.what());
    return 1;
  }
}
