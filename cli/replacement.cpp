// SPDX-License-Identifier: Apache-2.0
#include "replacement.hpp"

#include "lint/options.hpp"
#include "lint/secrets.hpp"
#include "text_diff.hpp"

#include <execcred/base/digest.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/kube/cluster_profile.hpp>
#include <execcred/os/file.hpp>
#include <execcred/os/file_write.hpp>
#include <execcred/yaml/documents.hpp>
#include <execcred/yaml/yaml_write.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

namespace execcred::cli {
namespace {

using json::Value;

// Whether the field holds a secret: one of a kubeconfig's user, of the settings of client-go's old
// auth-provider, or one with the name of a secret.
bool is_secret_field(std::string_view name) {
  constexpr std::array<std::string_view, 8> kFields = {
      "token",    "password",      "client-key-data", "client-secret",
      "id-token", "refresh-token", "access-token",    "clientKeyData"};
  return std::find(kFields.begin(), kFields.end(), name) != kFields.end() ||
         lint::is_name_of_secret(name);
}

// Whether the variable holds a secret, however short its value is. lint warns only of long values.
bool is_secret_variable(std::string_view name, std::string_view value) {
  return lint::is_name_of_secret(name) || lint::may_be_secret(name, value);
}

// Replaces secrets with numbers, in the order in which they are found. Used for both texts, so that
// equal secrets have equal numbers.
class Masks {
 public:
  Value hide(const Value& value) {
    if (const std::string* text = value.string()) {
      const bool is_secret = !lint::secret_in(*text).empty() || lint::has_named_secret(*text);
      return is_secret ? Value(mask(*text)) : value;
    }
    if (const json::Array* items = value.array()) return hide_items(*items);
    if (const json::Object* members = value.object()) return hide_members(value, *members);
    return value;
  }

 private:
  std::string mask(std::string_view secret) {
    const auto [known, is_new] = numbers_.emplace(to_hex(sha256(secret)), numbers_.size() + 1);
    static_cast<void>(is_new);
    return "(secret " + std::to_string(known->second) + ")";
  }

  Value hide_members(const Value& object, const json::Object& members) {
    const Value* const name = object.find("name");
    const bool is_named = name != nullptr && name->string() != nullptr;
    Value hidden((json::Object()));
    for (const json::Member& member : members) {
      const std::string* const text = member.value.string();
      const bool is_secret =
          text != nullptr && !text->empty() &&
          (is_secret_field(member.name) ||
           (member.name == "value" && is_named && is_secret_variable(*name->string(), *text)));
      hidden.add(member.name, is_secret ? Value(mask(*text)) : hide(member.value));
    }
    return hidden;
  }

  // The value may be a command with arguments of its own, as a JSON array.
  static bool has_secret(const lint::Argument& argument) {
    if (lint::may_be_secret(argument.name, argument.value)) return true;
    const std::vector<lint::Argument> inner =
        lint::split_arguments(lint::texts_of_array(argument.value), nullptr);
    return std::any_of(inner.begin(), inner.end(), [](const lint::Argument& one) {
      return !one.name.empty() && lint::may_be_secret(one.name, one.value);
    });
  }

  // The items may be the arguments of a command.
  Value hide_items(const json::Array& items) {
    json::Array hidden;
    std::vector<std::string> texts;
    for (const Value& item : items) {
      hidden.push_back(hide(item));
      texts.push_back(item.string() == nullptr ? std::string() : *item.string());
    }
    for (const lint::Argument& argument : lint::split_arguments(texts, nullptr)) {
      if (argument.name.empty() || !has_secret(argument)) continue;
      const std::size_t last = argument.index + argument.count - 1;
      const std::string lead = argument.count == 1 ? "--" + argument.name + "=" : "";
      hidden[last] = Value(lead + mask(argument.value));
    }
    return Value(std::move(hidden));
  }

  std::map<std::string, std::size_t> numbers_;  // by digest
};

std::string without_secrets(std::string_view text, Masks& masks) {
  const Result<std::vector<Value>> documents = parse_documents(text, kMaxInventory);
  std::string safe;
  if (!documents) return safe;
  for (const Value& document : *documents) {
    if (!safe.empty()) safe += "---\n";
    safe += yaml::to_text(masks.hide(document));
  }
  return safe;
}

// The content of the file; empty if it does not exist.
Result<std::string> read_present(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::string();
  return read_untrusted_file(path, kMaxInventory);
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

void Replacement::add_to(CommandOptions& options) {
  add_output_file_option(options, path_);
  options.add("dry-run", is_dry_,
              {.help = "Report whether the file would change, and do not write it"});
  options.add("diff", is_diff_,
              {.help = "Show the changes, without secrets, and do not write the file"});
}

Status Replacement::check(std::string_view other) const {
  const bool has_file = !path_.empty() && path_ != "-";
  if (has_file || (is_diff_ && !other.empty() && other != "-")) return {};
  if (!is_dry_ && !is_diff_) return {};
  return Error{.kind = Error::Kind::configuration,
               .message = std::string(is_diff_ ? "--diff" : "--dry-run") +
                          " is given without a file to replace",
               .hint = "name it with -o=FILE; without one, nothing is replaced"};
}

Result<std::string> Replacement::apply(std::string_view text, const std::string& what,
                                       const std::string& other) const {
  const bool is_named = !path_.empty() && path_ != "-";
  const std::string& path = is_named ? path_ : other;
  if (is_diff_ || is_dry_) {
    // Without -o, --diff only reads the file, which may be a symbolic link.
    if (is_named) TRY(check_replaceable(path));
    const std::string present = TRY(read_present(path));
    if (is_diff_) return diff_without_secrets(present, text, path);
    return in_quotes(path) + (present == text ? " would be unchanged" : " would be replaced") +
           (what.empty() ? "" : ", with " + what) + "\n";
  }
  const Written written = TRY(replace_file(path, text));
  const bool is_new = written == Written::replaced;
  if (what.empty()) return in_quotes(path) + (is_new ? " is written\n" : " is unchanged\n");
  return in_quotes(path) + (is_new ? " has " : " is unchanged, with ") + what + "\n";
}

}  // namespace execcred::cli
