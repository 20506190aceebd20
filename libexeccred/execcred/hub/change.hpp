// SPDX-License-Identifier: Apache-2.0
// A request that changes an object of the hub, and its outcome.
//
// A change is sent again if the hub certainly did not act on it: there was no connection, or the
// reply was a 429 or the hub's own 503. One that may be repeated is sent again too if the hub
// closes a kept connection without a reply: if the hub had acted on it, the outcome is `conflict`,
// or `absent` after a remove. In all other cases, if the reply was lost, or may come after the
// change (500, 502, 504), the outcome is `unknown`, and the caller reads the object again.
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
    // 409. For a create: the name exists, perhaps from an earlier attempt of this process.
    // Otherwise: the object is not the one that was read, by its uid or resourceVersion. Read it
    // again.
    conflict,
    absent,       // 404 of a replace or a remove, by the object's name: there is none
    refused,      // by the hub, for good: 401, 403, a quota, 404 of the namespace, 413, 422
    unavailable,  // certainly not done; trying again may work
    unknown,      // it may be done, now or later: the reply was lost
  };

  Kind kind = Kind::done;
  json::Value object = {};  // of done: as the hub has it now; null after a remove
  // The error for all other kinds: no_credential for a refusal, a conflict or a missing object;
  // configuration for a request that cannot be sent; otherwise unavailable. It contains the message
  // of the hub's Status, cut and printable, and no value of the object.
  Error error = {};

  explicit operator bool() const { return kind == Kind::done; }
};

struct HubChange {
  std::string method = {};  // "POST", "PUT", "DELETE"
  std::string verb = {};    // RBAC's: "create", "update", "delete"
  HubResource resource = {};
  std::string query = {};    // without "?", encoded
  SecretString body = {};    // JSON
  SecretTexts secrets = {};  // of the body, as HttpRequest::secrets
  // It may use a kept connection. Only for a change that the hub acts on once at most: it creates
  // an object of a given name, or has the uid and resourceVersion of the one that was read.
  bool may_be_repeated = false;
  // Whether a stop (HubClient::stop_with) ends a running request. If not, a stop only prevents
  // another attempt.
  bool is_ended_by_stop = false;
};

// Sends the change within the client's deadline. A pause that the hub asks for (Retry-After) must
// end before it too.
ChangeOutcome change(HubClient& hub, HubChange change);

}  // namespace execcred
