// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>

#include <algorithm>
#include <array>

namespace execcred::oidc_federation {
namespace {

constexpr std::string_view kSubjectHint =
    "one of --subject-token-file, --subject-token-env, --subject-token-url, "
    "--subject-token-command and --subject gives it";

constexpr std::array<std::string_view, 5> kSubjectSources = {
    "subject-token-file", "subject-token-env", "subject-token-url", "subject-token-command",
    "subject"};

Status check_subject_count(const Options& options, const Settings& settings) {
  const SubjectOptions& subject = options.subject;
  const std::string flow = "--flow=" + settings.get("flow").texts.front();
  if (!options.needs_subject()) {
    const bool is_given =
        std::any_of(kSubjectSources.begin(), kSubjectSources.end(),
                    [&](std::string_view option) { return settings.is_flag(option); });
    if (!is_given) return {};
    return Error::configuration(
        flow + " has no use for a subject token",
        "it is used only with --client-auth=federated, to authenticate the client");
  }
  const int count = (subject.file.empty() ? 0 : 1) + (subject.variable.empty() ? 0 : 1) +
                    (subject.url.empty() ? 0 : 1) + (subject.command.program.empty() ? 0 : 1) +
                    (subject.named == SubjectSource::none ? 0 : 1);
  if (count > 1)
    return Error::configuration("a subject token is given more than once",
                                std::string(kSubjectHint));
  if (count == 1) return {};
  const std::string who = options.is_federated() ? "--client-auth=federated" : flow;
  return Error::configuration(who + " needs a subject token", std::string(kSubjectHint));
}

bool is_fetched(SubjectSource source) {
  return source == SubjectSource::github_actions || source == SubjectSource::gcp_metadata ||
         source == SubjectSource::kubernetes || source == SubjectSource::spiffe;
}

Status check_subject_details(const Options& options, const Settings& settings) {
  const SubjectOptions& subject = options.subject;
  const SubjectSource source = options.subject_source();
  if (source != SubjectSource::url && source != SubjectSource::github_actions &&
      settings.is_flag("subject-ca-file")) {
    return Error::configuration(
        "--subject-ca-file needs --subject-token-url or --subject=github-actions");
  }
  if (!is_fetched(source) && settings.is_flag("subject-audience")) {
    return Error::configuration("--subject-audience needs --subject",
                                "a subject token of another source has its audience already");
  }
  const bool has_audience = !subject.audience.empty() || !options.server.issuer_url.empty();
  if (is_fetched(source) && !has_audience) {
    return Error::configuration("--subject needs --subject-audience",
                                "the token is made for it; with --issuer-url, that is the default");
  }
  return {};
}

Status check_refresh_token(const Options& options) {
  if (options.flow != Flow::refresh_token) return {};
  if (options.is_federated()) {
    return Error::configuration(
        "--client-auth=federated has no use with --flow=refresh-token",
        "there the subject is the refresh token, which does not authenticate the client");
  }
  if (is_fetched(options.subject.source())) {
    return Error::configuration("--subject fetches no refresh token",
                                "--subject-token-file or --subject-token-env gives it");
  }
  if (!options.cache.no_cache) return {};
  return Error::configuration(
      "--flow=refresh-token needs the cache",
      "a server may replace the refresh token, and the new one is kept there");
}

Error lacks(ClientAuthMethod method, std::string_view option, const std::string& hint = {}) {
  return Error::configuration(
      "--client-auth=" + std::string(name_of(method)) + " needs " + std::string(option), hint);
}

Status check_client_method(const ClientOptions& client) {
  if (!client.auth || *client.auth == ClientAuthMethod::none) return {};
  const ClientAuthMethod method = *client.auth;
  const bool is_secret = method == ClientAuthMethod::client_secret_basic ||
                         method == ClientAuthMethod::client_secret_post;
  if (is_secret && client.secret_file.empty()) return lacks(method, "--client-secret-file");
  if (method == ClientAuthMethod::private_key_jwt && client.private_key_file.empty()) {
    return lacks(method, "--private-key-file");
  }
  if (method == ClientAuthMethod::tls_client_auth && client.certificate.empty()) {
    return lacks(method, "--client-certificate and --client-key");
  }
  return {};
}

Status check_client(const Options& options) {
  const ClientOptions& client = options.client;
  if (client.certificate.empty() != client.certificate_key.empty()) {
    return Error::configuration("--client-certificate and --client-key go together");
  }
  TRY(check_client_method(client));
  if (client.allow_ids.empty()) TRY(check_client_id(options));
  return {};
}

Status check_concierge(const ConciergeOptions& concierge) {
  if (concierge.authenticator_type.empty()) {
    return Error::configuration("--flow=pinniped needs --concierge-authenticator-type=jwt|webhook");
  }
  if (concierge.authenticator_name.empty()) {
    return Error::configuration("--flow=pinniped needs --concierge-authenticator-name=NAME");
  }
  if (!is_dns1123_subdomain(concierge.authenticator_name)) {
    return Error::configuration("--concierge-authenticator-name " +
                                in_quotes(concierge.authenticator_name) +
                                " is no name of an object");
  }
  return {};
}

}  // namespace

Status check_client_id(const Options& options) {
  const ClientOptions& client = options.client;
  if (!options.has_server() || !client.id.empty()) return {};
  const std::string hint =
      client.allow_ids.empty() ? "" : "pass it, or let the ClusterProfile choose it as clientId";
  if (client.auth && *client.auth != ClientAuthMethod::none &&
      *client.auth != ClientAuthMethod::federated) {
    return lacks(*client.auth, "--client-id", hint);
  }
  const bool is_tls_client = !client.auth && !client.certificate.empty();
  const bool proves =
      !client.secret_file.empty() || !client.private_key_file.empty() || is_tls_client;
  return proves
             ? Status(Error::configuration("a client that authenticates needs --client-id", hint))
             : Status();
}

Status check_options(const Options& options, const Settings& settings) {
  // A missing --flow is reported with the other required options.
  if (settings.get("flow").origin == Setting::Origin::unset) return {};
  TRY(check_subject_count(options, settings));
  TRY(check_subject_details(options, settings));
  TRY(check_refresh_token(options));
  if (options.flow == Flow::pinniped) return check_concierge(options.concierge);
  if (!options.has_server()) return {};
  if (options.server.issuer_url.empty() && options.server.token_url.empty()) {
    return Error::configuration(
        "--flow=" + settings.get("flow").texts.front() + " needs --issuer-url or --token-url",
        "the issuer's discovery document names the token endpoint");
  }
  TRY(check_parameters(options.request.parameters));
  return check_client(options);
}

}  // namespace execcred::oidc_federation
