// SPDX-License-Identifier: Apache-2.0
#include "flow.hpp"

#include "pinniped.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/cache/credential_cache.hpp>
#include <execcred/cache/refresh_token_store.hpp>
#include <execcred/exec/jwt.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace execcred::oidc_federation {
namespace {

// Whose credential it is, for people: the token's subject and issuer, or else the client ID.
std::string identity_of(const Credential& credential, const std::string& client) {
  const Result<std::optional<UnverifiedClaims>> claims = unverified_claims(credential.token);
  if (!claims || !claims->has_value() || (*claims)->subject.empty()) return client;
  return (*claims)->subject + ((*claims)->issuer.empty() ? "" : " of " + (*claims)->issuer);
}

// The subject token itself is the credential, for clusters whose structured authentication trusts
// its issuer. It is checked first, so that a misconfiguration causes a message and not a 401.
Result<Credential> pass_through(SecretString token, const std::vector<std::string>& audiences,
                                const std::vector<std::string>& expected,
                                const CredentialRequest& request, TimePoint now) {
  const std::optional<UnverifiedClaims> claims = TRY(unverified_claims(token));
  if (!claims) {
    return Error::no_credential(
        "the subject token is no JWT",
        "a cluster's structured authentication takes JWTs alone; for another token there "
        "is execcred-token-file");
  }
  TRY(of_source(check_lifetime(*claims, now)));
  TRY(check_audience(claims, request.as_typed("--audience"), audiences));
  TRY(check_audience(claims, request.as_typed("--expect-audience"), expected));
  Credential credential = {.token = std::move(token), .expires_at = claims->expires_at};
  const TimePoint longest = now + kLongestLifetime;
  if (credential.expires_at) credential.expires_at = std::min(*credential.expires_at, longest);
  return credential;
}

}  // namespace

Result<Issued> FlowRun::obtain(CallContext& call) const {
  Credential credential = TRY(get(call));
  Issued fresh = {.credential = std::move(credential)};
  fresh.identity = identity_of(fresh.credential, options_.client.id);
  const std::string& url =
      options_.flow == Flow::pinniped ? options_.concierge.endpoint : server_url();
  const std::string server = url.substr(0, url.find('?'));
  std::vector<std::string> audiences = options_.request.audiences;
  for (std::string& audience : audiences) audience = redacted_urls(audience);
  fresh.target = join(audiences, ",");
  if (!server.empty()) fresh.target += (fresh.target.empty() ? "" : " ") + ("at " + server);
  return fresh;
}

Result<Credential> FlowRun::get(CallContext& call) const {
  if (options_.flow == Flow::pass_through) return pass_on(call);
  if (options_.flow != Flow::pinniped) return exchange(call);
  const SecretString token = TRY(subject_.get(call));
  return ask_concierge(options_.concierge, request_, token, call);
}

Result<Credential> FlowRun::pass_on(CallContext& call) const {
  SecretString token = TRY(subject_.get(call));
  return pass_through(std::move(token), options_.request.audiences, options_.expect_audiences,
                      request_, call.clock.now());
}

Result<Credential> FlowRun::exchange(CallContext& call) const {
  const std::optional<CacheDirectory> directory = open_cache(options_.cache, call);
  Result<TokenServer> opened =
      TokenServer::open(options_, files_, request_, call, directory ? &*directory : nullptr);
  if (!opened) opened.error().is_local = true;
  TokenServer server = TRY(std::move(opened));
  const SecretString subject = TRY(subject_.get(call));
  TokenReply reply =
      TRY(options_.flow == Flow::refresh_token ? refresh(server, subject, directory, call)
                                               : server.ask(subject));
  TRY(check_audience(reply.token, request_.as_typed("--expect-audience"),
                     options_.expect_audiences));
  return Credential{.token = std::move(reply.token), .expires_at = reply.expires_at};
}

// The server may issue a new refresh token each time that one is used.
Result<TokenReply> FlowRun::refresh(TokenServer& server, const SecretString& original,
                                    const std::optional<CacheDirectory>& directory,
                                    CallContext& call) const {
  if (!directory) {
    return Error::configuration(
        "there is no safe place for a new refresh token",
        "--cache-dir=PATH names one; --debug reports what is wrong with the current one");
  }
  const RefreshTokenStore::Source source = {
      .token_server = server_url(), .client_id = options_.client.id, .original = original.copy()};
  // The request needs time too, so the store may wait for only half of it.
  const auto now = std::chrono::steady_clock::now();
  RefreshTokenStore store =
      TRY(RefreshTokenStore::open(*directory, source, now + (call.deadline - now) / 2, call.clock));
  return server.ask(store.current(),
                    [&store](const SecretString& successor) { return store.keep(successor); });
}

const std::string& FlowRun::server_url() const {
  const ServerOptions& server = options_.server;
  return server.issuer_url.empty() ? server.token_url : server.issuer_url;
}

}  // namespace execcred::oidc_federation
