// SPDX-License-Identifier: Apache-2.0
// Headers that most tests include. Parsing them takes half of a test's compile time.
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
