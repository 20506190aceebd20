// SPDX-License-Identifier: Apache-2.0
// The cache of issued credentials, shared by processes: an entry's identity, its refresh, and that
// only one request is made.
#include "bootstrap.hpp"
#include "rights.hpp"
#include "support/plugin_storm.hpp"

#include <doctest/doctest.h>

#include <filesystem>

namespace execcred::test {
namespace {

constexpr int kCount = 50;

// For a pair that is valid for 30 seconds: all but the first tenth is its refresh window.
const Ask kShortLived = csr({.arguments = {"--refresh-before=29s"}});

}  // namespace

TEST_CASE("cache: a hit neither runs the inner plugin nor calls the cluster") {
  const Bootstrap rig;
  for (const Ask& ask : {Ask{}, csr()}) {
    const std::size_t before = rig.inner_runs();
    const Outcome first = rig.run(ask);
    CHECK_SUCCESS(first);
    CHECK(rig.inner_runs() == before + 1);
    const std::size_t requests = rig.api.server.requests().size();
    rig.set_inner("exit 1");
    const Outcome second = rig.run(ask);
    CHECK(second.output == first.output);
    CHECK(rig.inner_runs() == before + 1);
    CHECK(rig.api.server.requests().size() == requests);
    rig.set_inner_output(exec_credential(R"({"token":"t0ken"})"));
  }
}

TEST_CASE("cache: a credential serves only the machine as which the inner plugin may have asked") {
  const Bootstrap rig;
  CHECK_SUCCESS(rig.run({}));
  const std::optional<Outcome> elsewhere = blackbox::run_on_another_host(rig.command({}));
  if (!elsewhere) return;
  CHECK_SUCCESS(*elsewhere);
  CHECK(rig.inner_runs() == 2);
  CHECK_SUCCESS(rig.run({}));
  CHECK(rig.inner_runs() == 2);
}

TEST_CASE("cache: each input of a credential's identity selects another entry") {
  const Bootstrap rig;
  const auto runs_for = [&rig](const Ask& ask) {
    const std::size_t before = rig.inner_runs();
    CHECK_SUCCESS(rig.run(ask));
    return rig.inner_runs() - before;
  };
  CHECK(runs_for({}) == 1);
  CHECK(runs_for({}) == 0);
  for (const char* name :
       {"EXECCRED_AUDIENCE", "EXECCRED_ANYTHING", "KUBECONFIG", "HOME", "POD_NAMESPACE",
        "KUBERNETES_SERVICE_HOST", "AWS_REGION", "AWS_WHATEVER", "AZURE_CLIENT_ID",
        "GOOGLE_APPLICATION_CREDENTIALS", "GCE_METADATA_HOST", "CLOUDSDK_CONFIG", "NAMESPACE",
        "IMDS_ENDPOINT", "KUBERNETES_SERVICE_PORT", "IDENTITY_ENDPOINT", "MSI_ENDPOINT",
        "ACTIONS_ID_TOKEN_REQUEST_URL", "SPIFFE_ENDPOINT_SOCKET"}) {
    CAPTURE(name);
    const std::string variable = std::string(name) + "=";
    CHECK(runs_for({.variables = {variable + "one"}}) == 1);
    CHECK(runs_for({.variables = {variable + "two"}}) == 1);
    CHECK(runs_for({.variables = {variable + "one"}}) == 0);
  }
  CHECK_SUCCESS(rig.run({}));  // asks again if the entry is 10 s old
  CHECK(runs_for({.variables = {"PATH=/elsewhere", "LANG=C", "FOREIGN=x"}}) == 0);
  // `execcred doctor` names another report file for each run.
  CHECK(runs_for({.variables = {"EXECCRED_REPORT_FILE=" + rig.sandbox.at("report")}}) == 0);
  for (const Ask& ask :
       {Ask{.arguments = {"--lifetime=2h"}}, Ask{.arguments = {"--audience=a"}},
        Ask{.arguments = {"--audience=b"}}, Ask{.config = R"({"clusterName":"a"})"},
        Ask{.config = R"({"clusterName":"b"})"}, Ask{.more_of_cluster = R"(,"unknown":1)"},
        Ask{.more_of_cluster = R"(,"disable-compression":true)"},
        Ask{.more_of_cluster = R"(,"tls-server-name":"localhost")"}, csr(),
        csr({.arguments = {"--group=green"}}), csr({.arguments = {"--key-type=ed25519"}}),
        csr({.arguments = {"--signer=example.com/client"}})}) {
    CHECK(runs_for(ask) == 1);
    CHECK(runs_for(ask) == 0);
  }
  const Ask with_argument{.arguments = {"--credential=" + command_json({rig.inner_path, "--x"})},
                          .has_credential = false};
  CHECK(runs_for(with_argument) == 1);
  CHECK(runs_for(with_argument) == 0);
}

TEST_CASE("cache: EXECCRED_REFRESH_BEFORE selects no other entry") {
  const Bootstrap rig;
  // `execcred sync` sets another value for each run of a plugin.
  for (const std::string before : {"EXECCRED_REFRESH_BEFORE=20s", "EXECCRED_REFRESH_BEFORE=19s"}) {
    CHECK_SUCCESS(rig.run({.variables = {before}}));
    CHECK_SUCCESS(rig.run(csr({.variables = {before}})));
  }
  CHECK(rig.inner_runs() == 2);
  CHECK(rig.api.posts() == 1);
}

TEST_CASE("cache: the variable of --subject-token-env selects the entry, its value is not stored") {
  const Bootstrap rig;
  const std::string secret = new_secret();
  for (const Texts& command : {Texts{rig.inner_path, "--subject-token-env=MY_TOKEN"},
                               Texts{rig.inner_path, "--subject-token-env", "MY_TOKEN"},
                               Texts{rig.inner_path, "-subject-token-env=MY_TOKEN"}}) {
    const auto runs_for = [&](const std::string& value) {
      const std::size_t before = rig.inner_runs();
      CHECK_SUCCESS(rig.run({.arguments = {"--credential=" + command_json(command)},
                             .variables = {"MY_TOKEN=" + value},
                             .has_credential = false}));
      return rig.inner_runs() - before;
    };
    CHECK(runs_for(secret) == 1);
    CHECK(runs_for(secret) == 0);
    CHECK(runs_for("another") == 1);
  }
  for (const auto& entry : std::filesystem::directory_iterator(rig.cache_path)) {
    CHECK(blackbox::read_text(entry.path()).find(secret) == std::string::npos);
  }
}

TEST_CASE("cache: the variable that EXECCRED_SUBJECT_TOKEN_ENV names selects the entry") {
  const Bootstrap rig;
  const auto runs_for = [&rig](const std::string& value) {
    const std::size_t before = rig.inner_runs();
    CHECK_SUCCESS(
        rig.run({.variables = {"EXECCRED_SUBJECT_TOKEN_ENV=MY_TOKEN", "MY_TOKEN=" + value}}));
    return rig.inner_runs() - before;
  };
  CHECK(runs_for("alice") == 1);
  CHECK(runs_for("alice") == 0);
  CHECK(runs_for("bob") == 1);
}

TEST_CASE("cache: in the refresh window the old pair is served, and the request is resumed") {
  Bootstrap rig;
  rig.api.issue.ends = 30;
  const std::string first = blackbox::read_answer(rig.run(kShortLived).output).certificate;
  rig.api.decide(Approver::waits);
  REQUIRE(blackbox::wait_until([&] {
    CHECK(blackbox::read_answer(rig.run(kShortLived).output).certificate == first);
    return rig.api.made() == 2;
  }));
  // The pair stays the same, and no further request is made.
  for (int run = 0; run < 2; ++run) {
    CHECK(blackbox::read_answer(rig.run(kShortLived).output).certificate == first);
  }
  CHECK(rig.api.made() == 2);
  rig.api.decide(Approver::approves);
  const std::string second = blackbox::read_answer(rig.run(kShortLived).output).certificate;
  CHECK(second != first);
  CHECK(rig.api.made() == 2);
}

TEST_CASE("cache: after a denial in the refresh window the valid pair is still served") {
  Bootstrap rig;
  rig.api.issue.ends = 30;
  const std::string first = blackbox::read_answer(rig.run(kShortLived).output).certificate;
  rig.api.decide(Approver::denies);
  REQUIRE(blackbox::wait_until([&] {
    CHECK(blackbox::read_answer(rig.run(kShortLived).output).certificate == first);
    return rig.api.made() == 2;
  }));
  CHECK(blackbox::read_answer(rig.run(kShortLived).output).certificate == first);
  CHECK(rig.api.made() == 2);
}

TEST_CASE("cache: an unsafe directory is not used, and each run still gets a credential") {
  const Bootstrap rig;
  std::filesystem::create_directory(rig.cache_path);
  std::filesystem::permissions(rig.cache_path, std::filesystem::perms::all);
  for (const Ask& ask : {Ask{}, csr()}) {
    for (int i = 0; i < 2; ++i) {
      blackbox::Outcome outcome = rig.run(ask);
      CHECK(outcome.error_output.find("warning: no credential is cached") != std::string::npos);
      outcome.error_output.clear();
      CHECK_SUCCESS(outcome);
    }
  }
  CHECK(rig.inner_runs() == 4);
  CHECK(std::filesystem::is_empty(rig.cache_path));
}

TEST_CASE("storm: processes at once make one TokenRequest, and share its token") {
  const Bootstrap rig;
  const Storm storm = let_loose(kCount, rig.command({.arguments = {"--timeout=30s"}}), rig.sandbox);
  CHECK(storm.count_of(0) == kCount);
  CHECK(storm.credentials.size() == 1);
  CHECK(rig.api.server.count(kTokenPath) == 1);
}

TEST_CASE("storm: processes at once create one CertificateSigningRequest, and share its pair") {
  const Bootstrap rig;
  const Storm storm =
      let_loose(kCount, rig.command(csr({.arguments = {"--timeout=30s"}})), rig.sandbox);
  CHECK(storm.count_of(0) == kCount);
  CHECK(storm.credentials.size() == 1);
  CHECK(rig.api.posts() == 1);
}

TEST_CASE("storm: without an approval there is one request, and all processes time out") {
  Bootstrap rig;
  rig.api.decide(Approver::waits);
  const Storm storm =
      let_loose(kCount, rig.command(csr({.arguments = {"--timeout=6s"}})), rig.sandbox);
  CHECK(storm.count_of(3) == kCount);
  CHECK(rig.api.posts() == 1);
  rig.api.decide(Approver::approves);
  CHECK_SUCCESS(rig.run(csr()));
  CHECK(rig.api.posts() == 1);
}

TEST_CASE("cache: another user, service account or CA selects another entry") {
  Bootstrap rig;
  const auto runs_for = [&rig](const Ask& ask) {
    const std::size_t before = rig.inner_runs();
    CHECK_SUCCESS(rig.run(ask));
    return rig.inner_runs() - before;
  };
  const std::string own_ca = rig.api.server.ca_pem();
  const std::string other_ca = ScriptedServer().ca_pem();
  CHECK(runs_for({}) == 1);
  CHECK(runs_for(csr()) == 1);
  for (const Ask& ask : {csr({.arguments = {"--user=a"}, .has_identity = false}),
                         csr({.arguments = {"--user=b"}, .has_identity = false}),
                         csr({.arguments = {"--user=b", "--group=a"}, .has_identity = false}),
                         Ask{.authority = blackbox::base64(own_ca + other_ca)},
                         csr({.authority = blackbox::base64(own_ca + other_ca)})}) {
    CAPTURE(blackbox::json_string(ask.authority));
    CHECK(runs_for(ask) == 1);
    CHECK(runs_for(ask) == 0);
  }
  // No run gets the cached token of another account, although the cluster would accept it.
  rig.api.server.on("/api/v1/namespaces/fleet/serviceaccounts/other/token",
                    status_reply(403, "Forbidden", "no"));
  const Ask other{.arguments = {"--service-account=fleet/other"}, .has_identity = false};
  CHECK_REFUSAL(rig.run(other), 1, "403 Forbidden");
  CHECK(runs_for({}) == 0);
}

}  // namespace execcred::test
