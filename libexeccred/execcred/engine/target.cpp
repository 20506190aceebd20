// SPDX-License-Identifier: Apache-2.0
#include <execcred/engine/target.hpp>

#include <execcred/base/cause.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/kube/profile_hint.hpp>
#include <execcred/kube/provider_mapping.hpp>
#include <execcred/os/file.hpp>

#include <unordered_map>
#include <utility>

namespace execcred::engine {
namespace {

// The path of the mapping's entry that the problem is about: "providers[3]". Empty if it is about
// none.
std::string entry_of(const Error& problem) {
  const std::string& message = problem.message;
  const std::size_t end = message.find(']');
  const std::size_t after = end + 1;
  if (end == std::string::npos || after == message.size()) return {};
  return message[after] == '.' || message[after] == ' ' ? message.substr(0, after) : std::string();
}

// What the caller says of the first provider that it knows.
std::string hint_on(const ClusterProfile& profile, ProviderHint hint_on_provider) {
  for (const AccessProvider& provider : profile.access_providers) {
    const std::string hint = hint_on_provider(provider.name);
    if (!hint.empty()) return "; " + hint;
  }
  return {};
}

// The cause is that of the step, whatever the error's own cause is, and no rule's.
void fail(StepId step, Error error, std::string_view cause, Item& item) {
  error.cause = cause;
  error.is_by_rule = false;
  error.context.clear();
  item.fail(step, error, cause);
}

void report_no_choice(const Mapping& mapping, const ClusterProfile& profile,
                      const std::string& wanted, Item& item) {
  if (profile.provider_problem) {
    Error problem = *profile.provider_problem;
    problem.hint = kMendProfile;
    return fail(StepId::profile, std::move(problem), cause::kProfileInvalid, item);
  }
  if (profile.access_providers.empty()) {
    item.fail(StepId::profile,
              Error::by_rule(
                  cause::kNoProvider,
                  profile.has_dropped_providers
                      ? "its providers are in status.credentialProviders, which is no field of " +
                            std::string(name_of(profile.version))
                      : "it lists no access provider",
                  "the cluster's manager must write status.accessProviders"));
    return;
  }
  item.fail(StepId::profile,
            Error::by_rule(
                cause::kProviderUnknown,
                wanted.empty() ? "none of its access providers is in the mapping"
                               : "it does not list the provider " + in_quotes(wanted),
                "the ClusterProfile lists " + names_listed(profile) +
                    (wanted.empty() ? hint_on(profile, mapping.hint_on_provider) : std::string())));
}

void resolve(const Mapping& mapping, const ClusterProfile& profile, const MappedProvider& provider,
             Target& target) {
  Item& item = target.item;
  const Status safe = check_policies(provider);
  const Error* const problem = mapping.problem_of(provider);
  if (problem != nullptr) {
    fail(StepId::mapping, *problem, cause::kMappingInvalid, item);
  } else if (!safe) {
    fail(StepId::mapping, safe.error(), cause::kMappingUnsafe, item);
  } else {
    item.ok(StepId::mapping,
            "provider " + in_quotes(provider.name) + " runs " + in_quotes(provider.exec.command));
  }
  // The step `profile` is checked even if the mapping's entry is wrong. Unsafe policies do not
  // count for this check.
  ProviderMapping alone;
  alone.providers.push_back(provider);
  if (!safe) alone.providers.front().arguments_policy = ArgumentsPolicy::ignore;
  if (!safe) alone.providers.front().variables_policy = VariablesPolicy::ignore;
  Result<Access> access = resolve_access(alone, profile, provider.name);
  if (!access) {
    return fail(StepId::profile, access.error(), cause::kProfileInvalid, item);
  }
  item.ok(StepId::profile, access->source + ", " + redacted_url(access->cluster.server));
  if (problem == nullptr && safe) target.access = std::move(access).value();
}

}  // namespace

Result<Mapping> Mapping::load(const std::string& path, ProviderHint hint_on_provider) {
  constexpr const char* kHint = "-m names the controller's mapping file";
  const std::string text = TRY(read_file(path, kMaxMapping).hint(kHint));
  MappingInspection inspection = inspect_provider_mapping(text);
  std::unordered_map<std::string, std::string> names;  // of the entries, by their paths
  for (const MappedProvider& provider : inspection.mapping.providers) {
    names.emplace(provider.path, provider.name);
  }
  Mapping mapping{.hint_on_provider = hint_on_provider};
  for (Error& problem : inspection.problems) {
    const auto entry = names.find(entry_of(problem));
    if (entry == names.end()) {
      return Result<Mapping>(std::move(problem))
          .context("reading " + in_quotes(path))
          .hint("the format is that of config/clusterprofile-provider-file.json");
    }
    mapping.problems.try_emplace(entry->second, std::move(problem));
  }
  mapping.providers = std::move(inspection.mapping);
  return mapping;
}

const Error* Mapping::problem_of(const MappedProvider& provider) const {
  const auto found = problems.find(provider.name);
  return found == problems.end() ? nullptr : &found->second;
}

const MappedProvider* Mapping::find(std::string_view name) const {
  for (const MappedProvider& provider : providers.providers) {
    if (provider.name == name) return &provider;
  }
  return nullptr;
}

Target target_of(const Mapping& mapping, const ClusterProfile& profile,
                 const std::string& provider) {
  Target target;
  target.item.name_space = profile.name_space;
  target.item.name = profile.name;
  const MappedProvider* const chosen = find_provider(mapping.providers, profile, provider);
  if (chosen == nullptr) {
    // An entry whose name cannot be read may be the one that the ClusterProfile means.
    const auto nameless = mapping.problems.find("");
    if (!profile.access_providers.empty() && nameless != mapping.problems.end()) {
      fail(StepId::mapping, nameless->second, cause::kMappingInvalid, target.item);
    } else {
      report_no_choice(mapping, profile, provider, target.item);
    }
    return target;
  }
  target.item.provider = chosen->name;
  resolve(mapping, profile, *chosen, target);
  if (profile.is_unhealthy()) {
    target.item.warn(StepId::profile, cause::kProfileUnhealthy,
                     "its condition " + std::string(profile.unhealthy_condition) + " is False",
                     "the cluster manager says why, in the condition's reason and message");
  }
  return target;
}

Target target_of(const ProfileName& name, const Error& error) {
  Target target;
  target.item.name_space = name.name_space;
  target.item.name = name.name;
  target.item.fail(StepId::profile, cause::kProfileInvalid, error.message,
                   error.hint.empty() ? kMendProfile : std::string_view(error.hint));
  return target;
}

}  // namespace execcred::engine
