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
  // As OpenSSL reads bundles: text may stand around the blocks, line ends may be LF or CRLF.
  // Malformed blocks are skipped; OpenSSL would refuse the whole bundle.
  explicit RootBundle(std::string pem);

  RootBundle(const RootBundle&) = delete;
  RootBundle& operator=(const RootBundle&) = delete;

  // The certificates with this subject, compared as OpenSSL compares names. A "BEGIN TRUSTED
  // CERTIFICATE" keeps what it says about trust.
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
