// SPDX-License-Identifier: Apache-2.0
#include "sts.hpp"

#include "sts_reply.hpp"

#include <execcred/aws/signature.hpp>
#include <execcred/base/form.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/http/retry.hpp>
#include <execcred/os/deadline.hpp>

#include <utility>

namespace execcred::aws {
namespace {

constexpr std::string_view kVersion = "2011-06-15";
constexpr std::string_view kFormType = "application/x-www-form-urlencoded; charset=utf-8";

Form form_of(const std::string& action, const Role& role) {
  Form form;
  form.add("Action", action);
  form.add("Version", kVersion);
  form.add("RoleArn", role.arn);
  form.add("RoleSessionName", role.session_name);
  return form;
}

Result<HttpRequest> request_of(const StsEndpoint& endpoint, const Form& form) {
  const AwsRequest target = TRY(aws_request("POST", endpoint.url));
  HttpRequest request = {.method = "POST", .url = "https://" + target.host + target.path};
  request.set_form(form);
  request.add_header("Accept", "application/json");
  request.add_header("Content-Type", kFormType);
  return request;
}

}  // namespace

Result<RoleSession> StsClient::assume_role(const Role& role, const AwsCredentials& credentials) {
  const std::string action = "AssumeRole";
  Form form = form_of(action, role);
  if (!role.external_id.empty()) form.add("ExternalId", SecretString(role.external_id));
  if (role.duration) form.add("DurationSeconds", std::to_string(role.duration->count()));
  HttpRequest request = TRY(request_of(endpoint_, form));
  AwsRequest to_sign = TRY(aws_request("POST", request.url));
  to_sign.headers = {{"Content-Type", std::string(kFormType)}};
  to_sign.body = request.body.reveal();
  for (HttpHeader& header :
       sign_aws_request(to_sign, credentials, {.region = endpoint_.region}, call_.clock.now())) {
    request.headers.push_back(std::move(header));
  }
  request.secrets.push_back(credentials.secret_access_key.copy());
  return ask(std::move(request), action).context("assuming the role " + role.arn);
}

Result<RoleSession> StsClient::assume_role_with_web_identity(const Role& role,
                                                             const SecretString& token) {
  const std::string action = "AssumeRoleWithWebIdentity";
  Form form = form_of(action, role);
  form.add("WebIdentityToken", token);
  HttpRequest request = TRY(request_of(endpoint_, form));
  return ask(std::move(request), action)
      .context("assuming the role " + role.arn + " with a web identity");
}

Result<RoleSession> StsClient::ask(HttpRequest request, const std::string& action) {
  deadline::enter_phase("asking STS for a session");
  const Url url = TRY(parse_url(request.url));
  const std::string server = origin_of(url);
  call_.debug("asking " + server + ": " + action);
  const auto client =
      make_http_client({.tls = endpoint_.tls, .proxy = proxy_of(call_.environment)}, call_);
  const HttpResponse reply =
      TRY(send_with_retries(*client, std::move(request), call_, {.judge = judge_sts_reply}));
  RoleSession session = TRY(read_sts_reply(reply, action, server));
  const auto end = session.credentials.expires_at;
  if (end && *end <= call_.clock.now()) {
    return Error::no_credential("the session that " + server + " gave has ended already",
                                "check this machine's clock");
  }
  return session;
}

}  // namespace execcred::aws
