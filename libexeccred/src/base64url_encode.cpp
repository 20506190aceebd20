// SPDX-License-Identifier: Apache-2.0
#include "base64url_encode.hpp"

#include <execcred/base64.hpp>

#include <algorithm>
#include <string>

namespace execcred {

SecretString encode_base64url(std::string_view bytes) {
  std::string text = encode_base64(bytes);
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  SecretString encoded(std::string_view(text).substr(0, text.find('=')));
  wipe(text);
  return encoded;
}

}  // namespace execcred
