// SPDX-License-Identifier: Apache-2.0
// users[].user.exec of a kubeconfig, or execConfig of a mapping. It is changed in place, so that
// other members stay.
#pragma once

#include "migration.hpp"

#include <execcred/json/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred::migrate {

// The member of this name, found as the document's readers find it: in a mapping, regardless of
// case. nullptr if there is none, if it is null, or if `object` is not an object.
json::Value* find_member(json::Value& object, std::string_view name, json::Keys keys);
// The same for a text: empty if there is no such member, or if it is not a string.
std::string text_member(json::Value& object, std::string_view name, json::Keys keys);

struct ExecReading {
  Invocation invocation;
  std::vector<std::string> malformed;  // "args[1]": elements that are no strings
};

ExecReading read_exec(json::Value& object, json::Keys keys);

// "/plugins/execcred-aws" for "/plugins" and "execcred-aws".
std::string plugin_path(const std::string& plugin_dir, std::string_view plugin);

// Writes the result of the migration. Adds a note to `migration` if the apiVersion had to change.
void write_exec(json::Value& object, json::Keys keys, Migration& migration,
                const std::string& plugin_dir);

}  // namespace execcred::migrate
