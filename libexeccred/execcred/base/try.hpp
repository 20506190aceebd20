// SPDX-License-Identifier: Apache-2.0
// A short name for EXECCRED_TRY. Not installed: a public header would define it for its users.
#pragma once

#include <execcred/base/result.hpp>

#define TRY(expression) EXECCRED_TRY(expression)
