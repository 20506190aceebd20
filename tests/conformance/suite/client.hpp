// SPDX-License-Identifier: Apache-2.0
// The client in front of the plugin under test: the documents that it sends, and the cluster that
// they are about.
//
// Most plugins give a credential for any cluster, and without cluster information too. One that
// asks the cluster itself needs a real one, from --cluster-file: it then stands in each document
// that is to be answered, and a document without it must be refused.
#pragma once

#include "plugin_under_test.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace blackbox {

// `path` holds spec.cluster: a JSON object with a server. Empty, or why the file is refused.
std::string use_cluster(const std::string& path);
bool needs_cluster();

// spec.cluster, of `server` and more members. The members of --cluster-file stand before those,
// instead of `server`; one that is among `more_members` stays out.
std::string cluster_with(std::string_view server, std::string_view more_members = "");

// exec_info(), with the cluster of --cluster-file where there is one.
std::string client_info(std::string_view version);
std::string client_info(std::string_view version, std::string_view server,
                        std::string_view more_members = "");
// A document that says no version.
std::string client_info_without_version();

// The plugin's command, with a document where the plugin needs one.
Command answered_command(std::vector<std::string> more_arguments = {},
                         std::vector<std::string> more_environment = {});

// Its secrets, for cases that look for them where they must not be. Asked for once.
const std::vector<std::string>& secrets_of_plugin();

// A success, or the refusal of a plugin that needs cluster information. A report knows the reason
// by the name's beginning.
std::string violation_of_rule_without_cluster(const Outcome& outcome,
                                              std::string_view version = kV1);

}  // namespace blackbox

#define CHECK_WITHOUT_CLUSTER(...) \
  CHECK(blackbox::violation_of_rule_without_cluster(__VA_ARGS__) == "")
