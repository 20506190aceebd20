// SPDX-License-Identifier: Apache-2.0
// The standard headers that most of libexeccred, the plugins and the command line include. Parsing
// them takes a third of the time to compile a file without optimisation; here they are parsed once.
// Each file still includes what it uses, because builds with optimisation and clang-tidy do not use
// this header.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
