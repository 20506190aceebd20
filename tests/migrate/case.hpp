// SPDX-License-Identifier: Apache-2.0
// Test cases: the command and variables of another plugin, and the expected result of migrate.
#pragma once

#include "migrate/peers.hpp"
#include "unit/expect.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace execcred::migrate::test {

using Texts = std::vector<std::string>;

// "NAME=value" entries.
inline std::vector<EnvironmentVariable> variables(const Texts& entries) {
  std::vector<EnvironmentVariable> list;
  for (const std::string& entry : entries) {
    const std::size_t equals = entry.find('=');
    list.push_back({.name = entry.substr(0, equals), .value = entry.substr(equals + 1)});
  }
  return list;
}

inline Texts texts(const std::vector<EnvironmentVariable>& list) {
  Texts entries;
  for (const EnvironmentVariable& variable : list) {
    entries.push_back(variable.name + "=" + variable.value);
  }
  return entries;
}

inline std::string lines(const Texts& list) {
  std::string text;
  for (const std::string& line : list) text += line + "\n";
  return text;
}

inline std::string changes(const Migration& migration, Change::Kind kind) {
  std::string text;
  for (const Change& change : migration.changes()) {
    if (change.kind == kind) text += change.text + "\n";
  }
  return text;
}

struct Carried {
  std::string_view plugin;
  Texts command;  // with its arguments
  Texts env;
  Texts new_args;
  Texts new_env = {};
  std::string_view told = {};  // a part of the changes
};

struct Refused {
  Texts command;
  Texts env;
  std::string_view subject;  // named with a reason
};

inline Migration migrate(const Texts& command, const Texts& env) {
  const Invocation invocation{.command = command.front(),
                              .args = {command.begin() + 1, command.end()},
                              .env = variables(env)};
  const Peer* peer = find_peer(invocation);
  REQUIRE_MESSAGE(peer != nullptr, lines(command));
  return {*peer, invocation};
}

inline std::string all_changes(const Migration& migration) {
  std::string text;
  for (const Change& change : migration.changes()) text += change.text + "\n";
  return text;
}

inline void check(const Carried& carried) {
  const std::string command = lines(carried.command);
  CAPTURE(command);
  const Migration migration = migrate(carried.command, carried.env);
  CHECK(changes(migration, Change::Kind::refused) == "");
  CHECK(migration.is_complete());
  CHECK(migration.peer().plugin == carried.plugin);
  CHECK(lines(migration.args()) == lines(carried.new_args));
  CHECK(lines(texts(migration.env())) == lines(carried.new_env));
  CHECK_MESSAGE(execcred::test::contains(all_changes(migration), carried.told),
                all_changes(migration));
}

inline void check(const Refused& refused) {
  const std::string command = lines(refused.command);
  CAPTURE(command);
  const Migration migration = migrate(refused.command, refused.env);
  CHECK_FALSE(migration.is_complete());
  const std::string told = "\n" + changes(migration, Change::Kind::refused);
  CHECK_MESSAGE(execcred::test::contains(told, "\n" + std::string(refused.subject) + ": "), told);
  CHECK_MESSAGE(!execcred::test::contains(all_changes(migration), "S3CRET"),
                all_changes(migration));
}

}  // namespace execcred::migrate::test
