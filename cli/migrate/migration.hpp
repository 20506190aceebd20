// SPDX-License-Identifier: Apache-2.0
// The migration of one user from a peer's plugin to execcred's: the old and the new command, and
// every change with its reason. The value of a variable may be a secret. It is shown only if the
// variable becomes an option.
#pragma once

#include "arguments.hpp"
#include "rule.hpp"

#include <execcred/kube/provider_mapping.hpp>

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace execcred::migrate {

// The user's current command.
struct Invocation {
  std::string command = {};
  std::vector<std::string> args = {};
  std::vector<EnvironmentVariable> env = {};
  // The object is in a mapping whose ClusterProfiles append arguments: missing options may come
  // from there.
  bool has_profile_arguments = false;
};

struct Change {
  enum class Kind { kept, added, dropped, refused, note };
  Kind kind;
  std::string text;
};

class Migration {
 public:
  // `peer` must outlive it. The command and all arguments of wrapped_program() are kept.
  Migration(const Peer& peer, Invocation invocation);
  Migration(const Migration&) = delete;
  Migration& operator=(const Migration&) = delete;
  Migration(Migration&&) = default;
  Migration& operator=(Migration&&) = default;
  ~Migration() = default;

  const Peer& peer() const { return *peer_; }
  bool has_profile_arguments() const { return invocation_.has_profile_arguments; }
  const std::vector<std::string>& args() const { return args_; }
  const std::vector<EnvironmentVariable>& env() const { return env_; }
  const std::vector<Change>& changes() const { return changes_; }
  // Whether nothing was refused, so that the user may be rewritten.
  bool is_complete() const { return is_complete_; }

  // The values of a flag, for an `ask` rule: the last one, all of them (a list is split into its
  // parts), or whether a toggle is on. Empty or false if the flag was not given.
  std::string flag(std::string_view name) const;
  std::vector<std::string> flags(std::string_view name) const;
  bool is_on(std::string_view name) const;
  // The last value of a variable in the user's env, also of one without a rule. Empty if it is not
  // set.
  std::string variable(std::string_view name) const;
  // Whether execcred's option ("--cluster-id") is among the new arguments.
  bool has(std::string_view option) const;

  // `subject` is the flag or variable as it was typed. `option` is execcred's option.
  void keep(std::string_view subject, std::string_view option, std::string_view value);
  void keep_variable(std::string_view name);
  void add(std::string_view option, std::string_view value, std::string_view why);
  void drop(std::string_view subject, std::string_view why);
  // The same, only if the flag or variable was given.
  void drop_flag(std::string_view name, std::string_view why);
  void drop_variable(std::string_view name, std::string_view why);
  void refuse(std::string_view subject, std::string_view why);
  void note(std::string_view text);
  // Adds --from-profile, which must be the last argument.
  void add_boundary();

 private:
  void keep_command();
  void apply(const Given& given, bool is_last);
  void apply_variables();
  void check_result();
  void apply(const EnvironmentVariable& variable);
  bool set(std::string_view subject, std::string_view option, std::string_view value);
  const Given* find(std::string_view name) const;
  void report(Change::Kind kind, std::string text);

  const Peer* peer_;
  Invocation invocation_;
  std::vector<Given> given_;
  // The last flag and the last variable of each name.
  std::unordered_map<std::string_view, const Given*> last_given_;
  std::unordered_map<std::string_view, const EnvironmentVariable*> last_variables_;
  std::vector<std::string> args_;
  std::vector<EnvironmentVariable> env_;
  std::vector<Change> changes_;
  bool is_complete_ = true;
};

// "variable NAME".
std::string variable_subject(std::string_view name);

}  // namespace execcred::migrate
