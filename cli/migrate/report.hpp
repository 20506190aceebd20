// SPDX-License-Identifier: Apache-2.0
// The changes for people: one block for each user, and a line with the totals.
#pragma once

#include "document.hpp"

#include <string>

namespace execcred::migrate {

std::string report(const Rewritten& rewritten, const std::string& plugin_dir);
// Whether every user of a known peer was carried over.
bool is_complete(const Rewritten& rewritten);

}  // namespace execcred::migrate
