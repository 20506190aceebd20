// SPDX-License-Identifier: Apache-2.0
// EXECCRED_TRY by a short name. Not installed: a public header would define it for its users.
#pragma once

#include <execcred/base/result.hpp>

#define TRY(expression) EXECCRED_TRY(expression)
