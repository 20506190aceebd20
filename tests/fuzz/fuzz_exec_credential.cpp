// SPDX-License-Identifier: Apache-2.0
// A plugin's answer: an accepted one is a complete credential for the requested version, and is the
// same after execcred has written it and read it again.
#include "fuzz.hpp"

#include <execcred/base/text.hpp>
#include <execcred/exec/exec_credential.hpp>

#include <algorithm>
#include <optional>
#include <string>

namespace execcred::fuzz {
namespace {

using std::chrono::sys_seconds;

void check_credential(const Credential& credential, ApiVersion version) {
  const bool has_pair = !credential.client_certificate.empty() && !credential.client_key.empty();
  const bool has_half = credential.client_certificate.empty() != credential.client_key.empty();
  require(has_pair || !credential.token.empty(), "a token, or a certificate with its key");
  require(!has_half, "no half of a pair");
  require(!has_control_character(credential.token.reveal()), "a token fits a header");

  std::optional<sys_seconds> end;
  if (credential.expires_at) end = std::chrono::floor<std::chrono::seconds>(*credential.expires_at);
  const SecretString answer = write_exec_credential(version, credential, end);
  const std::string_view text = answer.reveal();
  require(text.ends_with("}\n") && text.find('\n') == text.size() - 1, "one line");
  require(std::all_of(text.begin(), text.end(), [](char c) { return c >= 0; }), "ASCII");
  const Result<Credential> again = parse_exec_credential(text, version);
  require(again.has_value(), "what is written can be read");
  require(again->token.reveal() == credential.token.reveal(), "the same token");
  require(again->client_certificate == credential.client_certificate, "the same certificate");
  require(again->client_key.reveal() == credential.client_key.reveal(), "the same key");
  require(again->expires_at.has_value() == end.has_value() && (!end || *again->expires_at == *end),
          "the same end");
}

}  // namespace

void check(std::string_view input) {
  unsigned taken = 0;
  for (const ApiVersion version : {ApiVersion::v1, ApiVersion::v1beta1}) {
    const Result<Credential> credential = parse_exec_credential(input, version);
    if (credential) {
      ++taken;
      check_credential(*credential, version);
    } else {
      require(credential.error().kind == Error::Kind::no_credential, "a bad answer gives none");
    }
  }
  require(taken <= 1, "an answer is for one version");
}

}  // namespace execcred::fuzz
