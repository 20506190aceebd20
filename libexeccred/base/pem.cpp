// SPDX-License-Identifier: Apache-2.0
#include <execcred/base/pem.hpp>

#include <execcred/base/base64.hpp>
#include <execcred/base/text.hpp>

#include <optional>

namespace execcred {
namespace {

constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----";
constexpr std::string_view kEnd = "-----END CERTIFICATE-----";

Error malformed(std::string message) {
  return Error{.kind = Error::Kind::configuration, .message = std::move(message)};
}

}  // namespace

Result<std::vector<std::string>> parse_pem_certificates(std::string_view text) {
  std::vector<std::string> certificates;
  std::optional<std::string> body;  // the block that is open
  for (const std::string_view raw : split(text, '\n')) {
    const std::string_view line = trim(raw);
    if (line == kBegin && !body) {
      body.emplace();
    } else if (line == kEnd && body) {
      std::optional<std::string> der = decode_base64(*body);
      if (!der || der->empty()) return malformed("holds a certificate that is not base64");
      certificates.push_back(*std::move(der));
      body.reset();
    } else if (line.find("-----") != std::string_view::npos) {
      return malformed("holds something other than CERTIFICATE blocks");
    } else if (body && line.empty()) {
      // To OpenSSL it ends a header, and only what follows is the certificate.
      return malformed("holds a certificate with an empty line in it");
    } else if (body) {
      body->append(line);
    }
  }
  if (body) return malformed("holds a certificate without its END line");
  if (certificates.empty()) return malformed("holds no certificate");
  return certificates;
}

}  // namespace execcred
