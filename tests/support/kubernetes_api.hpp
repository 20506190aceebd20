// SPDX-License-Identifier: Apache-2.0
//
// The answers of a kube-apiserver to three kinds of requests with a bearer token: "who am I",
// "which namespaces are there", and a TokenRequest for a namespace's "default" service
// account.
//
// Its tokens are words in a list, as in kube-apiserver's --token-auth-file: it checks no signature
// and no expiry, has no RBAC and stores nothing. The JWTs that it issues have a signature that
// cannot be verified. scripts/e2e runs the real server.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http_message.hpp"

namespace execcred::test {

struct ApiUser {
  std::string token;
  std::string name;
  std::string uid;
  std::vector<std::string> groups;
};

// Lines of kube-apiserver's static token file: token,user,uid and optionally "group,group".
// Throws std::runtime_error, which names the line and shows no token.
std::vector<ApiUser> parse_token_auth_file(std::string_view text);

// The user of the request's token; nullptr if the token is not in the list.
const ApiUser* authenticate(const HttpRequest& request, const std::vector<ApiUser>& users);

// `user` is nullptr for a request that was not authenticated.
HttpResponse answer_as_api_server(const HttpRequest& request, const ApiUser* user);

}  // namespace execcred::test
