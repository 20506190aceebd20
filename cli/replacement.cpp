// SPDX-License-Identifier: Apache-2.0
#include "replacement.hpp"

#include "declared_options.hpp"
#include "lint/options.hpp"
#include "lint/secrets.hpp"
#include "text_diff.hpp"

#include <execcred/base/digest.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/kube/cluster_profile.hpp>
#include <execcred/os/file.hpp>
#include <execcred/os/file_write.hpp>
#include <execcred/yaml/documents.hpp>
#include <execcred/yaml/yaml_write.hpp>
#include <list.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

namespace execcred::cli {
namespace {

using json::Value;

// The fields of a mapping, a kubeconfig and a ClusterProfile that hold no secret. The texts of
// others are not shown.
bool is_shown_field(std::string_view name) {
  constexpr std::array<std::string_view, 35> kFields = {"accessProviders",
                                                        "apiVersion",
                                                        "as",
                                                        "as-groups",
                                                        "as-uid",
                                                        "auth-provider",
                                                        "certificate-authority",
                                                        "certificate-authority-data",
                                                        "client-certificate",
                                                        "client-certificate-data",
                                                        "client-key",
                                                        "cluster",
                                                        "clusters",
                                                        "command",
                                                        "context",
                                                        "contexts",
                                                        "current-context",
                                                        "exec",
                                                        "execConfig",
                                                        "extensions",
                                                        "installHint",
                                                        "interactiveMode",
                                                        "kind",
                                                        "name",
                                                        "namespace",
                                                        "profileSourcedCLIArgsPolicy",
                                                        "profileSourcedEnvVarsPolicy",
                                                        "providers",
                                                        "proxy-url",
                                                        "server",
                                                        "tls-server-name",
                                                        "tokenFile",
                                                        "user",
                                                        "username",
                                                        "users"};
  return std::find(kFields.begin(), kFields.end(), name) != kFields.end();
}

// The flags, variables and fields of spec.cluster.config that the plugins declare, and whether one
// of them declares the name as a secret.
std::map<std::string, bool> declared_names() {
  std::map<std::string, bool> is_secret;
  for (const PluginDefinition& plugin : all_plugins()) {
    const DeclaredOptions declared(plugin.info.name);
    for (const Option& option : declared.set().all()) {
      std::vector<std::string> names = option.config_fields;
      names.insert(names.end(), option.variables.begin(), option.variables.end());
      names.insert(names.end(), {option.flag(), environment_name(option.name)});
      for (const std::string& name : names) is_secret[name] |= option.is_secret;
    }
  }
  return is_secret;
}

// Whether the value of this flag, variable or field is shown: only if a plugin declares it.
bool is_shown_setting(const std::string& name) {
  static const std::map<std::string, bool> kIsSecret = declared_names();
  const auto declared = kIsSecret.find(name);
  return declared != kIsSecret.end() && !declared->second && !lint::is_name_of_secret(name);
}

// Whether a secret is in the text, whatever its name is. The query of a URL may be a signature.
bool has_secret(std::string_view text) {
  const std::size_t scheme = text.find("://");
  return !lint::secret_in(text).empty() || lint::has_named_secret(text) ||
         (scheme != std::string_view::npos && text.find('?', scheme) != std::string_view::npos);
}

// "--name" alone, which says nothing but what the next argument is.
bool is_bare_flag(std::string_view text) {
  return text.starts_with("--") && is_dns1123_label(text.substr(2));
}

// Replaces whatever is not known to be no secret with numbers, in the order in which it is found.
// Used for both texts, so that equal secrets have equal numbers.
class Masks {
 public:
  Value hide(const Value& value, bool is_shown = true) {
    if (const json::Array* items = value.array()) {
      json::Array hidden;
      for (const Value& item : *items) hidden.push_back(hide(item, is_shown));
      return Value(std::move(hidden));
    }
    if (const json::Object* members = value.object()) {
      const std::string program = json::text_or_empty(value, "command");
      Value hidden((json::Object()));
      for (const json::Member& member : *members) {
        const std::string& name = member.name;
        const bool is_setting =
            is_shown && (name == "args" || name == "env" || name == "extension");
        hidden.add(name, is_setting ? hide_settings(member.value, program)
                                    : hide(member.value, is_shown && is_shown_field(name)));
      }
      return hidden;
    }
    if (const json::Number* number = value.number(); number != nullptr && !is_shown) {
      return Value(mask(number->text));
    }
    const std::string* const text = value.string();
    const bool is_secret = text != nullptr && !text->empty() && (!is_shown || has_secret(*text));
    return is_secret ? Value(mask(*text)) : value;
  }

 private:
  std::string mask(std::string_view secret) {
    const auto [known, is_new] = numbers_.emplace(to_hex(sha256(secret)), numbers_.size() + 1);
    static_cast<void>(is_new);
    return "(secret " + std::to_string(known->second) + ")";
  }

  // Arguments, variables or an extension. `program` is that of an exec object, or empty.
  Value hide_settings(const Value& value, const std::string& program) {
    if (const json::Array* items = value.array()) {
      const bool has_texts = std::any_of(
          items->begin(), items->end(), [](const Value& item) { return item.string() != nullptr; });
      if (has_texts) return hide_arguments(*items, program);
      json::Array hidden;
      for (const Value& item : *items) hidden.push_back(hide_settings(item, program));
      return Value(std::move(hidden));
    }
    if (value.object() == nullptr) return hide(value, false);
    const std::string variable =
        value.find("value") == nullptr ? "" : json::text_or_empty(value, "name");
    Value hidden((json::Object()));
    for (const auto& [name, member] : *value.object()) {
      const bool is_name = !variable.empty() && name == "name";
      const std::string& setting = !variable.empty() && name == "value" ? variable : name;
      const bool is_shown = is_name || (member.object() == nullptr && is_shown_setting(setting));
      hidden.add(name, name == "args" ? hide_settings(member, program) : hide(member, is_shown));
    }
    return hidden;
  }

  // The arguments of a program that is no plugin are not shown. Those of an extension may be any
  // plugin's.
  Value hide_arguments(const json::Array& items, const std::string& program) {
    const DeclaredOptions options(program_name(program));
    const bool has_options = program.empty() || options.is_complete();
    std::vector<std::string> texts;
    for (const Value& item : items) texts.push_back(json::text_or_empty(&item));
    json::Array hidden;
    for (const lint::Argument& argument : lint::split_arguments(texts, &options.set())) {
      const std::string flag = "--" + argument.name;
      const bool is_option = has_options && options.set().find(argument.name) != nullptr;
      const bool is_declared = is_option || (program.empty() && argument.count == 1);
      const bool is_shown = is_declared && is_shown_setting(flag) && !has_secret(argument.value);
      const bool is_assigned = texts[argument.index].starts_with(flag + "=");
      for (std::size_t i = argument.index; i < argument.index + argument.count; ++i) {
        if (is_shown || is_bare_flag(texts[i])) {
          hidden.push_back(items[i]);
        } else if (is_option && is_assigned) {
          hidden.push_back(Value(flag + "=" + mask(argument.value)));
        } else {
          hidden.push_back(hide(items[i], false));
        }
      }
    }
    return Value(std::move(hidden));
  }

  std::map<std::string, std::size_t> numbers_;  // by digest
};

std::string without_secrets(std::string_view text, Masks& masks) {
  const Result<std::vector<Value>> documents = parse_documents(text, kMaxInventory);
  std::string safe;
  if (trim(text).empty()) return safe;
  if (!documents) {
    const auto lines = std::count(text.begin(), text.end(), '\n') + (text.ends_with('\n') ? 0 : 1);
    return "(" + std::to_string(lines) + (lines == 1 ? " line that is" : " lines that are") +
           " no YAML)\n";
  }
  for (const Value& document : *documents) {
    if (!safe.empty()) safe += "---\n";
    safe += yaml::to_text(masks.hide(document));
  }
  return safe;
}

// The content of the file; nullopt if it does not exist.
Result<std::optional<std::string>> read_present(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::optional<std::string>();
  return std::optional(TRY(read_untrusted_file(path, kMaxInventory)));
}

}  // namespace

std::string diff_without_secrets(std::string_view before, std::string_view after,
                                 const std::string& name) {
  Masks masks;
  const std::string old_text = without_secrets(before, masks);
  return unified_diff(old_text, without_secrets(after, masks), printable(name),
                      printable(name) + " (new)");
}

std::string text_without_secrets(std::string_view documents) {
  Masks masks;
  return without_secrets(documents, masks);
}

void Replacement::add_to(CommandOptions& options, bool may_be_input) {
  options.group("Output");
  options.add("output", path_,
              {.letter = 'o',
               .value = "FILE",
               .help = "File to replace; - is standard output, the default",
               .takes = may_be_input ? Takes::file : Takes::new_file});
  options.add("dry-run", is_dry_,
              {.help = "Report whether the file would change, and do not write it"});
  options.add("diff", is_diff_,
              {.help = "Show the changes, without secrets, and do not write the file"});
}

Status Replacement::check(std::string_view other) const {
  const bool has_file = !path_.empty() && path_ != "-";
  if (has_file || (is_diff_ && !other.empty() && other != "-")) return {};
  if (!is_dry_ && !is_diff_) return {};
  return Error::configuration(
      std::string(is_diff_ ? "--diff" : "--dry-run") + " is given without a file to replace",
      "name it with -o=FILE; without one, nothing is replaced");
}

Result<std::string> Replacement::apply(std::string_view text, const std::string& what,
                                       const std::string& other) const {
  const bool is_named = !path_.empty() && path_ != "-";
  const std::string& path = is_named ? path_ : other;
  if (is_diff_ || is_dry_) {
    // Without -o, --diff only reads the file, which may be a symbolic link.
    if (is_named) TRY(check_replaceable(path));
    const std::optional<std::string> present = TRY(read_present(path));
    if (is_diff_) return diff_without_secrets(present.value_or(""), text, path);
    const std::string_view change = !present           ? "created"
                                    : *present == text ? "unchanged"
                                                       : "replaced";
    return in_quotes(path) + " would be " + std::string(change) +
           (what.empty() ? "" : ", with " + what) + "\n";
  }
  const Written written = TRY(replace_file(path, text));
  const bool is_new = written == Written::replaced;
  if (what.empty()) return in_quotes(path) + (is_new ? " is written\n" : " is unchanged\n");
  return in_quotes(path) + (is_new ? " has " : " is unchanged, with ") + what + "\n";
}

}  // namespace execcred::cli
