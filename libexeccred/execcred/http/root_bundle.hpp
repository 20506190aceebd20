// SPDX-License-Identifier: Apache-2.0
// A bundle of CA certificates in PEM, of which only those that are asked for are decoded.
#pragma once

#include <execcred/x509/openssl.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred {

class RootBundle {
 public:
  // Reads the bundle as OpenSSL does: there may be text around the blocks, and line ends may be LF
  // or CRLF. Malformed blocks are skipped, while OpenSSL would refuse the whole bundle.
  explicit RootBundle(std::string pem);

  RootBundle(const RootBundle&) = delete;
  RootBundle& operator=(const RootBundle&) = delete;

  // The certificates with this subject; names are compared as OpenSSL compares them. A "TRUSTED
  // CERTIFICATE" block keeps its trust settings.
  std::vector<X509Owner> find(const X509_NAME& subject) const;

 private:
  struct Entry {
    std::string_view text = {};  // base64 in lines, in pem_
    bool is_trusted_form = false;
    std::string subject = {};  // DER
  };

  std::string pem_;
  std::vector<Entry> entries_;
};

}  // namespace execcred
