// SPDX-License-Identifier: Apache-2.0
#include <execcred/spiffe/jwt_svid.hpp>

#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/jwt.hpp>
#include <execcred/spiffe/spiffe_id.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

namespace execcred {
namespace {

// JWT-SVID section 2: the algorithm and the type.
Status check_header(const UnverifiedClaims& claims) {
  constexpr std::array<std::string_view, 9> kAlgorithms = {
      "RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512"};
  if (std::find(kAlgorithms.begin(), kAlgorithms.end(), claims.algorithm) == kAlgorithms.end()) {
    return Error::no_credential("the JWT-SVID's algorithm " + in_quotes(claims.algorithm) +
                                    " is none that JWT-SVIDs may have",
                                "these are RS, ES and PS with 256, 384 or 512");
  }
  if (!claims.type || *claims.type == "JWT" || *claims.type == "JOSE") return {};
  return Error::no_credential("the JWT-SVID's 'typ' " + in_quotes(*claims.type) +
                              " is neither JWT nor JOSE");
}

Status check_subject(const UnverifiedClaims& claims, const std::string& spiffe_id) {
  Result<SpiffeId> subject = SpiffeId::parse(claims.subject);
  if (!subject) {
    return Error::no_credential("the JWT-SVID's 'sub' is no SPIFFE ID: " + subject.error().message);
  }
  if (subject->text() == spiffe_id) return {};
  return Error::no_credential("the JWT-SVID is of " + in_quotes(claims.subject) +
                              ", but the agent calls it " + in_quotes(spiffe_id));
}

Status check_audiences(const UnverifiedClaims& claims, const std::vector<std::string>& audiences) {
  const std::set<std::string_view> of_token(claims.audiences.begin(), claims.audiences.end());
  for (const std::string& audience : audiences) {
    if (of_token.contains(audience)) continue;
    return Error::no_credential(
        "the JWT-SVID is not for the audience " + in_quotes(audience) + " but for " +
        (claims.audiences.empty() ? "none" : in_quotes(join(claims.audiences, ", "))));
  }
  return {};
}

// JWT-SVID section 3: the JSON serialisations of RFC 7515 are not allowed.
Result<UnverifiedClaims> read_claims(const SecretString& token) {
  std::optional<UnverifiedClaims> claims = TRY(unverified_claims(token));
  const std::string_view text = token.reveal();
  const std::string_view signature = text.substr(text.rfind('.') + 1);
  if (!claims || signature.empty() || !decode_base64url(signature)) {
    return Error::no_credential("what the agent gave is no JWT in compact form");
  }
  return std::move(*claims);
}

Result<JwtSvid> check(JwtSvidMessage message, const std::vector<std::string>& audiences,
                      TimePoint now) {
  const UnverifiedClaims claims = TRY(read_claims(message.svid));
  TRY(check_header(claims));
  TRY(check_subject(claims, message.spiffe_id));
  TRY(check_audiences(claims, audiences));
  if (!claims.expires_at) return Error::no_credential("the JWT-SVID has no 'exp'");
  TRY(check_lifetime(claims, now));
  return JwtSvid{.token = std::move(message.svid),
                 .spiffe_id = std::move(message.spiffe_id),
                 .expires_at = *claims.expires_at};
}

}  // namespace

Result<JwtSvid> check_jwt_svid(JwtSvidMessage message, const std::vector<std::string>& audiences,
                               TimePoint now) {
  std::string doing = "looking at the JWT-SVID of " + in_quotes(message.spiffe_id);
  return check(std::move(message), audiences, now).context(std::move(doing));
}

Result<JwtSvid> fetch_jwt_svid(const WorkloadApi& api, const std::vector<std::string>& audiences,
                               const SvidChoice& choice, const Clock& clock) {
  std::vector<JwtSvidMessage> messages = TRY(api.fetch_jwt_svids(audiences, choice.spiffe_id));
  std::vector<SvidCandidate> candidates;
  candidates.reserve(messages.size());
  for (const JwtSvidMessage& message : messages) {
    candidates.push_back({.spiffe_id = message.spiffe_id, .hint = message.hint});
  }
  const std::size_t chosen = TRY(choose_svid(candidates, choice));
  return check_jwt_svid(std::move(messages[chosen]), audiences, clock.now());
}

}  // namespace execcred
