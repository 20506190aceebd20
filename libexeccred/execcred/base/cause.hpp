// SPDX-License-Identifier: Apache-2.0
// The causes that `execcred doctor` reports for a cluster that does not work. The ids are a
// contract: scripts and alerts compare them (docs/causes.md has a section for each).
//
// A plugin's error has one as Error::cause. It is set only where the cause is certain; otherwise
// cause_of() returns the general id of the error's kind. A wrong cause is worse than a general one.
#pragma once

#include <execcred/base/error.hpp>

#include <optional>
#include <string_view>

namespace execcred {

namespace cause {

#define CAUSE(constant, id) inline constexpr std::string_view constant = id;
#include <execcred/base/causes.inc>
#undef CAUSE

}  // namespace cause

// The known id that equals the text, with static storage duration; nullopt for any other text.
std::optional<std::string_view> known_cause(std::string_view text);

// The cause of a plugin's error: its own, or else the general one of its kind.
std::string_view cause_of(const Error& error);

}  // namespace execcred
