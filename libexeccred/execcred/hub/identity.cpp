// SPDX-License-Identifier: Apache-2.0
#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/exec/bearer_token.hpp>
#include <execcred/http/http.hpp>
#include <execcred/hub/client.hpp>
#include <execcred/kube/cluster_profile.hpp>
#include <execcred/kube/kubeconfig.hpp>
#include <execcred/os/file.hpp>
#include <execcred/x509/certificate.hpp>

#include <filesystem>
#include <utility>

namespace execcred {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kServiceAccount = "/var/run/secrets/kubernetes.io/serviceaccount/";

// Makes each error of the kubeconfig one of configuration, because the kubeconfig is part of the
// user's configuration.
template <class T>
Result<T> of_hub(Result<T> result, const std::string& origin) {
  if (!result) result.error().kind = Error::Kind::configuration;
  return std::move(result).context("reading the hub's kubeconfig, " + origin);
}

Result<Kubeconfig> read_kubeconfig(const fs::path& path) {
  constexpr const char* kHint = "--kubeconfig, or KUBECONFIG, names the kubeconfig of the hub";
  const SecretString text = TRY(read_secret_file(path, kMaxInventory).hint(kHint));
  Kubeconfig config = TRY(Kubeconfig::parse(text.reveal(), Kubeconfig::Source::hub).hint(kHint));
  std::error_code problem;
  const fs::path absolute = fs::absolute(path, problem);
  if (problem)
    return Error::configuration("cannot read " + in_quotes(path.native()) + ": " +
                                problem.message());
  config.resolve_paths(absolute.parent_path());
  return config;
}

// Whether clientcmd ignores the file: it is missing, or empty.
bool is_passed_over(const fs::path& path) {
  std::error_code problem;
  const fs::file_type type = fs::status(path, problem).type();
  if (type == fs::file_type::not_found) return true;
  return type == fs::file_type::regular && fs::file_size(path, problem) == 0;
}

// KUBECONFIG names several files, separated by ':', of which at least one must exist.
Result<Kubeconfig> read_kubeconfigs(std::string_view paths) {
  std::optional<Kubeconfig> merged;
  std::optional<Error> first_missing;
  for (const std::string_view path : split(paths, ':')) {
    if (path.empty()) continue;
    Result<Kubeconfig> config = read_kubeconfig(path);
    if (!config && is_passed_over(path)) {
      if (!first_missing) first_missing = std::move(config).error();
      continue;
    }
    if (!config) return config;
    if (merged) {
      merged->merge(std::move(config).value());
    } else {
      merged = std::move(config).value();
    }
  }
  if (merged) return *std::move(merged);
  if (first_missing) return *std::move(first_missing);
  return Error::configuration("KUBECONFIG names no file");
}

Error not_alone(const std::string& user, const std::string& what) {
  return Error::configuration(
      "user " + in_quotes(user) + " of the hub's kubeconfig has " + what,
      "only a token, a token file or a client certificate is accepted for the hub; make a "
      "kubeconfig with one of them");
}

Status check_user(const KubeconfigUser& user) {
  if (user.has_exec()) {
    return not_alone(user.name, "an exec section, which would start another plugin");
  }
  if (!user.auth_provider.empty()) return not_alone(user.name, "an auth-provider section");
  if (user.has_password) return not_alone(user.name, "a username or password");
  if (!user.impersonation.empty()) {
    return not_alone(user.name, in_quotes(user.impersonation.front()) + ", to act as another user");
  }
  return {};
}

// The value of a field that is base64 in the kubeconfig.
Result<std::string> decoded(std::string_view data, std::string_view field) {
  std::optional<std::string> value = decode_base64(data);
  if (!value)
    return Error::configuration(std::string(field) + " of the hub's kubeconfig is no base64");
  return *std::move(value);
}

Status take_user(const KubeconfigUser& user, Hub& hub) {
  TRY(check_user(user));
  if (!user.problems.empty()) return user.problems.front();
  hub.token = TRY(read_token(user, true)).text;
  hub.token_file = user.token_file;  // client-go reads it again too
  // The base64 takes precedence over the file, as in client-go.
  TlsSettings& tls = hub.http.tls;
  tls.client_certificate = TRY(decoded(user.client_certificate_data, "client-certificate-data"));
  std::string key = TRY(decoded(user.client_key_data.reveal(), "client-key-data"));
  tls.client_key = SecretString(key);
  wipe(key);
  if (tls.client_certificate.empty()) hub.tls_files.client_certificate = user.client_certificate;
  if (tls.client_key.empty()) hub.tls_files.client_key = user.client_key;
  TRY(read_tls_files(hub.tls_files, tls));
  if (tls.client_certificate.empty() != tls.client_key.empty()) {
    return Error::configuration(
        "user " + in_quotes(user.name) +
        " of the hub's kubeconfig has a client certificate or a key, but not both");
  }
  if (hub.token.empty() && tls.client_certificate.empty()) {
    return not_alone(user.name, "neither a token nor a client certificate");
  }
  return {};
}

Status take_cluster(const KubeconfigCluster& entry, Hub& hub) {
  const Cluster& cluster = entry.cluster;
  if (!entry.problems.empty()) return entry.problems.front();
  const Result<Url> url = parse_url(cluster.server);
  if (!url || url->scheme != "https" || !url->query.empty()) {
    return Error::configuration("the hub's server " + redacted_url(cluster.server) + " " +
                                    (url ? "is not https" : url.error().message),
                                "it must be https://HOST[:PORT][/PATH]");
  }
  if (cluster.insecure_skip_tls_verify) {
    return Error::configuration("the hub's kubeconfig sets insecure-skip-tls-verify",
                                "give it the hub's CA as certificate-authority-data");
  }
  hub.server = cluster.server;
  while (hub.server.ends_with('/')) hub.server.pop_back();
  const std::optional<std::string> authority = decode_base64(cluster.certificate_authority_data);
  if (!entry.certificate_authority.empty()) {
    hub.tls_files.ca_certificates = entry.certificate_authority;
  } else if (authority && !authority->empty()) {
    hub.http.tls.ca_certificates = TRY(go_authorities(*authority));
  }
  hub.http.tls.server_name = cluster.tls_server_name;
  if (!cluster.proxy_url.empty()) hub.http.proxy = {.url = cluster.proxy_url};
  return {};
}

// `name` is the value of the caller's option --context; nullopt if it has no such option.
Result<KubeconfigContext> choose_context(const Kubeconfig& config,
                                         std::optional<std::string_view> name) {
  Result<KubeconfigContext> context = config.context(name.value_or(""));
  if (context || !name) return context;
  std::string& hint = context.error().hint;
  const std::size_t list = hint.find("there ");
  if (list != std::string::npos) hint = "choose one with --context=NAME; " + hint.substr(list);
  return context;
}

Result<Hub> hub_of_kubeconfig(Result<Kubeconfig> read, std::optional<std::string_view> context_name,
                              const std::string& origin, const Environment& environment) {
  const Kubeconfig config = TRY(of_hub(std::move(read), origin));
  const KubeconfigContext context = TRY(of_hub(choose_context(config, context_name), origin));
  Hub hub{.name_space = context.name_space, .http = {.proxy = proxy_of(environment)}};
  hub.origin = origin;
  TRY(of_hub(take_cluster(context.cluster, hub), origin));
  TRY(of_hub(take_user(context.user, hub), origin));
  return hub;
}

Result<Hub> hub_of_pod(const Environment& environment) {
  const std::string directory(kServiceAccount);
  Hub hub{.server = in_cluster_server(environment), .origin = "the Pod's service account"};
  const Result<Url> url = parse_url(hub.server);
  if (!url) {
    return Error::configuration(
        "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT make no URL: it " +
        url.error().message);
  }
  hub.http.proxy = proxy_of(environment);
  hub.name_space = in_cluster_namespace(environment);
  hub.token = TRY(in_cluster_token(environment));
  hub.token_file = directory + "token";
  hub.tls_files.ca_certificates = directory + "ca.crt";
  TRY(read_tls_files(hub.tls_files, hub.http.tls));
  return hub;
}

Result<Hub> find_hub_with(std::string_view kubeconfig, std::optional<std::string_view> context,
                          const Environment& environment) {
  const std::optional<std::string_view> paths = environment.get("KUBECONFIG");
  if (!kubeconfig.empty() && kubeconfig != paths) {
    return hub_of_kubeconfig(read_kubeconfig(kubeconfig), context,
                             "--kubeconfig " + in_quotes(kubeconfig), environment);
  }
  if (paths) return hub_of_kubeconfig(read_kubeconfigs(*paths), context, "KUBECONFIG", environment);
  if (context && !context->empty()) {
    return Error::configuration(
        "--context is given, but no kubeconfig: neither --kubeconfig nor KUBECONFIG",
        "name the kubeconfig that has the context with --kubeconfig=PATH");
  }
  if (environment.get("KUBERNETES_SERVICE_HOST")) return hub_of_pod(environment);
  return Error::configuration(
      "no hub is known: there is no --kubeconfig, no KUBECONFIG, and this is no Pod",
      "pass --kubeconfig=PATH, or run where a service account is mounted");
}

}  // namespace

std::string in_cluster_namespace(const Environment& environment) {
  if (const auto name = environment.get("POD_NAMESPACE")) return std::string(*name);
  const Result<std::string> text = read_file(std::string(kServiceAccount) + "namespace", 4096);
  if (!text) return {};
  const std::string_view name = trim(*text);
  return is_dns1123_label(name) ? std::string(name) : std::string();
}

std::string in_cluster_server(const Environment& environment) {
  const std::optional<std::string_view> host = environment.get("KUBERNETES_SERVICE_HOST");
  if (!host) return {};
  const std::string port(environment.get("KUBERNETES_SERVICE_PORT").value_or("443"));
  const bool is_v6 = host->find(':') != std::string_view::npos;
  return "https://" + (is_v6 ? "[" + std::string(*host) + "]" : std::string(*host)) + ":" + port;
}

Result<std::string> in_cluster_authority() {
  return read_ca_file(std::string(kServiceAccount) + "ca.crt");
}

Result<SecretString> in_cluster_token(const Environment& environment) {
  if (!environment.get("KUBERNETES_SERVICE_HOST")) return Error::configuration("this is no Pod");
  const SecretString content =
      TRY(read_secret_file(std::string(kServiceAccount) + "token")
              .hint("the Pod needs automountServiceAccountToken: true, or --kubeconfig=PATH"));
  return TRY(bearer_token_of_source(content)).take();
}

Result<Hub> find_hub(std::string_view kubeconfig, const Environment& environment) {
  return find_hub_with(kubeconfig, std::nullopt, environment);
}

Result<Hub> find_hub(std::string_view kubeconfig, std::string_view context,
                     const Environment& environment) {
  return find_hub_with(kubeconfig, context, environment);
}

}  // namespace execcred
