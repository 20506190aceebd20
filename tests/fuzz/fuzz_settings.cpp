// SPDX-License-Identifier: Apache-2.0
// The boundary: the parts that the writer of a ClusterProfile controls (the arguments behind
// --from-profile, and spec.cluster.config) change no option of the controller and no set option.
//
// The input has four parts between lines of "%": arguments, arguments behind the boundary,
// variables, spec.cluster.config. The first three have one entry per line.
#include "fuzz.hpp"
#include "unit/settings_program.hpp"

#include <execcred/base/text.hpp>

#include <map>
#include <string>

namespace execcred::fuzz {
namespace {

using Origin = Setting::Origin;
using test::Program;
using test::Texts;

Texts lines(std::string_view text) {
  Texts found;
  if (text.empty()) return found;
  for (const std::string_view line : split(text, '\n')) found.emplace_back(line);
  return found;
}

std::map<std::string, Texts> values(const Program& program) {
  return {{"token-file", {program.token_file}},
          {"ca-file", {program.ca_file.string()}},
          {"timeout", {format_duration(program.timeout)}},
          {"audience", program.audiences},
          {"scope", program.scopes},
          {"allow-server", program.patterns},
          {"cluster", {program.cluster}},
          {"region", {program.region}},
          {"debug", {program.debug ? "true" : "false"}}};
}

// `alone` has read nothing of the profile, `with` has.
void check_unchanged(const Program& alone, const Program& with, bool has_config) {
  const std::map<std::string, Texts> before = values(alone);
  const std::map<std::string, Texts> after = values(with);
  for (const auto& [name, value] : before) {
    const Option& option = *with.options.find(name);
    const Setting& was = alone.settings.get(name);
    const Setting& is = with.settings.get(name);
    const bool is_open = option.profile == Option::Profile::config_and_arguments ||
                         (option.profile == Option::Profile::config && has_config);
    if (is_open && was.origin == Origin::unset) {
      require(is.origin == Origin::unset || is.is_from_profile(), "what a profile set is its own");
      continue;
    }
    require(is.origin == was.origin && is.texts == was.texts, "a setting is not the profile's");
    require(after.at(name) == value, "nor is what the program sees");
  }
}

bool reads(Program& program, const Texts& arguments, const Texts& variables,
           std::string_view config) {
  const Status status = program.read(arguments, variables, config);
  require(status || status.error().kind == Error::Kind::configuration,
          "a bad setting is configuration");
  return status.has_value();
}

}  // namespace

void check(std::string_view input) {
  const std::vector<std::string_view> given = parts(input, "\n%\n", 4);
  const Texts own = lines(given[0]);
  const Texts variables = lines(given[2]);
  Texts with_boundary = own;
  with_boundary.emplace_back("--from-profile");
  for (const std::string& argument : lines(given[1])) with_boundary.push_back(argument);

  Program alone;
  const bool is_good_alone = reads(alone, own, variables, {});
  Program with_config;
  if (reads(with_config, own, variables, given[3])) {
    require(is_good_alone, "a profile's config makes nothing good");
    check_unchanged(alone, with_config, true);
  }
  for (const std::string_view config : {std::string_view(), given[3]}) {
    Program with;
    if (!reads(with, with_boundary, variables, config)) continue;
    require(is_good_alone, "a profile's arguments make nothing good");
    require(with.from_profile, "the boundary was seen");
    check_unchanged(alone, with, !config.empty());
  }
}

}  // namespace execcred::fuzz
