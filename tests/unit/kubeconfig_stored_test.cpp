// SPDX-License-Identifier: Apache-2.0
#include "expect.hpp"
#include "kubeconfig_text.hpp"

#include <doctest/doctest.h>
#include <execcred/kube/kubeconfig.hpp>

namespace execcred {
namespace {

using test::check_fails;
using test::contains;
using test::KubeconfigText;
using Fields = std::set<std::string, std::less<>>;

const std::string kSecret = "S3CRET-CANARY";

Status check(const std::string& text, const Fields& allowed = {}, bool allow_insecure = false) {
  CAPTURE(text);
  const Result<Kubeconfig> config = Kubeconfig::parse(text);
  if (!config) FAIL(test::full_text(config.error()));
  return config->check_stored(allowed, allow_insecure);
}

void check_refused(const std::string& text, std::string_view part, const Fields& allowed = {},
                   bool allow_insecure = false) {
  CAPTURE(text);
  const Status status = check(text, allowed, allow_insecure);
  check_fails(status, Error::Kind::no_credential, part);
  CHECK_FALSE(status.error().hint.empty());
  CHECK_FALSE(contains(test::full_text(status.error()), kSecret));
}

void check_passes(const std::string& text, const Fields& allowed = {},
                  bool allow_insecure = false) {
  CAPTURE(text);
  const Status status = check(text, allowed, allow_insecure);
  if (!status) FAIL_CHECK(test::full_text(status.error()));
}

// The selected user is valid. Another user of the file has these fields.
std::string with_other_user(const std::string& fields) {
  return "users:\n- {name: good, user: {token: t}}\n- {name: bad, user: {" + fields +
         "}}\nclusters:\n- {name: c, cluster: {server: 'https://a'}}\n"
         "contexts:\n- {name: x, context: {cluster: c, user: good}}\n";
}

std::string with_other_cluster(const std::string& fields) {
  return "clusters:\n- {name: good, cluster: {server: 'https://a'}}\n- {name: bad, cluster: {" +
         fields +
         "}}\nusers:\n- {name: u, user: {token: t}}\n"
         "contexts:\n- {name: x, context: {cluster: good, user: u}}\n";
}

TEST_CASE("check_stored: tokens, certificate data and an oidc provider are accepted") {
  for (const std::string& user :
       {std::string(), std::string("token: t"),
        std::string("client-certificate-data: YQ==, client-key-data: YQ=="),
        std::string("auth-provider: {name: oidc, config: {id-token: t, refresh-token: r}}"),
        std::string("token: t, extensions: [{name: e, extension: {}}]"),
        std::string("token: t, exec: null, tokenFile: '', as: '', as-groups: [], unknown: null")}) {
    check_passes(KubeconfigText{.user = user}.text());
  }
  for (const std::string& cluster :
       {std::string("server: 'https://api.example.com'"),
        std::string("server: 'https://[2001:db8::1]:6443/clusters/a', tls-server-name: name"),
        std::string("server: 'https://a', insecure-skip-tls-verify: false"),
        std::string("server: 'https://a', certificate-authority-data: YQ==, proxy-url: 'http://p'"),
        std::string("server: 'HTTPS://A', disable-compression: true")}) {
    check_passes(KubeconfigText{.cluster = cluster}.text());
  }
}

TEST_CASE("check_stored: fields that make the reader run code are always refused") {
  const Fields all = {"clientKey", "clientCertificate", "tokenFile", "exec", "gcp"};
  for (const std::string exec : {"{command: /bin/sh, args: [-c, S3CRET-CANARY]}", "{}"}) {
    check_refused(with_other_user("exec: " + exec),
                  "the kubeconfig's user 'bad' has an exec section\n", all, true);
  }
  for (const std::string name : {"gcp", "azure", "openstack", "exec", "OIDC", "oidc2"}) {
    check_refused(
        with_other_user("auth-provider: {name: " + name + ", config: {cmd-path: " + kSecret + "}}"),
        "the kubeconfig's user 'bad' has the auth-provider '" + name + "'\n", all, true);
  }
}

TEST_CASE("check_stored: a path to a local file is refused, unless its field is allowed") {
  struct Case {
    std::string field;
    std::string option;
  };
  for (const Case& c :
       {Case{"client-key", "clientKey"}, Case{"client-certificate", "clientCertificate"},
        Case{"tokenFile", "tokenFile"}}) {
    const std::string text = with_other_user(c.field + ": /var/run/secrets/token");
    Fields others = {"clientKey", "clientCertificate", "tokenFile"};
    others.erase(c.option);
    check_refused(text,
                  "the kubeconfig's user 'bad' has a " + c.field +
                      " path, which this machine's own files would answer",
                  others, true);
    check_refused(text, "--allow-field=" + c.option);
    check_passes(text, {c.option});
  }
  check_passes(with_other_user("client-key: k, client-certificate: c, tokenFile: t"),
               {"clientKey", "clientCertificate", "tokenFile"});
}

TEST_CASE("check_stored: impersonation is refused, because a credential cannot carry it") {
  for (const std::string field :
       {"as: admin", "as-uid: '0'", "as-groups: ['system:masters']", "as-user-extra: {a: [b]}"}) {
    const std::string name = field.substr(0, field.find(':'));
    check_refused(with_other_user("token: t, " + field),
                  "the kubeconfig's user 'bad' has impersonation (" + name + ")");
  }
  check_refused(with_other_user("as: a, as-groups: [g]"), "impersonation (as, as-groups)");
}

TEST_CASE("check_stored: basic authentication and unknown fields are refused") {
  for (const std::string& field :
       {std::string("username: u"), "password: " + kSecret, "username: u, password: " + kSecret}) {
    check_refused(with_other_user(field),
                  "the kubeconfig's user 'bad' has a username or password\n");
  }
  for (const std::string name :
       {"tokenfile", "token-file", "Exec", "Token", "impersonate", "act-as", "clientKey", "''"}) {
    const std::string shown = name == "''" ? "" : name;
    check_refused(with_other_user(name + ": " + kSecret),
                  "the kubeconfig's user 'bad' has the unknown field '" + shown + "'\n");
  }
}

TEST_CASE("check_stored: every cluster needs an https server, TLS verification and no CA path") {
  check_refused(with_other_cluster("server: 'https://a', certificate-authority: /etc/ca.crt"),
                "the kubeconfig's cluster 'bad' has a certificate-authority path", {}, true);
  check_refused(with_other_cluster("server: 'https://a', insecure-skip-tls-verify: true"),
                "the kubeconfig's cluster 'bad' has insecure-skip-tls-verify\n",
                {"clientKey", "tokenFile"});
  check_passes(with_other_cluster("server: 'https://a', insecure-skip-tls-verify: true"), {}, true);
  for (const std::string fields : {"server: ''", "server: null", "", "proxy-url: 'http://p'"}) {
    check_refused(with_other_cluster(fields), "the kubeconfig's cluster 'bad' has no server\n", {},
                  true);
  }
  check_refused(with_other_cluster("server: 'http://a'"),
                "the server of the cluster 'bad' 'http://a' is not https\n", {}, true);
}

TEST_CASE("check_stored: an ambiguous or malformed server is refused") {
  for (const std::string server : {"a",
                                   "a:6443",
                                   "//a",
                                   "https:a",
                                   "https:/a",
                                   "https://",
                                   "https:///p",
                                   "https://:443",
                                   "https://-a",
                                   "https://a_b..c",
                                   "https://a b",
                                   "https://a:0",
                                   "https://a:65536",
                                   "https://a:x",
                                   "https://127.1",
                                   "https://0x7f000001",
                                   "https://[::1",
                                   "https://a\\b",
                                   "https://user:S3CRET-CANARY@a",
                                   "https://a/../b",
                                   "https://a#f",
                                   "unix:///run/x",
                                   "ftp://a"}) {
    check_refused(with_other_cluster("server: '" + server + "'"),
                  "the server of the cluster 'bad' '", {}, true);
  }
}

TEST_CASE("check_stored: names in messages are quoted and printable") {
  check_refused(
      "users:\n- {name: \"x\xe2\x80\xae' has no problem\", user: {exec: {}}}\nclusters: []\n",
      "has an exec section");
  const Status status = check("users:\n- {name: \"x\xe2\x80\xaey\", user: {exec: {}}}\n");
  REQUIRE_FALSE(status);
  CHECK_FALSE(contains(status.error().message, "\xe2\x80\xae"));
}

TEST_CASE("check_stored: merged files are checked too") {
  Result<Kubeconfig> good = Kubeconfig::parse(KubeconfigText().text());
  Result<Kubeconfig> bad = Kubeconfig::parse(with_other_user("exec: {}"));
  REQUIRE((good && bad));
  good->merge(std::move(bad).value());
  check_fails(good->check_stored({}, false), Error::Kind::no_credential, "user 'bad'");
}

}  // namespace
}  // namespace execcred
