// SPDX-License-Identifier: Apache-2.0
// SPIFFE IDs (SPIFFE-ID standard, section 2): spiffe://TRUST_DOMAIN/PATH.
//
// Each ID has exactly one spelling: no upper case in scheme and trust domain, no percent encoding,
// no empty, "." or ".." segment, no slash at the end. So two IDs are equal if their texts are
// equal.
// texts are.
#pragma once

#include <execcred/base/result.hpp>

#include <string>
#include <string_view>

namespace execcred {

class SpiffeId {
 public:
  // Parses an ID of at most 2048 bytes, with a trust domain of at most 255 bytes. Fails
  // (configuration) if it is malformed; the message quotes the text.
  static Result<SpiffeId> parse(std::string_view text);

  const std::string& text() const { return text_; }
  std::string_view trust_domain() const;

  bool operator==(const SpiffeId&) const = default;

 private:
  explicit SpiffeId(std::string text) : text_(std::move(text)) {}

  std::string text_;
};

// Returns the text if it is a SPIFFE ID: for an option. Fails as SpiffeId::parse() does.
Result<std::string> checked_spiffe_id(const std::string& text);

// Parses a trust domain: "example.org", or its ID "spiffe://example.org". Fails (configuration).
Result<std::string> parse_trust_domain(std::string_view text);

}  // namespace execcred
