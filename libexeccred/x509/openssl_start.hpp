// SPDX-License-Identifier: Apache-2.0
// How OpenSSL's libcrypto starts: with what TLS and X.509 need, which takes half the time of all
// that it has.
#pragma once

#include <execcred/base/result.hpp>

namespace execcred {

// To be called before anything else of libcrypto's or libssl's; again, it does nothing. No
// configuration file is read, for it can load code. Fails (internal) where OpenSSL does not start.
Status start_openssl();

}  // namespace execcred
