// SPDX-License-Identifier: Apache-2.0
//
// The identity of a loopback server: a certificate for 127.0.0.1, ::1 and localhost, and the
// authority that signed it. Both are made in memory for one server and are valid for a day, so no
// key is in the repository and no test starts to fail on a certain date.
#pragma once

#include <string>

#include "openssl_handles.hpp"

namespace execcred::test {

struct LoopbackIdentity {
  KeyPtr key;  // ECDSA P-256
  CertificatePtr certificate;
  std::string ca_pem;
};

// Throws std::runtime_error when OpenSSL fails.
LoopbackIdentity make_loopback_identity();

}  // namespace execcred::test
