// SPDX-License-Identifier: Apache-2.0
// The common part of a mapping, Kueue's configuration and a kubeconfig: a program to run, with
// arguments and variables.
#pragma once

#include "findings.hpp"

#include <execcred/json/json_reader.hpp>
#include <execcred/kube/provider_mapping.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred::lint {

enum class Consumer {
  // The server comes from a ClusterProfile, whose writer is not trusted.
  mapping,
  // Likewise; commands may be names of files in /plugins.
  kueue,
  // The server comes from the same file; commands may be names that PATH finds.
  kubeconfig,
};

// Compares the provider's name with those in use (catalogue.hpp).
void check_provider_name(const Scope& scope, const std::string& name, const std::string& path);

// Checks exec, found at `path`. Parse errors are reported by inspect_exec.
void check_exec(const Scope& scope, const ExecConfig& exec, const std::string& path,
                Consumer consumer);

// Parses exec, reports parse errors, and checks the rest.
ExecConfig inspect_exec(const Scope& outer, const json::ObjectReader& exec, Consumer consumer);

// Reports the members of `object` that are not among `fields` in exactly this spelling. They are
// errors if `is_strict`, because readers refuse the document; otherwise they are warnings.
void check_fields(const Scope& scope, const json::ObjectReader& object,
                  const std::vector<std::string_view>& fields, bool is_strict);
// The same for an object with other fields too, of which nothing is said: reports as an error each
// member that differs from one of `fields` in its case alone. Nothing would read the field.
void check_spelling(const Scope& scope, const json::ObjectReader& object,
                    const std::vector<std::string_view>& fields);
// check_fields() for execConfig and the entries of its env.
void check_exec_fields(const Scope& scope, const json::ObjectReader& exec, bool is_strict);

}  // namespace execcred::lint
