// SPDX-License-Identifier: Apache-2.0
// Secrets where none belong: in a ClusterProfile, which many may read, and in a program's
// arguments and variables, which everybody on its machine may read.
//
// Found by their form alone: private keys, JSON Web Tokens, tokens with a known beginning, URLs
// with a password; each also in base64. What a finding says never shows one.
#pragma once

#include "lint_findings.hpp"

#include <execcred/kube/provider_mapping.hpp>

#include <string>
#include <string_view>

namespace execcred::lint {

// "a private key", "a JSON Web Token", …; empty where there is none.
std::string_view secret_in(std::string_view text);

// Whether a field, option or variable of this name holds a secret itself, not its place.
bool is_name_of_secret(std::string_view name);

// By its form, or by its name. Of "NAME=VALUE", as options take it for headers and parameters,
// that name tells too.
bool may_be_secret(std::string_view name, std::string_view value);

// A value that only its name tells to be a secret: a warning.
void check_named_secret(const Scope& scope, const std::string& path, std::string_view name,
                        std::string_view value);

// Every string in the value, and in what it holds. Where only a member's name tells, a warning.
void check_no_secrets(const Scope& scope, const json::Value& value, const std::string& path,
                      Severity severity);

// args and env of what stands at `path`: warnings.
void check_no_secrets(const Scope& scope, const ExecConfig& exec, const std::string& path);

}  // namespace execcred::lint
