// SPDX-License-Identifier: Apache-2.0
#include <execcred/kube/access.hpp>

#include <execcred/base/cause.hpp>
#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/access_rules.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/kube/profile_hint.hpp>
#include <execcred/os/program_file.hpp>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace execcred {
namespace {

using json::ObjectReader;
using json::Value;

// The names in KEP-4322, and those in its first releases.
constexpr std::array<std::string_view, 2> kArgumentsExtensions = {
    "clusterprofiles.multicluster.x-k8s.io/exec/additional-args",
    "multicluster.x-k8s.io/clusterprofiles/auth/exec/additional-args"};
constexpr std::array<std::string_view, 2> kVariablesExtensions = {
    "clusterprofiles.multicluster.x-k8s.io/exec/additional-envs",
    "multicluster.x-k8s.io/clusterprofiles/auth/exec/additional-envs"};

const MappedProvider* find_mapped(const ProviderMapping& mapping, std::string_view name) {
  for (const MappedProvider& provider : mapping.providers) {
    if (provider.name == name) return &provider;
  }
  return nullptr;
}

const AccessProvider* find_listed(const ClusterProfile& profile, std::string_view name) {
  for (const AccessProvider& provider : profile.access_providers) {
    if (provider.name == name) return &provider;
  }
  return nullptr;
}

Result<const MappedProvider*> choose(const ProviderMapping& mapping, const ClusterProfile& profile,
                                     std::string_view wanted) {
  const MappedProvider* const found = find_provider(mapping, profile, wanted);
  if (found != nullptr) return found;
  if (profile.provider_problem) {
    return Result<const MappedProvider*>(*profile.provider_problem)
        .cause(cause::kProfileInvalid)
        .hint(kMendProfile);
  }
  const std::string_view lacks = find_mapped(mapping, wanted) ? "ClusterProfile" : "mapping";
  return Error{
      .kind = Error::Kind::configuration,
      .message = wanted.empty()
                     ? "no provider of the mapping is in the ClusterProfile"
                     : "provider " + in_quotes(wanted) + " is not in the " + std::string(lacks),
      .hint = "the ClusterProfile lists " + names_listed(profile),
      .cause = profile.access_providers.empty() ? cause::kNoProvider : cause::kProviderUnknown};
}

struct Extension {
  const Value* value = nullptr;
  std::string path;
};

Result<Extension> find_extension(const ObjectReader& cluster,
                                 const std::array<std::string_view, 2>& names) {
  const std::vector<ObjectReader> extensions = TRY(cluster.objects("extensions"));
  for (const ObjectReader& extension : extensions) {
    const std::string name = TRY(extension.required_string("name"));
    if (std::find(names.begin(), names.end(), name) == names.end()) continue;
    return Extension{.value = extension.find("extension"), .path = extension.path_of("extension")};
  }
  return Extension();
}

// Reads the KEP's array, or an object with that array as "args", which is the only form that the
// CRD of a real API server stores.
Result<std::vector<std::string>> read_arguments(const ObjectReader& cluster) {
  const Extension extension = TRY(find_extension(cluster, kArgumentsExtensions));
  if (extension.value == nullptr) return std::vector<std::string>();
  if (extension.value->object() == nullptr && extension.value->array() == nullptr) {
    return json::field_error(
        extension.path, "must be an array of strings, not " + std::string(extension.value->kind()));
  }
  if (extension.value->array() != nullptr)
    return json::read_strings(*extension.value, extension.path);
  const ObjectReader object = TRY(ObjectReader::open(*extension.value, extension.path));
  return object.strings("args");
}

// Reads an object of names and values, sorted by name, or an array of {name, value}.
Result<std::vector<EnvironmentVariable>> read_variables(const ObjectReader& cluster) {
  const Extension extension = TRY(find_extension(cluster, kVariablesExtensions));
  std::vector<EnvironmentVariable> variables;
  if (extension.value == nullptr) return variables;
  const auto add = [&variables](const std::string& name, const Value& value,
                                const std::string& path) -> Status {
    if (name.empty() || has_control_character(name) || name.find('=') != std::string::npos) {
      return json::field_error(path, "has " + in_quotes(name) + ", no name of a variable");
    }
    std::string text = TRY(json::read_string(value, path + "." + name));
    variables.push_back({.name = name, .value = std::move(text)});
    return {};
  };
  if (const json::Array* entries = extension.value->array()) {
    for (std::size_t i = 0; i < entries->size(); ++i) {
      const std::string path = extension.path + "[" + std::to_string(i) + "]";
      const ObjectReader entry = TRY(ObjectReader::open((*entries)[i], path));
      const std::string name = TRY(entry.required_string("name"));
      const Value* value = entry.find("value");
      TRY(add(name, value == nullptr ? Value("") : *value, path));
    }
    return variables;
  }
  const ObjectReader object = TRY(ObjectReader::open(*extension.value, extension.path));
  for (const json::Member& member : *extension.value->object()) {
    TRY(add(member.name, member.value, extension.path));
  }
  std::sort(variables.begin(), variables.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return variables;
}

void apply_variables(const std::vector<EnvironmentVariable>& given, bool replaces,
                     std::vector<EnvironmentVariable>& variables) {
  // If a name occurs twice, Replace uses the last one, and AppendIfNotExists the first.
  std::unordered_map<std::string_view, std::string_view> values;
  for (const EnvironmentVariable& variable : given) {
    if (replaces) {
      values.insert_or_assign(variable.name, variable.value);
    } else {
      values.emplace(variable.name, variable.value);
    }
  }
  std::unordered_set<std::string> names;
  // Changes each variable of that name: the mapping may repeat a name, and then its last one is
  // used.
  for (EnvironmentVariable& variable : variables) {
    const auto found = values.find(variable.name);
    if (found == values.end()) continue;
    names.insert(variable.name);
    if (replaces) variable.value = found->second;
  }
  for (const EnvironmentVariable& variable : given) {
    if (!names.insert(variable.name).second) continue;
    variables.push_back({.name = variable.name, .value = std::string(values.at(variable.name))});
  }
}

Status apply_policies(const MappedProvider& mapped, const ObjectReader& cluster, ExecConfig& exec) {
  if (mapped.arguments_policy == ArgumentsPolicy::append) {
    const std::vector<std::string> arguments = TRY(read_arguments(cluster));
    exec.args.insert(exec.args.end(), arguments.begin(), arguments.end());
  }
  if (mapped.variables_policy != VariablesPolicy::ignore) {
    const std::vector<EnvironmentVariable> variables = TRY(read_variables(cluster));
    apply_variables(variables, mapped.variables_policy == VariablesPolicy::replace, exec.env);
  }
  return {};
}

// client-go refuses the two fields together ("specifying a root certificates file with the insecure
// flag is not allowed"), but only after the plugin has run.
Status check_verification(const Cluster& cluster, const std::string& path) {
  if (!cluster.insecure_skip_tls_verify || cluster.certificate_authority_data.empty()) return {};
  Error error =
      json::field_error(path + ".insecure-skip-tls-verify",
                        "is true beside certificate-authority-data, which clients refuse");
  error.hint = "remove insecure-skip-tls-verify from the ClusterProfile, so that the CA counts";
  return error;
}

// A private key in the place of the CA would be written where certificates are, which many may
// read.
Status check_authority(const Cluster& cluster, const std::string& path) {
  const auto pem = decode_base64(cluster.certificate_authority_data);
  if (!pem || pem->find("PRIVATE KEY-----") == std::string::npos) return {};
  Error error = json::field_error(path + ".certificate-authority-data",
                                  "holds a private key, and no CA alone");
  error.hint = "it must be the PEM of the cluster's CA, in base64; then replace the key";
  return error;
}

}  // namespace

std::string names_listed(const ClusterProfile& profile) {
  constexpr std::size_t kShown = 10;
  const std::vector<AccessProvider>& providers = profile.access_providers;
  const std::string dropped =
      profile.has_dropped_providers
          ? "; status.credentialProviders is no field of " + std::string(name_of(profile.version))
          : "";
  if (providers.empty()) return "no provider" + dropped;
  std::vector<std::string> names;
  names.reserve(providers.size());
  for (const AccessProvider& provider : providers) names.push_back(provider.name);
  return quoted_list(names, kShown) + dropped;
}

const MappedProvider* find_provider(const ProviderMapping& mapping, const ClusterProfile& profile,
                                    std::string_view name) {
  std::unordered_set<std::string_view> listed;
  for (const AccessProvider& provider : profile.access_providers) listed.insert(provider.name);
  for (const MappedProvider& provider : mapping.providers) {
    const bool is_wanted = name.empty() || provider.name == name;
    if (is_wanted && listed.contains(provider.name)) return &provider;
  }
  return nullptr;
}

ExecInfo Access::exec_info() const {
  ExecInfo info{.version = exec.api_version};
  if (exec.provide_cluster_info) info.cluster = cluster;
  return info;
}

Status check_policies(const MappedProvider& provider) {
  if (!is_plugin_of_ours(provider.exec.command)) return {};
  if (provider.variables_policy != VariablesPolicy::ignore) {
    Error error = json::field_error(provider.path + ".profileSourcedEnvVarsPolicy",
                                    "lets a ClusterProfile set this plugin's environment");
    error.hint = "leave it out; plugins read spec.cluster.config instead";
    return error;
  }
  const std::vector<std::string>& args = provider.exec.args;
  const bool has_boundary = std::any_of(args.begin(), args.end(), [](const std::string& argument) {
    return argument == "--from-profile" || argument == "-from-profile";
  });
  if (provider.arguments_policy == ArgumentsPolicy::append && !has_boundary) {
    Error error = json::field_error(provider.path + ".profileSourcedCLIArgsPolicy",
                                    "lets a ClusterProfile set any option of this plugin");
    error.hint = "end args with --from-profile, or leave the policy out";
    return error;
  }
  return {};
}

Result<Cluster> usable_cluster(const AccessProvider& provider, ProfileVersion version) {
  if (!provider.listed_again_at.empty()) {
    return json::field_error(
        provider.listed_again_at + ".name",
        "is " + in_quotes(provider.name) + ", like that of an entry before it");
  }
  const std::string path = provider.path + ".cluster";
  if (provider.cluster.is_null()) return json::field_error(path, "is missing");
  const ObjectReader object = TRY(ObjectReader::open(provider.cluster, path));
  Cluster cluster = TRY(parse_kubeconfig_cluster(object));
  TRY(check_profile_cluster(object, version));
  TRY(check_server_is_https(cluster.server, path + ".server"));
  TRY(check_verification(cluster, path));
  TRY(check_authority(cluster, path));
  return cluster;
}

Result<Access> resolve_access(const ProviderMapping& mapping, const ClusterProfile& profile,
                              std::string_view provider) {
  const std::string doing = "resolving ClusterProfile " + profile.full_name();
  const MappedProvider* mapped = TRY(choose(mapping, profile, provider).context(doing));
  TRY(check_policies(*mapped).cause(cause::kMappingUnsafe).context(doing));
  const AccessProvider& listed = *find_listed(profile, mapped->name);
  Access access{.cluster_profile = profile.full_name(),
                .provider = mapped->name,
                .source = listed.path,
                .exec = mapped->exec,
                .cluster = {}};
  const Status resolved = [&]() -> Status {
    access.cluster = TRY(usable_cluster(listed, profile.version));
    const ObjectReader cluster = TRY(ObjectReader::open(listed.cluster, listed.path + ".cluster"));
    return apply_policies(*mapped, cluster, access.exec);
  }();
  if (!resolved) {
    return Result<Access>(resolved.error())
        .cause(cause::kProfileInvalid)
        .hint(kMendProfile)
        .context(doing);
  }
  return access;
}

std::vector<std::string> environment_of_plugin(const Access& access,
                                               const Environment& environment) {
  std::vector<std::string> entries = environment.entries();
  for (const EnvironmentVariable& variable : access.exec.env) {
    entries.push_back(variable.name + "=" + variable.value);
  }
  entries.push_back("KUBERNETES_EXEC_INFO=" + write_exec_info(access.exec_info()));
  return last_of_each_name(entries);
}

void take_error_output(std::string_view error_output, Error& error) {
  constexpr std::string_view kError = ": error: ";
  constexpr std::string_view kHint = "  hint: ";
  constexpr std::string_view kWhile = "  while ";
  for (const std::string_view line : split(error_output, '\n')) {
    const std::size_t start = line.find(kError);
    if (start != std::string_view::npos && line.starts_with("execcred-")) {
      error.message = std::string(line.substr(0, start)) + ": " +
                      std::string(line.substr(start + kError.size()));
    } else if (line.starts_with(kHint)) {
      error.hint = line.substr(kHint.size());
    } else if (line.starts_with(kWhile)) {
      error.context.emplace_back(line.substr(kWhile.size()));
    }
  }
}

}  // namespace execcred
