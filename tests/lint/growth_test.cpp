// SPDX-License-Identifier: Apache-2.0
// Documents that could make lint slow.
#include "unit/growth.hpp"
#include "build_kind.hpp"
#include "lint.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace execcred {
namespace {

using test::check_linear;
using test::lint_text;
using Make = std::function<std::string(std::size_t count)>;

// `count` entries, separated by commas; entry() makes each one from its number.
std::string list(std::size_t count, const std::function<std::string(std::string number)>& entry) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += (i == 0 ? "" : ",") + entry(std::to_string(i));
  }
  return text;
}

std::string profile(const std::string& status) {
  return R"({"apiVersion":"multicluster.x-k8s.io/v1alpha1","kind":"ClusterProfile",)"
         R"("metadata":{"name":"c"},"status":)" +
         status + "}";
}

std::string mapping(const std::string& providers) { return R"({"providers":[)" + providers + "]}"; }

std::string provider(const std::string& name, const std::string& more = "") {
  return R"({"name":")" + name +
         R"(","execConfig":{"apiVersion":"client.authentication.k8s.io/v1",)"
         R"("command":"/plugins/execcred-token-file")" +
         more + "}}";
}

// One text for each of `mappings` different mapping files, and `profiles` ClusterProfiles with a
// tenant that none of them allows.
std::string refused_tenants(std::size_t mappings, std::size_t profiles) {
  const auto entry = [](const std::string& n) {
    return json::to_text(json::Value(mapping(
        R"({"name":"p","execConfig":{"apiVersion":"client.authentication.k8s.io/v1",)"
        R"("command":"/plugins/execcred-azure","args":["--allow-server=https://h)" +
        n +
        R"(","--tenant-id=11111111-1111-1111-1111-111111111111"],"interactiveMode":"Never",)"
        R"("provideClusterInfo":true}})")));
  };
  return R"({"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"ConfigMap",)"
         R"("metadata":{"name":"x"},"data":{)" +
         list(mappings, [&](const std::string& n) { return "\"m" + n + "\":" + entry(n); }) +
         "}}," +
         list(profiles,
              [](const std::string& n) {
                return R"({"apiVersion":"multicluster.x-k8s.io/v1alpha1","kind":"ClusterProfile",)"
                       R"("metadata":{"name":"c)" +
                       n +
                       R"("},"status":{"accessProviders":[{"name":"p","cluster":{"server":)"
                       R"("https://h","extensions":[{"name":"client.authentication.k8s.io/exec",)"
                       R"("extension":{"tenantId":"22222222-2222-2222-2222-222222222222"}}]}}]}})";
              }) +
         "]}";
}

struct Shape {
  std::string_view name;
  std::size_t count;
  Make make;
};

TEST_CASE("lint: the time is linear in the size of the document" *
          doctest::description("promise 30")) {
  for (
      const Shape& shape : std::vector<Shape>{
          {"providers of a ClusterProfile", 200,
           [](std::size_t count) {
             return profile(R"({"accessProviders":[)" +
                            list(count,
                                 [](const std::string& n) {
                                   return R"({"name":"p)" + n +
                                          R"(","cluster":{"server":"https://h"}})";
                                 }) +
                            "]}");
           }},
          {"fields of a config", 200,
           [](std::size_t count) {
             return profile(
                 R"({"accessProviders":[{"name":"p","cluster":{"server":"https://h","extensions":[)"
                 R"({"name":"client.authentication.k8s.io/exec","extension":{)" +
                 list(count, [](const std::string& n) { return "\"field" + n + R"(":"x")"; }) +
                 "}}]}}]}");
           }},
          {"values below a long name", 200,
           [](std::size_t count) {
             return profile("{\"" + std::string(20 * count, 'k') + "\":[" +
                            list(count, [](const std::string& n) { return "\"v" + n + "\""; }) +
                            "]}");
           }},
          {"providers of a mapping", 100,
           [](std::size_t count) {
             return mapping(list(count, [](const std::string& n) { return provider("p" + n); }));
           }},
          {"arguments", 200,
           [](std::size_t count) {
             return mapping(provider(
                 "p", R"(,"args":["--token-file=/t",)" + list(count, [](const std::string& n) {
                        return "\"--allow-server=https://h" + n + "\"";
                      }) + "]"));
           }},
          {"values of one variable", 200,
           [](std::size_t count) {
             return mapping(provider(
                 "p", R"(,"env":[{"name":"EXECCRED_ALLOW_SERVER","value":")" +
                          list(count, [](const std::string& n) { return "https://h" + n; }) +
                          "\"}]"));
           }},
          {"variables", 200,
           [](std::size_t count) {
             return mapping(provider("p", R"(,"env":[)" + list(count, [](const std::string& n) {
                                            return R"({"name":"N)" + n + R"(","value":"x"})";
                                          }) + "]"));
           }},
          {"names of a kubeconfig", 200,
           [](std::size_t count) {
             return R"({"apiVersion":"v1","kind":"Config","clusters":[)" +
                    list(count,
                         [](const std::string& n) {
                           return R"({"name":"c)" + n + R"(","cluster":{"server":"https://h"}})";
                         }) +
                    R"(],"users":[)" +
                    list(count,
                         [](const std::string& n) {
                           return R"({"name":"u)" + n + R"(","user":{"token":"t"}})";
                         }) +
                    R"(],"contexts":[)" +
                    list(count,
                         [](const std::string& n) {
                           return R"({"name":"x)" + n + R"(","context":{"cluster":"c)" + n +
                                  R"(","user":"u)" + n + R"("}})";
                         }) +
                    "]}";
           }},
          {"a secret in a ClusterProfile", 2'000,
           [](std::size_t count) {
             return profile(R"({"x":")" + test::repeated("eyJ.", count) + "\"}");
           }},
          // Each ClusterProfile is compared with each mapping of its provider.
          {"many mappings and ClusterProfiles", 50,
           [](std::size_t count) { return refused_tenants(count, count); }},
          {"many mappings that are compared, and ClusterProfiles", 50,
           [](std::size_t count) { return refused_tenants(lint::MappedPlugins::kMost, count); }},
          // Each provider of the ClusterProfile is looked up among those of the mapping.
          {"a ClusterProfile and its mapping", 100, [](std::size_t count) {
             return R"({"apiVersion":"v1","kind":"List","items":[)" +
                    mapping(list(count,
                                 [](const std::string& n) {
                                   return provider("p" + n, R"(,"args":["--token-file=/t"])");
                                 })) +
                    "," +
                    profile(
                        R"({"accessProviders":[)" +
                        list(
                            count,
                            [](const std::string& n) {
                              return R"({"name":"p)" + n +
                                     R"(","cluster":{"server":"https://h","extensions":[{"name":)"
                                     R"("client.authentication.k8s.io/exec","extension":{"audience":"a"}}]}})";
                            }) +
                        "]}") +
                    "]}";
           }}}) {
    CAPTURE(shape.name);
    check_linear(shape.count, shape.make,
                 [](const std::string& text) { static_cast<void>(lint_text(text)); });
  }
}

TEST_CASE(
    "lint: ClusterProfiles are compared with 20 different entries of a provider, or it says so") {
  constexpr std::size_t kMost = lint::MappedPlugins::kMost;
  const auto refused = [](std::size_t mappings) {
    std::vector<lint::Finding> all = lint_text(refused_tenants(mappings, 2));
    std::erase_if(all, [](const lint::Finding& one) { return one.rule != "profile-input"; });
    return all;
  };
  const std::vector<lint::Finding> compared = refused(kMost);
  REQUIRE(compared.size() == 2);
  CHECK(compared[0].path.ends_with("extension.tenantId"));
  CHECK(compared[0].severity == lint::Severity::error);
  const std::vector<lint::Finding> passed_over = refused(kMost + 1);
  REQUIRE(passed_over.size() == 1);
  CHECK(passed_over[0].path == "items[0].data.m20.providers[0]");
  CHECK(passed_over[0].severity == lint::Severity::warning);
  CHECK(passed_over[0].message ==
        "is one of more than 20 different entries for the provider 'p': what ClusterProfiles give "
        "to it is not checked");
}

TEST_CASE("lint: equal entries of a provider in many mappings count as one") {
  std::vector<test::File> files;
  const std::string text = mapping(provider("p", R"(,"args":["--token-file=/t"])"));
  for (int i = 0; i < 50; ++i) files.push_back({.text = text, .name = "m" + std::to_string(i)});
  files.push_back(
      {.text = profile(R"({"accessProviders":[{"name":"p","cluster":{"server":"https://h",)"
                       R"("extensions":[{"name":"client.authentication.k8s.io/exec","extension":)"
                       R"({"clusterName":5}}]}}]})"),
       .name = "z"});
  const std::vector<lint::Finding> findings = test::lint_files(files);
  CHECK(std::count_if(findings.begin(), findings.end(), [](const lint::Finding& one) {
          return one.rule == "profile-input" && one.severity == lint::Severity::error;
        }) == 1);
}

TEST_CASE("lint: a long name is cut in the paths of the values below it") {
  const std::string name(200, 'k');
  const std::vector<lint::Finding> findings =
      lint_text(profile("{\"" + name + R"(":["https://u:password@h"],"accessProviders":[]})"));
  REQUIRE(findings.size() == 2);
  CHECK(findings[1].path == "status[\"" + name.substr(0, 120) + "\"][0]");
  CHECK(findings[1].message == "holds a URL with a password");
}

// A ClusterProfile with this number of secrets below 25 objects, each with a long name.
std::string deep_secrets(std::size_t count) {
  constexpr int kLevels = 25;
  std::string open;
  for (int i = 0; i < kLevels; ++i) open += "{\"" + std::string(120, 'k') + "\":";
  return profile(open + "[" + list(count, [](const std::string&) { return R"("://a:b@")"; }) + "]" +
                 std::string(kLevels, '}'));
}

TEST_CASE("lint: 100,000 secrets below 25 long keys need less than 200 MB") {
  if (blackbox::kIsSanitized) {
    MESSAGE("skipped: the sanitizer needs more memory than the program may have here");
    return;
  }
  const std::string text = deep_secrets(100'000);
  CHECK(test::mebibytes_for(
            [&text] { static_cast<void>(lint::to_text(lint_text(text), {.files = 1})); }) < 200);
}

TEST_CASE("lint: if a rule has too many findings in a file, the last finding says so") {
  const std::vector<lint::Finding> findings = lint_text(deep_secrets(5'000));
  REQUIRE(findings.size() > 1'000);
  CHECK(findings.size() < 2'000);
  std::size_t told = 0;
  for (const lint::Finding& finding : findings) {
    if (finding.message != "has more findings of the rule secret than are listed") continue;
    ++told;
    CHECK(finding.rule == "secret");
    CHECK(finding.severity == lint::Severity::error);
    CHECK(finding.path.empty());
    CHECK_FALSE(finding.hint.empty());
  }
  CHECK(told == 1);
}

TEST_CASE("lint: every finding is listed in an inventory of 10,000 ClusterProfiles") {
  std::string profiles;
  for (int i = 0; i < 10'000; ++i) {
    profiles += "---\n" +
                profile(R"({"accessProviders":[{"name":"p","cluster":{"server":"http://h)" +
                        std::to_string(i) + R"("}}]})") +
                "\n";
  }
  std::size_t servers = 0;
  for (const lint::Finding& finding : lint_text(profiles)) {
    if (finding.path.ends_with("cluster.server")) ++servers;
  }
  CHECK(servers == 10'000);
}

TEST_CASE("lint: nested ConfigMaps are read up to a depth limit") {
  const auto nested = [](int levels) {
    std::string text = "kind: ClusterProfile\n";
    for (int i = 0; i < levels; ++i) {
      std::string inner;
      for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at) + 1;
        inner += "    " + text.substr(at, end - at);
        at = end;
      }
      text = "apiVersion: v1\nkind: ConfigMap\ndata:\n  f.yaml: |\n" + inner;
    }
    return lint_text(text);
  };
  CHECK(nested(4).front().path ==
        "data[\"f.yaml\"].data[\"f.yaml\"].data[\"f.yaml\"]."
        "data[\"f.yaml\"].apiVersion");
  const std::vector<lint::Finding> findings = nested(5);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == lint::Severity::warning);
  CHECK(findings[0].message == "is a ConfigMap inside of 4 others");
}

}  // namespace
}  // namespace execcred
