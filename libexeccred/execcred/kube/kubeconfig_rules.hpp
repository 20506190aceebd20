// SPDX-License-Identifier: Apache-2.0
// client-go's rules for a kubeconfig (k8s.io/client-go/tools/clientcmd 0.36), as tables. The file
// tests/kubeconfig_rules.txt has an input for each rule, with kubectl's verdict about it.
#pragma once

#include <execcred/base/error.hpp>
#include <execcred/json/json_reader.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred {

// Whether the document is a kubeconfig: by its kind, or without a kind by its lists.
bool is_kubeconfig(const json::Value& document);

// Why clients load nothing of the file: a field has another type, also one of an entry that no
// context names; or two entries of a list have one name. Each message begins with the field's path.
// null is a value of every type, and fields that clients do not know have any type.
std::vector<Error> kubeconfig_load_problems(const json::Value& document);

// Whether clients send the user's name and password: only a name counts, for a password alone is
// never sent (client-go's HasBasicAuth).
bool has_basic_authentication(const json::Value& user);

// Why clients refuse a context with this user or cluster of a kubeconfig that they have loaded.
// `path` is that of the object, such as "users[2].user". The files that it names are not opened.
std::vector<Error> kubeconfig_user_problems(const json::Value& user, const std::string& path);
// The same of its token and its client certificate, which doctor judges as a credential.
std::vector<Error> kubeconfig_credential_problems(const json::Value& user, const std::string& path);
std::vector<Error> kubeconfig_exec_problems(const json::ObjectReader& exec);  // of a user
std::vector<Error> kubeconfig_cluster_problems(const json::Value& cluster, const std::string& path);
// Those of both that a stored kubeconfig may have in no entry: control characters in fields of one
// line, and an auth-provider without a name.
std::vector<Error> kubeconfig_text_problems(const json::Value& object, const std::string& path);

}  // namespace execcred
