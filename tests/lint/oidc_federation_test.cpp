// SPDX-License-Identifier: Apache-2.0
// Findings about mappings for execcred-oidc-federation.
#include "lint.hpp"
#include "test_paths.hpp"

#include <execcred/base/text.hpp>

namespace execcred {
namespace {

using test::check_findings;
using test::contains;
using test::lint_text;
using test::Severity;

constexpr auto kWarning = Severity::warning;
const std::string kExec = "providers[0].execConfig";
const std::string kArgs = kExec + ".args";
const std::string kIssuer = R"("--issuer-url=https://idp.example.com")";
const std::string kServer = R"("--allow-server=https://*.example.com:6443")";
// Arguments without findings.
const std::string kExchange = R"("--flow=token-exchange",)" + kIssuer +
                              R"(,"--subject-token-file=/var/run/token",)" + kServer;
const std::string kPinniped =
    R"("--flow=pinniped","--concierge-authenticator-type=jwt","--concierge-authenticator-name=a",)"
    R"("--subject-token-file=/t")";

// A mapping with these arguments, each in quotes.
std::string with(const std::string& args, const std::string& env = "", bool tells_cluster = true) {
  return R"({"providers":[{"name":"p","execConfig":{"apiVersion":"client.authentication.k8s.io/v1",)"
         R"("command":"/plugins/execcred-oidc-federation","args":[)" +
         args + R"(],"env":[)" + env + R"(],"provideClusterInfo":)" +
         (tells_cluster ? "true" : "false") + "}}]}";
}

std::string variable(const std::string& name, const std::string& value) {
  return R"({"name":")" + name + R"(","value":)" + json::to_text(json::Value(value)) + "}";
}

TEST_CASE("lint: no example of oidc-federation has findings") {
  CHECK(test::check_examples("oidc-federation") >= 9);
}

TEST_CASE("lint: oidc-federation without --allow-server, for each flow") {
  check_findings(with(kExchange), {});
  check_findings(with(R"("--flow=client-credentials","--client-id=c",)" + kIssuer),
                 {{kArgs, "good at more than one server", kWarning}});
  check_findings(with(R"("--flow=pass-through","--subject-token-file=/t")"),
                 {{kArgs, "the subject token itself", kWarning}});
  check_findings(with(R"("--flow=pass-through","--subject-token-file=/t")",
                      variable("EXECCRED_ALLOW_SERVER", "https://a.example.com")),
                 {});
  check_findings(with(kPinniped + R"(,"--concierge-endpoint=https://a")"),
                 {{kArgs, "one credential for all", kWarning}});
  // In this flow the server gets the subject token, so the plugin refuses.
  check_findings(with(kPinniped), {{kArgs, "to whichever server is named"}});
  check_findings(with(kPinniped + "," + kServer), {});
}

TEST_CASE("lint: options of oidc-federation that use the cluster need provideClusterInfo") {
  check_findings(with(kPinniped + "," + kServer, "", false),
                 {{kExec + ".provideClusterInfo", "--flow=pinniped and --allow-server need"}});
  check_findings(
      with(R"("--flow=jwt-bearer","--subject-token-file=/t","--allow-audience=server",)" + kIssuer,
           "", false),
      {{kExec + ".provideClusterInfo", "--allow-audience=server needs"},
       {kArgs, "lacks --allow-server", kWarning}});
}

TEST_CASE("lint: combinations that oidc-federation would refuse") {
  const auto refused = [](const std::string& args, std::string_view message) {
    check_findings(with(args + "," + kServer),
                   {{kArgs, "is refused by the plugin: " + std::string(message)}});
  };
  refused(R"("--flow=token-exchange","--subject-token-file=/t")", "--flow=token-exchange needs");
  refused(R"("--flow=token-exchange",)" + kIssuer, "--flow=token-exchange needs a subject token");
  refused(kExchange + R"(,"--subject-token-env=T")", "a subject token is given more than once");
  refused(R"("--flow=client-credentials","--subject-token-file=/t",)" + kIssuer,
          "--flow=client-credentials has no use for a subject token");
  refused(R"("--flow=pass-through","--subject-token-file=/t","--scope=openid")",
          "--scope has no use with --flow=pass-through");
  refused(R"("--flow=pass-through","--subject=kubernetes")", "--subject needs --subject-audience");
  refused(kExchange + R"(,"--client-secret-file=/s")", "a client that authenticates needs");
  refused(kExchange + R"(,"--client-certificate=/c")",
          "--client-certificate and --client-key go together");
  refused(R"("--flow=refresh-token","--subject-token-file=/t","--no-cache",)" + kIssuer,
          "--flow=refresh-token needs the cache");
  refused(R"("--flow=pinniped","--subject-token-file=/t")",
          "--flow=pinniped needs --concierge-authenticator-type");
}

TEST_CASE("lint: single options that oidc-federation would refuse") {
  check_findings(with(R"("--flow=password","--issuer-url=http://a","--token-url=http://a",)"
                      R"("--subject-token-url=http://a.example.com/t",)"
                      R"j("--subject-token-command=[\"get-token\"]",)j"
                      R"("--subject=azure","--client-auth=basic","--param=x",)"
                      R"("--service-account=x","--token=jwt","--secret-name=x",)" +
                      kServer),
                 {{kArgs + "[0]", "'password' is no flow"},
                  {kArgs + "[1]", "--issuer-url"},
                  {kArgs + "[2]", "no https URL"},
                  {kArgs + "[3]", "plain http to another machine"},
                  {kArgs + "[4]", "no absolute path"},
                  {kArgs + "[5]", "'azure' is no subject"},
                  {kArgs + "[6]", "no client authentication"},
                  {kArgs + "[7]", "NAME=VALUE"},
                  {kArgs + "[8]", "NAMESPACE/NAME"},
                  {kArgs + "[9]", "it is neither access_token nor id_token"},
                  {kArgs + "[10]", "unknown option"}});
  check_findings(with(kServer), {{kArgs, "lacks --flow"}});
}

TEST_CASE("lint: variables of oidc-federation are checked like its flags") {
  const std::string all = variable("EXECCRED_FLOW", "token-exchange") + "," +
                          variable("EXECCRED_ISSUER_URL", "https://idp.example.com") + "," +
                          variable("EXECCRED_SUBJECT_TOKEN_FILE", "/t") + "," +
                          variable("EXECCRED_CACHE_DIR", "/var/cache/execcred");
  check_findings(with(kServer, all), {});
  check_findings(with(kServer, all + "," + variable("EXECCRED_CLIENT_SECRET_FILE", "/s")),
                 {{kArgs, "a client that authenticates needs --client-id"}});
  check_findings(with(kExchange, variable("EXECCRED_FLOW", "none") + "," +
                                     variable("EXECCRED_CLIENT_SECRET", "/s")),
                 {{kExec + ".env[0].value", "'none' is no flow"},
                  {kExec + ".env[1].name", "does not read", kWarning}});
}

TEST_CASE("lint: audiences that a ClusterProfile may choose, and files with a relative path") {
  check_findings(with(kExchange + R"(,"--allow-audience=any")"),
                 {{kArgs + "[4]", "choose the audience of a token", kWarning}});
  check_findings(with(kExchange + R"(,"--allow-audience=https://*","--allow-audience=server")"),
                 {});
  for (const std::string option :
       {"ca-file", "client-secret-file", "private-key-file", "actor-token-file", "cache-dir"}) {
    const std::string client =
        option.starts_with("c") && option != "client-secret-file" ? "" : R"(,"--client-id=c")";
    check_findings(with(join({kExchange, client, R"(,"--)", option, R"(=a/b")"}, "")),
                   {{kArgs + (client.empty() ? "[4]" : "[5]"), "relative path", kWarning}});
  }
}

TEST_CASE("lint: a secret in the arguments of oidc-federation is reported, and never shown") {
  const std::string secret = "hunter2-hunter2-hunter2";
  const std::string jwt = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl";
  const auto exchange = [](const std::string& more) { return join({kExchange, more}, ","); };
  const auto bearer = [](const std::string& more) {
    return join({R"("--flow=jwt-bearer")", kServer, kIssuer, more}, ",");
  };
  const std::string header = R"("--subject-token-url=https://v","--subject-token-header)";
  struct Case {
    std::string args;
    std::string_view message;
  };
  for (const Case& c :
       {Case{exchange(R"("--param=password=)" + secret + '"'), "named like a secret"},
        Case{exchange(R"("--param=x=)" + jwt + '"'), "a JSON Web Token"},
        Case{exchange(R"("--token=)" + secret + '"'), "named like a secret"},
        Case{exchange(R"("--token=)" + jwt + '"'), "a JSON Web Token"},
        Case{bearer(join({header, "=Authorization=Bearer ", secret, "\""}, "")), "a bearer token"},
        Case{bearer(join({header, R"(","X-Vault-Token=)", secret, "\""}, "")),
             "named like a secret"},
        Case{bearer(R"j("--subject-token-command=[\"/bin/get\",\"--password\",\")j" + secret +
                    R"(\"]")"),
             "named like a secret"},
        Case{bearer(R"("--subject-token-url=https://user:)" + secret + R"(@v")"),
             "a URL with a password"}}) {
    CAPTURE(c.args);
    const std::vector<lint::Finding> findings = lint_text(with(c.args));
    bool is_told = false;
    for (const lint::Finding& finding : findings) {
      is_told |= contains(finding.message, c.message);
      CHECK_FALSE(contains(finding.message + finding.hint + finding.path, secret));
      CHECK_FALSE(contains(finding.message + finding.hint, jwt));
    }
    const std::string told = lint::to_text(findings, {.files = 1});
    CHECK_MESSAGE(is_told, told);
  }
}

TEST_CASE("lint: a secret in the variables of oidc-federation is reported, and never shown") {
  const std::string secret = "hunter2-hunter2-hunter2";
  for (const std::string name : {"EXECCRED_PARAM", "EXECCRED_TOKEN", "EXECCRED_SCOPE"}) {
    const std::string value = name == "EXECCRED_PARAM" ? "client_secret=" + secret : secret;
    const std::string told =
        lint::to_text(lint_text(with(kExchange, variable(name, value))), {.files = 1});
    CAPTURE(told);
    CHECK_FALSE(contains(told, secret));
    CHECK(contains(told, "named like a secret") == (name != "EXECCRED_SCOPE"));
  }
}

}  // namespace
}  // namespace execcred
