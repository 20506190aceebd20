// SPDX-License-Identifier: Apache-2.0
#include "cases.hpp"

#include <execcred/base/encoding.hpp>

#include <string>
#include <string_view>

namespace execcred::test {
namespace {

constexpr const char* kSignature = "each run signs with the session";

std::string jwt(const std::string& subject) {
  const std::string claims =
      R"({"iss":"https://issuer.example.com","sub":")" + subject + R"(","exp":4000000000})";
  return std::string(encode_base64url(R"({"alg":"RS256"})").reveal()) + "." +
         std::string(encode_base64url(claims).reveal()) + ".c2lnbmF0dXJl";
}

Input token_file() {
  return {.name = "token", .value = jwt("system:serviceaccount:a:b"), .other = jwt("other")};
}

Input in_folder(const std::string& option, const std::string& file = "token") {
  return {.name = option, .value = "FOLDER/" + file, .other = "FOLDER/other-" + file};
}

// A second file with the content of the first, for an option that names a file.
Input copy_of(const Input& file) {
  return {.name = "other-" + file.name,
          .value = file.value,
          .other = file.value,
          .same_because = "it is not the file that is read"};
}

std::vector<Input> exchange(std::vector<Input> more) {
  std::vector<Input> options = {
      {"flow", "token-exchange", "jwt-bearer"},
      {"issuer-url", "https://idp.example.com", "https://other.example.com"},
      {"client-id", "controller", "other"},
      {"audience", "kubernetes", "other"},
      {"resource", "urn:a", "urn:b"},
      {"scope", "read", "write"},
      {"param", "tenant=1", "tenant=2"},
      {"token", "access_token", "id_token"},
      {"expect-audience", "kubernetes", "other"},
      {"ca-file", "/etc/ssl/a.pem", "/etc/ssl/b.pem"},
      {"refresh-before", "1m", "2m", "it says when a credential is replaced, not which one it is"},
  };
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

PlanCase federation(const std::string& name, std::vector<Input> more,
                    std::vector<Input> variables = {}, std::vector<Input> files = {}) {
  return {.name = name,
          .plugin = "execcred-oidc-federation",
          .options = exchange(std::move(more)),
          .variables = std::move(variables),
          .files = std::move(files)};
}

constexpr const char* kKubeconfig = R"({"apiVersion":"v1","kind":"Config","current-context":"c",
"contexts":[{"name":"c","context":{"cluster":"k","user":"u"}}],
"clusters":[{"name":"k","cluster":{"server":"https://hub.example.com"}}],
"users":[{"name":"u","user":{"token":"SECRET"}}]})";

Input kubeconfig() {
  std::string other = kKubeconfig;
  other.replace(other.find("SECRET"), 6, "OTHER1");
  return {.name = "kubeconfig", .value = kKubeconfig, .other = other};
}

void add_federation(std::vector<PlanCase>& cases) {
  const Input token = token_file();
  const Input secret = {"secret", "of a", "of b"};
  const Input key = {"key", "a key", "b key"};
  cases.push_back(
      federation("a token in a file, with an actor",
                 {in_folder("subject-token-file"),
                  in_folder("actor-token-file", "actor"),
                  in_folder("client-secret-file", "secret"),
                  in_folder("private-key-file", "key"),
                  {"subject-token-type", "jwt", "access_token"}},
                 {},
                 {token,
                  copy_of(token),
                  secret,
                  copy_of(secret),
                  key,
                  copy_of(key),
                  {"actor", jwt("a"), jwt("b")},
                  {"other-actor", jwt("a"), jwt("a"), "it is not the file that is read"}}));
  cases.back().token_file = "token";
  const Input certificate = {"certificate", "of a", "of b"};
  cases.push_back(federation(
      "a client with a certificate",
      {in_folder("subject-token-file"), in_folder("client-certificate", "certificate"),
       in_folder("client-key", "key")},
      {}, {token, copy_of(token), certificate, copy_of(certificate), key, copy_of(key)}));
  cases.push_back(federation("a token in a variable", {{"subject-token-env", "T", "U"}},
                             {{"T", jwt("a"), jwt("b")},
                              {"U", jwt("a"), jwt("a"), "it is not the variable that is read"}}));
  cases.push_back(federation("a token of a URL", {{"subject-token-url", "http://127.0.0.1:1/a?x=1",
                                                   "http://127.0.0.1:1/a?x=2"},
                                                  {"subject-token-header", "X-Key=1", "X-Key=2"},
                                                  {"subject-token-field", "value", "token"}}));
  cases.push_back(
      federation("a token of a program",
                 {{"subject-token-command", R"(["/bin/echo","a"])", R"(["/bin/echo","b"])"}},
                 {{"PROGRAM_PROFILE", "a", "b"}}));
  cases.push_back(
      federation("a token of GitHub Actions",
                 {{"subject", "github-actions", "gcp-metadata"}, {"subject-audience", "a", "b"}},
                 {{"ACTIONS_ID_TOKEN_REQUEST_URL", "https://actions.example.com/x",
                   "https://actions.example.com/y"},
                  {"ACTIONS_ID_TOKEN_REQUEST_TOKEN", "job-1", "job-2"}}));
  cases.push_back(federation(
      "a token of Google's metadata server",
      {{"subject", "gcp-metadata", "github-actions"}, {"subject-audience", "a", "b"}},
      {{"GCE_METADATA_HOST", "127.0.0.1:1", "127.0.0.1:2"},
       {"ACTIONS_ID_TOKEN_REQUEST_URL", "https://a.example.com/x", "https://a.example.com/y",
        "another source reads it"},
       {"ACTIONS_ID_TOKEN_REQUEST_TOKEN", "job-1", "job-2", "another source reads it"}}));
  cases.push_back(federation("a token of the hub, by an option",
                             {{"subject", "kubernetes", "gcp-metadata"},
                              {"service-account", "a/b", "a/c"},
                              {"subject-audience", "a", "b"},
                              in_folder("kubeconfig", "kubeconfig")},
                             {}, {kubeconfig(), copy_of(kubeconfig())}));
  cases.push_back(
      federation("a token of the hub, by a variable",
                 {{"subject", "kubernetes", "gcp-metadata"}, {"service-account", "a/b", "a/c"}},
                 {{"KUBECONFIG", "FOLDER/kubeconfig", "FOLDER/other-kubeconfig"}},
                 {kubeconfig(), copy_of(kubeconfig())}));
  cases.push_back(federation("a token of a SPIFFE agent",
                             {{"subject", "spiffe", "gcp-metadata"},
                              {"socket", "unix:///run/a.sock", "unix:///run/b.sock"},
                              {"spiffe-id", "spiffe://example.org/a", "spiffe://example.org/b"},
                              {"hint", "a", "b"}}));
  PlanCase refresh =
      federation("a refresh token", {in_folder("subject-token-file")}, {}, {token, copy_of(token)});
  refresh.options.front() = {"flow", "refresh-token", "jwt-bearer"};
  cases.push_back(refresh);
  cases.push_back(
      {.name = "the subject token itself",
       .plugin = "execcred-oidc-federation",
       .options = {{"flow", "pass-through", "pass-through", "there is no other value"},
                   {"audience", "kubernetes", "other"},
                   {"subject-token-url", "https://a.example.com/", "https://b.example.com/"}}});
  cases.push_back(
      {.name = "a credential of the cluster's Concierge",
       .plugin = "execcred-oidc-federation",
       .options = {{"flow", "pinniped", "pinniped", "there is no other value"},
                   {"concierge-authenticator-type", "jwt", "webhook"},
                   {"concierge-authenticator-name", "a", "b"},
                   {"concierge-api-group-suffix", "a.example", "b.example"},
                   {"subject-token-url", "https://a.example.com/", "https://b.example.com/"}},
       .counts_cluster = true});
}

constexpr const char* kGuid = "00000000-0000-0000-0000-000000000001";
constexpr const char* kGuid2 = "00000000-0000-0000-0000-000000000002";

void add_azure(std::vector<PlanCase>& cases) {
  const Input token = token_file();
  cases.push_back(
      {.name = "workload identity",
       .plugin = "execcred-azure",
       .options = {{"client-id", kGuid, kGuid2},
                   {"server-id", kGuid, kGuid2},
                   {"ca-file", "/etc/a.pem", "/etc/b.pem"}},
       .variables = {{"AZURE_TENANT_ID", kGuid, kGuid2},
                     {"AZURE_AUTHORITY_HOST", "https://login.example.com", "https://b.example.com"},
                     {"AZURE_FEDERATED_TOKEN_FILE", "FOLDER/token", "FOLDER/other-token"},
                     {"AZURE_KUBERNETES_TOKEN_PROXY", "https://p.example.com",
                      "https://q.example.com"},
                     {"AZURE_KUBERNETES_SNI_NAME", "a.example.com", "b.example.com"}},
       .files = {token, copy_of(token)},
       .token_file = "token"});
  cases.push_back(
      {.name = "managed identity of a machine",
       .plugin = "execcred-azure",
       .options = {{"identity", "managed", "managed", "there is no other value"},
                   {"client-id", kGuid, kGuid2}},
       .variables = {
           {"AZURE_POD_IDENTITY_AUTHORITY_HOST", "http://127.0.0.1:1", "http://127.0.0.1:2"},
           {"AZURE_TENANT_ID", kGuid, kGuid2, "the platform knows the tenant"}}});
  cases.push_back(
      {.name = "managed identity of App Service",
       .plugin = "execcred-azure",
       .options = {{"identity", "managed", "managed", "there is no other value"},
                   {"identity-object-id", kGuid, kGuid2}},
       .variables = {{"IDENTITY_ENDPOINT", "http://127.0.0.1:1/a", "http://127.0.0.1:1/b"},
                     {"IDENTITY_HEADER", "a", "b"}}});
}

std::string external_account(const std::string& source) {
  return R"({"type":"external_account","audience":"//iam.googleapis.com/projects/1/locations/global/)"
         R"(workloadIdentityPools/p/providers/q","subject_token_type":"urn:ietf:params:oauth:token-type:jwt",)"
         R"("token_url":"https://sts.googleapis.com/v1/token","credential_source":)" +
         source + "}";
}

PlanCase google(const std::string& name, const std::string& credentials) {
  const Input file = {"google", credentials, credentials + " "};
  return {.name = name,
          .plugin = "execcred-google",
          .options = {{"scope", "https://www.googleapis.com/auth/a",
                       "https://www.googleapis.com/auth/b"},
                      {"impersonate-service-account", "a@p.iam.gserviceaccount.com",
                       "b@p.iam.gserviceaccount.com"},
                      {"ca-file", "/etc/a.pem", "/etc/b.pem"}},
          .variables = {{"GOOGLE_APPLICATION_CREDENTIALS", "FOLDER/google", "FOLDER/other-google"}},
          .files = {file, copy_of(file)}};
}

void add_google(std::vector<PlanCase>& cases) {
  cases.push_back({.name = "the metadata server",
                   .plugin = "execcred-google",
                   .variables = {{"GCE_METADATA_HOST", "127.0.0.1:1", "127.0.0.1:2"}}});
  cases.push_back(google("a service account's key",
                         R"({"type":"service_account","client_email":)"
                         R"("a@p.iam.gserviceaccount.com","private_key":"k"})"));
  cases.push_back(google("a token in a file", external_account(R"({"file":"FOLDER/token"})")));
  cases.back().files.push_back(token_file());
  cases.back().token_file = "token";
  cases.push_back(google("a token of a URL", external_account(R"({"url":"http://127.0.0.1:1/"})")));
  cases.push_back(google("a token of a program",
                         external_account(R"({"executable":{"command":"/bin/echo a"}})")));
  cases.back().variables.push_back({"PROGRAM_PROFILE", "a", "b"});
  cases.push_back(google(
      "an identity of AWS",
      external_account(
          R"({"environment_id":"aws1","regional_cred_verification_url":)"
          R"("https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15"})")));
  cases.back().variables.push_back({"AWS_REGION", "us-west-2", "us-east-1"});
  cases.back().variables.push_back({"AWS_ACCESS_KEY_ID", "AKIAEXAMPLE", "AKIAOTHER"});
}

PlanCase aws(const std::string& name, std::vector<Input> options, std::vector<Input> variables,
             std::vector<Input> files = {}) {
  std::vector<Input> all = {{"cluster-id", "spoke-1", "spoke-2", kSignature}};
  all.insert(all.end(), options.begin(), options.end());
  return {.name = name,
          .plugin = "execcred-aws",
          .options = std::move(all),
          .variables = std::move(variables),
          .files = std::move(files)};
}

constexpr const char* kRole = "arn:aws:iam::123456789012:role/a";
constexpr const char* kRole2 = "arn:aws:iam::123456789012:role/b";

void add_aws(std::vector<PlanCase>& cases) {
  const Input token = token_file();
  const std::vector<Input> none = {
      {"AWS_CONFIG_FILE", "/dev/null", "/dev/null", "there is no other value"},
      {"AWS_SHARED_CREDENTIALS_FILE", "/dev/null", "/dev/null", "there is no other value"}};
  const auto with = [](std::vector<Input> some, std::vector<Input> more) {
    some.insert(some.end(), more.begin(), more.end());
    return some;
  };
  cases.push_back(
      aws("keys of variables, and a role",
          {{"role-arn", kRole, kRole2},
           {"external-id", "aa", "bb"},
           {"session-name", "aa", "bb"},
           {"region", "us-west-2", "us-east-1"}},
          {{"AWS_ACCESS_KEY_ID", "AKIAEXAMPLE", "AKIAOTHER"},
           {"AWS_SECRET_ACCESS_KEY", "secret", "other"},
           {"AWS_CA_BUNDLE", "/etc/a.pem", "/etc/b.pem"},
           {"AWS_ENDPOINT_URL_STS", "https://a.example.com", "https://b.example.com"}}));
  cases.push_back(aws("keys of variables alone", {{"region", "us-west-2", "us-east-1", kSignature}},
                      {{"AWS_ACCESS_KEY_ID", "AKIAEXAMPLE", "AKIAOTHER"},
                       {"AWS_SECRET_ACCESS_KEY", "secret", "other"}}));
  cases.back().is_kept = false;
  cases.push_back(
      aws("a web identity", {{"region", "us-west-2", "us-east-1"}},
          with(none, {{"AWS_WEB_IDENTITY_TOKEN_FILE", "FOLDER/token", "FOLDER/other-token"},
                      {"AWS_ROLE_ARN", kRole, kRole2},
                      {"AWS_ROLE_SESSION_NAME", "aa", "bb"}}),
          {token, copy_of(token)}));
  cases.back().token_file = "token";
  const std::string profile =
      "[profile fleet]\nregion = us-west-2\nrole_arn = " + std::string(kRole) +
      "\nsource_profile = base\n[profile base]\naws_access_key_id = AKIAEXAMPLE\n"
      "aws_secret_access_key = secret\n[profile other]\nregion = us-west-2\nrole_arn = " +
      std::string(kRole2) + "\nsource_profile = base\n";
  const Input config = {"config", profile, profile + "external_id = other\n"};
  cases.push_back(
      aws("a role of a profile", {{"profile", "fleet", "other"}},
          {{"AWS_CONFIG_FILE", "FOLDER/config", "FOLDER/other-config"},
           {"AWS_SHARED_CREDENTIALS_FILE", "/dev/null", "/dev/null", "there is no other value"}},
          {config, {"other-config", profile + "\n", profile + "\n", "it is not read"}}));
  cases.push_back(aws(
      "the agent of a container", {{"region", "us-west-2", "us-east-1", kSignature}},
      with(none,
           {{"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1:1/a", "http://127.0.0.1:1/b"},
            {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "FOLDER/token", "FOLDER/other-token"}}),
      {token, copy_of(token)}));
  cases.push_back(aws("the role of an instance, which knows the region", {},
                      with(none, {{"AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:1",
                                   "http://127.0.0.1:2"}})));
}

void add_others(std::vector<PlanCase>& cases) {
  const std::vector<Input> issued = {
      {"credential", R"(["/plugins/execcred-token-file","--token-file=/a"])",
       R"(["/plugins/execcred-token-file","--token-file=/b"])"},
      {"lifetime", "1h", "2h"}};
  PlanCase token = {.name = "a token of the cluster",
                    .plugin = "execcred-bootstrap",
                    .options = issued,
                    .variables = {{"AWS_PROFILE", "a", "b"},
                                  {"EXECCRED_LOG_FILE", "/dev/null", "/dev/zero",
                                   "it says where a run is logged"},
                                  {"TERM", "a", "b", "no plugin reads it"}},
                    .counts_cluster = true};
  token.options.push_back({"via", "token-request", "token-request", "there is no other value"});
  token.options.push_back({"service-account", "a/b", "a/c"});
  token.options.push_back({"audience", "a", "b"});
  cases.push_back(token);
  PlanCase certificate = {.name = "a certificate of the cluster",
                          .plugin = "execcred-bootstrap",
                          .options = issued,
                          .is_kept = false,
                          .counts_cluster = true};
  certificate.options.push_back({"via", "csr", "csr", "there is no other value"});
  certificate.options.push_back({"user", "a", "b"});
  certificate.options.push_back({"group", "a", "b"});
  certificate.options.push_back({"signer", "a.example/b", "a.example/c"});
  certificate.options.push_back({"key-type", "rsa-2048", "ed25519"});
  cases.push_back(certificate);
  PlanCase wrapped = {
      .name = "the credential of another program",
      .plugin = "execcred-wrap",
      .options = {{"command", R"(["/bin/echo","a"])", R"(["/bin/echo","b"])"},
                  {"output", "json", "token"},
                  {"token-field", "a.b", "c"},
                  {"expires-field", "a.d", "e"},
                  {"allow-config", "team=a", "team=b", "it only allows a value"},
                  {"expect-audience", "a", "b", "it is checked on what was kept too"},
                  {"cache", "true", "true", "there is no other value"},
                  {"cache-dir", "/a", "/b", "it says where a credential is kept"},
                  {"refresh-before", "1m", "2m", "it says when a credential is replaced"},
                  in_folder("identity-file", "identity")},
      .variables = {{"AWS_PROFILE", "a", "b"},
                    {"TERM", "a", "b"},
                    {"PWD", "/a", "/b", "a shell sets it for each command"},
                    {"EXECCRED_LOG_FILE", "/dev/null", "/dev/zero", "the program does not get it"}},
      .files = {{"identity", "a", "b"},
                {"other-identity", "a", "b", "it is not the file that is read"}}};
  cases.push_back(wrapped);
  wrapped.name = "the credential of another program for a cluster";
  wrapped.options = {{"command", R"(["/bin/echo","{server.host}"])", R"(["/bin/echo","b"])"},
                     {"pass-cluster", "true", "false"},
                     {"cache", "true", "true", "there is no other value"}};
  wrapped.files = {};
  wrapped.counts_cluster = true;
  cases.push_back(wrapped);
  cases.push_back({.name = "a token in a file",
                   .plugin = "execcred-token-file",
                   .options = {{"token-file", "/a", "/b"}},
                   .is_kept = false});
  cases.push_back({.name = "a Secret in a directory",
                   .plugin = "execcred-static-secret",
                   .options = {{"secret-dir", "/a", "/b"}},
                   .is_kept = false});
  cases.push_back({.name = "a token of the agent",
                   .plugin = "execcred-spiffe",
                   .options = {{"type", "jwt", "jwt", "there is no other value"},
                               {"audience", "a", "b"},
                               {"socket", "unix:///run/a.sock", "unix:///run/b.sock"}},
                   .is_kept = false});
}

}  // namespace

std::vector<PlanCase> plan_cases() {
  std::vector<PlanCase> cases;
  add_federation(cases);
  add_azure(cases);
  add_google(cases);
  add_aws(cases);
  add_others(cases);
  return cases;
}

}  // namespace execcred::test
