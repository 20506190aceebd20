// SPDX-License-Identifier: Apache-2.0
// One peer's plugin as data: its commands, and the rule for each flag and variable.
//
// A table has the rules that depend on one flag. Rules that depend on several flags (a login
// method, a role with a session) are marked `ask` in the table and decided by the peer's finish().
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace execcred::migrate {

struct Invocation;
class Migration;

struct Rule {
  enum class Action {
    keep,    // becomes an option of ours
    drop,    // dropped without harm; the text says why
    refuse,  // the user is left as it is; the text says why
    ask,     // left to finish()
  };
  enum class Shape { value, toggle, list };  // a list repeats, or has commas

  std::string_view name;  // a flag without dashes; a variable, where a final * stands for any rest
  Action action = Action::ask;
  // Of `keep`: execcred's option, such as "--cluster-id"; for a variable, empty if execcred's
  // plugin reads the same variable. Of `drop` and `refuse`: the reason.
  std::string_view text = {};
  char short_name = 0;
  Shape shape = Shape::value;

  constexpr Rule as_short(char c) const {
    Rule rule = *this;
    rule.short_name = c;
    return rule;
  }
  constexpr Rule as_toggle() const { return shaped(Shape::toggle); }
  constexpr Rule as_list() const { return shaped(Shape::list); }

 private:
  constexpr Rule shaped(Shape other) const {
    Rule rule = *this;
    rule.shape = other;
    return rule;
  }
};

constexpr Rule keep(std::string_view name, std::string_view option = {}) {
  return {.name = name, .action = Rule::Action::keep, .text = option};
}
constexpr Rule drop(std::string_view name, std::string_view why) {
  return {.name = name, .action = Rule::Action::drop, .text = why};
}
constexpr Rule refuse(std::string_view name, std::string_view why) {
  return {.name = name, .action = Rule::Action::refuse, .text = why};
}
constexpr Rule ask(std::string_view name) { return {.name = name}; }

using Words = std::vector<std::string_view>;

struct Peer {
  std::string_view name;         // "aws eks get-token"
  Words programs;                // the names its binary has
  Words subcommand = {};         // words among its arguments, in this order
  std::string_view plugin = {};  // ours: "execcred-aws"; empty if none of ours replaces it
  Words first = {};              // ours, whatever the arguments: "--type=jwt"
  std::span<const Rule> flags = {};
  std::span<const Rule> variables = {};
  std::string_view names_variable = {};  // a flag whose value is a variable that ours reads too
  // Python's argparse takes any start of a long flag that is the start of no other.
  bool takes_abbreviations = false;
  bool needs_cluster = false;  // ours takes a setting from spec.cluster.config
  // Any server that gets such a token could use it at other servers: --allow-server is needed.
  bool is_good_at_many_servers = false;
  std::string_view never = {};                   // why no user of it can be carried over
  bool is_wrappable = false;                     // of `never`: execcred-wrap can run it
  bool (*matches)(const Invocation&) = nullptr;  // where two peers share a name
  void (*finish)(Migration&) = nullptr;
};

}  // namespace execcred::migrate
