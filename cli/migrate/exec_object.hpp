// SPDX-License-Identifier: Apache-2.0
// users[].user.exec of a kubeconfig, or execConfig of a mapping: read, and changed in place, so
// that other members stay.
#pragma once

#include "migration.hpp"

#include <execcred/json/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred::migrate {

// By the name as the document's readers match it: in a mapping, in any case. nullptr where there is
// none, it is null, or `object` is no object.
json::Value* find_member(json::Value& object, std::string_view name, json::Keys keys);
// Empty where it is no string.
std::string text_member(json::Value& object, std::string_view name, json::Keys keys);

struct ExecReading {
  Invocation invocation;
  std::vector<std::string> malformed;  // "args[1]": elements that are no strings
};

ExecReading read_exec(json::Value& object, json::Keys keys);

// "/plugins" and "execcred-aws" to "/plugins/execcred-aws".
std::string plugin_path(const std::string& plugin_dir, std::string_view plugin);

// Writes the result of the migration, and reports to it an apiVersion that had to change.
void write_exec(json::Value& object, json::Keys keys, Migration& migration,
                const std::string& plugin_dir);

}  // namespace execcred::migrate
