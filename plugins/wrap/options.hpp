// SPDX-License-Identifier: Apache-2.0
// The options of execcred-wrap.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/cache/credential_cache.hpp>
#include <execcred/exec/inner_program.hpp>
#include <execcred/exec/option_set.hpp>
#include <execcred/exec/profile_choice.hpp>
#include <execcred/exec/settings.hpp>

#include <string>
#include <vector>

namespace execcred::wrap {

// What the program prints.
enum class Output { exec_credential, token, json };

// A value of spec.cluster.config that may fill {config.FIELD}.
struct AllowedField {
  std::string field = {};
  ChoicePattern pattern = {};
};

struct Options {
  InnerCommand command = {};  // its arguments are templates
  Output output = Output::exec_credential;
  std::string token_field = {};
  std::string expires_field = {};
  bool pass_cluster = false;
  std::vector<AllowedField> allowed_fields = {};
  std::vector<std::string> expect_audiences = {};
  bool is_cached = false;
  std::vector<std::string> identity_files = {};
  CacheOptions cache = {};
};

void add_options(OptionSet& set, Options& options);

// Fails (configuration) for options that cannot be used together, and for templates that no
// ClusterProfile could fill.
Status check_options(const Options& options, const Settings& settings);

// Whether the program gets the client's document.
bool passes_cluster(const Options& options, const Settings& settings);

}  // namespace execcred::wrap
