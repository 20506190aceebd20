// SPDX-License-Identifier: Apache-2.0
#include "exec_object.hpp"

#include <execcred/base/text.hpp>
#include <execcred/exec/exec_credential.hpp>

#include <algorithm>
#include <utility>

namespace execcred::migrate {
namespace {

using json::Keys;
using json::Value;

auto find_entry(json::Object& members, std::string_view name, Keys keys) {
  const std::string folded = json::fold_key(name);
  return std::find_if(members.begin(), members.end(), [&](const json::Member& member) {
    return keys == Keys::exact ? member.name == name : json::fold_key(member.name) == folded;
  });
}

void set_member(Value& object, std::string_view name, Keys keys, Value value) {
  json::Object& members = *object.object();
  const auto found = find_entry(members, name, keys);
  if (found == members.end()) {
    object.add(name, std::move(value));
  } else {
    found->value = std::move(value);
  }
}

void erase_member(Value& object, std::string_view name, Keys keys) {
  json::Object& members = *object.object();
  const auto found = find_entry(members, name, keys);
  if (found != members.end()) members.erase(found);
}

void read_arguments(Value& object, Keys keys, ExecReading& reading) {
  Value* args = find_member(object, "args", keys);
  if (args == nullptr) return;
  if (args->array() == nullptr) {
    reading.malformed.emplace_back("args");
    return;
  }
  for (std::size_t i = 0; i < args->array()->size(); ++i) {
    const std::string* text = (*args->array())[i].string();
    if (text == nullptr) reading.malformed.push_back("args[" + std::to_string(i) + "]");
    reading.invocation.args.push_back(text == nullptr ? std::string() : *text);
  }
}

void read_variables(Value& object, Keys keys, ExecReading& reading) {
  Value* env = find_member(object, "env", keys);
  if (env == nullptr) return;
  if (env->array() == nullptr) {
    reading.malformed.emplace_back("env");
    return;
  }
  for (std::size_t i = 0; i < env->array()->size(); ++i) {
    Value& entry = (*env->array())[i];
    Value* name = find_member(entry, "name", keys);
    Value* value = find_member(entry, "value", keys);
    const bool is_whole = name != nullptr && name->string() != nullptr &&
                          (value == nullptr || value->string() != nullptr);
    if (!is_whole) {
      reading.malformed.push_back("env[" + std::to_string(i) + "]");
      continue;
    }
    reading.invocation.env.push_back(
        {.name = *name->string(), .value = value == nullptr ? std::string() : *value->string()});
  }
}

void write_version(Value& object, Keys keys, Migration& migration) {
  const std::string version = text_member(object, "apiVersion", keys);
  const std::string_view v1 = full_name(ApiVersion::v1);
  if (version == v1 || version == full_name(ApiVersion::v1beta1)) return;
  set_member(object, "apiVersion", keys, Value(v1));
  migration.note("apiVersion was " + (version.empty() ? "missing" : in_quotes(version)) +
                 ", and is " + std::string(v1) + " now");
}

Value to_json(const std::vector<EnvironmentVariable>& variables) {
  json::Array env;
  for (const EnvironmentVariable& variable : variables) {
    env.emplace_back(
        json::Object{{"name", Value(variable.name)}, {"value", Value(variable.value)}});
  }
  return Value(std::move(env));
}

}  // namespace

Value* find_member(Value& object, std::string_view name, Keys keys) {
  if (object.object() == nullptr) return nullptr;
  const auto found = find_entry(*object.object(), name, keys);
  return found == object.object()->end() || found->value.is_null() ? nullptr : &found->value;
}

std::string text_member(Value& object, std::string_view name, Keys keys) {
  Value* value = find_member(object, name, keys);
  return value == nullptr || value->string() == nullptr ? std::string() : *value->string();
}

ExecReading read_exec(Value& object, Keys keys) {
  ExecReading reading;
  reading.invocation.command = text_member(object, "command", keys);
  read_arguments(object, keys, reading);
  read_variables(object, keys, reading);
  return reading;
}

std::string plugin_path(const std::string& plugin_dir, std::string_view plugin) {
  return plugin_dir + (plugin_dir.ends_with('/') ? "" : "/") + std::string(plugin);
}

void write_exec(Value& object, Keys keys, Migration& migration, const std::string& plugin_dir) {
  write_version(object, keys, migration);
  set_member(object, "command", keys, Value(plugin_path(plugin_dir, migration.peer().plugin)));
  json::Array args;
  for (const std::string& argument : migration.args()) args.emplace_back(argument);
  if (args.empty()) {
    erase_member(object, "args", keys);
  } else {
    set_member(object, "args", keys, Value(std::move(args)));
  }
  if (migration.env().empty()) {
    erase_member(object, "env", keys);
  } else {
    set_member(object, "env", keys, to_json(migration.env()));
  }
  set_member(object, "installHint", keys,
             Value("put the execcred plugins under " + plugin_dir +
                   ", or change this command to where they are"));
  set_member(object, "interactiveMode", keys, Value("Never"));
  if (migration.peer().needs_cluster || migration.has("--allow-server")) {
    set_member(object, "provideClusterInfo", keys, Value(true));
  }
}

}  // namespace execcred::migrate
