// SPDX-License-Identifier: Apache-2.0
// The places in a text that is known to be well-formed JSON or YAML. `lines` is the number of lines
// before it in the whole text. The first document has the number `document`.
#pragma once

#include <execcred/yaml/places.hpp>

#include <cstddef>
#include <string_view>

namespace execcred {

void walk_json(std::string_view text, std::size_t lines, std::size_t document,
               const ReceivePlace& receive);
void walk_yaml(std::string_view text, std::size_t lines, std::size_t document,
               const ReceivePlace& receive);

}  // namespace execcred
