// SPDX-License-Identifier: Apache-2.0
// Google's credentials files, and the replies of executables. An accepted file names only Google's
// hosts, and no name that could change the path of a URL.
#include "fuzz.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/url.hpp>
#include <execcred/oauth/local_url.hpp>
#include <google/credentials.hpp>
#include <google/options.hpp>
#include <google/subject.hpp>

#include <nlohmann/json.hpp>
#include <string>

namespace execcred::fuzz {
namespace {

void require_google(const std::string& text) {
  const Result<Url> url = parse_url(text);
  require(url && url->scheme == "https", "an https URL");
  require(url->host.name.ends_with(".googleapis.com") || url->host.name == "accounts.google.com",
          "a host of Google's");
}

void check_account(const google::ExternalAccount& account) {
  require_google(account.token_url);
  require(!account.audience.empty() && !account.subject_token_type.empty(), "what is exchanged");
  if (const auto* url = std::get_if<google::UrlSource>(&account.source)) {
    require(check_local_url(url->url).has_value(), "https, or http nearby");
  }
  if (const auto* program = std::get_if<google::ExecutableSource>(&account.source)) {
    require(program->program.starts_with('/'), "an absolute path");
    require(program->timeout >= std::chrono::seconds(5), "the shortest time");
    require(program->timeout <= std::chrono::seconds(120), "the longest time");
  }
}

void check_impersonation(const google::Impersonation& impersonation) {
  require_google(impersonation.url);
  require(google::is_service_account(impersonation.account), "an account");
  require(impersonation.lifetime.count() >= 600 && impersonation.lifetime.count() <= 43200,
          "a lifetime that Google takes");
}

void check_credentials(std::string_view input) {
  const std::vector<UrlPattern> none;
  const Result<google::GoogleCredentials> credentials =
      google::parse_google_credentials(input, google::Endpoints(none));
  if (!credentials) {
    require(credentials.error().kind == Error::Kind::configuration ||
                credentials.error().kind == Error::Kind::no_credential,
            "the file is at fault");
    return;
  }
  const nlohmann::json theirs = nlohmann::json::parse(input, nullptr, false);
  if (!theirs.is_discarded())
    require(theirs["type"] == credentials->type, "the member of the name");
  for (const auto& impersonation : credentials->impersonations) check_impersonation(impersonation);
  if (const auto* key = std::get_if<google::ServiceAccountKey>(&credentials->source)) {
    require_google(key->token_url);
  }
  if (const auto* account = std::get_if<google::ExternalAccount>(&credentials->source)) {
    check_account(*account);
  }
}

void check_reply(std::string_view input) {
  constexpr TimePoint kNow(std::chrono::seconds(1'800'000'000));
  const Result<google::ExecutableReply> reply = google::parse_executable_reply(input, kNow);
  if (!reply) {
    require(reply.error().kind == Error::Kind::no_credential, "the reply is at fault");
    return;
  }
  require(!reply->token.empty(), "a token");
  require(!reply->expires_at || *reply->expires_at > kNow, "one that is still good");
}

}  // namespace

void check(std::string_view input) {
  check_credentials(input);
  check_reply(input);
  static_cast<void>(google::check_provider_name(input));
}

}  // namespace execcred::fuzz
