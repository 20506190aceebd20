// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/exec/cache_options.hpp>
#include <execcred/http/reply.hpp>
#include <execcred/hub/service_account_token.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/oauth/discovery.hpp>
#include <execcred/oauth/local_url.hpp>
#include <execcred/spiffe/spiffe_id.hpp>
#include <execcred/spiffe/workload_endpoint.hpp>

#include <algorithm>
#include <array>

namespace execcred::oidc_federation {
namespace {

constexpr std::array<Named<Flow>, 6> kFlows = {{{"token-exchange", Flow::token_exchange},
                                                {"jwt-bearer", Flow::jwt_bearer},
                                                {"client-credentials", Flow::client_credentials},
                                                {"refresh-token", Flow::refresh_token},
                                                {"pass-through", Flow::pass_through},
                                                {"pinniped", Flow::pinniped}}};

constexpr std::array<Named<SubjectSource>, 4> kSubjects = {
    {{"github-actions", SubjectSource::github_actions},
     {"gcp-metadata", SubjectSource::gcp_metadata},
     {"kubernetes", SubjectSource::kubernetes},
     {"spiffe", SubjectSource::spiffe}}};

constexpr std::array<std::string_view, 2> kReplyTokens = {"access_token", "id_token"};
constexpr std::array<std::string_view, 2> kAuthenticatorTypes = {"jwt", "webhook"};

// The flows that use an option. A missing --flow is an error of its own.
constexpr std::array<std::string_view, 5> kServerFlows = {
    "token-exchange", "jwt-bearer", "client-credentials", "refresh-token", ""};
constexpr std::array<std::string_view, 2> kExchangeFlow = {"token-exchange", ""};
constexpr std::array<std::string_view, 2> kPinnipedFlow = {"pinniped", ""};
constexpr std::array<std::string_view, 6> kTokenFlows = {
    "token-exchange", "jwt-bearer", "client-credentials", "refresh-token", "pass-through", ""};
// In the other flow, a subject token can only authenticate the client.
constexpr std::array<std::string_view, 6> kSubjectFlows = {
    "token-exchange", "jwt-bearer", "refresh-token", "pass-through", "pinniped", ""};
constexpr std::string_view kFlowHint = "leave it out, or choose another flow";
constexpr OptionUse kForServer = {"flow", kServerFlows, kFlowHint};
constexpr OptionUse kForExchange = {"flow", kExchangeFlow, kFlowHint};
constexpr OptionUse kForPinniped = {"flow", kPinnipedFlow, kFlowHint};
constexpr OptionUse kForToken = {"flow", kTokenFlows, kFlowHint};
constexpr std::string_view kAuthHint = "leave it out, or choose another --client-auth";
constexpr std::array<std::string_view, 1> kOfKubernetes = {"kubernetes"};
constexpr std::array<std::string_view, 1> kOfSpiffe = {"spiffe"};
constexpr std::array<std::string_view, 1> kFederated = {"federated"};
constexpr std::array<std::string_view, 3> kWithSecret = {"client_secret_basic",
                                                         "client_secret_post", ""};
constexpr std::array<std::string_view, 2> kWithKey = {"private_key_jwt", ""};

// The text is not quoted in messages: with other plugins, --token is a token.
Result<ReplyToken> parse_reply_token(const std::string& text) {
  if (text == "access_token") return ReplyToken::access_token;
  if (text == "id_token") return ReplyToken::id_token;
  return Error::configuration(
      "it is neither access_token nor id_token",
      "a token itself does not belong here; --subject-token-file reads one");
}

Result<std::string> parse_https(const std::string& text) {
  const Result<Url> url = parse_url(text);
  if (!url) return Error::configuration(redacted_url(text) + " " + url.error().message);
  if (url->scheme != "https") return Error::configuration(redacted_url(text) + " is no https URL");
  return text;
}

// The path of the API is appended to it.
Result<std::string> parse_concierge_endpoint(const std::string& text) {
  TRY(parse_https(text));
  if (text.find('?') == std::string::npos) return text;
  return Error::configuration(redacted_url(text) + " has a query");
}

Result<std::string> parse_issuer(const std::string& text) {
  TRY(discovery_url(text));
  return text;
}

Result<std::string> parse_subject_url(const std::string& text) {
  TRY(check_local_url(text));
  return text;
}

Result<RequestHeader> parse_header(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string_view name = std::string_view(text).substr(0, equals);
  // The text is not quoted: the value may be a secret.
  if (equals == std::string::npos || !is_http_token(name)) {
    return Error::configuration("a header is NAME=VALUE");
  }
  RequestHeader header = {.name = std::string(name), .value = text.substr(equals + 1)};
  if (header.value.empty() || has_control_character(header.value)) {
    return Error::configuration("the header " + in_quotes(name) +
                                " has no value, or a control character in it");
  }
  return header;
}

Result<std::string> parse_group_suffix(const std::string& text) {
  if (is_dns1123_subdomain(text) && text.find('.') != std::string::npos) return text;
  return Error::configuration(in_quotes(text) + " is no domain");
}

void add_subject(OptionSet& set, SubjectOptions& subject) {
  set.group("Subject token");
  set.add("subject-token-file", subject.file, "PATH",
          "File with the subject token, read in each run");
  set.add("subject-token-env", subject.variable, "NAME",
          "Environment variable with the subject token");
  set.add_parsed("subject-token-url", subject.url, "URL", "URL that answers with the subject token",
                 parse_subject_url)
      .secret();
  set.add_parsed("subject-token-header", subject.headers, "NAME=VALUE",
                 "Header of the request to --subject-token-url", parse_header)
      .secret()
      .needs("subject-token-url");
  set.add("subject-token-field", subject.field, "FIELD",
          "JSON field of that answer; without it the whole is the token")
      .needs("subject-token-url");
  set.add("subject-ca-file", subject.ca_file, "PATH",
          "CA certificates for --subject-token-url, not the system's");
  set.add_parsed("subject-token-command", subject.command, "JSON_ARRAY",
                 "Program that prints the subject token, with its arguments", parse_inner_command)
      .secret()
      .example(R"(["/usr/local/bin/get-token","--cluster"])")
      .command();
  set.add_choice<kSubjects>("subject", subject.named,
                            "github-actions|gcp-metadata|kubernetes|spiffe",
                            "Platform that gives the subject token", "subject");
  set.add_parsed("service-account", subject.service_account, "NAMESPACE/NAME",
                 "With --subject=kubernetes: another service account", parse_service_account)
      .only_for("subject", kOfKubernetes);
  set.add("kubeconfig", subject.kubeconfig, "PATH",
          "With --subject=kubernetes: kubeconfig of the hub")
      .only_for("subject", kOfKubernetes);
  set.add_parsed("socket", subject.spiffe.socket, "URI",
                 "With --subject=spiffe: Workload API of the agent", checked_workload_endpoint)
      .example("unix:///run/spire/agent.sock")
      .variable(kSocketVariable)
      .only_for("subject", kOfSpiffe)
      .only_for("flow", kSubjectFlows)
      .or_for("client-auth", kFederated);
  set.add_parsed("spiffe-id", subject.spiffe.choice.spiffe_id, "ID",
                 "With --subject=spiffe: SPIFFE ID to use, of several", checked_spiffe_id)
      .only_for("subject", kOfSpiffe);
  set.add("hint", subject.spiffe.choice.hint, "HINT",
          "With --subject=spiffe: hint of the entry to use")
      .only_for("subject", kOfSpiffe);
  set.add("subject-audience", subject.audience, "AUDIENCE",
          "Audience of a fetched subject token; default: the issuer");
}

void add_server(OptionSet& set, ServerOptions& server) {
  set.group("Token server", kForServer);
  set.add_parsed("issuer-url", server.issuer_url, "URL",
                 "Issuer, whose discovery document names the token endpoint", parse_issuer)
      .example("https://idp.example.com");
  set.add_parsed("token-url", server.token_url, "URL", "Token endpoint, without discovery",
                 parse_https);
  set.add("ca-file", server.ca_file, "PATH",
          "CA certificates of the token server, not the system's");
}

void add_client(OptionSet& set, ClientOptions& client) {
  set.group("Client authentication", kForServer);
  set.add("client-id", client.id, "ID", "Client ID at the token server")
      .chosen_among("allow-client-id");
  set.add_choice<kClientAuthMethods>("client-auth", client.auth, "METHOD",
                                     "How the client authenticates; default: by what is given",
                                     "client authentication");
  set.add("client-secret-file", client.secret_file, "PATH", "File with the client secret")
      .only_for("client-auth", kWithSecret, kAuthHint);
  set.add("private-key-file", client.private_key_file, "PATH",
          "Private key that signs client assertions")
      .only_for("client-auth", kWithKey, kAuthHint);
  set.add("key-id", client.key_id, "ID", "Key ID (kid) of client assertions")
      .needs("private-key-file");
  set.add("signing-alg", client.signing_alg, "ALG",
          "Signature algorithm; default: RS256, or by the key")
      .example("ES256")
      .needs("private-key-file");
  set.add("client-certificate", client.certificate, "PATH",
          "Client certificate for TLS (tls_client_auth)");
  set.add("client-key", client.certificate_key, "PATH", "Private key of --client-certificate");
  set.add("client-assertion-type", client.assertion_type, "TYPE",
          "With --client-auth=federated: type, a URN or its last part")
      .default_text("jwt-bearer")
      .only_for("client-auth", kFederated);
  set.add("client-assertion-audience", client.assertion_audience, "AUDIENCE",
          "Audience of client assertions; default: issuer or endpoint")
      .needs("private-key-file");
}

void add_choices(OptionSet& set, Options& options) {
  set.group("Access rules", kForServer);
  add_choice_patterns(set, "allow-client-id", options.client.allow_ids,
                      "Client ID that a ClusterProfile may choose")
      .example("fleet-*")
      .weakens("lets a ClusterProfile choose any client",
               "list the client IDs, or a prefix of them",
               [](std::string_view pattern) { return pattern == "*"; });
}

void add_request(OptionSet& set, Options& options) {
  TokenRequest& request = options.request;
  set.group("Request", kForToken);
  set.add("audience", request.audiences, "AUDIENCE",
          "Audience of the token; with pass-through, one it must have")
      .from_profile()
      .allowed_by("allow-audience")
      .requested("flow", kServerFlows);  // with pass-through, it is only checked
  set.group("Request", kForServer);
  set.add("resource", request.resources, "URI", "Resource that the token is for (RFC 8707)");
  set.add("scope", request.scope, "SCOPE", "Scopes of the token, separated by spaces");
  set.group("Request", kForExchange);
  set.add("subject-token-type", request.subject_token_type, "TYPE",
          "Type of the subject token, a URN or its last part")
      .default_text(request.subject_token_type);
  set.add("requested-token-type", request.requested_token_type, "TYPE",
          "Type of the token to request, a URN or its last part");
  set.add("actor-token-file", options.actor_token_file, "PATH",
          "File with the token of the acting party");
  set.add("actor-token-type", request.actor_token_type, "TYPE",
          "Type of the actor token, a URN or its last part")
      .default_text(request.actor_token_type)
      .needs("actor-token-file");
  set.group("Request", kForServer);
  set.add_parsed("param", request.parameters, "NAME=VALUE",
                 "Further parameter of the token request",
                 [](const std::string& text) { return parse_token_parameter(text); })
      .secret();
  set.add_parsed("token", request.token, "access_token|id_token",
                 "Token of the reply that becomes the credential", parse_reply_token)
      .choices(kReplyTokens)
      .default_text("access_token");
  set.group("Request", kForToken);
  set.add("expect-audience", options.expect_audiences, "AUDIENCE",
          "Refuse a returned token that is for none of these");
}

void add_concierge(OptionSet& set, ConciergeOptions& concierge) {
  set.group("Concierge", kForPinniped);
  set.add("concierge-authenticator-type", concierge.authenticator_type, "jwt|webhook",
          "With --flow=pinniped: kind of the authenticator")
      .choices(kAuthenticatorTypes);
  set.add("concierge-authenticator-name", concierge.authenticator_name, "NAME",
          "With --flow=pinniped: name of the authenticator");
  set.add_parsed("concierge-api-group-suffix", concierge.api_group_suffix, "DOMAIN",
                 "With --flow=pinniped: suffix of the Concierge's API groups", parse_group_suffix)
      .default_text(concierge.api_group_suffix);
  set.add_parsed("concierge-endpoint", concierge.endpoint, "URL",
                 "With --flow=pinniped: the Concierge; default: the cluster",
                 parse_concierge_endpoint);
  set.add("concierge-ca-file", concierge.ca_file, "PATH",
          "CA certificates of --concierge-endpoint, not the system's")
      .needs("concierge-endpoint", "the cluster's own server is verified with its own CA");
}

}  // namespace

SubjectSource SubjectOptions::source() const {
  if (!file.empty()) return SubjectSource::file;
  if (!variable.empty()) return SubjectSource::variable;
  if (!url.empty()) return SubjectSource::url;
  if (!command.program.empty()) return SubjectSource::command;
  return named;
}

void add_options(OptionSet& set, Options& options) {
  set.group("Request");
  set.add_choice<kFlows>("flow", options.flow, "FLOW", "How the token is requested", "flow")
      .required();
  add_subject(set, options.subject);
  add_server(set, options.server);
  add_client(set, options.client);
  add_request(set, options);
  add_concierge(set, options.concierge);
  add_choices(set, options);
  add_cache_options(set, options.cache);
}

namespace {

constexpr std::string_view kSubjectHint =
    "one of --subject-token-file, --subject-token-env, --subject-token-url, "
    "--subject-token-command and --subject gives it";

constexpr std::array<std::string_view, 5> kSubjectSources = {
    "subject-token-file", "subject-token-env", "subject-token-url", "subject-token-command",
    "subject"};

Status check_subject_count(const Options& options, const Settings& settings) {
  const SubjectOptions& subject = options.subject;
  const std::string flow = settings.as_typed("--flow") + "=" + settings.get("flow").texts.front();
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
  const std::string who =
      options.is_federated() ? settings.as_typed("--client-auth") + "=federated" : flow;
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
    return Error::configuration(settings.as_typed("--subject") + " needs --subject-audience",
                                "the token is made for it; with --issuer-url, that is the default");
  }
  return {};
}

Status check_refresh_token(const Options& options, const Settings& settings) {
  if (options.flow != Flow::refresh_token) return {};
  const std::string flow = settings.as_typed("--flow") + "=refresh-token";
  if (options.is_federated()) {
    return Error::configuration(
        settings.as_typed("--client-auth") + "=federated has no use with " + flow,
        "there the subject is the refresh token, which does not authenticate the client");
  }
  if (is_fetched(options.subject.source())) {
    return Error::configuration(settings.as_typed("--subject") + " fetches no refresh token",
                                "--subject-token-file or --subject-token-env gives it");
  }
  if (!options.cache.no_cache) return {};
  return Error::configuration(
      flow + " needs the cache",
      "a server may replace the refresh token, and the new one is kept there");
}

Error lacks(const Settings& settings, ClientAuthMethod method, std::string_view option,
            const std::string& hint = {}) {
  return Error::configuration(settings.as_typed("--client-auth") + "=" +
                                  std::string(name_of(method)) + " needs " + std::string(option),
                              hint);
}

Status check_client_method(const ClientOptions& client, const Settings& settings) {
  if (!client.auth || *client.auth == ClientAuthMethod::none) return {};
  const ClientAuthMethod method = *client.auth;
  const bool is_secret = method == ClientAuthMethod::client_secret_basic ||
                         method == ClientAuthMethod::client_secret_post;
  if (is_secret && client.secret_file.empty())
    return lacks(settings, method, "--client-secret-file");
  if (method == ClientAuthMethod::private_key_jwt && client.private_key_file.empty()) {
    return lacks(settings, method, "--private-key-file");
  }
  if (method == ClientAuthMethod::tls_client_auth && client.certificate.empty()) {
    return lacks(settings, method, "--client-certificate and --client-key");
  }
  return {};
}

Status check_client(const Options& options, const Settings& settings) {
  const ClientOptions& client = options.client;
  if (client.certificate.empty() != client.certificate_key.empty()) {
    return Error::configuration(settings.as_typed("--client-certificate") + " and " +
                                settings.as_typed("--client-key") + " go together");
  }
  TRY(check_client_method(client, settings));
  if (client.allow_ids.empty()) TRY(check_client_id(options, settings));
  return {};
}

Status check_concierge(const ConciergeOptions& concierge, const Settings& settings) {
  if (concierge.authenticator_type.empty()) {
    return Error::configuration(settings.as_typed("--flow") +
                                "=pinniped needs --concierge-authenticator-type=jwt|webhook");
  }
  if (concierge.authenticator_name.empty()) {
    return Error::configuration(settings.as_typed("--flow") +
                                "=pinniped needs --concierge-authenticator-name=NAME");
  }
  if (!is_dns1123_subdomain(concierge.authenticator_name)) {
    return Error::configuration(settings.as_typed("--concierge-authenticator-name") + " " +
                                in_quotes(concierge.authenticator_name) +
                                " is no name of an object");
  }
  return {};
}

}  // namespace

Status check_client_id(const Options& options, const Settings& settings) {
  const ClientOptions& client = options.client;
  if (!options.has_server() || !client.id.empty()) return {};
  const std::string hint =
      "pass it, or let the ClusterProfile choose it as clientId, with --allow-client-id=PATTERN";
  if (client.auth && *client.auth != ClientAuthMethod::none &&
      *client.auth != ClientAuthMethod::federated) {
    return lacks(settings, *client.auth, "--client-id", hint);
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
  TRY(check_refresh_token(options, settings));
  if (options.flow == Flow::pinniped) return check_concierge(options.concierge, settings);
  if (!options.has_server()) return {};
  if (options.server.issuer_url.empty() && options.server.token_url.empty()) {
    return Error::configuration(settings.as_typed("--flow") + "=" +
                                    settings.get("flow").texts.front() +
                                    " needs --issuer-url or --token-url",
                                "the issuer's discovery document names the token endpoint");
  }
  TRY(check_parameters(options.request.parameters));
  return check_client(options, settings);
}

}  // namespace execcred::oidc_federation
