// SPDX-License-Identifier: Apache-2.0
// A workload identity provider that a ClusterProfile names.
#include "google.hpp"

#include <doctest/doctest.h>

namespace execcred::test {
namespace {

const std::string kOther =
    "projects/999/locations/global/workloadIdentityPools/other-pool/providers/gke-2";
const std::string kOtherAudience = "//iam.googleapis.com/" + kOther;

Ask of_profile(const Google& google, const std::string& provider, Texts arguments = {}) {
  return {.credentials = object(google.file_account()),
          .arguments = std::move(arguments),
          .config = object({{"workloadIdentityProvider", text(provider)}, {"unknown", "[1]"}})};
}

}  // namespace

TEST_CASE("provider: a ClusterProfile's becomes the audience if the mapping allows it") {
  Google google;
  for (const std::string& allowed :
       {"--allow-audience=" + kOtherAudience, std::string("--allow-audience=any"),
        std::string("--allow-audience=//iam.googleapis.com/projects/999/*")}) {
    CAPTURE(allowed);
    CHECK_SUCCESS(google.run_cold(of_profile(google, kOther, {allowed})));
    CHECK(google.cloud.api().last(kSts).field("audience") == kOtherAudience);
  }
  // The same holds for an argument after --from-profile.
  CHECK_SUCCESS(google.run_cold({.credentials = object(google.file_account()),
                                 .arguments = {"--allow-audience=any", "--from-profile",
                                               "--workload-identity-provider=" + kOther}}));
  CHECK(google.cloud.api().last(kSts).field("audience") == kOtherAudience);
}

TEST_CASE("provider: a ClusterProfile's is refused if the mapping does not allow it") {
  Google google;
  CHECK_REFUSAL(google.run(of_profile(google, kOther)), 2,
                "--allow-audience='" + kOtherAudience + "'");
  for (const std::string& allowed :
       {std::string("--allow-audience=//iam.googleapis.com/projects/998/*"),
        "--allow-audience=" + kOther, std::string("--allow-audience=server"),
        "--allow-audience=" + kOtherAudience + "x"}) {
    CAPTURE(allowed);
    CHECK_FAILURE(google.run(of_profile(google, kOther, {allowed})), 1,
                  "matches no --allow-audience");
  }
  CHECK(google.cloud.connections() == 0);
}

TEST_CASE("provider: the mapping's own needs no --allow-audience and beats a ClusterProfile's") {
  Google google;
  const std::string own = "--workload-identity-provider=" + kOther;
  CHECK_SUCCESS(
      google.run_cold({.credentials = object(google.file_account()), .arguments = {own}}));
  CHECK(google.cloud.api().last(kSts).field("audience") == kOtherAudience);
  CHECK_SUCCESS(google.run_cold(of_profile(google, kProvider, {own})));
  CHECK(google.cloud.api().last(kSts).field("audience") == kOtherAudience);
  CHECK_SUCCESS(google.run_cold({.credentials = object(google.file_account()),
                                 .variables = {"EXECCRED_WORKLOAD_IDENTITY_PROVIDER=" + kOther}}));
  CHECK(google.cloud.api().last(kSts).field("audience") == kOtherAudience);
}

TEST_CASE("provider: a name of any other form is refused, and nothing is sent") {
  Google google;
  const std::string pools = "projects/1/locations/global/workloadIdentityPools/";
  for (const std::string& name :
       {std::string(" "),
        "//iam.googleapis.com/" + kOther,
        kOther + "/",
        "/" + kOther,
        kOther + "/../x",
        kOther + " x",
        kOther + "?x=1",
        kOther + "#",
        kOther + "%2e",
        "Projects" + kOther.substr(8),
        pools + "/providers/x",
        pools + "p/providers/",
        pools + "p/providers/x y",
        pools + "../providers/x",
        pools + "p/attacker/x",
        std::string("projects//locations/global/workloadIdentityPools/p/providers/x"),
        std::string("projects/my-project/locations/global/workloadIdentityPools/p/providers/x"),
        std::string("projects/1/locations/eu/workloadIdentityPools/p/providers/x"),
        std::string("locations/global/workforcePools/p/providers/x"),
        pools + std::string(64, 'p') + "/providers/x",
        pools + "p/providers/ä"}) {
    CAPTURE(name);
    CHECK_FAILURE(google.run(of_profile(google, name, {"--allow-audience=any"})), 2,
                  "spec.cluster.config.workloadIdentityProvider");
    CHECK_FAILURE(google.run({.credentials = object(google.file_account()),
                              .arguments = {"--workload-identity-provider=" + name}}),
                  2, "is no workload identity provider");
  }
  CHECK(google.cloud.connections() == 0);
}

TEST_CASE("provider: it is accepted only with external_account credentials") {
  Google google;
  const Texts own = {"--workload-identity-provider=" + kOther};
  for (const Members& credentials : {Google::service_account(), google.user()}) {
    CHECK_FAILURE(google.run({.credentials = object(credentials), .arguments = own}), 2,
                  "a workload identity provider has no use with");
  }
  CHECK_FAILURE(google.run({.arguments = own, .variables = {"GCE_METADATA_HOST=127.0.0.1:1"}}), 2,
                "a workload identity provider has no use with the metadata");
  CHECK(google.cloud.connections() == 0);
}

TEST_CASE("provider: a ClusterProfile may set no other option") {
  Google google;
  for (const std::string field :
       {"credentialsFile", "scope", "caFile", "allowEndpoint", "cacheDir", "noCache"}) {
    CAPTURE(field);
    CHECK_REFUSAL(google.run({.credentials = object(google.file_account()),
                              .config = object({{field, text("x")}})}),
                  2, field);
  }
  for (const std::string option : {"--credentials-file=/x", "--scope=x", "--ca-file=/x"}) {
    CAPTURE(option);
    CHECK_FAILURE(google.run({.credentials = object(google.file_account()),
                              .arguments = {"--from-profile", option}}),
                  2, "stands behind --from-profile, and may not come from a");
  }
  CHECK(google.cloud.connections() == 0);
}

}  // namespace execcred::test
