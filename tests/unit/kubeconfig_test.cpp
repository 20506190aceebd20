// SPDX-License-Identifier: Apache-2.0
#include "expect.hpp"
#include "kubeconfig_text.hpp"

#include <doctest/doctest.h>
#include <execcred/base/try.hpp>
#include <execcred/kube/kubeconfig.hpp>

namespace execcred {
namespace {

using test::check_fails;
using test::KubeconfigText;
using Source = Kubeconfig::Source;

Result<KubeconfigContext> read(const std::string& text, std::string_view context = {},
                               Source source = Source::stored) {
  const Kubeconfig config = TRY(Kubeconfig::parse(text, source));
  return config.context(context);
}

KubeconfigContext must_read(const std::string& text, std::string_view context = {}) {
  CAPTURE(text);
  Result<KubeconfigContext> found = read(text, context);
  if (!found) FAIL(test::full_text(found.error()));
  return std::move(found).value();
}

// Contexts with these names, each with its own cluster and user.
std::string with_contexts(const std::vector<std::string>& names, const std::string& current = {}) {
  std::string clusters = "clusters:\n";
  std::string users = "users:\n";
  std::string contexts = "contexts:\n";
  for (const std::string& name : names) {
    clusters += "- {name: c-" + name + ", cluster: {server: 'https://" + name + "'}}\n";
    users += "- {name: u-" + name + ", user: {token: t-" + name + "}}\n";
    contexts +=
        "- {name: " + name + ", context: {cluster: c-" + name + ", user: u-" + name + "}}\n";
  }
  return clusters + users + contexts +
         (current.empty() ? "" : "current-context: " + current + "\n");
}

TEST_CASE("kubeconfig: every field of a cluster, user and context is read") {
  const KubeconfigContext found = must_read(KubeconfigText{
      .cluster = "server: 'https://a:1/p', tls-server-name: name, insecure-skip-tls-verify: true, "
                 "certificate-authority-data: \"Zm9v\\nYmFy\", proxy-url: 'http://p:2', "
                 "disable-compression: true, certificate-authority: /ca, "
                 "extensions: [{name: e, extension: {a: 1}}], of-tomorrow: 1",
      .user = "client-certificate: /crt, client-certificate-data: Y3J0, client-key: /key, "
              "client-key-data: a2V5, token: ' tok\\n', tokenFile: /token, as: a, as-uid: b, "
              "as-groups: [g], as-user-extra: {e: [f]}, username: m, password: p, "
              "auth-provider: {name: oidc, config: {id-token: id, idp-issuer-url: i}}, "
              "exec: {command: e}, extensions: [], tokenfile: x, other: {}",
      .context = "cluster: c, user: u, namespace: space, extensions: []"}
                                                .text());
  CHECK(found.name == "x");
  CHECK(found.name_space == "space");
  CHECK(found.cluster.name == "c");
  CHECK(found.cluster.certificate_authority == "/ca");
  CHECK(found.cluster.cluster.server == "https://a:1/p");
  CHECK(found.cluster.cluster.tls_server_name == "name");
  CHECK(found.cluster.cluster.insecure_skip_tls_verify);
  CHECK(found.cluster.cluster.certificate_authority_data == "Zm9vYmFy");
  CHECK(found.cluster.cluster.proxy_url == "http://p:2");
  CHECK(found.cluster.cluster.disable_compression);
  const KubeconfigUser& user = found.user;
  CHECK(user.name == "u");
  CHECK(user.client_certificate == "/crt");
  CHECK(user.client_certificate_data == "Y3J0");
  CHECK(user.client_key == "/key");
  CHECK(user.client_key_data.reveal() == "a2V5");
  CHECK(user.token.reveal() == " tok\\n");
  CHECK(user.token_file == "/token");
  CHECK((user.impersonation ==
         std::vector<std::string>{"as", "as-uid", "as-groups", "as-user-extra"}));
  CHECK(user.act_as.user == "a");
  CHECK(user.act_as.uid == "b");
  CHECK((user.act_as.groups == std::vector<std::string>{"g"}));
  CHECK((user.act_as.extra == decltype(user.act_as.extra){{"e", {"f"}}}));
  CHECK(user.has_password);
  CHECK(user.auth_provider == "oidc");
  CHECK(user.oidc_id_token.reveal() == "id");
  CHECK(user.has_exec());
  CHECK((user.unknown_fields == std::vector<std::string>{"tokenfile", "other"}));
}

TEST_CASE("kubeconfig: null and empty fields count as absent") {
  const KubeconfigContext found = must_read(KubeconfigText{
      .cluster = "server: 'https://a', certificate-authority: null, proxy-url: ~, "
                 "insecure-skip-tls-verify: null, certificate-authority-data: ''",
      .user = "token: null, tokenFile: '', client-key: null, client-certificate: '', as: '', "
              "as-groups: [], as-user-extra: {}, username: '', password: null, "
              "auth-provider: null, exec: null, nothing: null",
      .context = "cluster: c, user: u, namespace: null",
      .more = "preferences: null\nextensions: null\n"}
                                                .text());
  CHECK(found.name_space.empty());
  CHECK(found.cluster.certificate_authority.empty());
  CHECK(found.cluster.cluster.proxy_url.empty());
  CHECK_FALSE(found.cluster.cluster.insecure_skip_tls_verify);
  CHECK(found.cluster.cluster.certificate_authority_data.empty());
  CHECK(found.user.token.empty());
  CHECK(found.user.token_file.empty());
  CHECK(found.user.client_key.empty());
  CHECK(found.user.client_certificate.empty());
  CHECK(found.user.impersonation.empty());
  CHECK_FALSE(found.user.has_password);
  CHECK(found.user.auth_provider.empty());
  CHECK_FALSE(found.user.has_exec());
  CHECK(found.user.unknown_fields.empty());
}

TEST_CASE("kubeconfig: an id-token is read only from the auth-provider oidc") {
  for (const std::string name : {"oidc", "gcp"}) {
    const KubeconfigContext found = must_read(
        KubeconfigText{.user = "auth-provider: {name: " + name + ", config: {id-token: secret}}"}
            .text());
    CHECK(found.user.auth_provider == name);
    CHECK(found.user.oidc_id_token.reveal() == (name == "oidc" ? "secret" : ""));
  }
  CHECK(must_read(KubeconfigText{.user = "auth-provider: {name: oidc}"}.text())
            .user.oidc_id_token.empty());
  check_fails(read(KubeconfigText{.user = "auth-provider: {}"}.text()), Error::Kind::no_credential,
              "users[0].user.auth-provider.name is missing\nwhile reading the user 'u'");
}

TEST_CASE("kubeconfig: uses the named context, else the current one, else the only one") {
  CHECK(must_read(with_contexts({"a", "b"}, "b"), "a").user.token.reveal() == "t-a");
  CHECK(must_read(with_contexts({"a", "b"}, "b")).cluster.cluster.server == "https://b");
  CHECK(must_read(with_contexts({"a"})).name == "a");
  CHECK(must_read(with_contexts({"a"}, "''")).name == "a");
}

TEST_CASE("kubeconfig: an ambiguous or unknown context is an error that lists the contexts") {
  for (const Source source : {Source::stored, Source::hub}) {
    const Error::Kind kind =
        source == Source::hub ? Error::Kind::configuration : Error::Kind::no_credential;
    check_fails(read(with_contexts({}), "", source), kind, "the kubeconfig has no contexts");
    check_fails(read("{}", "a", source), kind, "the kubeconfig has no contexts");
    check_fails(read(with_contexts({"a", "b"}), "", source), kind,
                "the kubeconfig has 2 contexts and no current-context\n"
                "hint: name the intended context; there are 'a', 'b'");
    check_fails(read(with_contexts({"a", "b"}, "c"), "", source), kind,
                "the kubeconfig's current-context 'c' is not among the kubeconfig's contexts\n"
                "hint: there are 'a', 'b'");
    check_fails(read(with_contexts({"a"}, "c"), "", source), kind, "hint: there is only 'a'");
    check_fails(read(with_contexts({"a", "b"}, "a"), "A", source), kind,
                "the context 'A' is not among the kubeconfig's contexts");
  }
  std::vector<std::string> many;
  for (char c = 'a'; c < 'm'; ++c) many.emplace_back(1, c);
  check_fails(read(with_contexts(many)), Error::Kind::no_credential,
              "'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j' and 2 more");
}

TEST_CASE("kubeconfig: a context with a missing cluster or user is an error only when it is used") {
  const auto context = [](const std::string& fields) {
    return KubeconfigText{.context = fields,
                          .more = "- name: good\n  context: {cluster: c, user: u}\n"}
        .text();
  };
  for (const auto& [fields, problem] : {
           std::pair("cluster: d, user: u",
                     "the kubeconfig's context 'x' names the cluster 'd', which is not among its "
                     "clusters"),
           std::pair("cluster: c, user: v",
                     "the kubeconfig's context 'x' names the user 'v', which is not among its "
                     "users"),
           std::pair("user: u", "the kubeconfig's context 'x' names no cluster"),
           std::pair("cluster: c", "the kubeconfig's context 'x' names no user"),
           std::pair("", "the kubeconfig's context 'x' names no cluster"),
       }) {
    check_fails(read(context(fields)), Error::Kind::no_credential, problem);
    check_fails(read(context(fields), "", Source::hub), Error::Kind::configuration, problem);
    CHECK(must_read(context(fields), "good").user.name == "u");
  }
  check_fails(read(KubeconfigText{.cluster = "proxy-url: 'http://a'"}.text()),
              Error::Kind::no_credential, "the kubeconfig's cluster 'c' has no server");
  check_fails(read(KubeconfigText{.cluster = "server: ''"}.text(), "", Source::hub),
              Error::Kind::configuration, "the kubeconfig's cluster 'c' has no server");
}

TEST_CASE("kubeconfig: an entry without its object is read as an empty one") {
  const std::string text =
      "clusters: [{name: c}]\nusers: [{name: u, user: null}]\n"
      "contexts: [{name: x, context: {cluster: c, user: u}}]";
  check_fails(read(text), Error::Kind::no_credential, "cluster 'c' has no server");
}

TEST_CASE("kubeconfig: a merge keeps entries of the first file and does not mix their fields") {
  Result<Kubeconfig> first = Kubeconfig::parse(
      "clusters: [{name: red, cluster: {server: 'https://first'}}]\n"
      "users: [{name: red, user: {token: first}}]\n"
      "contexts: [{name: a, context: {cluster: red, user: red}}]\n",
      Source::hub);
  Result<Kubeconfig> second = Kubeconfig::parse(
      "clusters: [{name: red, cluster: {server: 'https://x', tls-server-name: x}}, {name: blue, "
      "cluster: {server: 'https://second'}}]\n"
      "users: [{name: red, user: {token: x, tokenFile: /x}}, {name: blue, user: {token: second}}]\n"
      "contexts: [{name: b, context: {cluster: blue, user: blue}}, {name: a, context: {cluster: "
      "blue, user: blue}}, {name: c, context: {cluster: red, user: blue}}]\n"
      "current-context: b\n",
      Source::hub);
  Result<Kubeconfig> third = Kubeconfig::parse("current-context: c", Source::hub);
  REQUIRE((first && second && third));
  first->merge(std::move(second).value());
  first->merge(std::move(third).value());

  CHECK((first->context_names() == std::vector<std::string>{"a", "b", "c"}));
  CHECK(first->context("")->name == "b");
  CHECK(first->context("b")->user.token.reveal() == "second");
  const Result<KubeconfigContext> mine = first->context("a");
  REQUIRE(mine);
  CHECK(mine->cluster.cluster.server == "https://first");
  CHECK(mine->cluster.cluster.tls_server_name.empty());
  CHECK(mine->user.token.reveal() == "first");
  CHECK(mine->user.token_file.empty());
  CHECK(first->context("c")->cluster.cluster.server == "https://first");
}

TEST_CASE("kubeconfig: relative paths are relative to the file's folder, absolute paths stay") {
  Result<Kubeconfig> config =
      Kubeconfig::parse(KubeconfigText{.cluster = "server: 'https://a', certificate-authority: ca",
                                       .user = "tokenFile: ../t, client-key: /k"}
                            .text(),
                        Source::hub);
  REQUIRE(config);
  config->resolve_paths("/etc/kube");
  const Result<KubeconfigContext> found = config->context("");
  REQUIRE(found);
  CHECK(found->cluster.certificate_authority == "/etc/kube/ca");
  CHECK(found->user.token_file == "/etc/kube/../t");
  CHECK(found->user.client_key == "/k");
  CHECK(found->user.client_certificate.empty());
}

}  // namespace
}  // namespace execcred
