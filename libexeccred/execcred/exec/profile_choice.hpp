// SPDX-License-Identifier: Apache-2.0
// Identities that a ClusterProfile chooses, within what the mapping allows: a role, a client ID, a
// service account (OptionBuilder::chosen_among). So one mapping entry serves a fleet whose clusters
// need different identities, and the writer of a ClusterProfile gets only identities that the
// controller's side allows.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/exec/access_rules.hpp>
#include <execcred/exec/option_set.hpp>
#include <execcred/exec/settings.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred {

// An exact text, or a prefix that ends in "*". The comparison is byte by byte. After a prefix, the
// rest may contain only letters, digits and -._~:/@+=, and no path segment may be empty, be "." or
// contain "..". So it is no list, wildcard or encoding that another program could read as more than
// one name.
class ChoicePattern {
 public:
  // Fails (configuration) for "*" alone, a "*" elsewhere, a control character, and "any", which
  // other options accept.
  static Result<ChoicePattern> parse(std::string_view text);

  bool matches(std::string_view value) const;
  bool is_prefix() const { return text_.ends_with('*'); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Adds the option for such patterns, for example "allow-role". It cannot be set by an environment
// variable.
OptionBuilder add_choice_patterns(OptionSet& set, std::string_view name,
                                  std::vector<ChoicePattern>& patterns, std::string_view help);

// Checks every choice that came from the ClusterProfile. Without any pattern it fails with
// configuration; if no pattern matches, with no_credential.
Status check_choices(const OptionSet& options, const Settings& settings);

// Checks the audience that came from the ClusterProfile, as check_audience() does. If no provider
// is asked for it, an audience only restricts the token, so it is checked only if there are
// patterns.
Status check_audience_choice(const OptionSet& options, const Settings& settings,
                             const AccessRules& rules, const ExecInfo& info);

}  // namespace execcred
