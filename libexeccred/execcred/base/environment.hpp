// SPDX-License-Identifier: Apache-2.0
// The environment variables a run may read, taken once at the start.
//
// After take(), the process's own environment is empty: no variable (OPENSSL_CONF, SSLKEYLOGFILE,
// …) can influence a library that initialises later, and no child inherits one unasked.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred {

class Environment {
 public:
  Environment() : Environment(std::vector<std::string>()) {}
  // Entries of the form NAME=VALUE; others are ignored.
  explicit Environment(std::vector<std::string> entries);

  // Copies the process's environment.
  static Environment copy();
  // Copies the process's environment, then empties the process's own. Before other threads start.
  static Environment take();

  // Called with the name and value of each variable that get() finds. entries() calls it with an
  // empty name, and with all entries, each of which a NUL follows.
  using Observer = std::function<void(std::string_view name, std::string_view value)>;
  // The same variables, with an observer. has_names_with() tells it nothing.
  Environment observed(Observer observer) const;

  // An empty variable counts as unset. If a name occurs twice, the last one is used: a client
  // appends KUBERNETES_EXEC_INFO and exec.env to its own environment. The view is into entries(),
  // which copies of this object share.
  std::optional<std::string_view> get(std::string_view name) const;
  // Whether a variable's name starts with `prefix`, which must not contain "=".
  bool has_names_with(std::string_view prefix) const;

  // The entries in the form NAME=VALUE, in their original order.
  const std::vector<std::string>& entries() const;

 private:
  std::shared_ptr<const std::vector<std::string>> entries_;  // a copy has the same ones
  Observer observer_;
};

// The last entry of each name, in their original order. Earlier entries of the same name are left
// out, because getenv in another program would find the first one.
std::vector<std::string> last_of_each_name(const std::vector<std::string>& entries);

}  // namespace execcred
