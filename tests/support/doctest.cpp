// SPDX-License-Identifier: Apache-2.0
// doctest itself, once for all programs: compiling it takes longer than any test.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
