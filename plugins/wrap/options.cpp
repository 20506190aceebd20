// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "arguments.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/cache_options.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace execcred::wrap {
namespace {

constexpr std::array<Named<Output>, 3> kOutputs = {{{"exec-credential", Output::exec_credential},
                                                    {"token", Output::token},
                                                    {"json", Output::json}}};
constexpr std::array<std::string_view, 1> kJson = {"json"};

// Names joined by dots, none of which is empty.
Result<std::string> parse_path(const std::string& text) {
  for (const std::string_view name : split(text, '.')) {
    if (name.empty())
      return Error::configuration(in_quotes(text) + " has an empty name", "like credential.token");
  }
  return text;
}

Result<AllowedField> parse_allowed_field(const std::string& text) {
  const std::size_t mark = text.find('=');
  if (mark == std::string::npos || mark == 0 || mark + 1 == text.size()) {
    return Error::configuration(in_quotes(text) + " is no FIELD=PATTERN", "like team=fleet-*");
  }
  AllowedField allowed = {.field = text.substr(0, mark)};
  allowed.pattern = TRY(ChoicePattern::parse(std::string_view(text).substr(mark + 1)));
  return allowed;
}

// A field that is an option of ours would mean two things.
Status check_allowed_fields(const Options& options, const OptionSet& set) {
  for (const AllowedField& allowed : options.allowed_fields) {
    const auto& all = set.all();
    const auto option = std::find_if(all.begin(), all.end(), [&](const Option& one) {
      const std::vector<std::string>& fields = one.config_fields;
      return camel_case(one.name) == allowed.field ||
             std::find(fields.begin(), fields.end(), allowed.field) != fields.end();
    });
    if (option == all.end()) continue;
    return Error::configuration(
        "--allow-config: " + in_quotes(allowed.field) + " is the option " + option->flag(),
        option->names_cluster ? "write {clusterName}" : "give the field another name");
  }
  return {};
}

}  // namespace

void add_options(OptionSet& set, Options& options) {
  // The ClusterProfile's settings are for the program.
  set.ignore_profile(true);
  set.group("Credential source");
  set.add_parsed("command", options.command, "JSON_ARRAY",
                 "Program that prints the credential, and its arguments", parse_inner_command)
      .command()
      .with_template()
      .secret()
      .required()
      .not_identity("the program's file and its arguments after templates are inputs")
      .example(R"(["/usr/local/bin/aws","eks","get-token","--cluster-name","{clusterName}"])");
  set.add_choice<kOutputs>("output", options.output, "exec-credential|token|json", "What it prints")
      .default_text("exec-credential");
  set.add_parsed("token-field", options.token_field, "FIELD",
                 "With --output=json: where the token is, names joined by dots", parse_path)
      .example("credential.token")
      .only_for("output", kJson, "leave it out");
  set.add_parsed("expires-field", options.expires_field, "FIELD",
                 "With --output=json: where the token's end is", parse_path)
      .example("credential.expires")
      .only_for("output", kJson, "leave it out");
  set.add("pass-cluster", options.pass_cluster,
          "Give the program the client's document, in KUBERNETES_EXEC_INFO")
      .default_text("true with --output=exec-credential");
  set.group("Access rules");
  set.add_parsed("allow-config", options.allowed_fields, "FIELD=PATTERN",
                 "Let a matching field of spec.cluster.config fill {config.FIELD}",
                 parse_allowed_field)
      .example("team=fleet-*")
      .no_environment()
      .not_identity("it only allows a value, which is an input itself");
  set.add("expect-audience", options.expect_audiences, "AUDIENCE",
          "Refuse a token whose aud claim has none of these")
      .not_identity("it only refuses a credential, also one that was kept");
  add_cache_options_on_request(set, options.cache, options.is_cached);
  set.add("identity-file", options.identity_files, "PATH",
          "File whose content decides whose credential it is")
      .only_for("cache", kCacheRequested);
}

Status check_options(const Options& options, const Settings& settings) {
  if (options.output == Output::json && options.token_field.empty()) {
    return Error::configuration("--output=json needs --token-field", "pass --token-field=FIELD");
  }
  TRY(check_allowed_fields(options, settings.options()));
  return check_arguments(options);
}

bool passes_cluster(const Options& options, const Settings& settings) {
  const bool is_set = settings.get("pass-cluster").origin != Setting::Origin::unset;
  return is_set ? options.pass_cluster : options.output == Output::exec_credential;
}

}  // namespace execcred::wrap
