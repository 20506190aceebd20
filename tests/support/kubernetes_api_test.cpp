// SPDX-License-Identifier: Apache-2.0
#include "kubernetes_api.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace execcred::test {
namespace {

using nlohmann::json;

const std::vector<ApiUser> kUsers = {
    {.token = "t0ken", .name = "alice", .uid = "u1", .groups = {"team-a"}}};

HttpRequest make_request(const std::string& method, const std::string& target,
                         const std::string& authorization, const std::string& body = {}) {
  HttpRequest request{.method = method, .target = target, .body = body};
  if (!authorization.empty()) {
    request.headers.push_back({.name = "Authorization", .value = authorization});
  }
  return request;
}

HttpResponse ask(const HttpRequest& request) {
  return answer_as_api_server(request, authenticate(request, kUsers));
}

TEST_CASE("api server: a request without a listed bearer token gets 401 with a Status") {
  for (const char* authorization :
       {"", "Bearer", "Bearer ", "Bearer t0ke", "Bearer t0ken2", "Basic t0ken", "t0ken"}) {
    CAPTURE(authorization);
    const HttpResponse response = ask(make_request("GET", "/api/v1/namespaces", authorization));
    CHECK(response.status == 401);
    const json status = json::parse(response.body);
    CHECK(status["kind"] == "Status");
    CHECK(status["reason"] == "Unauthorized");
    CHECK(status["code"] == 401);
  }
}

TEST_CASE("api server: lists the namespaces of a new cluster") {
  const HttpResponse response =
      ask(make_request("GET", "/api/v1/namespaces?limit=500", "Bearer t0ken"));
  CHECK(response.status == 200);
  const json list = json::parse(response.body);
  CHECK(list["kind"] == "NamespaceList");
  REQUIRE(list["items"].size() == 4);
  CHECK(list["items"][3]["metadata"]["name"] == "kube-system");
}

TEST_CASE("api server: a SelfSubjectReview returns the user, and any other body gets 400") {
  const std::string path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  const HttpResponse response =
      ask(make_request("POST", path, "Bearer t0ken",
                       R"({"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1"})"));
  CHECK(response.status == 201);
  const json user = json::parse(response.body)["status"]["userInfo"];
  CHECK(user["username"] == "alice");
  CHECK(user["groups"] == json{"team-a", "system:authenticated"});

  for (const char* body : {"", "[]", "{}", R"({"kind":"SelfSubjectReview"})", "{"}) {
    CAPTURE(body);
    CHECK(ask(make_request("POST", path, "Bearer t0ken", body)).status == 400);
  }
}

TEST_CASE("api server: a TokenRequest is answered for a service account that exists") {
  const std::string path = "/api/v1/namespaces/kube-system/serviceaccounts/default/token";
  const auto body = [](int seconds) {
    return json{{"kind", "TokenRequest"},
                {"apiVersion", "authentication.k8s.io/v1"},
                {"spec", {{"audiences", {"vault"}}, {"expirationSeconds", seconds}}}}
        .dump();
  };
  const HttpResponse response = ask(make_request("POST", path, "Bearer t0ken", body(600)));
  CHECK(response.status == 201);
  const json reply = json::parse(response.body);
  CHECK(reply["kind"] == "TokenRequest");
  CHECK(reply["spec"]["audiences"] == json{"vault"});
  CHECK(reply["status"]["token"].get<std::string>().starts_with("eyJ"));
  CHECK(reply["status"]["expirationTimestamp"].get<std::string>().size() == 20);

  CHECK(ask(make_request("POST", path, "Bearer t0ken", body(599))).status == 422);
  CHECK(ask(make_request("POST", path, "Bearer t0ken", "{}")).status == 400);
  CHECK(ask(make_request("GET", path, "Bearer t0ken")).status == 405);
  CHECK(ask(make_request("POST", path, "", body(600))).status == 401);
  for (const char* absent :
       {"default/serviceaccounts/builder", "elsewhere/serviceaccounts/default"}) {
    CAPTURE(absent);
    const HttpResponse refusal = ask(make_request(
        "POST", "/api/v1/namespaces/" + std::string(absent) + "/token", "Bearer t0ken", body(600)));
    CHECK(refusal.status == 404);
    CHECK(json::parse(refusal.body)["details"]["kind"] == "serviceaccounts");
  }
}

TEST_CASE("api server: other methods get 405, and other paths get 404") {
  CHECK(ask(make_request("DELETE", "/api/v1/namespaces", "Bearer t0ken")).status == 405);
  CHECK(ask(make_request("GET", "/api/v1/namespaces/default", "Bearer t0ken")).status == 404);
}

TEST_CASE("token file: lines in kube-apiserver's format, with and without groups") {
  const std::vector<ApiUser> users = parse_token_auth_file("a,alice,1\n\nb,bob,2,\"x,y\"\n");
  REQUIRE(users.size() == 2);
  CHECK(users[0].groups.empty());
  CHECK(users[1].token == "b");
  CHECK(users[1].groups == std::vector<std::string>{"x", "y"});
}

TEST_CASE("token file: an error names the line, but no token") {
  CHECK_THROWS_WITH_AS(parse_token_auth_file("a,alice,1\ns3cret,bob\n"),
                       "line 2 is not token,user,uid", std::runtime_error);
  CHECK_THROWS_AS(parse_token_auth_file(",alice,1\n"), std::runtime_error);
  CHECK_THROWS_WITH_AS(parse_token_auth_file("\n"), "it holds no token", std::runtime_error);
}

}  // namespace
}  // namespace execcred::test
