// SPDX-License-Identifier: Apache-2.0
// Credentials in JSON from metadata servers, containers' agents and programs: accepted credentials
// can sign a request, and are the same after they were written and read again.
#include "fuzz.hpp"

#include <execcred/aws/credentials.hpp>
#include <execcred/aws/region.hpp>
#include <execcred/base/text.hpp>

#include <chrono>
#include <string>

namespace execcred::fuzz {
namespace {

void check_credentials(const json::Value& document, std::string_view token_member) {
  const auto credentials = aws_credentials_of_json(document, token_member);
  if (!credentials) {
    require(credentials.error().kind == Error::Kind::no_credential, "the other side is at fault");
    return;
  }
  require(is_visible_ascii(credentials->access_key_id) &&
              credentials->access_key_id.find('/') == std::string::npos,
          "an id that can stand in a scope");
  require(is_visible_ascii(credentials->secret_access_key.reveal()) &&
              is_visible_ascii(credentials->session_token.reveal()),
          "words that can stand in a request");
  const auto text = write_aws_credentials(*credentials);
  const auto kept = json::parse(text.reveal());
  require(kept.has_value(), "what is kept is JSON");
  const auto again = aws_credentials_of_json(*kept, "SessionToken");
  require(again.has_value(), "and is taken");
  require(again->access_key_id == credentials->access_key_id &&
              again->secret_access_key.reveal() == credentials->secret_access_key.reveal() &&
              again->session_token.reveal() == credentials->session_token.reveal(),
          "and is the same");
  require(again->expires_at.has_value() == credentials->expires_at.has_value(), "with its end");
  if (!again->expires_at) return;
  const auto cut = *credentials->expires_at - *again->expires_at;
  require(cut.count() >= 0 && cut < std::chrono::seconds(1), "to the second");
}

void check_zone(std::string_view input) {
  const std::string region = aws_region_of_zone(input);
  require(region.empty() || is_aws_region(region), "a zone's region is one");
  require(input.starts_with(region), "its beginning");
  if (!is_aws_region(input)) return;
  require(input.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos,
          "a region that is a label of a host's name");
  require(input.size() <= 32, "and short");
}

}  // namespace

void check(std::string_view input) {
  check_zone(input);
  const Result<json::Value> document = json::parse(input);
  if (!document) return;
  check_credentials(*document, "Token");
  check_credentials(*document, "SessionToken");
}

}  // namespace execcred::fuzz
