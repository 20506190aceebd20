// SPDX-License-Identifier: Apache-2.0
// SPIFFE IDs (SPIFFE-ID standard, section 2): spiffe://TRUST_DOMAIN/PATH.
//
// There is exactly one spelling of each ID: no upper case in scheme and trust domain, no percent
// encoding, no empty, "." or ".." segment, no slash at the end. So two IDs are equal where their
// texts are.
#pragma once

#include <execcred/base/result.hpp>

#include <string>
#include <string_view>

namespace execcred {

class SpiffeId {
 public:
  // At most 2048 bytes, its trust domain at most 255. Fails (configuration) with a message that
  // quotes the text.
  static Result<SpiffeId> parse(std::string_view text);

  const std::string& text() const { return text_; }
  std::string_view trust_domain() const;

  bool operator==(const SpiffeId&) const = default;

 private:
  explicit SpiffeId(std::string text) : text_(std::move(text)) {}

  std::string text_;
};

// The text itself, for an option.
Result<std::string> checked_spiffe_id(const std::string& text);

// "example.org", also written as its ID, "spiffe://example.org". Fails (configuration).
Result<std::string> parse_trust_domain(std::string_view text);

}  // namespace execcred
