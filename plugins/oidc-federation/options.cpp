// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/cache/options.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/oauth/discovery.hpp>
#include <execcred/oauth/local_url.hpp>
#include <execcred/spiffe/spiffe_id.hpp>
#include <execcred/spiffe/workload_endpoint.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace execcred::oidc_federation {
namespace {

Error wrong(std::string message, std::string hint = {}) {
  return Error{
      .kind = Error::Kind::configuration, .message = std::move(message), .hint = std::move(hint)};
}

template <class T>
struct Named {
  std::string_view name;
  T value;
};

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

template <class T, std::size_t Size>
Result<T> parse_name(const std::array<Named<T>, Size>& known, std::string_view what,
                     std::string_view text) {
  std::vector<std::string> names;
  for (const Named<T>& candidate : known) {
    if (candidate.name == text) return candidate.value;
    names.emplace_back(candidate.name);
  }
  return wrong(in_quotes(text) + " is no " + std::string(what), "there are: " + join(names, ", "));
}

// Not quoted: with other plugins --token is a token.
Result<ReplyToken> parse_reply_token(const std::string& text) {
  if (text == "access_token") return ReplyToken::access_token;
  if (text == "id_token") return ReplyToken::id_token;
  return wrong("it is neither access_token nor id_token",
               "a token itself does not belong here; --subject-token-file reads one");
}

Result<std::string> parse_https(const std::string& text) {
  const Result<Url> url = parse_url(text);
  if (!url) return wrong(redacted_url(text) + " " + url.error().message);
  if (url->scheme != "https") return wrong(redacted_url(text) + " is no https URL");
  return text;
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
  constexpr std::string_view kNameCharacters = "!#$%&'*+-.^_`|~";
  const auto is_token = [&](char c) {
    return is_alphanumeric(c) || kNameCharacters.find(c) != std::string_view::npos;
  };
  const std::string_view name = std::string_view(text).substr(0, equals);
  // Not quoted: the value may be a secret.
  if (equals == std::string::npos || name.empty() ||
      !std::all_of(name.begin(), name.end(), is_token)) {
    return wrong("a header is NAME=VALUE");
  }
  RequestHeader header = {.name = std::string(name), .value = text.substr(equals + 1)};
  if (header.value.empty() || has_control_character(header.value)) {
    return wrong("the header " + in_quotes(name) + " has no value, or a control character in it");
  }
  return header;
}

Result<std::string> parse_service_account(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash != std::string::npos && is_dns1123_label(text.substr(0, slash)) &&
      is_dns1123_subdomain(text.substr(slash + 1))) {
    return text;
  }
  return wrong(in_quotes(text) + " is no NAMESPACE/NAME of a service account");
}

Result<std::string> parse_socket(const std::string& text) {
  TRY(parse_workload_endpoint(text));
  return text;
}

Result<std::string> parse_spiffe_id(const std::string& text) {
  TRY(SpiffeId::parse(text));
  return text;
}

Result<std::optional<ClientAuthMethod>> parse_client_auth(const std::string& text) {
  const std::optional<ClientAuthMethod> method = client_auth_method(text);
  if (method) return method;
  return wrong(in_quotes(text) + " is no client authentication",
               "there are: client_secret_basic, client_secret_post, private_key_jwt, "
               "tls_client_auth, federated, none");
}

Result<std::string> parse_authenticator_type(const std::string& text) {
  if (text == "jwt" || text == "webhook") return text;
  return wrong(in_quotes(text) + " is neither jwt nor webhook");
}

Result<std::string> parse_group_suffix(const std::string& text) {
  if (is_dns1123_subdomain(text) && text.find('.') != std::string::npos) return text;
  return wrong(in_quotes(text) + " is no domain");
}

void add_subject(OptionSet& set, SubjectOptions& subject) {
  set.add("subject-token-file", subject.file, "PATH", "The subject token, read at each run");
  set.add("subject-token-env", subject.variable, "NAME",
          "The variable that holds the subject token");
  set.add_parsed("subject-token-url", subject.url, "URL",
                 "GET the subject token; http only from this machine and metadata servers",
                 parse_subject_url)
      .secret();
  set.add_parsed("subject-token-header", subject.headers, "NAME=VALUE",
                 "A header for --subject-token-url", parse_header)
      .secret();
  set.add("subject-token-field", subject.field, "FIELD",
          "The member of the JSON that --subject-token-url answers; else the whole is the token");
  set.add("subject-ca-file", subject.ca_file, "PATH",
          "CA certificates for --subject-token-url, instead of the system's");
  set.add_parsed("subject-token-command", subject.command, "JSON_ARRAY",
                 "Run this program (an absolute path) for the subject token", parse_token_command)
      .secret()
      .command();
  set.add_parsed("subject", subject.named, "github-actions|gcp-metadata|kubernetes|spiffe",
                 "Fetch the subject token from the platform",
                 [](const std::string& text) { return parse_name(kSubjects, "subject", text); });
  set.add_parsed("service-account", subject.service_account, "NAMESPACE/NAME",
                 "With --subject=kubernetes: whose token the hub is asked for; else our own",
                 parse_service_account);
  set.add("kubeconfig", subject.kubeconfig, "PATH",
          "With --subject=kubernetes: the hub's; else KUBECONFIG, else the Pod's service account");
  set.add_parsed("socket", subject.spiffe.socket, "URI",
                 "With --subject=spiffe: the Workload API, unix:///PATH or tcp://IP:PORT",
                 parse_socket)
      .variable(kSocketVariable);
  set.add_parsed("spiffe-id", subject.spiffe.choice.spiffe_id, "ID",
                 "With --subject=spiffe: which identity, where there are several", parse_spiffe_id);
  set.add("hint", subject.spiffe.choice.hint, "HINT",
          "With --subject=spiffe: the same by the entry's hint");
  set.add("subject-audience", subject.audience, "AUDIENCE",
          "Of a fetched subject token; else the issuer");
}

void add_server(OptionSet& set, ServerOptions& server) {
  set.add_parsed("issuer-url", server.issuer_url, "URL",
                 "The issuer, whose discovery document names the token endpoint", parse_issuer);
  set.add_parsed("token-url", server.token_url, "URL", "The token endpoint itself", parse_https);
  set.add("ca-file", server.ca_file, "PATH",
          "CA certificates of the issuer, instead of the system's");
}

void add_client(OptionSet& set, ClientOptions& client) {
  set.add("client-id", client.id, "ID", "The client at the issuer");
  set.add_parsed("client-auth", client.auth, "METHOD",
                 "client_secret_basic, client_secret_post, private_key_jwt, tls_client_auth, "
                 "federated (by the subject token) or none; else by what is given",
                 parse_client_auth);
  set.add("client-secret-file", client.secret_file, "PATH", "The client's secret");
  set.add("private-key-file", client.private_key_file, "PATH",
          "The key that signs assertions (private_key_jwt)");
  set.add("key-id", client.key_id, "ID", "The kid of those assertions");
  set.add("signing-alg", client.signing_alg, "ALG", "Their algorithm; else RS256 or by the key");
  set.add("client-certificate", client.certificate, "PATH", "For TLS (tls_client_auth)");
  set.add("client-key", client.certificate_key, "PATH", "The key of --client-certificate");
  set.add("client-assertion-type", client.assertion_type, "TYPE",
          "With --client-auth=federated: a URN, or its last part")
      .default_text("jwt-bearer");
  set.add("client-assertion-audience", client.assertion_audience, "AUDIENCE",
          "Of signed assertions; else the issuer, or the token endpoint");
}

void add_request(OptionSet& set, Options& options) {
  TokenRequest& request = options.request;
  set.add("audience", request.audiences, "AUDIENCE",
          "For whom the token is; with pass-through: one that it must be for")
      .from_profile();
  set.add("resource", request.resources, "URI", "Where the token will be used (RFC 8707)");
  set.add("scope", request.scope, "SCOPE", "What the token may do; several with spaces");
  set.add("subject-token-type", request.subject_token_type, "TYPE", "A URN, or its last part")
      .default_text(request.subject_token_type);
  set.add("requested-token-type", request.requested_token_type, "TYPE", "Likewise");
  set.add("actor-token-file", options.actor_token_file, "PATH",
          "The token of who acts for the subject");
  set.add("actor-token-type", request.actor_token_type, "TYPE", "A URN, or its last part")
      .default_text(request.actor_token_type);
  set.add_parsed("param", request.parameters, "NAME=VALUE", "What this server wants besides",
                 [](const std::string& text) { return parse_token_parameter(text); })
      .secret();
  set.add_parsed("token", request.token, "access_token|id_token",
                 "Which token of the reply is the credential", parse_reply_token)
      .default_text("access_token");
  set.add("expect-audience", options.expect_audiences, "AUDIENCE",
          "Refuse a returned token that is not for this one");
}

void add_concierge(OptionSet& set, ConciergeOptions& concierge) {
  set.add_parsed("concierge-authenticator-type", concierge.authenticator_type, "jwt|webhook",
                 "With --flow=pinniped: the kind of authenticator", parse_authenticator_type);
  set.add("concierge-authenticator-name", concierge.authenticator_name, "NAME",
          "With --flow=pinniped: its name");
  set.add_parsed("concierge-api-group-suffix", concierge.api_group_suffix, "DOMAIN",
                 "With --flow=pinniped: of the Concierge's API groups", parse_group_suffix)
      .default_text(concierge.api_group_suffix);
  set.add_parsed("concierge-endpoint", concierge.endpoint, "URL",
                 "With --flow=pinniped: the Concierge; else the cluster itself, under "
                 "--allow-server",
                 parse_https);
  set.add("concierge-ca-file", concierge.ca_file, "PATH",
          "CA certificates of --concierge-endpoint");
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
  set.add_parsed("flow", options.flow, "FLOW",
                 "token-exchange (RFC 8693), jwt-bearer (RFC 7523), client-credentials, "
                 "refresh-token, pass-through or pinniped",
                 [](const std::string& text) { return parse_name(kFlows, "flow", text); })
      .required();
  add_subject(set, options.subject);
  add_server(set, options.server);
  add_client(set, options.client);
  add_request(set, options);
  add_concierge(set, options.concierge);
  add_cache_options(set, options.cache);
}

}  // namespace execcred::oidc_federation
