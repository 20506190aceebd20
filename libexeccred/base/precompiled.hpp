// SPDX-License-Identifier: Apache-2.0
// What most of libexeccred, the plugins and the command line include, parsed once: a third of what
// a file takes to compile without optimisation. Each file still includes what it uses: builds with
// optimisation and clang-tidy are without this.
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
