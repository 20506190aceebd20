// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace execcred::cli {

// What --version prints.
std::string version_text();

// The document of execcred version -o json.
std::string version_json();

}  // namespace execcred::cli
