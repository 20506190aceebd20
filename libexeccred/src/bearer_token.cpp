// SPDX-License-Identifier: Apache-2.0
#include <execcred/bearer_token.hpp>
#include <execcred/text.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace execcred {
namespace {

struct Mistake {
  std::string_view start;
  std::string_view what;
};

constexpr std::array<Mistake, 6> kMistakes = {{{"-----BEGIN", "a PEM file"},
                                               {"LS0tLS1CRUdJTi", "a PEM file in base64"},
                                               {"apiVersion:", "a kubeconfig"},
                                               {"YXBpVmVyc2lvbj", "a kubeconfig in base64"},
                                               {"{", "a JSON document"},
                                               {"[", "a JSON document"}}};

Error unfit(const std::string& message) {
  return Error{.kind = Error::Kind::no_credential,
               .message = message,
               .hint = "it must hold one bearer token and nothing else"};
}

}  // namespace

Result<SecretString> bearer_token(const SecretString& content) {
  SecretString token = content.trimmed();
  const std::string_view text = token.reveal();
  if (text.empty()) return unfit("the token is empty");
  for (const Mistake& mistake : kMistakes) {
    if (text.starts_with(mistake.start)) {
      return unfit("this is " + std::string(mistake.what) + ", not a token");
    }
  }
  if (is_visible_ascii(text)) return token;
  if (std::any_of(text.begin(), text.end(), is_space)) {
    return unfit("this is more than one word, so it is no token");
  }
  return unfit("the token has a byte that no HTTP header may hold");
}

}  // namespace execcred
