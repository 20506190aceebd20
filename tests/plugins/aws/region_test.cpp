// SPDX-License-Identifier: Apache-2.0
// For which STS a token is presigned, and which STS is called.
#include "rig.hpp"

#include <doctest/doctest.h>

namespace execcred::test {

TEST_CASE("--show-config names the variable that sets a value, unless another source wins") {
  const Rig rig;
  Ask ask = {.region = "",
             .arguments = {"--show-config"},
             .variables = {"AWS_REGION=ap-south-1", "AWS_DEFAULT_REGION=ap-south-2",
                           "AWS_DEFAULT_PROFILE=build", "AWS_PROFILE="}};
  const auto shown = [&](const std::string& option) {
    const Outcome outcome = rig.run(ask);
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.output.find(rig.secret) == std::string::npos);
    return blackbox::shown_setting(outcome.output, option);
  };
  CHECK(shown("--region") == "ap-south-1 AWS_REGION");
  CHECK(shown("--profile") == "build AWS_DEFAULT_PROFILE");
  ask.config = R"({"region":"eu-west-1"})";
  CHECK(shown("--region") == "eu-west-1 spec.cluster.config.region");
  ask.variables.emplace_back("EXECCRED_REGION=eu-west-2");
  CHECK(shown("--region") == "eu-west-2 EXECCRED_REGION");
  ask.variables.clear();
  CHECK(shown("--profile") == "default default");
}

TEST_CASE("region: the order is flag, ClusterProfile, AWS_REGION, AWS_DEFAULT_REGION, profile") {
  const Rig rig;
  rig.set_config("[default]\nregion = sa-east-1\n[profile other]\nregion=ca-central-1\n");
  const auto region = [&](Ask ask) { return rig.verdict(rig.run(ask)).region; };
  const std::string config = R"({"region":"eu-west-1"})";
  const Texts all = {"AWS_REGION=ap-south-1", "AWS_DEFAULT_REGION=ap-south-2"};
  CHECK(region({.variables = all, .config = config}) == "us-west-2");
  CHECK(region({.region = "", .variables = all, .config = config}) == "eu-west-1");
  CHECK(region({.region = "", .variables = all}) == "ap-south-1");
  CHECK(region({.region = "", .variables = {"AWS_DEFAULT_REGION=ap-south-2"}}) == "ap-south-2");
  CHECK(region({.region = ""}) == "sa-east-1");
  CHECK(region({.region = "", .variables = {"AWS_PROFILE=other"}}) == "ca-central-1");
  // EXECCRED_REGION has the flag's place in this order.
  CHECK(region({.region = "", .variables = {"EXECCRED_REGION=us-east-2"}, .config = config}) ==
        "us-east-2");
}

TEST_CASE("region: --region is accepted after --from-profile, the controller's options are not") {
  const Rig rig;
  const Outcome outcome =
      rig.run({.cluster = "",
               .region = "",
               .arguments = {"--from-profile", "--cluster-id=spoke", "--region=eu-west-1"}});
  const TokenVerdict verdict = rig.verdict(outcome, "spoke");
  CHECK(verdict.problem == "");
  CHECK(verdict.region == "eu-west-1");
  CHECK_REFUSAL(rig.run({.arguments = {"--from-profile", "--region=eu-west-1"}}), 2, "--region");
  for (const std::string& option :
       {std::string("--profile=x"), std::string("--session-name=xx"),
        std::string("--external-id=xx"), std::string("--cache-dir=/tmp")}) {
    CAPTURE(option);
    CHECK_FAILURE(rig.run({.arguments = {"--from-profile", option}}), 2,
                  "stands behind --from-profile, and may not come from a");
  }
}

TEST_CASE("a ClusterProfile may name the cluster and its region, but set no other option") {
  const Rig rig;
  const auto with = [&](const std::string& config) {
    return rig.run({.cluster = "", .region = "", .config = config});
  };
  for (const std::string config :
       {R"({"clusterId":"spoke","region":"eu-west-1"})",
        R"({"clusterName":"spoke","region":"eu-west-1","of":"others"})",
        R"({"clusterName":"spoke","clusterId":"spoke","region":"eu-west-1"})"}) {
    CAPTURE(config);
    const TokenVerdict verdict = rig.verdict(with(config), "spoke");
    CHECK(verdict.problem == "");
    CHECK(verdict.region == "eu-west-1");
  }
  // Every plugin reads clusterName; only execcred-aws reads clusterId.
  const Outcome both = with(R"({"clusterName":"one","clusterId":"spoke","region":"eu-west-1"})");
  CHECK(rig.verdict(both, "spoke").problem == "");
  const Outcome shown = rig.run(
      {.cluster = "", .arguments = {"--show-config"}, .config = R"({"clusterName":"one"})"});
  const std::string origin = "spec.cluster.config.clusterName";
  CHECK(shown.output.find(origin) != shown.output.rfind(origin));  // of --cluster and --cluster-id
  for (const std::string field : {"sessionName", "externalId", "profile", "cacheDir"}) {
    CAPTURE(field);
    CHECK_FAILURE(with(R"({"clusterId":"spoke","region":"eu-west-1",")" + field + "\":\"xx\"}"), 2,
                  "which may not come from a ClusterProfile");
  }
  // The controller's own values take precedence.
  CHECK(rig.problem(rig.run({.config = R"({"clusterId":"spoke","region":"eu-west-1"})"})) == "");
}

TEST_CASE("region: an invalid region is refused, and never becomes part of a host name") {
  const Rig rig;
  for (const std::string bad : {"../", "us-west-2/", "us-west-2.evil.example",
                                "evil.example#us-west-2", "us west-2", "US-WEST-2", "us-west-2\\n",
                                "us-west", "@evil.example", "us-west-2a", "-us-west-2", "%2e"}) {
    CAPTURE(bad);
    const std::string config =
        R"({"clusterId":"demo","region":)" + blackbox::json_string(bad) + "}";
    CHECK_FAILURE(rig.run({.region = "", .config = config}), 2, "spec.cluster.config.region");
    CHECK_FAILURE(rig.run({.region = bad}), 2, "is no name of an AWS region");
    CHECK_FAILURE(rig.run({.region = "", .variables = {"AWS_REGION=" + bad}}), 2, "AWS_REGION");
    rig.set_config("[default]\nregion = " + bad + "\n");
    CHECK_FAILURE(rig.run({.region = ""}), 2, "the profile's region '");
  }
  struct Bad {
    std::string config;
    std::string said;
  };
  for (const Bad& c :
       {Bad{R"({"clusterId":"demo","region":7})", "config.region must be a string"},
        Bad{R"({"clusterId":"demo","region":["us-west-2"]})", "config.region must be a string"},
        Bad{R"({"clusterId":"demo","region":{}})", "config.region must be a string"},
        Bad{R"({"clusterId":7,"region":"us-west-2"})", "config.clusterId must be a string"},
        Bad{R"({"clusterId":"demo","region":""})", "the profile's region '%2e'"}}) {
    CAPTURE(c.config);
    CHECK_FAILURE(rig.run({.cluster = "", .region = "", .config = c.config}), 2, c.said);
  }
}

TEST_CASE("region: without any region, and without instance metadata, the run fails") {
  const Rig rig;
  CHECK_REFUSAL(rig.run({.region = ""}), 2, "no region is known");
}

TEST_CASE("hosts: each partition has its own hosts, also for FIPS and dual stack") {
  const Rig rig;
  struct Case {
    std::string region, plain, fips, dual, both;
  };
  for (const Case& c :
       {Case{"us-west-2", "sts.us-west-2.amazonaws.com", "sts-fips.us-west-2.amazonaws.com",
             "sts.us-west-2.api.aws", "sts-fips.us-west-2.api.aws"},
        Case{"us-gov-west-1", "sts.us-gov-west-1.amazonaws.com", "sts.us-gov-west-1.amazonaws.com",
             "sts.us-gov-west-1.api.aws", "sts-fips.us-gov-west-1.api.aws"},
        Case{"cn-north-1", "sts.cn-north-1.amazonaws.com.cn",
             "sts-fips.cn-north-1.amazonaws.com.cn", "sts.cn-north-1.api.amazonwebservices.com.cn",
             "sts-fips.cn-north-1.api.amazonwebservices.com.cn"},
        Case{"eusc-de-east-1", "sts.eusc-de-east-1.amazonaws.eu",
             "sts-fips.eusc-de-east-1.amazonaws.eu", "sts.eusc-de-east-1.api.amazonwebservices.eu",
             "sts-fips.eusc-de-east-1.api.amazonwebservices.eu"},
        Case{"us-iso-east-1", "sts.us-iso-east-1.c2s.ic.gov", "sts-fips.us-iso-east-1.c2s.ic.gov",
             "sts.us-iso-east-1.api.aws.ic.gov", "sts-fips.us-iso-east-1.api.aws.ic.gov"},
        Case{"us-isob-east-1", "sts.us-isob-east-1.sc2s.sgov.gov",
             "sts-fips.us-isob-east-1.sc2s.sgov.gov", "sts.us-isob-east-1.api.aws.scloud",
             "sts-fips.us-isob-east-1.api.aws.scloud"},
        Case{"eu-isoe-west-1", "sts.eu-isoe-west-1.cloud.adc-e.uk",
             "sts-fips.eu-isoe-west-1.cloud.adc-e.uk", "sts.eu-isoe-west-1.api.cloud-aws.adc-e.uk",
             "sts-fips.eu-isoe-west-1.api.cloud-aws.adc-e.uk"},
        Case{"us-isof-south-1", "sts.us-isof-south-1.csp.hci.ic.gov",
             "sts-fips.us-isof-south-1.csp.hci.ic.gov", "sts.us-isof-south-1.api.aws.hci.ic.gov",
             "sts-fips.us-isof-south-1.api.aws.hci.ic.gov"}}) {
    const auto host = [&](const Texts& variables) {
      const TokenVerdict verdict =
          rig.verdict(rig.run({.region = c.region, .variables = variables}));
      CHECK(verdict.problem == "");
      return verdict.host;
    };
    CHECK(host({}) == c.plain);
    CHECK(host({"AWS_USE_FIPS_ENDPOINT=true"}) == c.fips);
    CHECK(host({"AWS_USE_DUALSTACK_ENDPOINT=True"}) == c.dual);
    CHECK(host({"AWS_USE_FIPS_ENDPOINT=true", "AWS_USE_DUALSTACK_ENDPOINT=true"}) == c.both);
    CHECK(host({"AWS_USE_FIPS_ENDPOINT=false"}) == c.plain);
  }
}

TEST_CASE("AWS_ENDPOINT_URL_STS sets the STS that is called, not the one that is presigned") {
  const Rig rig;
  const Outcome outcome = rig.run({.arguments = {"--role-arn=" + std::string(kRole)}});
  CHECK(rig.problem(outcome) == "");
  CHECK(rig.verdict(outcome).host == "sts.us-west-2.amazonaws.com");
  CHECK(rig.sts.calls() == 1);
  CHECK(rig.sts.problem() == "");
  // AWS_ENDPOINT_URL, which is more general, does so too.
  const Texts role = {"--role-arn=" + std::string(kRole)};
  CHECK(rig.problem(rig.run_cold({.arguments = role,
                                  .variables = {"AWS_ENDPOINT_URL_STS=",
                                                "AWS_ENDPOINT_URL=" + rig.sts.url("/")}})) == "");
  CHECK(rig.sts.calls() == 2);
  for (const std::string bad :
       {"http://127.0.0.1:1", "sts.example", "https://u:p@h/", "ftp://h/", "https://h/?a=b"}) {
    CAPTURE(bad);
    CHECK_FAILURE(rig.run_cold({.arguments = role, .variables = {"AWS_ENDPOINT_URL_STS=" + bad}}),
                  2, "AWS_ENDPOINT_URL_STS");
  }
}

TEST_CASE("a role's session is requested in the controller's own region, and serves all regions") {
  const Rig rig;
  const auto ask = [&](const std::string& region, const std::string& own,
                       const std::string& role = kRole) {
    return rig.run({.region = "",
                    .arguments = {"--role-arn=" + role},
                    .variables = {"AWS_REGION=" + own},
                    .config = R"({"region":")" + region + "\"}"});
  };
  const Outcome west = ask("eu-west-1", "us-east-1");
  const Outcome east = ask("ap-south-1", "us-east-1");
  CHECK(rig.verdict(west).region == "eu-west-1");
  CHECK(rig.verdict(east).region == "ap-south-1");
  CHECK(rig.verdict(west).key_id == rig.verdict(east).key_id);
  REQUIRE(rig.sts.calls() == 1);
  CHECK(judge_signed_request(rig.sts.last("/"), rig.sts.keys()).region == "us-east-1");
  // Credentials and roles of one partition are not valid in another.
  CHECK_REFUSAL(ask("cn-north-1", "us-east-1"), 2, "of another partition");
  CHECK(rig.sts.calls() == 1);
  CHECK(rig.problem(ask("cn-north-1", "us-east-1", "arn:aws-cn:iam::123456789012:role/reader")) ==
        "");
  CHECK(judge_signed_request(rig.sts.last("/"), rig.sts.keys()).region == "cn-north-1");
}

}  // namespace execcred::test
