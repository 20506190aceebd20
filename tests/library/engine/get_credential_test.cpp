// SPDX-License-Identifier: Apache-2.0
// Running a resolved plugin. The plugins are shell scripts.
#include "conformance/build_kind.hpp"
#include "support/tls_identity.hpp"
#include "unit/expect.hpp"
#include "unit/temp_dir.hpp"

#include <doctest/doctest.h>
#include <execcred/base/rfc3339.hpp>
#include <execcred/engine/plugin_run.hpp>

#include <array>
#include <string>
#include <vector>

namespace execcred {
namespace {

using namespace std::chrono_literals;
using test::check_fails;
using test::TempDir;
using test::write_file;

constexpr Duration kPatience = 60s;

// A shell command that prints an answer as a plugin does.
std::string print(const std::string& status, std::string_view version = "v1") {
  return R"(printf '%s\n' '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/)" +
         std::string(version) + R"(","status":)" + status + "}'\n";
}

class Plugin {
 public:
  explicit Plugin(const std::string& script, std::string_view name = "plugin")
      : path_(write_file(dir_ / name, "#!/bin/sh\n" + script, 0755)) {}

  Access access() const {
    return {.cluster_profile = "fleet/spoke",
            .provider = "x",
            .source = "status.accessProviders[0]",
            .exec = {.command = path_.native()},
            .cluster = {.server = "https://h"}};
  }
  Result<Credential> run(const Access& access, std::vector<std::string> variables = {}) const {
    variables.emplace_back("PATH=/usr/bin:/bin");
    return get_credential(access, Environment(std::move(variables)), kPatience);
  }
  Result<Credential> run() const { return run(access()); }
  std::string path() const { return path_.native(); }

 private:
  TempDir dir_;
  std::filesystem::path path_;
};

TEST_CASE("get_credential: returns the credential that the plugin printed") {
  const Plugin token(print(R"({"token":"t","expirationTimestamp":"2200-01-01T00:00:00Z"})"));
  Result<Credential> credential = token.run();
  REQUIRE(credential);
  CHECK(credential->token.reveal() == "t");
  CHECK(*credential->expires_at == *parse_rfc3339("2200-01-01T00:00:00Z"));
  const std::string certificate =
      "-----BEGIN CERTIFICATE-----\\nAAAA\\n-----END CERTIFICATE-----\\n";
  const std::string key = "-----BEGIN PRIVATE KEY-----\\nAAAA\\n-----END PRIVATE KEY-----\\n";
  const auto pair_of = [](const std::string& one, const std::string& other) {
    return print(R"({"clientCertificateData":")" + one + R"(","clientKeyData":")" + other + "\"}");
  };
  const std::string parameters =
      "-----BEGIN EC PARAMETERS-----\\nBggq\\n-----END EC PARAMETERS-----\\n";
  CHECK(Plugin(pair_of(parameters + certificate + key, key)).run());
  for (const auto& [text, problem] :
       {std::pair(pair_of("C", key), "it has no -----BEGIN line"),
        std::pair(pair_of(key, key), "it holds 'PRIVATE KEY'"),
        std::pair(pair_of(certificate.substr(0, 40), key),
                  "the 'CERTIFICATE' of line 1 has no END line"),
        std::pair(pair_of("  " + certificate, key),
                  "white space or text is before the -----BEGIN of line 1")}) {
    check_fails(
        Plugin(text).run(), Error::Kind::no_credential,
        "status.clientCertificateData holds no certificate in PEM: " + std::string(problem));
  }
  check_fails(Plugin(pair_of(certificate, "K")).run(), Error::Kind::no_credential,
              "status.clientKeyData is no private key in PEM");
  const Plugin pair(pair_of(certificate, key));
  credential = pair.run();
  REQUIRE(credential);
  CHECK(credential->client_certificate.starts_with("-----BEGIN CERTIFICATE-----\n"));
  CHECK(credential->client_key.reveal().ends_with("-----END PRIVATE KEY-----\n"));
  CHECK_FALSE(credential->expires_at);
  const Plugin noisy("echo noise >&2\n" + print(R"({"token":"t"})"));
  CHECK(noisy.run());
}

TEST_CASE("get_credential: the plugin gets its arguments and the client's document") {
  const TempDir dir;
  const Plugin plugin("printf '[%s]' \"$@\" >" + (dir / "arguments").native() +
                      "\nprintf %s \"$KUBERNETES_EXEC_INFO\" >" + (dir / "info").native() + "\n" +
                      print(R"({"token":"t"})"));
  for (const bool provides : {false, true}) {
    Access access = plugin.access();
    access.exec.args = {"--a b", "", "$HOME"};
    access.exec.provide_cluster_info = provides;
    REQUIRE(plugin.run(access));
    const auto read = [&dir](std::string_view name) {
      std::ifstream file(dir / name, std::ios::binary);
      return std::string(std::istreambuf_iterator<char>(file), {});
    };
    CHECK(read("arguments") == "[--a b][][$HOME]");
    CHECK(read("info") == write_exec_info(access.exec_info()));
  }
}

TEST_CASE(
    "get_credential: the caller's variables, then the mapping's, then the document, last wins") {
  // Reads the environment of the process start, because a shell removes duplicate names.
  const Plugin plugin(
      R"sh(given=$(tr '\0\n' '\n ' </proc/$$/environ | grep -v '^PATH=' | cut -c 1-30 | tr '\n' ,)
printf '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"%s"}}' \
  "$(printf %s "$given" | tr -d '"')"
)sh");
  Access access = plugin.access();
  access.exec.env = {{"BOTH", "mapping"}, {"MAPPED", "mapping"}, {"TWICE", "1"},
                     {"TWICE", "2"},      {"EMPTY", ""},         {"KUBERNETES_EXEC_INFO", "stale"}};
  const Result<Credential> credential =
      plugin.run(access, {"CALLER=caller", "BOTH=caller", "DOUBLE=1", "DOUBLE=2", "EMPTY=full",
                          "KUBERNETES_EXEC_INFO=stale"});
  if (!credential) FAIL(test::full_text(credential.error()));
  CHECK(credential->token.reveal() ==
        "CALLER=caller,DOUBLE=2,BOTH=mapping,MAPPED=mapping,TWICE=2,EMPTY=,"
        "KUBERNETES_EXEC_INFO={kind:,");
}

TEST_CASE("get_credential: the exit code determines the kind of error, for any plugin" *
          doctest::description("promise 23")) {
  struct Case {
    int code;
    Error::Kind kind;
  };
  for (const Case& c : std::array<Case, 7>{{{1, Error::Kind::no_credential},
                                            {2, Error::Kind::configuration},
                                            {3, Error::Kind::unavailable},
                                            {70, Error::Kind::internal},
                                            {4, Error::Kind::no_credential},
                                            {127, Error::Kind::no_credential},
                                            {255, Error::Kind::no_credential}}}) {
    CAPTURE(c.code);
    // Output before a failure is ignored.
    const Plugin plugin(print(R"({"token":"s3cret"})") + "exit " + std::to_string(c.code));
    const Result<Credential> credential = plugin.run();
    check_fails(credential, c.kind, "exit code " + std::to_string(c.code));
    check_fails(credential, c.kind, "ClusterProfile fleet/spoke with provider 'x'");
    CHECK_FALSE(test::contains(test::full_text(credential.error()), "s3cret"));
  }
}

TEST_CASE("get_credential: the context and the hint of an execcred plugin's error are passed on") {
  const Plugin plugin(
      "printf '%s\\n' 'execcred-x: error: cannot read it' '  while trying' '  hint: do better' "
      ">&2\n"
      "exit 2",
      "execcred-x");
  const Result<Credential> credential = plugin.run();
  check_fails(credential, Error::Kind::configuration, "execcred-x: cannot read it");
  CHECK(credential.error().message == "execcred-x: cannot read it");
  CHECK(credential.error().hint == "do better");
  REQUIRE(credential.error().context.size() == 2);
  CHECK(credential.error().context.front() == "trying");
}

TEST_CASE("get_credential: the first line of another plugin's error output is shown") {
  const Plugin plugin("printf 'cannot log in\\nusage: many lines\\n' >&2; exit 1");
  const Result<Credential> credential = plugin.run();
  check_fails(credential, Error::Kind::no_credential, "exit code 1: cannot log in");
  CHECK_FALSE(test::contains(credential.error().message, "usage"));
}

TEST_CASE("get_credential: a plugin that a signal ended is reported as unavailable") {
  const Plugin plugin(print(R"({"token":"s3cret"})") + "kill -KILL $$");
  const Result<Credential> credential = plugin.run();
  check_fails(credential, Error::Kind::unavailable, "signal 9");
}

TEST_CASE("get_credential: the error of a plugin that cannot be started has a fitting hint") {
  if (!blackbox::kSaysWhyNotStarted) {
    MESSAGE(blackbox::skipped_by_spawn());
    return;
  }
  const Plugin plugin("");
  Access access = plugin.access();
  access.exec.command = plugin.path() + "-missing";
  access.exec.install_hint = "get it from example.com";
  check_fails(plugin.run(access), Error::Kind::configuration, "hint: get it from example.com");
  access = plugin.access();
  access.exec.provide_cluster_info = true;
  access.cluster.certificate_authority_data = std::string(200'000, 'A');
  check_fails(plugin.run(access), Error::Kind::configuration, "CA data");
}

TEST_CASE("get_credential: an answer that client-go would refuse is an error") {
  for (const std::string& script :
       {std::string("exit 0"), std::string("echo token"), print("{}"), print("null"),
        print(R"({"token":""})"), print(R"({"clientKeyData":"K"})"),
        print(R"({"token":"t"})", "v1beta1"), print(R"({"token":"t"})") + "echo more",
        "echo warning\n" + print(R"({"token":"t"})"),
        print(R"({"token":"t","expirationTimestamp":"soon"})")}) {
    CAPTURE(script);
    const Plugin plugin(script);
    check_fails(plugin.run(), Error::Kind::no_credential, "reading what '" + plugin.path());
  }
  const Plugin beta(print(R"({"token":"t"})", "v1beta1"));
  Access access = beta.access();
  access.exec.api_version = ApiVersion::v1beta1;
  CHECK(beta.run(access));
}

TEST_CASE("get_credential: part of a JWT, which a plugin read half written, is an error") {
  const Plugin plugin(print(R"({"token":"eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ"})"));
  check_fails(plugin.run(), Error::Kind::no_credential, "try again");
}

TEST_CASE("get_credential: an expired credential is an error") {
  const Plugin plugin(print(R"({"token":"t","expirationTimestamp":"2001-01-01T00:00:00Z"})"));
  check_fails(plugin.run(), Error::Kind::no_credential, "expirationTimestamp");
}

// The status of a credential with these.
std::string pair_of(std::string certificate, std::string key) {
  for (std::string* const pem : {&certificate, &key}) {
    for (std::size_t at = 0; (at = pem->find('\n', at)) != std::string::npos; at += 2) {
      pem->replace(at, 1, "\\n");
    }
  }
  return R"({"clientCertificateData":")" + certificate + R"(","clientKeyData":")" + key + "\"}";
}

TEST_CASE("get_credential: a certificate with another's key, or that has ended, is an error") {
  const test::Identity one = test::make_identity({});
  const test::Identity other = test::make_identity({});
  const test::Identity ended = test::make_identity({.ends = -60});
  CHECK(Plugin(print(pair_of(one.pem, one.key_pem))).run());
  const Plugin mixed(print(pair_of(one.pem, other.key_pem)));
  check_fails(mixed.run(), Error::Kind::no_credential, "does not belong to its certificate");
  CHECK(mixed.run().error().cause == "credential-key-mismatch");
  const Plugin late(print(pair_of(ended.pem, ended.key_pem)));
  CHECK(late.run().error().cause == "certificate-expired");
  // exp is in 2001.
  const Plugin token(print(R"({"token":"eyJhbGciOiJSUzI1NiJ9.eyJleHAiOjEwMDAwMDAwMDB9.c2ln"})"));
  CHECK(token.run().error().cause == "credential-expired");
}

TEST_CASE("get_credential: a pair whose certificate cannot be read is left to the client") {
  const test::Identity one = test::make_identity({});
  const std::string unread = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
  CHECK(Plugin(print(pair_of(unread, one.key_pem))).run());
}

TEST_CASE("get_credential: a plugin that hangs is reported as unavailable at the limit") {
  const Plugin plugin("exec sleep 1000");
  check_fails(get_credential(plugin.access(), Environment({"PATH=/usr/bin:/bin"}), 50ms),
              Error::Kind::unavailable, "still running after 50ms");
}

TEST_CASE("get_credential: a failure has its cause") {
  struct Case {
    std::string script;
    std::string_view cause;
    std::string name = "plugin";
  };
  const std::string report =
      R"(printf '{"cause":"source-expired","error":"it ended","hint":"renew it","local":true}' >&3
exit 1)";
  const std::string refusal = R"(printf '{"cause":"config-refused","rule":true}' >&3; exit 1)";
  for (const Case& c : std::vector<Case>{
           {"exit 1", "program-failed"},
           {"kill -KILL $$", "program-crashed"},
           {"echo nothing", "program-output-invalid"},
           {print(R"({"token":"t","expirationTimestamp":"2001-01-01T00:00:00Z"})"),
            "credential-expired"},
           {report, "source-expired", "execcred-x"},
           {"printf %s '{\"cause\":\"no-such-cause\"}' >&3; exit 1", "program-failed",
            "execcred-x"},
           // A program that is not execcred's has no such pipe.
           {"[ -z \"$EXECCRED_REPORT_FILE\" ] && exit 1; " + print(R"({"token":"t"})"),
            "program-failed"},
       }) {
    CAPTURE(c.script);
    const Plugin plugin(c.script, c.name);
    const Result<Credential> credential = plugin.run(plugin.access(), {"EXECCRED_REPORT_FILE=3"});
    REQUIRE_FALSE(credential);
    CHECK(credential.error().cause == c.cause);
  }
  const Plugin plugin(report, "execcred-x");
  const Error error = plugin.run().error();
  CHECK(error.message == "execcred-x: it ended");
  CHECK(error.hint == "renew it");
  CHECK(error.is_local);
  CHECK_FALSE(error.is_by_rule);
  CHECK(Plugin(refusal, "execcred-x").run().error().is_by_rule);
  Access missing = plugin.access();
  missing.exec.command += "-missing";
  if (blackbox::kSaysWhyNotStarted) {
    CHECK(plugin.run(missing).error().cause == "program-missing");
  }
  const Plugin slow("exec sleep 1000");
  CHECK(get_credential(slow.access(), Environment({"PATH=/usr/bin:/bin"}), 50ms).error().cause ==
        "program-timeout");
}

TEST_CASE("PluginRunner: the hint on a time-out names the command that has the option") {
  const Plugin slow("exec sleep 1000");
  const Environment environment({"PATH=/usr/bin:/bin"});
  engine::Item item;
  CHECK_FALSE(
      engine::PluginRunner(environment, {.limit = 50ms}).run(slow.access(), environment, item));
  CHECK(item.cause() == "program-timeout");
  CHECK(item.step(engine::StepId::run).hint.starts_with("execcred doctor --timeout=DURATION "));
}

TEST_CASE("get_credential: callbacks get the plugin's error output and how it ended") {
  const Plugin plugin("printf 'one\\033\\ntwo' >&2; exit 3");
  std::string said;
  int code = 0;
  const PluginRun run{.limit = kPatience,
                      .on_error_output = [&said](std::string_view text) { said += text; },
                      .on_end = [&code](int exit_code, int) { code = exit_code; }};
  const Environment environment({"PATH=/usr/bin:/bin"});
  check_fails(get_credential(plugin.access(), environment, run), Error::Kind::unavailable,
              "ended with exit code 3: one");
  CHECK(said == "one\033\ntwo");
  CHECK(code == 3);
  said.clear();
  const Plugin noisy("yes noise | head -c 200000 >&2\n" + print(R"({"token":"t"})"));
  CHECK(get_credential(noisy.access(), environment, run));
  CHECK(said.size() == 64 * 1024);
  CHECK(code == 0);
}

}  // namespace
}  // namespace execcred
