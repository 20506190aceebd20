// SPDX-License-Identifier: Apache-2.0
// Secrets that no message may show, and messages without them.
//
// A server may repeat what it was sent in any part of its reply. So no reader of a reply has to
// remember what to hide: the sender records it, and each error is redacted where it leaves the
// call.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace execcred {

class KnownSecrets {
 public:
  void add(const SecretString& secret);
  void add(const SecretTexts& secrets);
  void clear() { secrets_.clear(); }

  // The text with "***" for each part of 12 characters that is also in a secret, as it is, as a
  // form has it (form_urlencode), or as printable() writes it. Before "...", where a text was cut,
  // and beside "***" four characters suffice. A shorter secret is searched for as a whole, unless
  // it has less than four characters. If it has lower-case letters, "-" and "_" alone, it may be an
  // ordinary word: it must have eight characters then, and stand alone. The time is linear in the
  // lengths of the text and the secrets.
  std::string redacted(std::string_view text) const;

  // The error with such a message, context and hint.
  Error redacted(Error error) const;
  template <class T>
  Result<T> redacted(Result<T> result) const {
    if (!result) return redacted(std::move(result).error());
    return result;
  }

 private:
  SecretTexts secrets_;
};

}  // namespace execcred
