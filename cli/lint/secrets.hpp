// SPDX-License-Identifier: Apache-2.0
// Secrets in wrong places: in a ClusterProfile, which many users may read, and in a program's
// arguments and variables, which other processes may read.
//
// They are found by their form (private keys, JSON Web Tokens, bearer tokens, tokens with a known
// prefix, URLs with a password; each also in base64), or by the name of their field, option or
// variable. A finding never shows the secret.
#pragma once

#include "findings.hpp"

#include <execcred/kube/provider_mapping.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred::lint {

// An access token of Google Cloud.
inline constexpr std::string_view kGoogleTokenStart = "ya29.";

// The strings of a JSON array; empty for any other text.
std::vector<std::string> texts_of_array(const std::string& text);

// The kind of secret that the text contains: "a private key", "a JSON Web Token", …; empty if none
// is found.
std::string_view secret_in(std::string_view text);

// Whether a field, option or variable of this name holds a secret, and not the path of one.
bool is_name_of_secret(std::string_view name);

// Whether the text has a "NAME=VALUE" or "NAME: VALUE", as headers and parameters are written, with
// the name of a secret.
bool has_named_secret(std::string_view text);

// Whether the value may be a secret, by its form, by `name`, or by a name in it.
bool may_be_secret(std::string_view name, std::string_view value);

// Warns of a value that is a secret only by its name.
void check_named_secret(const Scope& scope, const std::string& path, std::string_view name,
                        std::string_view value);

// Checks every string in the value and its members. A finding has this severity if the secret is
// found by its form, or if it is a member of Google's credentials files. A secret that is found
// only by another name is a warning.
void check_no_secrets(const Scope& scope, const json::Value& value, const std::string& path,
                      Severity severity);

// Checks args and env of the object at `path`, also the arguments of a command that one of them has
// as a JSON array. The findings are warnings.
void check_no_secrets(const Scope& scope, const ExecConfig& exec, const std::string& path);

}  // namespace execcred::lint
