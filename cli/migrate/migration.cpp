// SPDX-License-Identifier: Apache-2.0
#include "migration.hpp"

#include "declared_options.hpp"
#include "lint/options.hpp"
#include "lint/secrets.hpp"
#include "peers.hpp"

#include <execcred/base/environment.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/exec/settings.hpp>
#include <execcred/json/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace execcred::migrate {
namespace {

constexpr std::string_view kOtherCa = "a custom CA, for which execcred's plugin has no option";

// The rules for every plugin, which are used after the peer's own table.
constexpr std::array kCommonVariables = std::to_array<Rule>({
    keep("HTTPS_PROXY"),
    keep("https_proxy"),
    keep("HTTP_PROXY"),
    keep("http_proxy"),
    keep("NO_PROXY"),
    keep("no_proxy"),
    keep("HOME"),
    keep("XDG_RUNTIME_DIR"),
    keep("XDG_CACHE_HOME"),
    keep("EXECCRED_*"),
    refuse("SSL_CERT_FILE", kOtherCa),
    refuse("SSL_CERT_DIR", kOtherCa),
});

bool matches(std::string_view pattern, std::string_view name) {
  if (!pattern.ends_with('*')) return pattern == name;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

const Rule* find_rule(std::span<const Rule> rules, std::string_view name) {
  for (const std::span<const Rule> table : {rules, std::span<const Rule>(kCommonVariables)}) {
    const auto found = std::find_if(table.begin(), table.end(),
                                    [name](const Rule& rule) { return matches(rule.name, name); });
    if (found != table.end()) return &*found;
  }
  return nullptr;
}

// The value as it is shown to people. A URL may contain a password, and a parameter of a token
// request may be a secret.
std::string shown(std::string_view option, std::string_view value) {
  if (option == "--param") return printable(value.substr(0, value.find('='))) + "=…";
  const std::string text = redacted_urls(value);
  if (text != value) return in_quotes(text);
  const bool is_word = !value.empty() && value.size() <= 120 &&
                       value.find_first_of(" '\"") == std::string_view::npos;
  return is_word ? printable(value) : in_quotes(value);
}

// A brace in --command is written twice.
std::string without_templates(std::string_view argument) {
  std::string text;
  for (const char c : argument) text.append(c == '{' || c == '}' ? 2 : 1, c);
  return text;
}

bool is_off(std::string_view toggle) {
  const std::string text = ascii_lower(toggle);
  return text == "false" || text == "f" || text == "0";
}

}  // namespace

std::string variable_subject(std::string_view name) { return "variable " + printable(name); }

Migration::Migration(const Peer& peer, Invocation invocation)
    : peer_(&peer), invocation_(std::move(invocation)) {
  if (!peer.never.empty()) {
    refuse(peer.name, peer.never);
    return;
  }
  if (&peer == &wrapped_program()) {
    keep_command();
    if (is_complete_) check_result();
    return;
  }
  for (const std::string_view argument : peer.first) args_.emplace_back(argument);
  Arguments arguments = read_arguments(invocation_.args, peer);
  given_ = std::move(arguments.given);
  for (const Given& given : given_) last_given_[given.rule->name] = &given;
  for (const EnvironmentVariable& entry : invocation_.env) last_variables_[entry.name] = &entry;
  for (const Unread& unread : arguments.unread) refuse(unread.subject, unread.why);
  for (const Given& given : given_) apply(given, find(given.rule->name) == &given);
  apply_variables();
  if (peer.finish != nullptr) peer.finish(*this);
  if (is_complete_) check_result();
}

// execcred-wrap gives the program all variables but EXECCRED_*, which would be its own options.
void Migration::keep_command() {
  const std::vector<std::string>& args = invocation_.args;
  if (invocation_.has_profile_arguments) {
    refuse("profileSourcedCLIArgsPolicy 'Append'",
           "execcred-wrap takes no arguments from ClusterProfiles; a mapping without it can fill "
           "{config.FIELD} in --command");
  }
  if (!invocation_.command.starts_with('/')) {
    refuse("the command " + in_quotes(invocation_.command),
           "execcred-wrap needs its absolute path; write it into the entry");
  }
  for (const lint::Argument& argument : lint::split_arguments(args, nullptr)) {
    if (!lint::may_be_secret(argument.name, argument.value)) continue;
    // Any other argument may be the secret itself.
    const bool is_flag = !argument.name.empty() && lint::secret_in(argument.name).empty();
    refuse(is_flag ? "--" + printable(argument.name)
                   : "argument " + std::to_string(argument.index + 1),
           "a secret on the command line; let the program read it from a file or a variable");
  }
  json::Array command = {json::Value(invocation_.command)};
  for (const std::string& argument : args) {
    command.emplace_back(without_templates(argument));
  }
  args_.push_back("--command=" + json::to_text(json::Value(std::move(command))));
  const std::string count = std::to_string(args.size());
  report(Change::Kind::kept, "--command: " + in_quotes(invocation_.command) + " with its " + count +
                                 (args.size() == 1 ? " argument" : " arguments"));
  for (const EnvironmentVariable& entry : invocation_.env) last_variables_[entry.name] = &entry;
  for (const EnvironmentVariable& entry : invocation_.env) {
    const std::string subject = variable_subject(entry.name);
    if (last_variables_[entry.name] != &entry) {
      drop(subject, "it is set again, and the last counts");
    } else if (entry.name.starts_with("EXECCRED_")) {
      refuse(subject, "it would be an option of execcred-wrap, and the program would not get it");
    } else {
      keep_variable(entry.name);
    }
  }
  note(
      "--cache lets many processes run the program once; name the files that choose its identity "
      "with --identity-file");
}

// Checks the new arguments by the plugin's own rules, which may refuse what the tables above
// accept.
void Migration::check_result() {
  cli::DeclaredOptions options(peer_->plugin);
  if (!options.is_complete()) return;
  std::vector<std::string> variables;
  for (const EnvironmentVariable& variable : env_) {
    variables.push_back(variable.name + "=" + variable.value);
  }
  const Environment environment(std::move(variables));
  Settings settings(options.set());
  const auto check = [&]() -> Status {
    TRY(options.read(args_, environment, settings));
    for (const Option& option : options.set().all()) {
      if (option.is_required_of_controller()) TRY(settings.check_given(option));
    }
    return options.check(settings, environment);
  };
  const Status checked = check();
  if (!checked) refuse(std::string(peer_->plugin) + " would refuse it", checked.error().message);
}

void Migration::apply(const Given& given, bool is_last) {
  const Rule& rule = *given.rule;
  if (rule.action == Rule::Action::ask) return;
  if (rule.shape == Rule::Shape::toggle && is_off(given.value)) {
    return drop(given.typed, "it is off");
  }
  if (rule.action == Rule::Action::refuse) return refuse(given.typed, rule.text);
  if (rule.action == Rule::Action::drop) return drop(given.typed, rule.text);
  if (rule.shape == Rule::Shape::value && !is_last) {
    return drop(given.typed, "it is given again, and the last counts");
  }
  if (rule.shape == Rule::Shape::list) {
    for (const std::string_view part : split(given.value, ',')) keep(given.typed, rule.text, part);
  } else {
    keep(given.typed, rule.text, given.value);
  }
}

void Migration::apply_variables() {
  for (const EnvironmentVariable& entry : invocation_.env) {
    if (last_variables_[entry.name] == &entry) {
      apply(entry);
    } else {
      drop(variable_subject(entry.name), "it is set again, and the last counts");
    }
  }
}

void Migration::apply(const EnvironmentVariable& variable) {
  const Rule* rule = find_rule(peer_->variables, variable.name);
  const std::string subject = variable_subject(variable.name);
  if (flag(peer_->names_variable) == variable.name) return keep_variable(variable.name);
  if (rule == nullptr) {
    return drop(subject, std::string(peer_->plugin) + " does not read it");
  }
  if (rule->action == Rule::Action::ask) return;
  if (variable.value.empty()) return drop(subject, "it is empty");
  if (rule->action == Rule::Action::refuse) return refuse(subject, rule->text);
  if (rule->action == Rule::Action::drop) return drop(subject, rule->text);
  if (rule->text.empty()) return keep_variable(variable.name);
  if (has(rule->text)) return drop(subject, std::string(rule->text) + " counts");
  keep(subject, rule->text, variable.value);
}

const Given* Migration::find(std::string_view name) const {
  const auto found = last_given_.find(name);
  return found == last_given_.end() ? nullptr : found->second;
}

std::string Migration::flag(std::string_view name) const {
  const Given* given = find(name);
  return given == nullptr ? std::string() : given->value;
}

std::vector<std::string> Migration::flags(std::string_view name) const {
  std::vector<std::string> values;
  for (const Given& given : given_) {
    if (given.rule->name != name) continue;
    if (given.rule->shape != Rule::Shape::list) values.push_back(given.value);
    if (given.rule->shape != Rule::Shape::list) continue;
    for (const std::string_view part : split(given.value, ',')) values.emplace_back(part);
  }
  return values;
}

bool Migration::is_on(std::string_view name) const {
  const Given* given = find(name);
  return given != nullptr && !is_off(given->value);
}

std::string Migration::variable(std::string_view name) const {
  const auto found = last_variables_.find(name);
  return found == last_variables_.end() ? std::string() : found->second->value;
}

bool Migration::has(std::string_view option) const {
  const std::string start = std::string(option) + "=";
  return std::any_of(args_.begin(), args_.end(), [&](const std::string& argument) {
    return argument == option || argument.starts_with(start);
  });
}

// execcred's settings refuse empty values and control characters; the peers accept them.
bool Migration::set(std::string_view subject, std::string_view option, std::string_view value) {
  if (value.empty()) {
    drop(subject, "it is empty");
  } else if (has_control_character(value)) {
    refuse(subject, "its value has a control character");
  } else {
    args_.push_back(std::string(option) + "=" + std::string(value));
    return true;
  }
  return false;
}

void Migration::keep(std::string_view subject, std::string_view option, std::string_view value) {
  if (!set(subject, option, value)) return;
  std::string text = subject == option ? "" : std::string(subject) + " → ";
  report(Change::Kind::kept, text + std::string(option) + "=" + shown(option, value));
}

void Migration::keep_variable(std::string_view name) {
  env_.push_back({.name = std::string(name), .value = variable(name)});
  report(Change::Kind::kept, variable_subject(name));
}

void Migration::add(std::string_view option, std::string_view value, std::string_view why) {
  if (!set(option, option, value)) return;
  report(Change::Kind::added,
         std::string(option) + "=" + shown(option, value) + ": " + std::string(why));
}

void Migration::drop(std::string_view subject, std::string_view why) {
  report(Change::Kind::dropped, std::string(subject) + ": " + std::string(why));
}

void Migration::drop_flag(std::string_view name, std::string_view why) {
  if (const Given* given = find(name)) drop(given->typed, why);
}

void Migration::drop_variable(std::string_view name, std::string_view why) {
  if (!variable(name).empty()) drop(variable_subject(name), why);
}

void Migration::refuse(std::string_view subject, std::string_view why) {
  is_complete_ = false;
  report(Change::Kind::refused, std::string(subject) + ": " + std::string(why));
}

void Migration::note(std::string_view text) { report(Change::Kind::note, std::string(text)); }

void Migration::add_boundary() {
  args_.emplace_back("--from-profile");
  report(Change::Kind::added,
         "--from-profile: ClusterProfiles must append options as execcred spells them, and only "
         "those that the plugin's page marks 'profile'");
}

void Migration::report(Change::Kind kind, std::string text) {
  changes_.push_back({.kind = kind, .text = std::move(text)});
}

}  // namespace execcred::migrate
