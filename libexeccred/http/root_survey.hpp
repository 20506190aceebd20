// SPDX-License-Identifier: Apache-2.0
// What there is where the system's CA certificates should be, to tell it when none was of use. It
// reads and decodes all of it, as nothing does that has to be fast.
#pragma once

#include <execcred/base/error.hpp>
#include <execcred/http/system_roots.hpp>

#include <cstddef>
#include <string>

namespace execcred {

struct RootSurvey {
  std::size_t certificates = 0;  // in the bundle that counts, and hash links that can be followed
  std::string text = {};         // "'/etc/ssl/cert.pem' (2 certificates, 1 malformed)", ...
};

RootSurvey survey_roots(const RootPaths& paths);

// Where nothing can be looked into, or all that is there holds no certificate (configuration).
Error no_roots(const RootPaths& paths);

}  // namespace execcred
