// SPDX-License-Identifier: Apache-2.0
// The set of rules to which a case belongs, for --rules and for the report. A case without one of
// these belongs to the protocol.
#pragma once

#include <doctest/doctest.h>

namespace blackbox {

inline constexpr const char* kProtocolSuite = "protocol";
inline constexpr const char* kOwnSuite = "execcred";
// For the suite itself: tests of its own checks.
inline constexpr const char* kSelfSuite = "suite";

inline const doctest::test_suite kOwnRules(kOwnSuite);
inline const doctest::test_suite kOfSuite(kSelfSuite);

}  // namespace blackbox
