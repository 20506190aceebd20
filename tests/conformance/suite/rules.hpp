// SPDX-License-Identifier: Apache-2.0
// What a case is a rule of, for a choice of cases (--rules) and for the report. A case without one
// of these is a rule of the protocol.
#pragma once

#include <doctest/doctest.h>

namespace blackbox {

inline constexpr const char* kProtocolSuite = "protocol";
inline constexpr const char* kOwnSuite = "execcred";
// For the suite itself: its own checks find something.
inline constexpr const char* kSelfSuite = "suite";

inline const doctest::test_suite kOwnRules(kOwnSuite);
inline const doctest::test_suite kOfSuite(kSelfSuite);

}  // namespace blackbox
