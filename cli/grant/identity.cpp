// SPDX-License-Identifier: Apache-2.0
#include "identity.hpp"

#include "declared_options.hpp"
#include "doctor/authentication_config.hpp"
#include "lint/options.hpp"
#include "lint/secrets.hpp"

#include <aws/eks_token.hpp>
#include <azure/options.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/inner_program.hpp>
#include <execcred/json/json_reader.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace execcred::grant {
namespace {

constexpr std::string_view kGoogleProgram = "execcred-google";
constexpr std::string_view kLegacyIssuer = "kubernetes/serviceaccount";
constexpr std::string_view kDefaultIssuer = "https://kubernetes.default.svc";
constexpr std::string_view kAksPrefix = "aks:jwt:";
constexpr std::array<std::string_view, 5> kEntraHosts = {
    "sts.windows.net", "login.microsoftonline.com", "login.microsoftonline.us",
    "sts.chinacloudapi.cn", "login.partner.microsoftonline.cn"};

Error unknown(std::string message, std::string hint) {
  return Error::no_credential(std::move(message), std::move(hint));
}

bool contains(const std::vector<std::string>& texts, std::string_view text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

bool is_default_issuer(std::string_view issuer) {
  if (!issuer.starts_with(kDefaultIssuer)) return false;
  issuer.remove_prefix(kDefaultIssuer.size());
  return issuer.empty() || issuer.front() == '.' || issuer == "/";
}

bool is_server(std::string_view issuer, const Url& server) {
  const Result<Url> url = parse_url(issuer);
  return url && url->scheme == server.scheme && url->host == server.host &&
         url->port == server.port && url->path == server.path && url->query.empty();
}

bool is_entra(std::string_view issuer) {
  const Result<Url> url = parse_url(issuer);
  return url &&
         std::find(kEntraHosts.begin(), kEntraHosts.end(), url->host.name) != kEntraHosts.end();
}

std::vector<std::string> group_claims(const json::Value& payload) {
  const json::Value* const groups = payload.find("groups");
  if (groups == nullptr) return {};
  Result<std::vector<std::string>> texts = json::read_strings(*groups, "groups");
  return texts ? std::move(texts).value() : std::vector<std::string>();
}

Result<Identity> own_account(const UnverifiedClaims& claims) {
  const std::vector<std::string_view> parts = split(claims.subject, ':');
  constexpr std::size_t kParts = 4;
  if (parts.size() != kParts || !is_dns1123_label(parts[2]) || !is_dns1123_subdomain(parts[3])) {
    return unknown("the token's subject " + in_quotes(claims.subject) + " is no ServiceAccount",
                   "look at what issued the token");
  }
  Identity identity{
      .kind = Kind::service_account,
      .user = claims.subject,
      .groups = {"system:serviceaccounts", "system:serviceaccounts:" + std::string(parts[2])}};
  identity.name_space = parts[2];
  identity.name = parts[3];
  return identity;
}

// API servers refuse a configuration with an empty audience, or with one twice.
std::vector<std::string> each_once(const std::vector<std::string>& audiences) {
  std::vector<std::string> once;
  for (const std::string& audience : audiences) {
    if (!audience.empty() && !contains(once, audience)) once.push_back(audience);
  }
  return once;
}

// The audiences that the mapping asks for, those of the token first. If the token has none of them,
// the token's own: the API server takes no other.
std::vector<std::string> audiences_of(const UnverifiedClaims& claims, const Origin& origin) {
  std::vector<std::string> asked = each_once(origin.audiences);
  const auto others = std::stable_partition(
      asked.begin(), asked.end(),
      [&claims](const std::string& audience) { return contains(claims.audiences, audience); });
  return others == asked.begin() ? each_once(claims.audiences) : asked;
}

Status check_issuer(const UnverifiedClaims& claims, Platform platform) {
  if (claims.issuer.empty()) {
    return unknown("the token has no issuer, so no API server can find its keys",
                   "of SPIRE, the server's jwt_issuer sets it; of others, look at what issued it");
  }
  const Result<Url> url = parse_url(claims.issuer);
  if (!url || url->scheme != "https" || !url->query.empty()) {
    return unknown("the token's issuer " + in_quotes(claims.issuer) +
                       " is no plain https URL, which API servers require",
                   "change the issuer's name where it is configured");
  }
  if (each_once(claims.audiences).empty()) {
    return unknown("the token has no audience, and API servers require one",
                   "request a token for an audience");
  }
  if (platform == Platform::gke_dns || platform == Platform::gke_gateway) {
    return unknown("GKE takes no tokens of the issuer " + in_quotes(claims.issuer),
                   "use execcred-google, with workload identity federation for this issuer");
  }
  if (platform == Platform::aks && is_entra(claims.issuer)) {
    return unknown(
        "AKS takes tokens of Entra for its own application alone",
        "request the token for " + std::string(azure::kAksServerId) + ", as execcred-azure does");
  }
  return {};
}

Result<Identity> foreign(const UnverifiedClaims& claims, const json::Value& payload,
                         const Origin& origin, Platform platform) {
  TRY(check_issuer(claims, platform));
  const bool has_object_id = is_entra(claims.issuer) && payload.find("oid") != nullptr;
  Identity identity{.kind = Kind::issuer};
  identity.issuer = claims.issuer;
  identity.audiences = audiences_of(claims, origin);
  identity.claim = has_object_id ? "oid" : "sub";
  identity.prefix = platform == Platform::aks ? std::string(kAksPrefix) : claims.issuer + "#";
  identity.is_default_issuer = is_default_issuer(claims.issuer);
  const std::string name = json::text_or_empty(payload, identity.claim);
  if (name.empty()) {
    return unknown("the token has no claim " + in_quotes(identity.claim) + ", so it names nobody",
                   "look at what issued the token");
  }
  identity.user = identity.prefix + name;
  for (const std::string& group : group_claims(payload)) {
    identity.groups.push_back(identity.prefix + group);
  }
  return identity;
}

bool is_for_aks(const UnverifiedClaims& claims) {
  return is_entra(claims.issuer) &&
         (contains(claims.audiences, azure::kAksServerId) ||
          contains(claims.audiences, "spn:" + std::string(azure::kAksServerId)));
}

Result<Identity> of_aks(const json::Value& payload) {
  Identity identity{.kind = Kind::aks,
                    .user = json::text_or_empty(payload, "oid"),
                    .groups = group_claims(payload)};
  identity.is_person = payload.find("scp") != nullptr;  // rights that a person has lent
  if (!identity.user.empty()) return identity;
  return unknown("the token has no claim 'oid', so the object of Entra is not known",
                 "ask Entra: az ad sp show --id CLIENT_ID");
}

Result<Identity> of_certificate(const engine::CertificateFacts& certificate) {
  if (certificate.user.name.empty()) {
    return unknown("the certificate of " + in_quotes(certificate.subject) +
                       " has no common name, so it is nobody to an API server",
                   "the CA must issue it with a CN; of SPIRE, the entry's DNS name sets it");
  }
  Identity identity{
      .kind = Kind::certificate, .user = certificate.user.name, .groups = certificate.user.groups};
  identity.authority = certificate.issuer;
  return identity;
}

Result<Identity> of_eks(const Origin& origin) {
  // Not "arn:aws:sts::…:assumed-role/…", which no access entry may name.
  const bool is_role = origin.principal.find(":iam::") != std::string::npos &&
                       origin.principal.find(":role/") != std::string::npos;
  if (is_role) return Identity{.kind = Kind::eks, .user = origin.principal};
  return unknown("the role behind the signature is not known from the options",
                 "ask AWS with the same credentials: aws sts get-caller-identity; then set "
                 "--role-arn, or AWS_ROLE_ARN");
}

Result<Identity> of_google(const Origin& origin) {
  if (origin.program == kGoogleProgram && !origin.principal.empty()) {
    return Identity{.kind = Kind::gke, .user = origin.principal};
  }
  return unknown("the account of the access token is not known from the options",
                 "ask Google with the same credentials: gcloud auth list; then set "
                 "--impersonate-service-account, or a service account's credentials file");
}

Result<std::vector<Identity>> of_token(const Evidence& evidence, const Origin& origin,
                                       const Url& server) {
  const UnverifiedClaims& claims = *evidence.facts.claims;
  const json::Value& payload = evidence.facts.payload;
  const Platform platform = platform_of(server);
  std::vector<Identity> found;
  if (is_for_aks(claims)) {
    found.push_back(TRY(of_aks(payload)));
    return found;
  }
  const bool is_account = doctor::is_service_account(claims);
  const bool is_own = is_account && (origin.is_of_cluster || claims.issuer == kLegacyIssuer ||
                                     is_server(claims.issuer, server));
  const bool is_ambiguous = is_account && !is_own && is_default_issuer(claims.issuer);
  if (is_own || is_ambiguous) found.push_back(TRY(own_account(claims)));
  if (is_own) return found;
  Result<Identity> other = foreign(claims, payload, origin, platform);
  // The cluster's own reading remains where the other one is not possible.
  if (!other && !is_ambiguous) return std::move(other).error();
  if (other) found.push_back(std::move(other).value());
  return found;
}

// The names stand in comments and commands, of which a line end would make something else.
Status check_names(const std::vector<Identity>& identities) {
  for (const Identity& identity : identities) {
    std::vector<std::string> texts = identity.groups;
    texts.insert(texts.end(), identity.audiences.begin(), identity.audiences.end());
    texts.push_back(identity.user);
    for (const std::string& text : texts) {
      if (text == printable(text)) continue;
      return unknown("the name " + in_quotes(text) + " has characters that cannot be printed",
                     "look at what issued the credential");
    }
  }
  return {};
}

Result<std::vector<Identity>> all_of(const Evidence& evidence, const Origin& origin,
                                     const Url& server) {
  std::vector<Identity> found;
  if (evidence.facts.certificate) {
    found.push_back(TRY(of_certificate(*evidence.facts.certificate)));
  } else if (evidence.is_eks_token) {
    found.push_back(TRY(of_eks(origin)));
  } else if (evidence.is_google_token) {
    found.push_back(TRY(of_google(origin)));
  } else if (evidence.facts.claims) {
    return of_token(evidence, origin, server);
  } else {
    return unknown("the token is opaque: only the cluster knows its user",
                   "ask the cluster: execcred doctor shows the user of a token that it accepts");
  }
  return found;
}

// What programs of others have in their arguments, by the names that they use.
std::string argument_of(const std::vector<std::string>& arguments,
                        std::initializer_list<std::string_view> names) {
  for (const lint::Argument& argument : lint::split_arguments(arguments, nullptr)) {
    if (std::find(names.begin(), names.end(), argument.name) != names.end()) {
      return std::string(argument.value);
    }
  }
  return {};
}

}  // namespace

Result<Origin> origin_of(const Access& access, const Environment& environment) {
  const std::vector<std::string>& arguments = access.exec.args;
  Origin origin{.program = std::string(program_name(access.exec.command))};
  const Environment variables(environment_of_plugin(access, environment));
  cli::DeclaredOptions options(origin.program);
  const auto read_foreign = [&](const std::vector<std::string>& of_program) {
    origin.principal = argument_of(of_program, {"role-arn", "role", "r"});
    if (origin.principal.empty()) {
      origin.principal = variables.get("AWS_ROLE_ARN").value_or(std::string_view());
    }
    origin.cluster_id = argument_of(of_program, {"cluster-name", "cluster-id", "i"});
    // A template of execcred-wrap.
    for (std::string* const text : {&origin.principal, &origin.cluster_id}) {
      if (text->find('{') != std::string::npos) text->clear();
    }
  };
  if (!options.is_complete()) {
    read_foreign(arguments);
    return origin;
  }
  Settings settings(options.set());
  TRY(options.read(arguments, variables, settings, access.cluster.config));
  if (origin.program == "execcred-wrap") {
    const std::vector<std::string>& command = settings.get("command").texts;
    const Result<InnerCommand> inner = parse_inner_command(command.empty() ? "" : command.front());
    if (inner) read_foreign(inner->arguments);
    return origin;
  }
  origin.is_of_cluster =
      origin.program == "execcred-static-secret" || origin.program == "execcred-bootstrap";
  origin.principal = TRY(options.principal(settings, variables, access.cluster));
  const auto texts = [&](std::string_view name) {
    return options.set().find(name) == nullptr ? std::vector<std::string>()
                                               : settings.get(name).texts;
  };
  origin.audiences = texts("audience");
  if (const auto ids = texts("cluster-id"); !ids.empty()) origin.cluster_id = ids.front();
  return origin;
}

Evidence evidence_of(const engine::CredentialFacts& facts, const SecretString& token,
                     const Origin& origin) {
  return {.facts = facts,
          .is_eks_token = token.reveal().starts_with(aws::kEksTokenStart),
          .is_google_token = token.reveal().starts_with(lint::kGoogleTokenStart) ||
                             origin.program == kGoogleProgram ||
                             origin.program == "gke-gcloud-auth-plugin"};
}

Result<std::vector<Identity>> identities_of(const Evidence& evidence, const Origin& origin,
                                            const Url& server) {
  std::vector<Identity> found = TRY(all_of(evidence, origin, server));
  TRY(check_names(found));
  return found;
}

}  // namespace execcred::grant
