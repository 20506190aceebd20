// SPDX-License-Identifier: Apache-2.0
// Subject tokens from a file and from a variable.
#include "federation.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace execcred::test {
namespace {

namespace fs = std::filesystem;

// A volume as the kubelet makes it: a file that links into a folder that is swapped.
std::string make_projected_volume(const blackbox::Sandbox& sandbox, const std::string& token) {
  sandbox.write("volume/..2026_07_01/token", token);
  fs::create_symlink("..2026_07_01", sandbox.at("volume/..data"));
  fs::create_symlink("..data/token", sandbox.at("volume/token"));
  return sandbox.at("volume/token");
}

Ask from_variable(Texts variables) {
  return {.arguments = {"--subject-token-env=CI_JOB_JWT"},
          .variables = std::move(variables),
          .has_subject = false};
}

}  // namespace

TEST_CASE("file: a projected volume is read through its links, in each run, and is trimmed") {
  Federation fed;
  const std::string first = new_subject();
  const std::string path = make_projected_volume(fed.sandbox, " \t" + first + "\r\n\n");
  const Ask ask = {.arguments = {"--subject-token-file=" + path, "--no-cache"},
                   .has_subject = false,
                   .has_cache = false};
  CHECK_SUCCESS(fed.run(ask));
  CHECK(fed.idp.last(kToken).field("subject_token") == first);
  const std::string second = new_subject();
  fed.sandbox.write("volume/..2026_07_02/token", second);
  fs::create_symlink("..2026_07_02", fed.sandbox.at("volume/..data_tmp"));
  fs::rename(fed.sandbox.at("volume/..data_tmp"), fed.sandbox.at("volume/..data"));
  CHECK_SUCCESS(fed.run(ask));
  CHECK(fed.idp.last(kToken).field("subject_token") == second);
}

TEST_CASE("file: an invalid, expired or too large token is refused, and is not sent") {
  struct Case {
    std::string what, content;
    int exit_code = 1;
  };
  const Identity identity = make_ca("somebody");
  blackbox::remember_secret(identity.key_pem);
  Federation fed;
  for (const Case& c :
       {Case{"expired", new_subject(-60)}, Case{"empty", ""}, Case{"blank", " \n\t\r\n"},
        Case{"a private key", identity.key_pem}, Case{"a certificate", identity.pem},
        Case{"several words", "one two"}, Case{"half written", new_subject().substr(0, 150)},
        Case{"several lines", new_subject() + "\n" + new_subject()},
        Case{"a NUL", std::string("a\0b", 3)}, Case{"not ASCII", "t\xc3\xb6ken"},
        Case{"a kubeconfig", "apiVersion: v1\nkind: Config\n"},
        Case{"from the future",
             new_subject(7200,
                         ",\"nbf\":" + std::to_string(blackbox::seconds_since_epoch() + 3600))},
        Case{"exp twice", new_subject(3600, ",\"exp\":9999999999")},
        Case{"too large", std::string(129 * 1024, 'a'), 2}}) {
    CAPTURE(c.what);
    fed.set_subject(c.content);
    for (const std::string flow : {"token-exchange", "jwt-bearer"}) {
      CHECK_FAILURE(fed.run_cold({.flow = flow}), c.exit_code, "subject");
    }
  }
  CHECK(fed.idp.connections() == 0);
}

TEST_CASE("file: after it is corrected, the next run succeeds") {
  Federation fed;
  fed.set_subject(new_subject(-60));
  CHECK_FAILURE(fed.run({}), 1, "the token has expired: it ended at");
  fed.set_subject(new_subject());
  CHECK_SUCCESS(fed.run({}));
}

TEST_CASE(
    "file: one that cannot be opened, or is not a safe regular file, is a configuration error") {
  Federation fed;
  const std::string pipe = fed.sandbox.at("pipe");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const std::string writable = fed.sandbox.write("writable", fed.subject, 0666);
  for (const std::string& path : {std::string("/nope"), std::string("/"), std::string("/dev/zero"),
                                  pipe, writable, std::string("relative/../../nope")}) {
    CAPTURE(path);
    CHECK_FAILURE(fed.run({.arguments = {"--subject-token-file=" + path}, .has_subject = false}), 2,
                  "cannot read");
  }
  CHECK(fed.idp.connections() == 0);
}

TEST_CASE("variable: its token is trimmed, and an unset, empty or invalid one is refused") {
  Federation fed;
  CHECK_SUCCESS(fed.run(from_variable({"CI_JOB_JWT= " + fed.subject + "\n"})));
  CHECK(fed.idp.last(kToken).field("subject_token") == fed.subject);
  fed.idp.forget();
  CHECK_REFUSAL(fed.run_cold(from_variable({})), 2, "CI_JOB_JWT");
  CHECK_FAILURE(fed.run_cold(from_variable({"CI_JOB_JWTX=" + fed.subject})), 2,
                "the variable 'CI_JOB_JWT' is not set");
  CHECK_FAILURE(fed.run_cold(from_variable({"CI_JOB_JWT="})), 1, "the token is empty");
  CHECK_FAILURE(fed.run_cold(from_variable({"CI_JOB_JWT=  \n"})), 1, "the token is empty");
  CHECK_FAILURE(fed.run_cold(from_variable({"CI_JOB_JWT=" + new_subject(-5)})), 1,
                "the token has expired: it ended at");
  CHECK_FAILURE(fed.run_cold(from_variable({"CI_JOB_JWT=two words"})), 1,
                "this is more than one word, so it is no token");
  CHECK(fed.idp.requests().empty());
}

TEST_CASE("an opaque subject token is sent unchanged") {
  Federation fed;
  const std::string opaque = new_secret();
  fed.set_subject(opaque + "\n");
  CHECK_SUCCESS(fed.run({.arguments = {"--subject-token-type=access_token"}}));
  CHECK(fed.idp.last(kToken).field("subject_token") == opaque);
}

}  // namespace execcred::test
