// SPDX-License-Identifier: Apache-2.0
#include <execcred/kube/provider_mapping.hpp>

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/json/field_table.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/os/file.hpp>

#include <algorithm>
#include <iterator>
#include <unordered_set>
#include <utility>

namespace execcred {
namespace {

constexpr std::size_t kMaxMapping = 1024 * 1024;

void read_exec(const ObjectReader& entry, std::string_view name, MappedProvider& provider,
               Problems& problems) {
  const Result<ObjectReader> exec = entry.required_object(name);
  if (!exec) {
    problems.push_back(exec.error());
    return;
  }
  ExecInspection inspection = inspect_exec_config(*exec, CommandRule::absolute);
  provider.exec = std::move(inspection.exec);
  std::move(inspection.problems.begin(), inspection.problems.end(), std::back_inserter(problems));
}

constexpr std::array<Choice<ArgumentsPolicy>, 2> kArgumentsPolicies = {
    {{"Ignore", ArgumentsPolicy::ignore}, {"Append", ArgumentsPolicy::append}}};
constexpr std::array<Choice<VariablesPolicy>, 3> kVariablesPolicies = {
    {{"Ignore", VariablesPolicy::ignore},
     {"AppendIfNotExists", VariablesPolicy::append_if_not_exists},
     {"Replace", VariablesPolicy::replace}}};

using ProviderField = Field<MappedProvider>;
constexpr std::array<ProviderField, 4> kProviderFields = {{
    {"name", [](const ObjectReader& entry, std::string_view name, MappedProvider& target,
                Problems& problems) { keep(entry.required_string(name), target.name, problems); }},
    {"execConfig", read_exec},
    {"profileSourcedCLIArgsPolicy",
     [](const ObjectReader& entry, std::string_view name, MappedProvider& target,
        Problems& problems) {
       keep(read_choice(entry, name, kArgumentsPolicies), target.arguments_policy, problems);
     }},
    {"profileSourcedEnvVarsPolicy",
     [](const ObjectReader& entry, std::string_view name, MappedProvider& target,
        Problems& problems) {
       keep(read_choice(entry, name, kVariablesPolicies), target.variables_policy, problems);
     }},
}};

void read_providers(const ObjectReader& document, MappingInspection& inspection) {
  Problems& problems = inspection.problems;
  if (document.find("providers") == nullptr) {
    problems.push_back(json::field_error("providers", "is missing"));
  }
  std::unordered_set<std::string> names;
  for (const ObjectReader& entry : objects(document, "providers", problems)) {
    MappedProvider provider;
    provider.path = entry.path();
    read_fields(kProviderFields, entry, provider, problems);
    if (!provider.name.empty() && !names.insert(provider.name).second) {
      problems.push_back(json::field_error(
          entry.path_of("name"),
          "is " + in_quotes(provider.name) + ", like that of an entry before it"));
    }
    inspection.mapping.providers.push_back(std::move(provider));
  }
}

}  // namespace

MappingInspection inspect_provider_mapping(std::string_view text) {
  MappingInspection inspection;
  Result<json::Value> value =
      json::parse(text, {.bytes = kMaxMapping, .keys = json::Keys::ignore_case});
  if (!value) {
    inspection.problems.push_back(json::field_error("", value.error().message));
    // Keys that differ only in case hide no other problem.
    value = json::parse(text, {.bytes = kMaxMapping});
    if (!value) return inspection;
  }
  const Result<ObjectReader> document = ObjectReader::open(*value, "", json::Keys::ignore_case);
  if (document) {
    read_providers(*document, inspection);
  } else {
    inspection.problems.push_back(document.error());
  }
  return inspection;
}

Result<ProviderMapping> parse_provider_mapping(std::string_view text) {
  MappingInspection inspection = inspect_provider_mapping(text);
  if (!inspection.problems.empty()) return std::move(inspection.problems.front());
  return std::move(inspection.mapping);
}

std::vector<std::string_view> mapped_provider_fields() { return names_of(kProviderFields); }

Result<ProviderMapping> load_mapping(const std::filesystem::path& path) {
  const std::string text = TRY(read_file(path, kMaxMapping));
  return parse_provider_mapping(text)
      .context("reading " + in_quotes(path.native()))
      .hint("the format is that of config/clusterprofile-provider-file.json");
}

}  // namespace execcred
