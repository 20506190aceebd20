// SPDX-License-Identifier: Apache-2.0
// doctor's requests to a cluster's API, and their replies. No request stores anything.
#pragma once

#include "connection.hpp"
#include "steps.hpp"

#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/json/json.hpp>
#include <execcred/kube/kubeconfig.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace execcred::doctor {

struct Answer {
  int status = 0;
  json::Value body = {};                         // null where it is no JSON
  bool is_status = false;                        // it is a kind: Status
  std::string message = {};                      // of a Status
  std::string reason = {};                       // of a Status
  std::string said = {};                         // the beginning of a body that is no JSON
  std::optional<TimePoint> date = std::nullopt;  // the server's clock
  TimePoint received = {};                       // ours
};

// Sends requests over one connection, with or without a token, as the user of `act_as` if it has
// one. Adds a line for each request to the item, for --debug.
class Api {
 public:
  Api(Connection& connection, Item& item, const Impersonation& act_as = {});

  // Fails as Connection::exchange does. No token is sent where `token` is empty.
  Result<Answer> get(std::string_view path, const SecretString& token);
  Result<Answer> post(std::string_view path, const json::Value& body, const SecretString& token);

 private:
  Result<Answer> send(HttpRequest request, std::string_view path, const SecretString& token);

  Connection& connection_;
  Item& item_;
  std::vector<std::pair<std::string, std::string>> headers_;
};

// An empty SelfSubjectReview. The server's reply names the user and the groups of the caller.
json::Value self_subject_review();
struct Permission {
  std::string verb = {};
  std::string group = {};
  std::string resource = {};
  std::string subresource = {};
  std::string name_space = {};

  std::string text() const;
};
// Parses VERB/RESOURCE[.GROUP][/SUBRESOURCE][@NAMESPACE]. Fails (configuration) if the text has
// another form.
Result<Permission> parse_permission(const std::string& text);
Result<std::vector<Permission>> parse_permissions(const std::vector<std::string>& texts);
json::Value access_review(const Permission& permission);

inline constexpr std::string_view kSelfSubjectReviews =
    "/apis/authentication.k8s.io/v1/selfsubjectreviews";
inline constexpr std::string_view kAccessReviews =
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

inline constexpr std::string_view kAnonymousUser = "system:anonymous";

}  // namespace execcred::doctor
