// SPDX-License-Identifier: Apache-2.0
#include "expect.hpp"

#include <doctest/doctest.h>
#include <execcred/kube/kubeconfig.hpp>
#include <execcred/kube/kubeconfig_writer.hpp>

#include <string>
#include <utility>

namespace execcred {
namespace {

Access access(std::string profile, std::string provider, std::string argument) {
  return {.cluster_profile = std::move(profile),
          .provider = std::move(provider),
          .source = {},
          .exec = {.command = "/bin/plugin", .args = {std::move(argument)}},
          .cluster = {.server = "https://h"}};
}

TEST_CASE("KubeconfigWriter: the names of users are unique, whatever the providers are called") {
  KubeconfigWriter writer;
  REQUIRE(writer.add(access("fleet/a", "p", "--1")));
  REQUIRE(writer.add(access("fleet/c", "p@fleet/b", "--2")));
  REQUIRE(writer.add(access("fleet/b", "p", "--3")));
  const Result<Kubeconfig> config =
      Kubeconfig::parse(writer.take_text(), Kubeconfig::Source::stored);
  if (!config) FAIL(test::full_text(config.error()));
  const auto user = [&config](std::string_view context) {
    const Result<KubeconfigContext> found = config->context(context);
    REQUIRE(found);
    return found->user.name;
  };
  CHECK(user("fleet/a") == "p");
  CHECK(user("fleet/c") == "p@fleet/b");
  CHECK(user("fleet/b") == "p@fleet/b@fleet/b");
}

}  // namespace
}  // namespace execcred
