// SPDX-License-Identifier: Apache-2.0
// What the writer of a ClusterProfile may set: after --from-profile, and in spec.cluster.config.
#include "support/token_file.hpp"

#include <doctest/doctest.h>

using namespace blackbox;

namespace {

struct Known {
  std::string option;
  std::string value;  // empty for switches
  std::string field;
};

// Every option that may not come from a ClusterProfile as an argument.
const std::vector<Known>& controllers_options() {
  static const std::vector<Known> options = {
      {"--token-file", "/etc/hostname", "tokenFile"},
      {"--exec-info", "/etc/hostname", "execInfo"},
      {"--api-version", "v1beta1", "apiVersion"},
      {"--timeout", "60s", "timeout"},
      {"--max-age", "1h", "maxAge"},
      {"--allow-server", "https://evil.example", "allowServer"},
      {"--allow-proxy", "http://evil.example", "allowProxy"},
      {"--server-ca-file", "/etc/hostname", "serverCaFile"},
      {"--allow-audience", "any", "allowAudience"},
      {"--cluster", "other", "cluster"},
      {"--show-config", "", "showConfig"},
      {"--debug", "", "debug"},
      {"--version", "", "version"},
      {"--help", "", "help"},
  };
  return options;
}

}  // namespace

TEST_SUITE_BEGIN("token_file");

TEST_CASE("boundary: after it, every option that is not marked for profiles is refused by name" *
          doctest::description("promise 6")) {
  const TokenFile file;
  for (const Known& known : controllers_options()) {
    CAPTURE(known.option);
    const std::string one = known.option.substr(1);  // with one dash
    std::vector<std::vector<std::string>> forms = {{known.option}, {one}};
    if (!known.value.empty()) {
      forms = {{known.option + "=" + known.value},
               {known.option, known.value},
               {one + "=" + known.value},
               {one, known.value}};
    }
    for (std::vector<std::string>& form : forms) {
      form.insert(form.begin(), "--from-profile");
      const Outcome outcome = file.run(form);
      CHECK_REFUSAL(outcome, 2, known.option);
      CHECK(says(outcome, "--from-profile"));
    }
  }
  CHECK_FAILURE(file.run({"--from-profile", "-h"}), 2,
                "--help stands behind --from-profile, and may not come from");
  CHECK_FAILURE(file.run({"--from-profile", "--no-such-option=1"}), 2,
                "unknown option '--no-such-option'");
  CHECK_FAILURE(file.run({"--from-profile", "word"}), 2, "argument 3 is no option");
}

TEST_CASE("boundary: an option before it applies, even if the same option is refused after it" *
          doctest::description("promise 6")) {
  const TokenFile file;
  CHECK_SUCCESS(file.run({"--timeout=5s", "--cluster=c1", "--from-profile"}));
  CHECK_REFUSAL(file.run({"--timeout=5s", "--from-profile", "--timeout=5s"}), 2, "--timeout");
}

TEST_CASE("boundary: a profile's option may be repeated with an equal value only" *
          doctest::description("promise 6")) {
  const TokenFile file;
  CHECK_SUCCESS(file.run({"--from-profile", "--audience=server", "--audience=server"}));
  CHECK_SUCCESS(file.run(
      {"--from-profile", "--audience=server", "-audience", "server", "--audience", "server"}));
  for (const std::string other : {"--audience=other", "-audience=other", "--audience=Server"}) {
    CHECK_REFUSAL(file.run({"--from-profile", "--audience=server", other}), 2, "--audience");
    CHECK_REFUSAL(file.run({"--from-profile", other, "--audience=server"}), 2, "--audience");
  }
}

TEST_CASE("boundary: an option before it cannot be changed after it" *
          doctest::description("promise 6")) {
  const TokenFile file;
  CHECK_SUCCESS(file.run({"--audience=server", "--from-profile", "--audience=server"}));
  CHECK_SUCCESS(
      file.run({"--audience=other", "--audience=server", "--from-profile", "--audience=server"}));
  CHECK_REFUSAL(file.run({"--audience=other", "--from-profile", "--audience=server"}), 2,
                "--audience");
  CHECK_REFUSAL(file.run({"--audience=server", "--from-profile", "--audience=other"}), 2,
                "--audience");
}

TEST_CASE("boundary: it may be given once, in either spelling" *
          doctest::description("promise 6")) {
  const TokenFile file;
  for (const std::string first : {"--from-profile", "-from-profile"}) {
    CHECK_FAILURE(file.run({first, "--debug"}), 2,
                  "--debug stands behind --from-profile, and may not come from");
    for (const std::string second : {"--from-profile", "-from-profile"}) {
      CHECK_REFUSAL(file.run({first, second}), 2, "--from-profile");
      CHECK_REFUSAL(file.run({first, "--audience=server", second}), 2, "--from-profile");
    }
  }
  for (const std::string value : {"true", "false", "0", ""}) {
    // In every spelling, the arguments after it must not count as the controller's.
    CHECK_FAILURE(file.run({"--from-profile=" + value, "--debug"}), 2,
                  "--from-profile takes no value");
  }
}

TEST_CASE("boundary: it affects neither cluster information nor a --version before it" *
          doctest::description("promise 6")) {
  const TokenFile file;
  CHECK_SUCCESS(file.run_for(kServer, {"--allow-server=https://10.1.2.3:6443", "--from-profile"}));
  CHECK(file.run({"--version", "--from-profile", "--audience=x"}).exit_code == 0);
}

TEST_CASE("config: a known option that no profile may set is refused by its field") {
  const TokenFile file;
  for (const Known& known : controllers_options()) {
    CAPTURE(known.field);
    for (const std::string value : {"\"x\"", "true", "[\"x\"]", "{}", "1", "\"\""}) {
      CAPTURE(value);
      const Outcome outcome =
          file.run_with_config("{\"" + known.field + "\":" + value + ",\"audience\":\"server\"}");
      CHECK_REFUSAL(outcome, 2, "spec.cluster.config." + known.field);
    }
  }
  const Outcome outcome = file.run_with_config(R"({"fromProfile":true})");
  CHECK_REFUSAL(outcome, 2, "spec.cluster.config.fromProfile");
}

TEST_CASE("config: unknown fields, and values that are not an object, are ignored") {
  const TokenFile file;
  for (const std::string config :
       {R"({"token-file":"/x","TOKENFILE":"/x","tokenfile":"/x","token_file":"/x"})",
        R"({"region":"r","clusterId":"c","secretName":"s","namespace":"n","":1})",
        R"({"nested":{"tokenFile":"/x"}})", R"(["tokenFile"])", "\"tokenFile\"", "null", "5"}) {
    CAPTURE(config);
    CHECK_SUCCESS(file.run_with_config(config));
  }
}

TEST_SUITE_END();
