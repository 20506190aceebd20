// SPDX-License-Identifier: Apache-2.0
// external_account credentials whose subject token comes from a program.
#include "build_kind.hpp"
#include "google.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>

namespace execcred::test {
namespace {

constexpr const char* kAllow = "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES=1";
constexpr const char* kIdToken = "urn:ietf:params:oauth:token-type:id_token";

// external_account with this command line.
Members running(const Google& google, const std::string& command, Members more = {}) {
  Members executable = {{"command", text(command)}};
  executable.insert(executable.end(), more.begin(), more.end());
  return with(google.file_account(), "credential_source",
              object({{"executable", object(executable)}}));
}

Ask by(const Members& credentials, Texts variables = {kAllow}, Texts arguments = {}) {
  return {.credentials = object(credentials),
          .arguments = std::move(arguments),
          .variables = std::move(variables)};
}

Members success(const std::string& token, const std::string& more_seconds = "600") {
  return {{"version", "1"},
          {"success", "true"},
          {"token_type", text(kIdToken)},
          {"id_token", text(token)},
          {"expiration_time",
           std::to_string(blackbox::seconds_since_epoch() + std::stoll(more_seconds))}};
}

// A program that prints this.
std::string printer(const Google& google, const std::string& output,
                    const std::string& before = "") {
  google.sandbox.write("output", output);
  return google.sandbox.script("program", before + "\ncat '" + google.sandbox.at("output") + "'");
}

}  // namespace

TEST_CASE("executable: its output is the subject token") {
  Google google;
  const std::string program = printer(google, object(success(google.subject)));
  CHECK_SUCCESS(google.run(by(running(google, program))));
  CHECK(google.cloud.api().last(kSts).field("subject_token") == google.subject);
  const Members saml = with(
      with(success(google.subject), "token_type", text("urn:ietf:params:oauth:token-type:saml2")),
      "saml_response", text("<saml/>"));
  CHECK_SUCCESS(google.run_cold(by(running(google, printer(google, object(saml))))));
  CHECK(google.cloud.api().last(kSts).field("subject_token") == "<saml/>");
  const Members endless = with(success(google.subject), "expiration_time", "");
  CHECK_SUCCESS(google.run_cold(by(running(google, printer(google, object(endless))))));
}

TEST_CASE("executable: a program is run only if its variable is exactly 1") {
  Google google;
  const std::string program =
      printer(google, object(success(google.subject)), "touch '" + google.sandbox.at("ran") + "'");
  for (const std::string value : {"", "0", "true", "01", "1 ", "2", "yes"}) {
    CAPTURE(value);
    CHECK_REFUSAL(google.run_cold(by(running(google, program),
                                     {"GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES=" + value})),
                  2, "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES=1");
  }
  CHECK_FAILURE(google.run_cold(by(running(google, program), {})), 2,
                "the credentials file names a program to run, which is not");
  CHECK_FALSE(std::filesystem::exists(google.sandbox.at("ran")));
  CHECK_SUCCESS(google.run_cold(by(running(google, program))));
  CHECK(std::filesystem::exists(google.sandbox.at("ran")));
}

TEST_CASE("executable: it gets the environment and google-auth's variables, but no EXECCRED ones") {
  Google google;
  const std::string seen = google.sandbox.at("environment");
  const std::string program =
      printer(google, object(success(google.subject)), "env >'" + seen + "'");
  const Members credentials =
      with(running(google, program, {{"output_file", text(google.sandbox.at("kept"))}}),
           "service_account_impersonation_url", text(impersonation_url()));
  CHECK_SUCCESS(google.run(by(
      credentials, {kAllow, "MINE=1", "GOOGLE_EXTERNAL_ACCOUNT_ID=x",
                    "GOOGLE_EXTERNAL_ACCOUNT_REVOKE=1", "EXECCRED_DEBUG=", "PATH=/usr/bin:/bin"})));
  const std::string content = "\n" + blackbox::read_text(seen);
  for (const std::string& line :
       {std::string("GOOGLE_EXTERNAL_ACCOUNT_AUDIENCE=") + kAudience,
        std::string("GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE=urn:ietf:params:oauth:token-type:jwt"),
        std::string("GOOGLE_EXTERNAL_ACCOUNT_ID=") + kAccount,
        std::string("GOOGLE_EXTERNAL_ACCOUNT_IMPERSONATED_EMAIL=") + kAccount,
        std::string("GOOGLE_EXTERNAL_ACCOUNT_INTERACTIVE=0"),
        std::string("GOOGLE_EXTERNAL_ACCOUNT_REVOKE=0"),
        "GOOGLE_EXTERNAL_ACCOUNT_OUTPUT_FILE=" + google.sandbox.at("kept"),
        std::string("MINE=1")}) {
    CAPTURE(line);
    CHECK(content.find("\n" + line + "\n") != std::string::npos);
  }
  CHECK(content.find("KUBERNETES_EXEC_INFO") == std::string::npos);
  CHECK(content.find("\nEXECCRED_") == std::string::npos);
}

TEST_CASE("executable: invalid replies, other versions and reported errors are failures") {
  Google google;
  const Members good = success(google.subject);
  const std::string ended = std::to_string(blackbox::seconds_since_epoch() - 1);
  for (const std::string& output :
       {std::string(), std::string("not JSON"), std::string("[]"), std::string("{}"),
        object(with(good, "version", "2")), object(with(good, "version", "\"1\"")),
        object(with(good, "version", "")), object(with(good, "success", "")),
        object(with(good, "success", "\"true\"")), object(with(good, "token_type", "")),
        object(with(good, "token_type", text("urn:ietf:params:oauth:token-type:access_token"))),
        object(with(good, "id_token", "")), object(with(good, "id_token", "7")),
        object(with(good, "id_token", text("two words"))),
        object(with(good, "expiration_time", ended)),
        object(with(good, "expiration_time", text("soon"))),
        object(with(good, "expiration_time", "1e99")), object(good) + object(good),
        object({{"version", "1"}, {"success", "false"}})}) {
    CAPTURE(output.substr(0, 60));
    CHECK_FAILURE(google.run_cold(by(running(google, printer(google, output)))), 1,
                  "getting the subject token");
  }
  const Outcome told = google.run_cold(
      by(running(google, printer(google, R"({"version":1,"success":false,"code":"401",)"
                                         R"("message":"not logged in\n\u001b[31m"})"))));
  CHECK_FAILURE(told, 1, "the program reports the error '401': not logged in\\x0a\\x1b[");
  CHECK(blackbox::says(told, "'401': not logged in"));
  const Outcome repeated = google.run_cold(by(running(
      google, printer(google, R"({"version":1,"success":false,"code":"401",)"
                              R"("message":"bad opaque-word","id_token":"opaque-word"})"))));
  CHECK_FAILURE(repeated, 1, "'401': bad ***");
  CHECK(google.cloud.connections() == 0);
}

TEST_CASE("executable: the output of one that fails is not used") {
  Google google;
  const std::string good = object(success(google.subject));
  const std::string failing = google.sandbox.script("fail", "echo '" + good + "'; exit 1");
  CHECK_FAILURE(google.run_cold(by(running(google, failing))), 1, "ended with exit code 1");
  const std::string killed = google.sandbox.script("kill", "echo '" + good + "'; kill -9 $$");
  CHECK_FAILURE(google.run_cold(by(running(google, killed))), 1, "was ended by signal 9");
  if (blackbox::kSaysWhyNotStarted) {
    CHECK_FAILURE(google.run_cold(by(running(google, "/nowhere/program"))), 2,
                  "cannot run '/nowhere/program': No such file or directory");
  }
  const std::string loud = google.sandbox.script("loud", "head -c 300000 /dev/zero");
  CHECK_FAILURE(google.run_cold(by(running(google, loud))), 1, "printed more than 128 KiB");
  CHECK(google.cloud.connections() == 0);
}

TEST_CASE("executable: one that hangs is ended with the run, and so are its child processes") {
  Google google;
  const std::string pid_file = google.sandbox.at("pid");
  const std::string program =
      google.sandbox.script("hang", "sleep 1000 &\necho $! >'" + pid_file + "'\nwait");
  const Outcome outcome = google.run(by(running(google, program), {kAllow}, {"--timeout=2s"}));
  CHECK_FAILURE(outcome, 3, "was still running after");
  CHECK(outcome.elapsed < blackbox::kNoWait);
  const std::string pid = blackbox::read_text(pid_file);
  REQUIRE_FALSE(pid.empty());
  CHECK(blackbox::wait_until([&] { return !blackbox::is_running(std::stoi(pid)); }));
}

TEST_CASE("executable: the output file is used instead of a run while its token is valid") {
  Google google;
  const std::string kept = google.sandbox.at("kept");
  const std::string ran = google.sandbox.at("ran");
  const std::string program =
      printer(google, object(success(google.subject)), "echo >>'" + ran + "'");
  const Ask ask = by(running(google, program, {{"output_file", text(kept)}}));
  const std::string other = new_subject(3600, "kept");
  google.sandbox.write("kept", object(success(other)), 0600);
  CHECK_SUCCESS(google.run_cold(ask));
  CHECK(google.cloud.api().last(kSts).field("subject_token") == other);
  CHECK_FALSE(std::filesystem::exists(ran));
  std::size_t runs = 0;
  for (const std::string& content :
       {object(success(other, "-5")), object(success(new_subject(-100, "kept"))),
        object(with(success(other), "expiration_time", "")), std::string("not JSON"), std::string(),
        std::string("{}"), object(with(success(other), "success", "false"))}) {
    CAPTURE(content.substr(0, 50));
    google.sandbox.write("kept", content, 0600);
    CHECK_SUCCESS(google.run_cold(ask));
    CHECK(google.cloud.api().last(kSts).field("subject_token") == google.subject);
    CHECK(blackbox::read_text(ran).size() == ++runs);
  }
}

TEST_CASE("executable: if it prints nothing, its reply is read from the output file") {
  Google google;
  const std::string kept = google.sandbox.at("kept");
  google.sandbox.write("reply", object(success(google.subject)));
  const std::string program = google.sandbox.script(
      "writer", "umask 077; cat '" + google.sandbox.at("reply") + "' >'" + kept + "'");
  CHECK_SUCCESS(google.run(by(running(google, program, {{"output_file", text(kept)}}))));
  CHECK(google.cloud.api().last(kSts).field("subject_token") == google.subject);
}

TEST_CASE("executable: limits of timeout_millis, an absolute path, and complete quotes") {
  Google google;
  const std::string program = printer(google, object(success(google.subject)));
  for (const std::string millis : {"5000", "120000", "30000"}) {
    CHECK_SUCCESS(google.run_cold(by(running(google, program, {{"timeout_millis", millis}}))));
  }
  for (const std::string millis : {"4999", "120001", "0", "-1", "\"5000\"", "5000.5"}) {
    CAPTURE(millis);
    CHECK_FAILURE(google.run_cold(by(running(google, program, {{"timeout_millis", millis}}))), 2,
                  "credential_source.executable.timeout_millis must be a");
  }
  for (const std::string command : {"program", "./program", "~/program", "", "  ", "'/bin/true",
                                    "/bin/true \"a", "/bin/true \\", "$HOME/program"}) {
    CAPTURE(command);
    CHECK_FAILURE(google.run_cold(by(running(google, command))), 2,
                  "credential_source.executable.command");
  }
  const std::string arguments = google.sandbox.at("arguments");
  const std::string lister =
      google.sandbox.script("lister", "for a; do printf '[%s]' \"$a\"; done >'" + arguments +
                                          "'\ncat '" + google.sandbox.at("output") + "'");
  CHECK_SUCCESS(google.run_cold(
      by(running(google, lister + R"( --a=1 'b c' "d \"e\" \x" f\ g '' $HOME ; * h'i'"j")"))));
  CHECK(blackbox::read_text(arguments) == R"([--a=1][b c][d "e" \x][f g][][$HOME][;][*][hij])");
}

}  // namespace execcred::test
