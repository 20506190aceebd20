// SPDX-License-Identifier: Apache-2.0
#include "catalogue.hpp"

#include "suggestion.hpp"

#include <embedded/catalogue.hpp>
#include <execcred/base/text.hpp>
#include <execcred/yaml/documents.hpp>

#include <algorithm>

namespace execcred::cli {
namespace {

using json::Value;

std::string text_of(const Value& row, std::string_view field) {
  const Value* const value = row.find(field);
  return value == nullptr || value->string() == nullptr ? std::string() : *value->string();
}

const json::Array& rows_of(const Value& row, std::string_view field) {
  static const json::Array kNone;
  const Value* const value = row.find(field);
  return value == nullptr || value->array() == nullptr ? kNone : *value->array();
}

std::vector<std::string> texts_of(const Value& row, std::string_view field) {
  std::vector<std::string> texts;
  for (const Value& text : rows_of(row, field)) {
    if (text.string() != nullptr) texts.push_back(*text.string());
  }
  return texts;
}

KnownProvider provider_of(const Value& row) {
  KnownProvider provider{.names = texts_of(row, "names"),
                         .plugin = text_of(row, "plugin"),
                         .args = texts_of(row, "args"),
                         .is_projected = row.find("isProjected") != nullptr,
                         .note = text_of(row, "note")};
  const Value* const env = row.find("env");
  if (env != nullptr && env->object() != nullptr) {
    for (const json::Member& variable : *env->object()) {
      provider.env.emplace_back(variable.name, text_of(*env, variable.name));
    }
  }
  if (const Value* const secret = row.find("secret")) {
    provider.secret_name = text_of(*secret, "name");
    provider.secret_namespace = text_of(*secret, "namespace");
  }
  return provider;
}

Catalogue read() {
  constexpr std::size_t kMost = 1024UL * 1024;
  const Value document = parse_documents(embedded::catalogue, kMost).value().front();
  Catalogue all{.customer_domains = texts_of(document, "customerDomains"),
                .example_rights = texts_of(document, "exampleRights")};
  for (const Value& row : rows_of(document, "providers")) all.providers.push_back(provider_of(row));
  for (const Value& row : rows_of(document, "fillIns")) {
    all.fill_ins.emplace_back(text_of(row, "value"), text_of(row, "shownBy"));
  }
  for (const Value& row : rows_of(document, "platforms")) {
    all.platforms.push_back({.name = text_of(row, "name"), .domains = texts_of(row, "domains")});
  }
  for (const Value& row : rows_of(document, "consumers")) {
    all.consumers.push_back({.name = text_of(row, "name"),
                             .name_space = text_of(row, "namespace"),
                             .service_accounts = texts_of(row, "serviceAccounts"),
                             .built_ins = texts_of(row, "builtIns"),
                             .reads_own_namespace = row.find("readsOwnNamespace") != nullptr,
                             .rights = texts_of(row, "rights")});
  }
  return all;
}

}  // namespace

const Catalogue& catalogue() {
  static const Catalogue kCatalogue = read();
  return kCatalogue;
}

std::string misspelled_provider(std::string_view name) {
  constexpr std::size_t kShortest = 4;
  if (name.size() < kShortest || catalogue().find(name) != nullptr) return {};
  return misspelled_word(name, catalogue().provider_names());
}

std::string hint_on_provider(std::string_view name) {
  const std::string quoted = in_quotes(name);
  const KnownProvider* const known = catalogue().find(name);
  if (known != nullptr && known->plugin.empty()) return quoted + " gets no entry: " + known->note;
  if (known != nullptr) {
    return quoted + " is for " + known->plugin + ", and execcred init writes its entry";
  }
  const std::string near = misspelled_provider(name);
  return near.empty() ? std::string()
                      : quoted + " is nearly " + in_quotes(near) + ", a name in use";
}

bool is_one_of(std::string_view name, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [name](std::string_view known) {
    const bool is_prefix = known.ends_with('*');
    return is_prefix ? name.starts_with(known.substr(0, known.size() - 1)) : name == known;
  });
}

std::string_view fill_in_of(std::string_view text) {
  const std::size_t at = text.find(kFillIn);
  if (at == std::string_view::npos) return {};
  std::size_t end = at;
  while (end < text.size() && (is_alphanumeric(text[end]) || text[end] == '-')) ++end;
  return text.substr(at, end - at);
}

const KnownProvider* Catalogue::find(std::string_view name) const {
  for (const KnownProvider& provider : providers) {
    if (is_one_of(name, provider.names)) return &provider;
  }
  return nullptr;
}

const KnownProvider* Catalogue::find_plugin(std::string_view plugin) const {
  for (const KnownProvider& provider : providers) {
    if (provider.plugin == plugin) return &provider;
  }
  return nullptr;
}

const KnownConsumer* Catalogue::consumer(std::string_view name) const {
  for (const KnownConsumer& one : consumers) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

std::vector<std::string> Catalogue::provider_names() const {
  std::vector<std::string> names;
  for (const KnownProvider& provider : providers) {
    for (const std::string& name : provider.names) {
      if (!name.ends_with('*')) names.push_back(name);
    }
  }
  return names;
}

}  // namespace execcred::cli
