// SPDX-License-Identifier: Apache-2.0
// A request that changes an object of the hub, and what came of it.
//
// A change is sent again only where the hub surely did not act on it: no connection, 429, 503.
// Where the reply was lost, or is one that may follow the act (500, 502, 504), the outcome is
// `unknown`, and the caller reads the object to see.
#pragma once

#include <execcred/base/error.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/base/text.hpp>
#include <execcred/hub/client.hpp>
#include <execcred/json/json.hpp>

#include <string>
#include <string_view>

namespace execcred {

// Under which the hub notes what we write (metadata.managedFields).
inline constexpr std::string_view kFieldManager = "execcred-sync";

struct ChangeOutcome {
  enum class Kind {
    done,
    // 409. Of a create: there is one of this name, perhaps our own by an earlier attempt. Else: it
    // is not the one that was read, by its uid or resourceVersion. Read it again.
    conflict,
    absent,       // 404 of a replace or a remove, by the object's name: there is none
    refused,      // by the hub, for good: 401, 403, a quota, 404 of the namespace, 413, 422
    unavailable,  // surely not done; trying again may work
    unknown,      // it may be done, or be done yet: the reply was lost
  };

  Kind kind = Kind::done;
  json::Value object = {};  // of done: as the hub has it now; null after a remove
  // Of all others: no_credential for what is refused, and for a conflict or an absence;
  // configuration for what cannot be sent; else unavailable. It has the message of the hub's
  // Status, cut and fit for a terminal, and no value of the object.
  Error error = {};

  explicit operator bool() const { return kind == Kind::done; }
};

struct HubChange {
  std::string method = {};  // "POST", "PUT", "DELETE"
  std::string verb = {};    // RBAC's: "create", "update", "delete"
  HubResource resource = {};
  std::string query = {};  // without "?", encoded
  SecretString body = {};  // JSON
  // What stands in the body and must not be in a message, although the hub may repeat it.
  SecretTexts secrets = {};
  // What a stop (HubClient::stop_with) does to a request that is on its way: ends it, or only lets
  // no other attempt follow.
  bool is_ended_by_stop = false;
};

// Within the client's deadline, to which also a Retry-After must fit.
ChangeOutcome change(HubClient& hub, HubChange change);

}  // namespace execcred
