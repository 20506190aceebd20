// SPDX-License-Identifier: Apache-2.0
// credential_process.
#include "build_kind.hpp"
#include "rig.hpp"

#include <doctest/doctest.h>
#include <aws/process.hpp>
#include <execcred/base/rfc3339.hpp>

#include <filesystem>

namespace execcred::test {
namespace {

std::string in(std::int64_t seconds) {
  return format_rfc3339(
      std::chrono::sys_seconds(std::chrono::seconds(blackbox::seconds_since_epoch() + seconds)));
}

Outcome run(const Rig& rig, const std::string& process, const Texts& arguments = {}) {
  rig.set_config("[default]\ncredential_process = " + process + "\n");
  return rig.run_cold({.arguments = arguments, .has_keys = false});
}

std::string document(const std::string& secret, const std::string& more) {
  return R"({"Version":1,"AccessKeyId":"ASIAPROCESS","SecretAccessKey":")" + secret + "\"" + more +
         "}";
}

}  // namespace

TEST_CASE("process: its credentials sign tokens and are cached, and no secret is shown") {
  Rig rig;
  const std::string token = new_secret();
  rig.sts.know("ASIAPROCESS", rig.secret, token);
  const std::string count = rig.sandbox.at("count");
  const std::string printed =
      document(rig.secret, R"(,"SessionToken":")" + token + R"(","Expiration":")" + in(400) + "\"");
  const std::string program = rig.sandbox.script(
      "process", "echo \"$#:$1:$2\" >> " + count + "\nprintf '%s' '" + printed + "'");
  const std::string process = program + " 'a b' \"c\\\"d\"";
  const Outcome outcome = run(rig, process);
  CHECK(rig.problem(outcome) == "");
  CHECK(claimed_seconds(outcome) <= claim_for(400));
  CHECK(claimed_seconds(outcome) >= claim_for(395));
  CHECK(rig.problem(rig.run({.has_keys = false})) == "");
  CHECK(blackbox::read_text(count) == "2:a b:c\"d\n");
  // The process is the source of a role.
  rig.set_config("[profile p]\ncredential_process = " + process +
                 "\n[default]\nrole_arn = " + kRole + "\nsource_profile = p\n");
  CHECK(rig.problem(rig.run({.has_keys = false})) == "");
  CHECK(rig.sts.calls() == 1);
  CHECK(rig.sts.problem() == "");
}

TEST_CASE("process: credentials without an expiration and without a session token") {
  Rig rig;
  rig.sts.know("ASIAPROCESS", rig.secret);
  const std::string program =
      rig.sandbox.script("process", "printf '%s' '" + document(rig.secret, "") + "'");
  const Outcome outcome = run(rig, program);
  CHECK(rig.problem(outcome) == "");
  CHECK(claimed_seconds(outcome) >= 830);
}

TEST_CASE("process: invalid output, failure, a hang and a missing program are errors") {
  Rig rig;
  const auto printing = [&](const std::string& text) {
    return run(rig, rig.sandbox.script("process", "printf '%s' '" + text + "'"));
  };
  struct Case {
    std::string text;
    std::string said;
  };
  for (const Case& c :
       {Case{"", "the JSON is empty"}, Case{"no JSON", "no valid JSON"},
        Case{"[]", "'Version' is not 1"},
        Case{R"({"AccessKeyId":"A","SecretAccessKey":")" + rig.secret + "\"}", "'Version'"},
        Case{R"({"Version":2,"AccessKeyId":"A","SecretAccessKey":")" + rig.secret + "\"}",
             "'Version' is not 1"},
        Case{R"({"Version":"1","AccessKeyId":"A","SecretAccessKey":")" + rig.secret + "\"}",
             "'Version' is not 1"},
        Case{R"({"Version":1,"AccessKeyId":"A"})", "no secret access key"},
        Case{document(rig.secret, R"(,"SessionToken":5)"), "'SessionToken' is a number"},
        Case{document(rig.secret, R"(,"Expiration":"x")"), "a text of 1 bytes is no RFC 3339 time"},
        Case{document(rig.secret, R"(,"Expiration":"2020-01-01T00:00:00Z")"),
             "has ended already"}}) {
    CAPTURE(c.text);
    CHECK_FAILURE(printing(c.text), 1, c.said);
  }
  CHECK_REFUSAL(run(rig, rig.sandbox.script("fails", "echo '" + rig.secret + "' >&2; exit 3")), 1,
                "exit code 3");
  const Outcome hanging = run(rig, rig.sandbox.script("hangs", "exec sleep 60"), {"--timeout=1s"});
  CHECK_FAILURE(hanging, 3, "was still running after");
  CHECK(hanging.elapsed < blackbox::kNoWait);
  if (!blackbox::kSaysWhyNotStarted) return;
  CHECK_FAILURE(run(rig, "/nowhere/process"), 2,
                "cannot run '/nowhere/process': No such file or directory");
}

TEST_CASE("process: a comment that cuts the command is named with its line and file") {
  Rig rig;
  for (const std::string argument : {"\"team #1\"", "'a ; b'", "\"x\t#\""}) {
    CAPTURE(argument);
    const Outcome outcome = run(rig, "/bin/echo " + argument);
    CHECK_REFUSAL(outcome, 2, "without its end");
    CHECK(blackbox::says(outcome, "hint: line 2 of '"));
    CHECK(blackbox::says(outcome, "begin a comment, in quotes too"));
  }
  const Outcome outcome = run(rig, "/bin/echo 'a");
  CHECK_REFUSAL(outcome, 2, "without its end");
  CHECK_FALSE(blackbox::says(outcome, "a comment"));
}

TEST_CASE("process: the command is split into words as in a shell, but no shell runs it") {
  const auto words = [](const std::string& text) {
    const auto command = aws::parse_credential_process(text);
    return command ? Texts{command->program} + command->arguments : Texts{"(none)"};
  };
  CHECK(words("/bin/x") == Texts{"/bin/x"});
  CHECK(words("'/opt/my tool' a\\ b '' \"c\"") == Texts{"/opt/my tool", "a b", "", "c"});
  CHECK(words("/x $HOME `id`") == Texts{"/x", "$HOME", "`id`"});
  for (const std::string bad : {"", " ", "x", "./x", "~/x", "'/x", "\"/x", "/x \\", "/x 'a"}) {
    CAPTURE(bad);
    CHECK(words(bad) == Texts{"(none)"});
  }
}

}  // namespace execcred::test
