// SPDX-License-Identifier: Apache-2.0
// JWT-SVIDs, compared with nlohmann/json: only what the standard allows is accepted.
//
// The input has two parts with a line of "%" between them: header and claims. It is also used as a
// whole token.
#include "fuzz.hpp"

#include <execcred/base/encoding.hpp>
#include <execcred/spiffe/jwt_svid.hpp>
#include <execcred/spiffe/spiffe_id.hpp>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace execcred::fuzz {
namespace {

using nlohmann::json;

constexpr TimePoint kNow = TimePoint(std::chrono::seconds(1'782'905'000));
constexpr double kNowSeconds = 1'782'905'000;
const std::string kId = "spiffe://example.org/a";
const std::vector<std::string> kAudiences = {"a", "b"};

std::string base64url(std::string_view bytes) {
  return std::string(encode_base64url(bytes).reveal());
}

std::string text_of(const json& object, const char* name) {
  return object.contains(name) && object[name].is_string() ? object[name].get<std::string>() : "";
}

bool is_header(const json& header) {
  const std::string algorithm = text_of(header, "alg");
  const bool is_known =
      algorithm.size() == 5 &&
      std::set<std::string>{"RS", "ES", "PS"}.count(algorithm.substr(0, 2)) == 1 &&
      std::set<std::string>{"256", "384", "512"}.count(algorithm.substr(2)) == 1;
  const std::string type = text_of(header, "typ");
  return is_known && (!header.contains("typ") || type == "JWT" || type == "JOSE");
}

bool is_for(const json& claims, const std::string& audience) {
  if (!claims.contains("aud")) return false;
  const json& aud = claims["aud"];
  return aud.is_array() ? std::find(aud.begin(), aud.end(), json(audience)) != aud.end()
                        : aud == json(audience);
}

// What must be true of an accepted JWT-SVID.
void check_taken(const json& header, const json& claims) {
  require(header.is_object() && claims.is_object(), "header and claims are objects");
  require(is_header(header), "algorithm and type are of the standard");
  require(text_of(claims, "sub") == kId, "its subject is the agent's");
  for (const std::string& audience : kAudiences) require(is_for(claims, audience), "its audiences");
  require(claims.contains("exp") && claims["exp"].is_number(), "it has an end");
  require(claims["exp"].get<double>() > kNowSeconds, "which is to come");
  require(!claims.contains("nbf") || claims["nbf"].get<double>() < kNowSeconds + 61,
          "and has begun, but for a minute");
}

Result<JwtSvid> judged(const std::string& token) {
  Result<JwtSvid> svid =
      check_jwt_svid({.spiffe_id = kId, .svid = SecretString(token)}, kAudiences, kNow);
  if (!svid) {
    require(svid.error().kind == Error::Kind::no_credential, "a bad one is no credential");
    return svid;
  }
  require(svid->token.reveal() == token, "it is given away as it came");
  require(svid->expires_at > kNow && svid->spiffe_id == kId, "with its end and ID");
  require(std::count(token.begin(), token.end(), '.') == 2, "in compact form");
  return svid;
}

}  // namespace

void check(std::string_view input) {
  // The input as a token.
  if (judged(std::string(input))) {
    const std::vector<std::string_view> found = parts(input, ".", 3);
    check_taken(json::parse(decode_base64url(found[0]).value(), nullptr, false),
                json::parse(decode_base64url(found[1]).value(), nullptr, false));
  }
  const std::vector<std::string_view> given = parts(input, "\n%\n", 2);
  const std::string token = base64url(given[0]) + "." + base64url(given[1]) + ".c2ln";
  if (judged(token)) {
    const json claims = json::parse(given[1], nullptr, false);
    // Unread claims may contain numbers that no double can hold.
    if (claims.is_discarded() && given[1].find_first_of("0123456789") != given[1].npos) return;
    check_taken(json::parse(given[0], nullptr, false), claims);
    require(!judged(token + "."), "nothing may follow");
    require(!judged(token.substr(0, token.rfind('.') + 1)), "nor the signature be missing");
  }
}

}  // namespace execcred::fuzz
