// SPDX-License-Identifier: Apache-2.0
// What most tests include, parsed once: half of what a test takes to compile.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>
