// SPDX-License-Identifier: Apache-2.0
// A request that changes an object of the hub, and its outcome.
//
// A change is sent again only if the hub certainly did not act on it: no connection, 429, 503. If
// the reply was lost, or may come after the change (500, 502, 504), the outcome is `unknown`, and
// the caller reads the object again.
#pragma once

#include <execcred/base/error.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/base/text.hpp>
#include <execcred/hub/client.hpp>
#include <execcred/json/json.hpp>

#include <string>
#include <string_view>

namespace execcred {

// The name of this writer in the hub's metadata.managedFields.
inline constexpr std::string_view kFieldManager = "execcred-sync";

struct ChangeOutcome {
  enum class Kind {
    done,
    // 409. For a create: the name exists, perhaps by an earlier attempt of ours. Otherwise: the
    // object is not the one that was read, by its uid or resourceVersion. Read it again.
    conflict,
    absent,       // 404 of a replace or a remove, by the object's name: there is none
    refused,      // by the hub, for good: 401, 403, a quota, 404 of the namespace, 413, 422
    unavailable,  // certainly not done; trying again may work
    unknown,      // it may be done, now or later: the reply was lost
  };

  Kind kind = Kind::done;
  json::Value object = {};  // of done: as the hub has it now; null after a remove
  // For all others: no_credential for a refusal, a conflict or a missing object; configuration for
  // a request that cannot be sent; otherwise unavailable. It has the message of the hub's Status,
  // cut and fit for a terminal, and no value of the object.
  Error error = {};

  explicit operator bool() const { return kind == Kind::done; }
};

struct HubChange {
  std::string method = {};  // "POST", "PUT", "DELETE"
  std::string verb = {};    // RBAC's: "create", "update", "delete"
  HubResource resource = {};
  std::string query = {};  // without "?", encoded
  SecretString body = {};  // JSON
  // Secrets of the body, which must not be in a message, although the hub may repeat them.
  SecretTexts secrets = {};
  // What a stop (HubClient::stop_with) does to a running request: ends it, or only prevents another
  // attempt.
  bool is_ended_by_stop = false;
};

// Within the client's deadline, to which also a Retry-After must fit.
ChangeOutcome change(HubClient& hub, HubChange change);

}  // namespace execcred
