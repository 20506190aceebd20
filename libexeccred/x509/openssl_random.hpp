// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace execcred {

// Makes OpenSSL take each random byte from getrandom(2), as Go and BoringSSL do. Its own generators
// stretch what the kernel gives them, and need longer to start than the few hundred bytes of a
// request are worth. False where OpenSSL does not take it.
bool use_random_of_kernel();

}  // namespace execcred
