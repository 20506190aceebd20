// SPDX-License-Identifier: Apache-2.0
// Secrets in wrong places: in a ClusterProfile, which many users may read, and in a program's
// arguments and variables, which other processes may read.
//
// Found only by their form: private keys, JSON Web Tokens, tokens with a known prefix, URLs with a
// password; each also in base64. A finding never shows the secret.
#pragma once

#include "findings.hpp"

#include <execcred/kube/provider_mapping.hpp>

#include <string>
#include <string_view>

namespace execcred::lint {

// "a private key", "a JSON Web Token", …; empty where there is none.
std::string_view secret_in(std::string_view text);

// Whether a field, option or variable of this name holds a secret itself, not its place.
bool is_name_of_secret(std::string_view name);

// By its form or its name. For "NAME=VALUE", the form of headers and parameters in options, that
// name is used too.
bool may_be_secret(std::string_view name, std::string_view value);

// A value that is a secret only by its name: a warning.
void check_named_secret(const Scope& scope, const std::string& path, std::string_view name,
                        std::string_view value);

// Every string in the value and its members. A secret by its member's name only is a warning.
void check_no_secrets(const Scope& scope, const json::Value& value, const std::string& path,
                      Severity severity);

// args and env of the object at `path`: warnings.
void check_no_secrets(const Scope& scope, const ExecConfig& exec, const std::string& path);

}  // namespace execcred::lint
