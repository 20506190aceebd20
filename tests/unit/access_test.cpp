// SPDX-License-Identifier: Apache-2.0
// Resolving a mapping and a ClusterProfile.
#include "expect.hpp"
#include "growth.hpp"
#include "support/profiles.hpp"

#include <doctest/doctest.h>
#include <execcred/kube/access.hpp>

#include <string>
#include <vector>

namespace execcred {
namespace {

using test::check_fails;
using test::parse_cluster_profiles;
using Texts = std::vector<std::string>;

constexpr auto kConfiguration = Error::Kind::configuration;
const std::string kArguments = "multicluster.x-k8s.io/clusterprofiles/auth/exec/additional-args";
const std::string kVariables = "multicluster.x-k8s.io/clusterprofiles/auth/exec/additional-envs";
const std::string kNewArguments = "clusterprofiles.multicluster.x-k8s.io/exec/additional-args";
const std::string kNewVariables = "clusterprofiles.multicluster.x-k8s.io/exec/additional-envs";

std::string entry(const std::string& name, const std::string& exec = {},
                  const std::string& policies = {}, const std::string& command = "/bin/plugin") {
  return R"({"name":")" + name +
         R"(","execConfig":{"apiVersion":"client.authentication.k8s.io/v1","command":")" + command +
         R"(")" + exec + "}" + policies + "}";
}

ProviderMapping mapping(const std::string& entries) {
  Result<ProviderMapping> mapping = parse_provider_mapping(R"({"providers":[)" + entries + "]}");
  if (!mapping) FAIL(test::full_text(mapping.error()));
  return std::move(mapping).value();
}

ClusterProfile profile(const std::string& status) {
  Result<std::vector<ClusterProfile>> profiles = parse_cluster_profiles(
      R"({"apiVersion":"multicluster.x-k8s.io/v1alpha1","kind":"ClusterProfile",)"
      R"("metadata":{"namespace":"fleet","name":"spoke"},"status":)" +
      status + "}");
  if (!profiles) FAIL(test::full_text(profiles.error()));
  return std::move(profiles->front());
}

// A ClusterProfile with one provider "x" at https://h, which has this extension.
ClusterProfile with_extension(const std::string& name, const std::string& value) {
  return profile(
      R"({"accessProviders":[{"name":"x","cluster":{"server":"https://h","extensions":[{"name":")" +
      name + R"(","extension":)" + value + "}]}}]}");
}

Access resolve(const ProviderMapping& mapping, const ClusterProfile& profile) {
  Result<Access> access = resolve_access(mapping, profile);
  if (!access) FAIL(test::full_text(access.error()));
  return std::move(access).value();
}

Texts variables(const Access& access) {
  Texts texts;
  for (const EnvironmentVariable& variable : access.exec.env) {
    texts.push_back(variable.name + "=" + variable.value);
  }
  return texts;
}

TEST_CASE("resolve_access: the order of the mapping selects the provider, unless one is named") {
  const ClusterProfile listed = profile(
      R"({"accessProviders":[{"name":"a","cluster":{"server":"https://a"}},)"
      R"({"name":"b","cluster":{"server":"https://b"}},{"name":"only","cluster":{"server":"https://o"}}],)"
      R"("credentialProviders":[{"name":"c","cluster":{"server":"https://c"}}]})");
  const ProviderMapping order =
      mapping(entry("z") + "," + entry("c") + "," + entry("b") + "," + entry("a"));
  Access access = resolve(order, listed);
  CHECK(access.provider == "c");
  CHECK(access.cluster.server == "https://c");
  CHECK(access.source == "status.credentialProviders[0]");
  CHECK(access.cluster_profile == "fleet/spoke");
  CHECK(resolve(mapping(entry("b") + "," + entry("a")), listed).provider == "b");
  const Result<Access> named = resolve_access(order, listed, "a");
  REQUIRE(named);
  CHECK(named->provider == "a");
  CHECK(named->source == "status.accessProviders[0]");

  check_fails(resolve_access(order, listed, "z"), kConfiguration, "is not in the ClusterProfile");
  check_fails(resolve_access(order, listed, "only"), kConfiguration, "is not in the mapping");
  check_fails(resolve_access(order, listed, "A"), kConfiguration, "is not in the mapping");
  check_fails(resolve_access(mapping(entry("z")), listed), kConfiguration, "fleet/spoke");
  check_fails(resolve_access(mapping(""), listed), kConfiguration, "'a', 'b', 'only', 'c'");
  check_fails(resolve_access(order, profile("{}")), kConfiguration, "no provider");
}

TEST_CASE("resolve_access: with provideClusterInfo, the plugin gets every field of the cluster") {
  const ClusterProfile full = profile(
      R"({"accessProviders":[{"name":"x","cluster":{"server":"https://h","tls-server-name":"n",)"
      R"("certificate-authority-data":"AAEC","proxy-url":"http://p","disable-compression":true,)"
      R"("extensions":[{"name":"client.authentication.k8s.io/exec","extension":{"k":"v"}}]}}]})");
  const ExecInfo info =
      resolve(mapping(entry("x", R"(,"provideClusterInfo":true)")), full).exec_info();
  REQUIRE(info.cluster);
  CHECK(json::to_text(to_json(*info.cluster)) ==
        R"({"server":"https://h","tls-server-name":"n","certificate-authority-data":"AAEC",)"
        R"("proxy-url":"http://p","disable-compression":true,"config":{"k":"v"}})");
  CHECK_FALSE(info.interactive);
  CHECK_FALSE(resolve(mapping(entry("x")), full).exec_info().cluster);
}

TEST_CASE("resolve_access: a server that is missing, empty or not https is an error") {
  const ProviderMapping one = mapping(entry("x"));
  const auto at = [](const std::string& cluster) {
    return profile(R"({"accessProviders":[{"name":"x","cluster":)" + cluster + "}]}");
  };
  const std::string path = "status.accessProviders[0].cluster";
  check_fails(resolve_access(one, at(R"({"server":"http://h"})")), Error::Kind::no_credential,
              path + ".server");
  check_fails(resolve_access(one, at(R"({"server":"h:6443"})")), kConfiguration, path + ".server");
  check_fails(resolve_access(one, at(R"({"server":""})")), kConfiguration, path + ".server");
  check_fails(resolve_access(one, at("{}")), kConfiguration, path + ".server");
  check_fails(resolve_access(one, at("null")), kConfiguration, path + " is missing");
  check_fails(resolve_access(one, at("[]")), kConfiguration, path);
  // A PEM block PRIVATE KEY.
  const std::string key =
      "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCkFBPT0KLS0tLS1FTkQgUFJJ"
      "VkFURSBLRVktLS0tLQo=";
  const Result<Access> with_key = resolve_access(
      one, at(R"({"server":"https://h","certificate-authority-data":")" + key + "\"}"));
  check_fails(with_key, kConfiguration, path + ".certificate-authority-data holds a private key");
  CHECK_FALSE(test::contains(test::full_text(with_key.error()), key));
  check_fails(resolve_access(one, at(R"({"server":"https://h","certificate-authority":"/ca"})")),
              kConfiguration, path + ".certificate-authority");
}

TEST_CASE("resolve_access: arguments of the profile are appended only with the policy Append" *
          doctest::description("promise 6")) {
  const std::string args = R"(,"args":["--mine"])";
  const ProviderMapping append =
      mapping(entry("x", args, R"(,"profileSourcedCLIArgsPolicy":"Append")"));
  for (const std::string& name : {kArguments, kNewArguments}) {
    CAPTURE(name);
    for (const std::string value : {R"(["--a","b"])", R"({"args":["--a","b"]})"}) {
      CAPTURE(value);
      const ClusterProfile given = with_extension(name, value);
      CHECK(resolve(append, given).exec.args == Texts{"--mine", "--a", "b"});
      CHECK(resolve(mapping(entry("x", args)), given).exec.args == Texts{"--mine"});
    }
    for (const std::string value : {"null", "[]", "{}", R"({"args":null})"}) {
      CAPTURE(value);
      CHECK(resolve(append, with_extension(name, value)).exec.args == Texts{"--mine"});
    }
    for (const std::string value : {R"("--a")", "1", "true", "[1]", "[null]", R"({"args":"x"})",
                                    R"({"args":[{}]})", R"(["a\nb"])"}) {
      CAPTURE(value);
      const ClusterProfile given = with_extension(name, value);
      check_fails(resolve_access(append, given), kConfiguration,
                  "status.accessProviders[0].cluster.extensions[0].extension");
      // If the policy ignores the arguments, their content is not checked.
      CHECK(resolve_access(mapping(entry("x", args)), given));
    }
  }
}

TEST_CASE("resolve_access: variables of the profile with each policy, always in the same order") {
  const std::string env = R"(,"env":[{"name":"B","value":"mine"},{"name":"Z","value":"mine"}])";
  const auto with_policy = [&env](const std::string& policy) {
    return mapping(entry("x", env, R"(,"profileSourcedEnvVarsPolicy":")" + policy + R"(")"));
  };
  for (const std::string& name : {kVariables, kNewVariables}) {
    for (const std::string value :
         {R"({"C":"3","B":"2","A":""})",
          R"([{"name":"A","value":""},{"name":"B","value":"2"},{"name":"C","value":"3"}])",
          R"([{"name":"A"},{"name":"B","value":"2"},{"name":"C","value":"3"}])"}) {
      CAPTURE(value);
      const ClusterProfile given = with_extension(name, value);
      CHECK(variables(resolve(with_policy("Ignore"), given)) == Texts{"B=mine", "Z=mine"});
      CHECK(variables(resolve(with_policy("AppendIfNotExists"), given)) ==
            Texts{"B=mine", "Z=mine", "A=", "C=3"});
      CHECK(variables(resolve(with_policy("Replace"), given)) ==
            Texts{"B=2", "Z=mine", "A=", "C=3"});
    }
    for (const std::string value : {"null", "{}", "[]"}) {
      CAPTURE(value);
      CHECK(variables(resolve(with_policy("Replace"), with_extension(name, value))) ==
            Texts{"B=mine", "Z=mine"});
    }
    for (const std::string value :
         {R"("A=1")", "1", R"({"A":1})", R"({"A=B":"1"})", R"({"":"1"})", R"({"A\n":"1"})",
          R"({"A":"1\u0000"})", R"({"A":{}})", R"(["A=1"])", R"([{"value":"1"}])",
          R"([{"name":"A","value":2}])", R"([{"name":"A=B","value":"2"}])"}) {
      CAPTURE(value);
      check_fails(resolve_access(with_policy("Replace"), with_extension(name, value)),
                  kConfiguration, "extensions[0].extension");
    }
  }
}

TEST_CASE("resolve_access: Replace replaces a variable that the mapping names twice") {
  const ProviderMapping twice =
      mapping(entry("x", R"(,"env":[{"name":"A","value":"1"},{"name":"A","value":"2"}])",
                    R"(,"profileSourcedEnvVarsPolicy":"Replace")"));
  const Access access = resolve(twice, with_extension(kVariables, R"({"A":"given"})"));
  for (const std::string& variable : variables(access)) CHECK(variable == "A=given");
}

TEST_CASE("resolve_access: a call does not change the mapping for the next call") {
  const ProviderMapping shared = mapping(
      entry("x", R"(,"args":["--mine"],"env":[{"name":"M","value":"m"}])",
            R"(,"profileSourcedCLIArgsPolicy":"Append","profileSourcedEnvVarsPolicy":"Replace")"));
  const auto given = [](const std::string& value) {
    return profile(
        R"({"accessProviders":[{"name":"x","cluster":{"server":"https://h","extensions":[{"name":")" +
        kArguments + R"(","extension":["--for=)" + value + R"("]},{"name":")" + kVariables +
        R"(","extension":{"M":")" + value + R"(","N":")" + value + R"("}}]}}]})");
  };
  for (int i = 0; i < 3; ++i) {
    for (const std::string value : {"one", "two"}) {
      const Access access = resolve(shared, given(value));
      CHECK(access.exec.args == Texts{"--mine", "--for=" + value});
      CHECK(variables(access) == Texts{"M=" + value, "N=" + value});
    }
    const Access plain = resolve(
        shared, profile(R"({"accessProviders":[{"name":"x","cluster":{"server":"https://h"}}]})"));
    CHECK(plain.exec.args == Texts{"--mine"});
    CHECK(variables(plain) == Texts{"M=m"});
  }
}

TEST_CASE(
    "check_policies: policies that pass unchecked settings to an execcred plugin are refused") {
  struct Case {
    std::string command, args, policies;
    std::string_view refused;
  };
  const std::string append = R"(,"profileSourcedCLIArgsPolicy":"Append")";
  const std::string replace = R"(,"profileSourcedEnvVarsPolicy":"Replace")";
  const std::string exists = R"(,"profileSourcedEnvVarsPolicy":"AppendIfNotExists")";
  const std::string ours = "/plugins/execcred-token-file";
  for (const Case& c : std::vector<Case>{
           {ours, "", "", ""},
           {ours, "", append, "providers[0].profileSourcedCLIArgsPolicy"},
           {ours, R"("--token-file=/t")", append, "providers[0].profileSourcedCLIArgsPolicy"},
           {ours, R"("--from-profile")", append, ""},
           {ours, R"("-from-profile")", append, ""},
           {ours, R"("--from-profile=true")", append, "providers[0].profileSourcedCLIArgsPolicy"},
           {ours, R"("--x=--from-profile")", append, "providers[0].profileSourcedCLIArgsPolicy"},
           {ours, R"("from-profile")", append, "providers[0].profileSourcedCLIArgsPolicy"},
           {ours, "", replace, "providers[0].profileSourcedEnvVarsPolicy"},
           {ours, "", exists, "providers[0].profileSourcedEnvVarsPolicy"},
           {ours, R"("--from-profile")", replace, "providers[0].profileSourcedEnvVarsPolicy"},
           {ours, R"("--from-profile")", append + replace, "profileSourcedEnvVarsPolicy"},
           {"/plugins/other", "", append + replace, ""},
           {"/plugins/execcred-dir/other", "", append, ""},
           {"/plugins/my-execcred-token-file", "", append, ""}}) {
    CAPTURE(c.command);
    CAPTURE(c.args);
    CAPTURE(c.policies);
    const ProviderMapping one =
        mapping(entry("x", R"(,"args":[)" + c.args + "]", c.policies, c.command));
    const ClusterProfile listed =
        profile(R"({"accessProviders":[{"name":"x","cluster":{"server":"https://h"}}]})");
    if (c.refused.empty()) {
      CHECK(check_policies(one.providers.front()));
      CHECK(resolve_access(one, listed));
    } else {
      check_fails(check_policies(one.providers.front()), kConfiguration, c.refused);
      check_fails(resolve_access(one, listed), kConfiguration, c.refused);
    }
  }
}

// `count` entries, separated by commas; entry_of() makes each one from its number.
template <class Entry>
std::string list(std::size_t count, Entry entry_of) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + entry_of(std::to_string(i));
  return text;
}

TEST_CASE("resolve_access: of duplicate variables the last replaces and the first is appended") {
  const ClusterProfile given = with_extension(
      kNewVariables,
      R"([{"name":"A","value":"1"},{"name":"B","value":"1"},{"name":"A","value":"2"},)"
      R"({"name":"B","value":"2"},{"name":"C","value":"1"},{"name":"C","value":"2"}])");
  const std::string exec = R"(,"env":[{"name":"A","value":"0"}])";
  CHECK(variables(resolve(
            mapping(entry("x", exec, R"(,"profileSourcedEnvVarsPolicy":"AppendIfNotExists")")),
            given)) == Texts{"A=0", "B=1", "C=1"});
  CHECK(variables(resolve(mapping(entry("x", exec, R"(,"profileSourcedEnvVarsPolicy":"Replace")")),
                          given)) == Texts{"A=2", "B=2", "C=2"});
}

TEST_CASE("resolve_access: the time is linear in what the mapping and the ClusterProfile list" *
          doctest::description("promise 30")) {
  struct Input {
    ProviderMapping mapped;
    ClusterProfile listed;
  };
  const auto run = [](const Input& input) {
    static_cast<void>(resolve_access(input.mapped, input.listed));
  };
  test::check_linear(
      500,
      [](std::size_t count) {
        return Input{
            mapping(list(count, [](const std::string& n) { return entry("m" + n); })),
            profile(
                R"({"accessProviders":[)" +
                list(count, [](const std::string& n) { return R"({"name":"p)" + n + R"("})"; }) +
                "]}")};
      },
      run);
  for (const std::string policy : {"AppendIfNotExists", "Replace"}) {
    CAPTURE(policy);
    test::check_linear(
        500,
        [&policy](std::size_t count) {
          return Input{mapping(entry("x",
                                     R"(,"env":[)" +
                                         list(count,
                                              [](const std::string& n) {
                                                return R"({"name":"M)" + n + R"(","value":"x"})";
                                              }) +
                                         "]",
                                     R"(,"profileSourcedEnvVarsPolicy":")" + policy + "\"")),
                       with_extension(kNewVariables, "{" + list(count, [](const std::string& n) {
                                                       return "\"P" + n + R"(":"x")";
                                                     }) + "}")};
        },
        run);
  }
}

TEST_CASE("resolve_access: a hint lists at most ten providers") {
  const ClusterProfile many =
      profile(R"({"accessProviders":[)" +
              list(12, [](const std::string& n) { return R"({"name":"p)" + n + R"("})"; }) + "]}");
  check_fails(resolve_access(mapping(entry("x")), many), kConfiguration,
              "lists 'p0', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7', 'p8', 'p9' and 2 more");
}

}  // namespace
}  // namespace execcred
