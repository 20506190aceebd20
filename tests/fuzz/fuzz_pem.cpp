// SPDX-License-Identifier: Apache-2.0
// PEM, compared with OpenSSL: OpenSSL finds no certificate that execcred's parser does not find.
#include "fuzz.hpp"

#include <execcred/base/encoding.hpp>
#include <execcred/base/pem.hpp>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace execcred::fuzz {
namespace {

struct Closer {
  void operator()(BIO* bio) const { BIO_free(bio); }
};

// All texts that OpenSSL reads as a PEM block of any type.
std::vector<std::string> blocks_by_openssl(std::string_view text) {
  const std::unique_ptr<BIO, Closer> bio(
      BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  std::vector<std::string> blocks;
  char* name = nullptr;
  char* header = nullptr;
  unsigned char* data = nullptr;
  long size = 0;
  while (PEM_read_bio(bio.get(), &name, &header, &data, &size) == 1) {
    blocks.emplace_back(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
    OPENSSL_free(name);
    OPENSSL_free(header);
    OPENSSL_free(data);
  }
  ERR_clear_error();
  return blocks;
}

std::string to_pem(const std::vector<std::string>& certificates) {
  std::string text;
  for (const std::string& der : certificates) {
    const std::string body = encode_base64(der);
    text += "-----BEGIN CERTIFICATE-----\n";
    for (std::size_t i = 0; i < body.size(); i += 64) text += body.substr(i, 64) + "\n";
    text += "-----END CERTIFICATE-----\n";
  }
  return text;
}

}  // namespace

void check(std::string_view input) {
  const Result<std::vector<std::string>> ours = parse_pem_certificates(input);
  if (!ours) {
    require(ours.error().kind == Error::Kind::configuration, "malformed PEM is configuration");
    return;
  }
  require(!ours->empty(), "what is accepted holds a certificate");
  for (const std::string& block : blocks_by_openssl(input)) {
    require(std::find(ours->begin(), ours->end(), block) != ours->end(),
            "OpenSSL finds no block that ours did not");
  }
  const std::string clean = to_pem(*ours);
  const Result<std::vector<std::string>> again = parse_pem_certificates(clean);
  require(again.has_value() && *again == *ours, "the same certificates, written anew");
  require(blocks_by_openssl(clean) == *ours, "and OpenSSL reads those");
}

}  // namespace execcred::fuzz
