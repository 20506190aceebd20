// SPDX-License-Identifier: Apache-2.0
#include <execcred/oauth/token_request.hpp>

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/jwt.hpp>
#include <execcred/oauth/token_post.hpp>

#include <algorithm>
#include <array>
#include <set>

namespace execcred {
namespace {

bool is_refresh_token(std::string_view type) {
  return token_type_urn(type) == "urn:ietf:params:oauth:token-type:refresh_token";
}

// Whether the request contains a value that a server accepts only once and that is not made again
// for each attempt. An assertion that execcred signs is made again.
bool is_spent_by_sending(const TokenRequest& request, const ClientAuthentication& authentication) {
  if (request.grant == Grant::refresh_token) return true;
  if (request.grant == Grant::token_exchange) {
    const bool has_actor = !request.actor_token.empty();
    if (is_refresh_token(request.subject_token_type)) return true;
    if (has_actor && is_refresh_token(request.actor_token_type)) return true;
  }
  if (request.grant == Grant::jwt_bearer && is_single_use(request.subject)) return true;
  return authentication.method == ClientAuthMethod::federated &&
         is_single_use(authentication.assertion);
}

}  // namespace

Result<TokenReply> request_token(HttpClient& client, const std::string& token_url,
                                 const TokenRequest& request,
                                 const ClientAuthentication& authentication, CallContext& call,
                                 const RetryPolicy& policy) {
  TokenPost post = {.url = token_url,
                    .is_spent_by_sending = is_spent_by_sending(request, authentication),
                    .token = request.token,
                    .keep_refresh_token = request.keep_refresh_token};
  post.make_form = [&](HttpRequest& http) -> Result<Form> {
    Form form = TRY(token_form(request));
    TRY(authenticate_client(authentication, call.clock.now(), http, form));
    return form;
  };
  if (!authentication.secret.empty()) post.secrets.push_back(authentication.secret.copy());
  return post_for_token(client, post, call, policy);
}

namespace {

constexpr std::string_view kTokenTypes = "urn:ietf:params:oauth:token-type:";

// The fields that the request itself or the client's authentication sends.
constexpr std::array<std::string_view, 15> kReserved = {
    "actor_token",   "actor_token_type", "assertion",
    "audience",      "client_assertion", "client_assertion_type",
    "client_id",     "client_secret",    "grant_type",
    "refresh_token", "resource",         "requested_token_type",
    "scope",         "subject_token",    "subject_token_type"};

std::string_view grant_type(Grant grant) {
  switch (grant) {
    case Grant::token_exchange:
      return "urn:ietf:params:oauth:grant-type:token-exchange";
    case Grant::jwt_bearer:
      return "urn:ietf:params:oauth:grant-type:jwt-bearer";
    case Grant::client_credentials:
      return "client_credentials";
    case Grant::refresh_token:
      return "refresh_token";
  }
  return {};
}

Status check_secret(const SecretString& secret, const std::string& what) {
  const auto rejected = [&what](std::string_view problem) {
    return Error::no_credential(what + " " + std::string(problem));
  };
  if (secret.empty()) return rejected("is missing or empty");
  if (has_control_character(secret.reveal())) return rejected("has a control character");
  return {};
}

Status add_checked(std::string_view name, std::string_view value, Form& form) {
  if (value.empty()) return Error::configuration("the request's " + in_quotes(name) + " is empty");
  if (has_control_character(value)) {
    return Error::configuration("the request's " + in_quotes(name) + " has a control character");
  }
  form.add(name, value);
  return {};
}

Status add_subject(const TokenRequest& request, Form& form) {
  switch (request.grant) {
    case Grant::token_exchange:
      TRY(check_secret(request.subject, "the subject token"));
      form.add("subject_token", request.subject);
      return add_checked("subject_token_type", token_type_urn(request.subject_token_type), form);
    case Grant::jwt_bearer:
      TRY(check_secret(request.subject, "the assertion"));
      form.add("assertion", request.subject);
      return {};
    case Grant::refresh_token:
      TRY(check_secret(request.subject, "the refresh token"));
      form.add("refresh_token", request.subject);
      return {};
    case Grant::client_credentials:
      if (request.subject.empty()) return {};
      return Error::configuration("client credentials are asked for without a subject token");
  }
  return Error::internal("a grant without a name");
}

Status add_actor(const TokenRequest& request, Form& form) {
  if (request.actor_token.empty()) return {};
  if (request.grant != Grant::token_exchange) {
    return Error::configuration("an actor token is for token exchange alone");
  }
  TRY(check_secret(request.actor_token, "the actor token"));
  form.add("actor_token", request.actor_token);
  return add_checked("actor_token_type", token_type_urn(request.actor_token_type), form);
}

Status check_parameter(const TokenParameter& parameter) {
  const std::string quoted = in_quotes(parameter.name);
  if (std::find(kReserved.begin(), kReserved.end(), parameter.name) != kReserved.end()) {
    return Error::configuration("the parameter " + quoted + " has an option of its own");
  }
  if (parameter.name.empty() || !is_visible_ascii(parameter.name)) {
    return Error::configuration("the parameter " + quoted + " is no name");
  }
  if (has_control_character(parameter.value)) {
    return Error::configuration("the parameter " + quoted + " has a control character");
  }
  return {};
}

}  // namespace

Result<TokenParameter> parse_token_parameter(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return Error::configuration("a parameter is NAME=VALUE");
  }
  return TokenParameter{.name = std::string(text.substr(0, equals)),
                        .value = std::string(text.substr(equals + 1))};
}

Status check_parameters(const std::vector<TokenParameter>& parameters) {
  std::set<std::string_view> names;
  for (const TokenParameter& parameter : parameters) {
    TRY(check_parameter(parameter));
    if (!names.insert(parameter.name).second) {
      return Error::configuration("the parameter " + in_quotes(parameter.name) + " comes twice");
    }
  }
  return {};
}

std::string token_type_urn(std::string_view name) {
  const bool is_whole = name.empty() || name.find(':') != std::string_view::npos;
  return std::string(is_whole ? std::string_view() : kTokenTypes).append(name);
}

Result<Form> token_form(const TokenRequest& request) {
  Form form;
  form.add("grant_type", grant_type(request.grant));
  TRY(add_subject(request, form));
  TRY(add_actor(request, form));
  if (!request.requested_token_type.empty()) {
    TRY(add_checked("requested_token_type", token_type_urn(request.requested_token_type), form));
  }
  for (const std::string& audience : request.audiences) {
    TRY(add_checked("audience", audience, form));
  }
  for (const std::string& resource : request.resources) {
    TRY(add_checked("resource", resource, form));
  }
  if (!request.scope.empty()) TRY(add_checked("scope", request.scope, form));
  TRY(check_parameters(request.parameters));
  for (const TokenParameter& parameter : request.parameters) {
    form.add(parameter.name, SecretString(parameter.value));
  }
  return form;
}

}  // namespace execcred
