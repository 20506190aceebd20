// SPDX-License-Identifier: Apache-2.0
// The fields that a ClusterProfile may set, in each convention's spelling, and no others.
#include "plugin.hpp"

#include <doctest/doctest.h>

namespace execcred::test {
namespace {

struct Case {
  std::string convention;
  std::string config;
  int exit_code;
  std::string text = {};
};

Outcome run(const Case& c, Texts more = {}) {
  Plugin plugin;
  plugin.hub.add({.name = "s", .data = {{"k", new_token()}, {"token", new_token()}}});
  plugin.hub.add({.name = "spoke-1", .data = {{"k", new_token()}, {"token", new_token()}}});
  Texts arguments = {"--convention=" + c.convention, "--format=token"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return plugin.run({.arguments = arguments, .config = c.config});
}

}  // namespace

TEST_CASE("profile fields: each convention reads those of its own reader") {
  for (const Case& c :
       {Case{"kubeconfig-secretreader", R"({"name":"s","key":"k"})", 0},
        Case{"kubeconfig-secretreader", R"({"name":"s","key":"k","namespace":"clusters"})", 0},
        Case{"kubeconfig-secretreader", R"({"name":"s","key":"k","context":"c"})", 0},
        Case{"token-secretreader", R"({"secretName":"s","secretNamespace":"clusters","key":"k"})",
             0},
        Case{"generic", R"({"name":"s","namespace":"clusters","key":"k"})", 0},
        Case{"generic", R"({"secretName":"s","secretNamespace":"clusters","key":"k"})", 0},
        Case{"secretreader", R"({"clusterName":"spoke-1"})", 0},
        Case{"secretreader", R"({"clusterName":"spoke-1","region":"eu","roleArn":["x"]})", 0},
        Case{"secretreader", R"({"clusterName":"spoke-1","key":null})", 0}}) {
    CAPTURE(c.convention);
    CAPTURE(c.config);
    CHECK_SUCCESS(run(c));
  }
}

TEST_CASE("profile fields: one that the convention does not use is ignored, and --debug says so") {
  struct Unused {
    std::string convention, config, field;
  };
  const std::string kubeconfig_reader = R"({"name":"s","key":"k","secretNamespace":"n"})";
  const std::string token_reader = R"("secretName":"s","secretNamespace":"clusters","key":"k")";
  for (const Unused& c :
       {Unused{"secretreader", R"({"clusterName":"spoke-1","key":"k"})", "key"},
        Unused{"secretreader", R"({"clusterName":"spoke-1","namespace":"n"})", "namespace"},
        Unused{"secretreader", R"({"clusterName":"spoke-1","secretName":"x"})", "secretName"},
        Unused{"secretreader", R"({"clusterName":"spoke-1","name":"x"})", "name"},
        Unused{"secretreader", R"({"clusterName":"spoke-1","name":["of",7]})", "name"},
        Unused{"secretreader", R"({"clusterName":"spoke-1","secretNamespace":"n"})",
               "secretNamespace"},
        Unused{"karmada", R"({"clusterName":"spoke-1","context":"c"})", "context"},
        Unused{"kubeconfig-secretreader", kubeconfig_reader, "secretNamespace"},
        Unused{"token-secretreader", "{" + token_reader + R"(,"name":"x"})", "name"},
        Unused{"token-secretreader", "{" + token_reader + R"(,"context":"c"})", "context"}}) {
    CAPTURE(c.convention);
    CAPTURE(c.config);
    const Case as_given{c.convention, c.config, 0};
    const Outcome silent = run(as_given);
    CHECK_SUCCESS(silent);
    CHECK(silent.error_output.empty());
    const Outcome told = run(as_given, {"--debug"});
    CHECK(says(told, "spec.cluster.config." + c.field +
                         " is passed over: --convention=" + c.convention + " does not use it"));
  }
  // It has no other meaning: here no Secret is named.
  CHECK_REFUSAL(run({"token-secretreader", R"({"name":"s","secretNamespace":"n","key":"k"})", 2}),
                2, "no Secret is named");
  CHECK_REFUSAL(run({"token-secretreader", R"({"secretName":"s","key":"k"})", 2}), 2,
                "secretNamespace");
}

TEST_CASE("profile fields: an empty field counts as missing") {
  for (const Case& c :
       {Case{"kubeconfig-secretreader",
             R"({"name":"s","key":"k","namespace":"","context":"","clusterName":""})", 0},
        Case{"secretreader",
             R"({"clusterName":"spoke-1","name":"","key":"","namespace":"","context":""})", 0},
        Case{"generic", R"({"name":"","secretName":"s","key":"k"})", 0},
        Case{"generic", R"({"name":"s","key":""})", 0}}) {
    CAPTURE(c.config);
    CHECK_SUCCESS(run(c));
    CHECK_FALSE(says(run(c, {"--debug"}), "passed over"));
  }
}

TEST_CASE("profile fields: a required field that is empty is reported as such") {
  for (const Case& c :
       {Case{"kubeconfig-secretreader", R"({"name":"","key":"k"})", 2,
             "no Secret is named: spec.cluster.config.name is empty"},
        Case{"kubeconfig-secretreader", R"({"name":"s","key":""})", 2,
             "no key of the Secret is named: spec.cluster.config.key is empty"},
        Case{"token-secretreader", R"({"secretName":"","secretNamespace":"n","key":"k"})", 2,
             "no Secret is named: spec.cluster.config.secretName is empty"},
        Case{"token-secretreader", R"({"secretName":"s","secretNamespace":"","key":"k"})", 2,
             "no namespace of the Secret is named: spec.cluster.config.secretNamespace is empty"},
        Case{"generic", R"({"secretName":"","key":"k"})", 2,
             "no Secret is named: spec.cluster.config.secretName is empty"},
        Case{"secretreader", R"({"clusterName":""})", 2,
             "{clusterName} needs the cluster's name, and spec.cluster.config.clusterName is "
             "empty"}}) {
    CAPTURE(c.config);
    CHECK_REFUSAL(run(c), 2, c.text);
  }
  // A field that no ClusterProfile may set is refused with any value.
  CHECK_REFUSAL(run({"generic", R"({"name":"s","key":"k","secretDir":""})", 2}), 2,
                "spec.cluster.config.secretDir sets --secret-dir");
}

TEST_CASE("profile fields: no rule and no path may come from a ClusterProfile") {
  for (const std::string field : {"allowNamespace",
                                  "allowHubToken",
                                  "allowInsecure",
                                  "allowProfileCa",
                                  "allowField",
                                  "allowServerMismatch",
                                  "requireLabel",
                                  "serverAnnotation",
                                  "localCluster",
                                  "both",
                                  "convention",
                                  "kubeconfig",
                                  "secretDir",
                                  "kubeconfigFile",
                                  "clientCertificate",
                                  "clientKey",
                                  "selector",
                                  "format",
                                  "managedServiceaccount",
                                  "allowServer",
                                  "fromProfile",
                                  "timeout",
                                  "maxAge"}) {
    CAPTURE(field);
    const std::string config = R"({"name":"s","key":"k",")" + field + R"(":"true"})";
    CHECK_REFUSAL(run({"generic", config, 2}), 2, field);
    std::string flag = "--";
    for (const char c : field) {
      if (c >= 'A' && c <= 'Z') flag.push_back('-');
      flag.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
    }
    if (field == "fromProfile") continue;
    CHECK_FAILURE(run({"generic", R"({"name":"s","key":"k"})", 2}, {"--from-profile", flag + "=1"}),
                  2, "stands behind --from-profile, and may not come from a");
  }
}

TEST_CASE("profile fields: two spellings of one field must agree") {
  CHECK_SUCCESS(run({"generic", R"({"name":"s","secretName":"s","key":"k"})", 0}));
  CHECK_SUCCESS(run({"generic",
                     R"({"name":"s","key":"k","namespace":"clusters",)"
                     R"("secretNamespace":"clusters"})",
                     0}));
  CHECK_REFUSAL(run({"generic", R"({"name":"s","secretName":"spoke-1","key":"k"})", 2}), 2,
                "both set --secret-name");
  CHECK_REFUSAL(run({"generic",
                     R"({"name":"s","key":"k","namespace":"clusters",)"
                     R"("secretNamespace":"other"})",
                     2}),
                2, "both set --namespace");
}

TEST_CASE("profile arguments: the convention decides what may follow --from-profile") {
  const Case none{"secretreader", R"({"clusterName":"spoke-1"})", 2};
  for (const std::string argument :
       {"--secret-name=s", "--namespace=clusters", "--key=k", "--context=c"}) {
    CAPTURE(argument);
    CHECK_REFUSAL(run(none, {"--from-profile", argument}), 2, "behind --from-profile");
    if (!argument.starts_with("--context")) {
      CHECK_SUCCESS(run(none, {argument}));
    }
  }
  const Case generic{"generic", R"({"clusterName":"spoke-1"})", 0};
  CHECK_SUCCESS(run(generic, {"--from-profile", "--secret-name=s", "--key=k"}));
  CHECK_REFUSAL(run(generic, {"--secret-name=spoke-1", "--from-profile", "--secret-name=s"}), 2,
                "may not change");
  CHECK_FAILURE(run(generic, {"--from-profile", "--secret-name=s", "--secret-name=t"}), 2,
                "--secret-name stands behind --from-profile with two values");
  const Case reader{"token-secretreader", R"({"clusterName":"spoke-1"})", 2};
  CHECK_REFUSAL(run(reader, {"--from-profile", "--secret-name=s", "--key=k", "--context=c"}), 2,
                "--context");
}

TEST_CASE("profile fields: a value that is not a string is refused") {
  for (const std::string config :
       {R"({"name":7,"key":"k"})", R"({"name":["s"],"key":"k"})", R"({"name":{"a":1},"key":"k"})",
        R"({"name":"s","key":[""]})", R"({"name":"s","key":true})"}) {
    CAPTURE(config);
    CHECK_FAILURE(run({"generic", config, 2}), 2, "must be a string, not");
  }
}

}  // namespace execcred::test
