// SPDX-License-Identifier: Apache-2.0
// Errors for the hub's refusals and failures, with a remedy.
#pragma once

#include <execcred/hub/client.hpp>

#include <string>
#include <string_view>

namespace execcred {

// The resource's name in an RBAC rule: "secrets", "serviceaccounts/token".
std::string full_name(const HubResource& resource);

// The resource in a message: "secrets 'fleet/web'", "secrets in namespace 'fleet'".
std::string subject_of(const HubResource& resource);

// The hub in a message: "the hub 'https://hub.example.com'".
std::string shown(const Hub& hub);

// A text of the hub for a message.
std::string shown_hub_text(std::string_view text);

// The error for a reply that refuses a request: unavailable and transient for
// is_passing_status(), else no_credential. `verb` is RBAC's: "get", "list", "create".
Error hub_refusal(const HttpResponse& response, const HubResource& resource, std::string_view verb,
                  const Hub& hub);

// The `reason` of the Status in the hub's reply, such as "AlreadyExists"; empty if the reply has no
// Status.
std::string reason_of(const HttpResponse& response);

// Whether the reply reports that the hub serves the resource but has no object of this name.
bool is_absent(const HttpResponse& response, const HubResource& resource);

}  // namespace execcred
