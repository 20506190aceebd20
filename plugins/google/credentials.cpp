// SPDX-License-Identifier: Apache-2.0
#include "credentials.hpp"

#include "credential_reader.hpp"
#include "options.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/json/json_reader.hpp>

#include <utility>

namespace execcred::google {
namespace {

constexpr std::string_view kOauthUrl = "https://oauth2.googleapis.com/token";
constexpr std::string_view kAccountsPath = "/v1/projects/-/serviceAccounts/";
constexpr std::string_view kAction = ":generateAccessToken";

// Encodes '@' in the path of a URL, because a partial parser could read it as user info.
std::string with_encoded_at(std::string_view text) {
  const std::size_t scheme = text.find("://");
  const std::size_t path = scheme == std::string_view::npos ? scheme : text.find('/', scheme + 3);
  if (path == std::string_view::npos) return std::string(text);
  std::string url(text.substr(0, path));
  for (const char c : text.substr(path)) {
    if (c == '@') {
      url += "%40";
    } else {
      url.push_back(c);
    }
  }
  return url;
}

std::string decoded_account(std::string_view text) {
  std::string account(text);
  const std::size_t at = account.find("%40");
  if (at != std::string::npos) account.replace(at, 3, "@");
  return account;
}

Result<Impersonation> parse_impersonation_url(const std::string& text, std::string_view field,
                                              const Endpoints& endpoints) {
  Impersonation impersonation = {.url = with_encoded_at(text)};
  TRY(endpoints.check(Service::iam_credentials, impersonation.url, field));
  const Url url = TRY(parse_url(impersonation.url));
  std::string_view path = url.path;
  if (path.starts_with(kAccountsPath) && path.ends_with(kAction) && url.query.empty()) {
    path.remove_prefix(kAccountsPath.size());
    path.remove_suffix(std::min(kAction.size(), path.size()));
    impersonation.account = decoded_account(path);
    if (is_service_account(impersonation.account)) return impersonation;
  }
  return Error::configuration(
      std::string(field) + " " + redacted_url(text) + " names no service account",
      "it ends in /v1/projects/-/serviceAccounts/EMAIL:generateAccessToken");
}

Status read_lifetime(const json::ObjectReader& reader, Impersonation& impersonation) {
  constexpr int kShortest = 600;
  constexpr int kLongest = 43200;
  const std::optional<json::ObjectReader> options =
      TRY(reader.optional_object("service_account_impersonation"));
  if (!options) return {};
  const std::optional<int> seconds =
      TRY(optional_number(*options, "token_lifetime_seconds", kShortest, kLongest));
  if (seconds) impersonation.lifetime = std::chrono::seconds(*seconds);
  return {};
}

// The scopes of the file, which are a string or an array.
Result<std::vector<std::string>> read_scopes(const json::ObjectReader& reader) {
  std::vector<std::string> scopes;
  const json::Value* const value = reader.find("scopes");
  if (value == nullptr) return scopes;
  const std::vector<std::string> texts = TRY(json::read_strings(*value, reader.path_of("scopes")));
  for (const std::string& text : texts) {
    for (const std::string_view scope : split(text, ' ')) {
      if (!scope.empty()) scopes.emplace_back(scope);
    }
  }
  return scopes;
}

Result<ServiceAccountKey> parse_key(const json::ObjectReader& reader, const Endpoints& endpoints) {
  ServiceAccountKey key;
  key.email = TRY(reader.required_string("client_email"));
  key.private_key = TRY(required_secret(reader, "private_key"));
  key.key_id = TRY(reader.string_or_empty("private_key_id"));
  key.token_url = TRY(reader.string_or_empty("token_uri"));
  if (key.token_url.empty()) key.token_url = kOauthUrl;
  TRY(endpoints.check(Service::oauth, key.token_url, reader.path_of("token_uri")));
  return key;
}

Result<AuthorizedUser> parse_user(const json::ObjectReader& reader, const std::string& universe) {
  AuthorizedUser user;
  user.client_id = TRY(reader.required_string("client_id"));
  user.client_secret = TRY(required_secret(reader, "client_secret"));
  user.refresh_token = TRY(required_secret(reader, "refresh_token"));
  user.reauthentication = TRY(optional_secret(reader, "rapt_token"));
  user.scopes = TRY(read_scopes(reader));
  if (universe == kDefaultUniverse) return user;
  return Error::configuration(reader.path_of("universe_domain") + " is " + in_quotes(universe) +
                                  ", but authorized_user credentials are of " +
                                  std::string(kDefaultUniverse) + " alone",
                              "use a service account, or external_account credentials");
}

Status read_universe(const json::ObjectReader& reader, std::string& universe) {
  const std::string named = TRY(reader.string_or_empty("universe_domain"));
  if (named.empty()) return {};
  if (!is_dns1123_subdomain(named) || named.find('.') == std::string::npos) {
    return json::field_error(reader.path_of("universe_domain"), "is no domain");
  }
  universe = named;
  return {};
}

Error unsupported(const std::string& path, const std::string& type) {
  constexpr std::string_view kTypes =
      "there are: service_account, authorized_user, external_account, impersonated_service_account";
  if (type == "external_account_authorized_user") {
    return Error::configuration(path + " is " + in_quotes(type) + ", a user's login",
                                "for a workload, use external_account credentials");
  }
  return Error::configuration(path + " is " + in_quotes(type) + ", which is not supported",
                              std::string(kTypes));
}

Status parse_source(const json::ObjectReader& reader, const Endpoints& endpoints,
                    GoogleCredentials& credentials) {
  credentials.type = TRY(reader.required_string("type"));
  TRY(read_universe(reader, credentials.universe_domain));
  if (credentials.type == "service_account") {
    credentials.source = TRY(parse_key(reader, endpoints));
    return {};
  }
  if (credentials.type == "authorized_user") {
    credentials.source = TRY(parse_user(reader, credentials.universe_domain));
    return {};
  }
  if (credentials.type != "external_account") {
    return unsupported(reader.path_of("type"), credentials.type);
  }
  credentials.source = TRY(parse_external_account(reader, credentials.universe_domain, endpoints));
  const std::string url = TRY(reader.string_or_empty("service_account_impersonation_url"));
  if (url.empty()) return {};
  Impersonation impersonation = TRY(
      parse_impersonation_url(url, reader.path_of("service_account_impersonation_url"), endpoints));
  TRY(read_lifetime(reader, impersonation));
  std::get<ExternalAccount>(credentials.source).impersonated = impersonation.account;
  credentials.impersonations.push_back(std::move(impersonation));
  return {};
}

Status parse_impersonated(const json::ObjectReader& reader, const Endpoints& endpoints,
                          GoogleCredentials& credentials) {
  const json::ObjectReader source = TRY(reader.required_object("source_credentials"));
  TRY(parse_source(source, endpoints, credentials));
  credentials.type = "impersonated_service_account";
  TRY(read_universe(reader, credentials.universe_domain));
  credentials.scopes = TRY(read_scopes(reader));
  constexpr std::string_view kField = "service_account_impersonation_url";
  const std::string url = TRY(reader.required_string(kField));
  Impersonation impersonation =
      TRY(parse_impersonation_url(url, reader.path_of(kField), endpoints));
  if (reader.find("delegates") != nullptr) {
    impersonation.delegates = TRY(reader.strings("delegates"));
  }
  credentials.impersonations.push_back(std::move(impersonation));
  return {};
}

Status parse_document(const json::Value& document, const Endpoints& endpoints,
                      GoogleCredentials& credentials) {
  const json::ObjectReader reader = TRY(json::ObjectReader::open(document, ""));
  const std::string type = TRY(reader.required_string("type"));
  return type == "impersonated_service_account" ? parse_impersonated(reader, endpoints, credentials)
                                                : parse_source(reader, endpoints, credentials);
}

}  // namespace

Result<GoogleCredentials> parse_google_credentials(std::string_view text,
                                                   const Endpoints& endpoints) {
  const Result<json::SecretValue> document = json::parse_secret(text);
  if (!document) return Error::configuration("the JSON " + document.error().message);
  GoogleCredentials credentials;
  TRY(parse_document(**document, endpoints, credentials));
  return credentials;
}

Result<Impersonation> impersonation_of(const std::string& account, std::string_view universe_domain,
                                       const Endpoints& endpoints) {
  const std::string url = "https://iamcredentials." + std::string(universe_domain) +
                          std::string(kAccountsPath) + account + std::string(kAction);
  return parse_impersonation_url(url, "--impersonate-service-account", endpoints);
}

}  // namespace execcred::google
