// SPDX-License-Identifier: Apache-2.0
// Documents that could make migrate slow.
#include "unit/growth.hpp"
#include "migrate/document.hpp"
#include "migrate/report.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::migrate {
namespace {

using Make = std::function<std::string(std::size_t count)>;
using Entry = std::function<std::string(std::string number)>;

std::string lines(std::size_t count, const Entry& entry) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += entry(std::to_string(i)) + "\n";
  return text;
}

std::string cluster(const std::string& name) {
  return "- {name: c" + name + ", cluster: {server: 'https://h" + name + "'}}";
}

std::string context(const std::string& name, const std::string& cluster, const std::string& user) {
  return "- {name: x" + name + ", context: {cluster: c" + cluster + ", user: u" + user + "}}";
}

std::string user(const std::string& name, const std::string& more = "") {
  return "- {name: u" + name + ", user: {exec: {command: gke-gcloud-auth-plugin" + more + "}}}";
}

std::string kubeconfig(const std::string& clusters, const std::string& contexts,
                       const std::string& users) {
  return "apiVersion: v1\nkind: Config\nclusters:\n" + clusters + "contexts:\n" + contexts +
         "users:\n" + users;
}

struct Shape {
  std::string_view name;
  std::size_t count;
  Make make;
};

TEST_CASE("rewrite: the time is linear in the size of the document") {
  const auto one = [](const std::string& /*n*/) { return user("0"); };
  for (const Shape& shape : std::vector<Shape>{
           {"users of one name, each context's", 200,
            [&](std::size_t count) {
              return kubeconfig(
                  cluster("0") + "\n",
                  lines(count, [](const std::string& n) { return context(n, "0", "0"); }),
                  lines(count, one));
            }},
           {"users of one name, and clusters", 200,
            [&](std::size_t count) {
              return kubeconfig(
                  lines(count, cluster),
                  lines(count, [](const std::string& n) { return context(n, n, "0"); }),
                  lines(count, one));
            }},
           {"users, each with a cluster", 200,
            [](std::size_t count) {
              return kubeconfig(lines(count, cluster),
                                lines(count, [](const std::string& n) { return context(n, n, n); }),
                                lines(count, [](const std::string& n) { return user(n); }));
            }},
           {"arguments of a user", 200,
            [](std::size_t count) {
              return kubeconfig(
                  cluster("0") + "\n", context("0", "0", "0") + "\n",
                  user("0", ", args: [" +
                                lines(count,
                                      [](const std::string& n) {
                                        return "--use_application_default_credentials, x" + n + ",";
                                      }) +
                                "]") +
                      "\n");
            }},
           {"variables of a user", 200, [](std::size_t count) {
              return kubeconfig(cluster("0") + "\n", context("0", "0", "0") + "\n",
                                user("0", ", env: [" +
                                              lines(count,
                                                    [](const std::string& n) {
                                                      return "{name: N" + n + ", value: x},";
                                                    }) +
                                              "]") +
                                    "\n");
            }}}) {
    CAPTURE(shape.name);
    test::check_linear(shape.count, shape.make, [](const std::string& text) {
      const Result<Rewritten> result = rewrite(text, {.plugin_dir = "/p"});
      REQUIRE(result);
      static_cast<void>(report(*result, "/p"));
    });
  }
}

}  // namespace
}  // namespace execcred::migrate
