// SPDX-License-Identifier: Apache-2.0
// EKS: aws-iam-authenticator, the AWS command line, argocd-k8s-auth, and labthrust's plugin.
// All sign the same request, so only the names differ.
#include "peers.hpp"

#include <array>
#include <string>

namespace execcred::migrate {
namespace {

constexpr std::string_view kOwnCache = "execcred-aws keeps a cache of its own (--cache-dir)";
constexpr std::string_view kOutput = "execcred-aws prints ExecCredentials only";
constexpr std::string_view kCommandLine =
    "how the aws command behaves, not which identity it signs for";
constexpr std::string_view kLogging = "logging; execcred's plugins have --debug";

constexpr std::array kAuthenticatorFlags = std::to_array<Rule>({
    keep("cluster-id", "--cluster-id").as_short('i'),
    keep("role", "--role-arn").as_short('r'),
    ask("external-id").as_short('e'),
    ask("session-name").as_short('s'),
    keep("region", "--region"),
    ask("forward-session-name").as_toggle(),
    drop("cache", kOwnCache).as_toggle(),
    refuse("token-only", "it prints a bare token, and the exec protocol wants an ExecCredential")
        .as_toggle(),
    refuse("config", "settings in a file of its own; write them as flags").as_short('c'),
    drop("log-format", kLogging).as_short('l'),
    drop("log-verbosity", kLogging),
    drop("feature-gates", "they are for the server"),
});

constexpr std::array kAuthenticatorVariables = std::to_array<Rule>({
    keep("KUBERNETES_AWS_AUTHENTICATOR_CLUSTER_ID", "--cluster-id"),
    keep("DEFAULT_ROLE", "--role-arn"),
    drop("AWS_IAM_AUTHENTICATOR_CACHE_FILE", kOwnCache),
    keep("AWS_*"),
});

constexpr std::array kCommandLineFlags = std::to_array<Rule>({
    keep("cluster-name", "--cluster-id"),
    keep("cluster-id", "--cluster-id"),
    keep("role-arn", "--role-arn"),
    keep("region", "--region"),
    keep("profile", "--profile"),
    drop("output", kOutput),
    drop("color", kCommandLine),
    drop("debug", kLogging).as_toggle(),
    drop("v2-debug", kLogging).as_toggle(),
    drop("no-cli-pager", kCommandLine).as_toggle(),
    drop("no-cli-auto-prompt", kCommandLine).as_toggle(),
    drop("no-paginate", kCommandLine).as_toggle(),
    drop("cli-binary-format", kCommandLine),
    drop("cli-read-timeout", "execcred's plugins have --timeout, for the whole run"),
    drop("cli-connect-timeout", "execcred's plugins have --timeout, for the whole run"),
    refuse("query", kOutput),
    refuse("no-verify-ssl", "execcred-aws always verifies").as_toggle(),
    refuse("ca-bundle", "write it as the variable AWS_CA_BUNDLE"),
    refuse("endpoint-url", "write it as the variable AWS_ENDPOINT_URL_STS"),
    refuse("no-sign-request", "a token is a signed request").as_toggle(),
    refuse("cli-auto-prompt", "interactive").as_toggle(),
    refuse("version", "it prints a version, and no token").as_toggle(),
});

constexpr std::array kCommandLineVariables = std::to_array<Rule>({
    drop("AWS_PAGER", kCommandLine),
    drop("AWS_CLI_*", kCommandLine),
    drop("AWS_DEFAULT_OUTPUT", kOutput),
    keep("AWS_*"),
});

constexpr std::array kArgoFlags = std::to_array<Rule>({
    keep("cluster-name", "--cluster-id"),
    keep("role-arn", "--role-arn"),
    keep("profile", "--profile"),
    drop("verbose", kLogging).as_toggle(),
});

constexpr std::array kVariables = std::to_array<Rule>({keep("AWS_*")});

void check_cluster(Migration& migration) {
  if (migration.has("--cluster-id") || migration.has_profile_arguments()) return;
  migration.refuse("the cluster", "neither flags nor env name it");
}

// Without a role, the peer ignores the flag, and execcred-aws refuses the option.
void keep_with_role(Migration& migration, const std::string& name) {
  if (!migration.has("--role-arn")) return migration.drop_flag(name, "no role is assumed");
  const std::string value = migration.flag(name);
  if (!value.empty()) migration.keep("--" + name, "--" + name, value);
}

void finish_authenticator(Migration& migration) {
  check_cluster(migration);
  keep_with_role(migration, "external-id");
  keep_with_role(migration, "session-name");
  if (!migration.is_on("forward-session-name")) {
    return migration.drop_flag("forward-session-name", "it is off");
  }
  if (migration.has("--role-arn")) {
    migration.refuse("--forward-session-name",
                     "execcred-aws names the session itself; choose a name with --session-name");
  } else {
    migration.drop("--forward-session-name", "no role is assumed");
  }
}

// The session name is part of the identity that aws-auth and access entries may match.
void finish_command_line(Migration& migration) {
  check_cluster(migration);
  if (!migration.has("--role-arn")) return;
  migration.add("--session-name", "EKSGetTokenAuth", "the name that aws gives the session");
}

void finish_labthrust(Migration& migration) {
  migration.note("ClusterProfiles must name the cluster: config {region, clusterId}");
}

}  // namespace

std::vector<Peer> aws_peers() {
  return {{.name = "aws-iam-authenticator token",
           .programs = {"aws-iam-authenticator", "heptio-authenticator-aws"},
           .subcommand = {"token"},
           .plugin = "execcred-aws",
           .flags = kAuthenticatorFlags,
           .variables = kAuthenticatorVariables,
           .finish = finish_authenticator},
          {.name = "aws eks get-token",
           .programs = {"aws"},
           .subcommand = {"eks", "get-token"},
           .plugin = "execcred-aws",
           .flags = kCommandLineFlags,
           .variables = kCommandLineVariables,
           .takes_abbreviations = true,
           .finish = finish_command_line},
          {.name = "argocd-k8s-auth aws",
           .programs = {"argocd-k8s-auth"},
           .subcommand = {"aws"},
           .plugin = "execcred-aws",
           .flags = kArgoFlags,
           .variables = kVariables,
           .finish = check_cluster},
          {.name = "eks-aws-auth-plugin",
           .programs = {"eks-aws-auth-plugin"},
           .plugin = "execcred-aws",
           .variables = kVariables,
           .needs_cluster = true,
           .finish = finish_labthrust}};
}

}  // namespace execcred::migrate
