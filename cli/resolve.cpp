// SPDX-License-Identifier: Apache-2.0
// execcred resolve: what would run for each ClusterProfile, and why that provider. Runs nothing.
#include "commands.hpp"

#include "access_options.hpp"
#include "cluster_secrets.hpp"
#include "list_text.hpp"
#include "table.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>

#include <functional>
#include <utility>

namespace execcred::cli {
namespace {

using json::Value;

struct Resolved {
  const ClusterProfile& profile;
  const Access& access;
};

// Why this provider is used. Without --provider, the mapping's order decides.
std::string why(const ProviderMapping& mapping, const Access& access, bool was_asked) {
  if (was_asked) return "--provider asks for it";
  std::vector<std::string> passed;
  for (const MappedProvider& provider : mapping.providers) {
    if (provider.name == access.provider) break;
    passed.push_back(in_quotes(provider.name));
  }
  std::string text = "the mapping's first provider that the ClusterProfile lists";
  if (!passed.empty()) text += "; it does not list " + join(passed, ", ");
  return text;
}

class Lines {
 public:
  void add(std::string_view name, std::string_view value) {
    constexpr std::size_t kColumn = 16;
    text_.append(name).append(kColumn - name.size(), ' ');
    text_ += printable(value) + "\n";
  }
  // Adds one line for each value. Only the first has the name.
  void add(std::string_view name, const std::vector<std::string>& values) {
    for (const std::string& value : values) add(&value == &values.front() ? name : "", value);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string to_text(const ProviderMapping& mapping, const Resolved& resolved, bool was_asked) {
  const Access& access = resolved.access;
  Lines lines;
  lines.add("ClusterProfile", access.cluster_profile);
  if (!resolved.profile.cluster_id.empty()) lines.add("Cluster ID", resolved.profile.cluster_id);
  lines.add("Provider", access.provider + " (" + access.source + ")");
  lines.add("Why", why(mapping, access, was_asked));
  lines.add("Server", access.cluster.server);
  if (!access.cluster.tls_server_name.empty()) {
    lines.add("TLS name", access.cluster.tls_server_name);
  }
  if (!access.cluster.proxy_url.empty()) {
    lines.add("Proxy", redacted_url(access.cluster.proxy_url));
  }
  if (access.cluster.insecure_skip_tls_verify) lines.add("TLS", "NOT verified");
  lines.add("Command", access.exec.command);
  lines.add("Arguments", access.exec.args);
  std::vector<std::string> variables;
  for (const EnvironmentVariable& variable : access.exec.env) {
    variables.push_back(variable.name + "=" + variable.value);
  }
  lines.add("Environment", variables);
  lines.add("API version", full_name(access.exec.api_version));
  lines.add("Cluster info", access.exec.provide_cluster_info ? "provided" : "not provided");
  const Value& config = access.cluster.config;
  lines.add("Config", config.is_null() ? "(none)" : json::to_text(config));
  return lines.take();
}

Value profile_reference(const ClusterProfile& profile) {
  Value reference((json::Object()));
  add_text(reference, "namespace", profile.name_space);
  reference.add("name", Value(profile.name));
  return reference;
}

Value to_json(const ProviderMapping& mapping, const Resolved& resolved, bool was_asked) {
  const Access& access = resolved.access;
  Value object((json::Object()));
  object.add("clusterProfile", profile_reference(resolved.profile));
  add_text(object, "cluster.clusterset.k8s.io", resolved.profile.cluster_id);
  object.add("provider", Value(access.provider));
  object.add("source", Value(access.source));
  object.add("why", Value(why(mapping, access, was_asked)));
  object.add("exec", execcred::to_json(access.exec));
  object.add("cluster", execcred::to_json(access.cluster));
  return object;
}

class Resolve final : public Command {
 public:
  void add_options(CommandOptions& options) override {
    access_.add_to(options);
    add_format_option(
        options, output_,
        {"text", "json", "yaml", "name", "wide", "exec-config", "istio-secret", "argocd-secret"});
    options.add_example("Show what would run for each ClusterProfile of a folder, and why",
                        "execcred resolve -m mapping.json -f profiles/");
    options.add_example("Write an Argo CD cluster Secret that runs the plugin",
                        "execcred resolve -m mapping.json -f profile.yaml -o argocd-secret");
  }

  Result<Outcome> run() override {
    const ProviderMapping mapping = TRY(access_.mapping());
    if (output_.ends_with("-secret")) return write_secrets(mapping);
    if (output_ == "text" || output_ == "name") return write_lines(mapping);
    return output_ == "wide" ? write_table(mapping) : write_list(mapping);
  }

 private:
  using Receive = std::function<Status(const ClusterProfile&, const Access&)>;
  // Calls `receive` for each chosen ClusterProfile that can be resolved. Returns the outcome
  // without its text.
  Result<Outcome> for_each(const ProviderMapping& mapping, const Receive& receive) const {
    Outcome outcome;
    TRY(access_.for_each_profile(
        [&](const ClusterProfile& profile) -> Status {
          const Access access = TRY(resolve_access(mapping, profile, access_.provider));
          return receive(profile, access);
        },
        outcome));
    return outcome;
  }

  Result<Outcome> write_secrets(const ProviderMapping& mapping) const {
    ClusterSecrets secrets(output_ == "istio-secret" ? ClusterSecrets::Form::istio
                                                     : ClusterSecrets::Form::argocd);
    Outcome outcome =
        TRY(for_each(mapping, [&](const ClusterProfile& profile, const Access& access) {
          return secrets.add(profile, access);
        }));
    if (secrets.text().empty()) return outcome;
    outcome.text = SecretString(secrets.text());
    outcome.notes = secrets.notes();
    return outcome;
  }

  Result<Outcome> write_lines(const ProviderMapping& mapping) const {
    const bool was_asked = !access_.provider.empty();
    std::string text;
    Outcome outcome =
        TRY(for_each(mapping, [&](const ClusterProfile& profile, const Access& access) -> Status {
          if (output_ == "name") {
            text += profile.full_name() + "\n";
          } else {
            text += (text.empty() ? "" : "\n") + to_text(mapping, {profile, access}, was_asked);
          }
          return {};
        }));
    outcome.text = SecretString(text);
    return outcome;
  }

  Result<Outcome> write_table(const ProviderMapping& mapping) const {
    Table table({"CLUSTER", "PROVIDER", "SOURCE", "SERVER", "COMMAND", "ARGUMENTS"});
    bool is_empty = true;
    Outcome outcome =
        TRY(for_each(mapping, [&](const ClusterProfile& profile, const Access& access) -> Status {
          is_empty = false;
          table.add({profile.full_name(), printable(access.provider), access.source,
                     printable(access.cluster.server), printable(access.exec.command),
                     printable(join(access.exec.args, " "))});
          return {};
        }));
    if (!is_empty) outcome.text = SecretString(table.text());
    return outcome;
  }

  Result<Outcome> write_list(const ProviderMapping& mapping) const {
    const bool was_asked = !access_.provider.empty();
    json::Array items;
    Outcome outcome =
        TRY(for_each(mapping, [&](const ClusterProfile& profile, const Access& access) -> Status {
          items.push_back(output_ == "exec-config"
                              ? execcred::to_json(access.exec)
                              : to_json(mapping, {profile, access}, was_asked));
          return {};
        }));
    if (!items.empty() || outcome.problems.empty()) {
      outcome.text = SecretString(document_text(list_of(std::move(items)), output_));
    }
    return outcome;
  }

  AccessOptions access_;
  std::string output_;
};

}  // namespace

std::unique_ptr<Command> make_resolve() { return std::make_unique<Resolve>(); }

}  // namespace execcred::cli
