// SPDX-License-Identifier: Apache-2.0
#include "expect.hpp"

#include <doctest/doctest.h>
#include <execcred/exec/template.hpp>

#include <array>
#include <string>
#include <vector>

namespace execcred {
namespace {

using test::check_fails;

constexpr auto kConfiguration = Error::Kind::configuration;

ExecInfo info(std::string server) {
  return ExecInfo{.cluster = Cluster{.server = std::move(server)}};
}

TEST_CASE("expand_template: fills in the cluster's name and its server's host") {
  struct Case {
    std::string_view text, name, server, expanded;
  };
  for (const Case& c : std::array<Case, 9>{
           {{"/plain/path", "", "https://h", "/plain/path"},
            {"", "", "https://h", ""},
            {"/t/{clusterName}/token", "spoke-1", "https://h", "/t/spoke-1/token"},
            {"{clusterName}", "a.b-c.d0", "https://h", "a.b-c.d0"},
            {"{clusterName}{clusterName}", "x", "https://h", "xx"},
            {"/t/{server.host}", "", "https://API.Example.com:6443/p", "/t/api.example.com"},
            {"/t/{server.host}", "", "https://10.0.0.1:6443", "/t/10.0.0.1"},
            {"{clusterName}/{server.host}", "x", "https://h", "x/h"},
            {"/t/$x %s *?", "", "https://h", "/t/$x %s *?"}}}) {
    CAPTURE(c.text);
    const Result<std::string> expanded =
        expand_template(c.text, c.name, info(std::string(c.server)));
    REQUIRE(expanded);
    CHECK(*expanded == c.expanded);
  }
  CHECK(*expand_template("/t/{clusterName}", "x", ExecInfo()) == "/t/x");
}

TEST_CASE("expand_template: a value that is not a DNS-1123 subdomain never enters a path") {
  for (const std::string& name :
       {std::string(".."), std::string("."), std::string("a/b"), std::string("../x"),
        std::string("a..b"), std::string("-a"), std::string("a-"), std::string("A"),
        std::string("a_b"), std::string("a b"), std::string("a\nb"), std::string("a\0b", 3),
        std::string("{server.host}"), std::string("\u00e4"), std::string(254, 'a')}) {
    CAPTURE(name);
    check_fails(expand_template("/t/{clusterName}/token", name, info("https://h")), kConfiguration,
                "no DNS name");
  }
  check_fails(expand_template("/t/{server.host}", "", info("https://[fd00::1]:6443")),
              kConfiguration, "no DNS name");
  check_fails(expand_template("/t/{server.host}", "", info("https://h/../x")), kConfiguration,
              "spec.cluster.server");
  check_fails(expand_template("/t/{server.host}", "", info("nonsense")), kConfiguration,
              "spec.cluster.server");
}

TEST_CASE("expand_template: a missing value is an error with a remedy") {
  check_fails(expand_template("{clusterName}", "", info("https://h")), kConfiguration,
              "--cluster=NAME");
  ExecInfo empty = info("https://h");
  empty.cluster->config = json::Value(json::Object());
  empty.cluster->config.add("clusterName", json::Value(std::string()));
  check_fails(expand_template("{clusterName}", "", empty), kConfiguration,
              "and spec.cluster.config.clusterName is empty");
  check_fails(expand_template("{clusterName}", "", ExecInfo()), kConfiguration,
              "provideClusterInfo: true");
  check_fails(expand_template("{server.host}", "x", ExecInfo()), kConfiguration,
              "provideClusterInfo: true");
}

TEST_CASE("expand_template: unknown placeholders and stray braces are refused") {
  for (const auto& [told, texts] : std::vector<test::Refusals>{
           {"a brace has no counterpart",
            {"{", "}", "a{", "a}b", "{clusterName", "clusterName}", "{clusterName}}"}},
           {"is no placeholder",
            {"{}", "{clustername}", "{ clusterName }", "{{clusterName}}", "{server}",
             "{server.port}", "{clusterName{x}}", "{{.name}}"}},
       }) {
    for (const std::string_view text : texts) {
      CAPTURE(text);
      check_fails(expand_template(text, "x", info("https://h")), kConfiguration, told);
    }
  }
}

TEST_CASE("has_unexpanded_template: finds a field of a Go template in any spelling") {
  for (const std::string_view text : {"{{ .ClusterProfileName }}", "{{.x}}", "a{{-  .Values.x }}b",
                                      "{{{ .x", "{{ x }}{{ .y }}"}) {
    CAPTURE(text);
    CHECK(has_unexpanded_template(text));
  }
  for (const std::string_view text :
       {"", "{clusterName}", "{{", "{{ }}", "{{clusterName}}", ".x", R"({"a":{"b":".x"}})"}) {
    CAPTURE(text);
    CHECK_FALSE(has_unexpanded_template(text));
  }
}

}  // namespace
}  // namespace execcred
