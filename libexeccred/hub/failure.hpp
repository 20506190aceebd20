// SPDX-License-Identifier: Apache-2.0
// Errors for the hub's refusals and failures, with a remedy.
#pragma once

#include <execcred/base/text.hpp>
#include <execcred/hub/client.hpp>

#include <string>
#include <string_view>

namespace execcred {

// As RBAC names it: "secrets", "serviceaccounts/token".
std::string full_name(const HubResource& resource);

// "secrets 'fleet/web'", "secrets in namespace 'fleet'".
std::string subject_of(const HubResource& resource);

// "the hub 'https://hub.example.com'".
std::string shown(const Hub& hub);

// The hub's message for people, without the token that was sent, and without other secrets.
std::string shown_text_of(std::string_view text, const Hub& hub, const SecretTexts& others = {});

// `verb` is RBAC's: "get", "list", "create". What is in `secrets` is not shown.
Error hub_refusal(const HttpResponse& response, const HubResource& resource, std::string_view verb,
                  const Hub& hub, const SecretTexts& secrets = {});

// Of the Status that the hub answered with: "AlreadyExists"; empty where it is none.
std::string reason_of(const HttpResponse& response);

// The hub knows the resource, and has no object of this name.
bool is_absent(const HttpResponse& response, const HubResource& resource);

}  // namespace execcred
