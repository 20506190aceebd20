// SPDX-License-Identifier: Apache-2.0
// The client in front of the plugin under test: the documents that it sends, and the cluster that
// they are about.
//
// Most plugins give a credential for any cluster, and also without cluster information. A plugin
// that calls the cluster needs a real one, from --cluster-file. Each document for an answer then
// contains this cluster, and a document without it must be refused.
#pragma once

#include "plugin_under_test.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace blackbox {

// `path` holds spec.cluster: a JSON object with a server. Empty, or why the file is refused.
std::string use_cluster(const std::string& path);
bool needs_cluster();

// spec.cluster, with `server` and more members. The members of --cluster-file take the place of
// `server`, except those that are among `more_members`.
std::string cluster_with(std::string_view server, std::string_view more_members = "");

// exec_info(), with the cluster of --cluster-file if there is one.
std::string client_info(std::string_view version);
std::string client_info(std::string_view version, std::string_view server,
                        std::string_view more_members = "");
// A document without a version.
std::string client_info_without_version();

// The plugin's command, with a document if the plugin needs one.
Command answered_command(std::vector<std::string> more_arguments = {},
                         std::vector<std::string> more_environment = {});

// The plugin's secrets, for cases that check that they are not shown. Requested once.
const std::vector<std::string>& secrets_of_plugin();

// A success, or the refusal of a plugin that needs cluster information. The report finds
// the reason by the beginning of the function's name.
std::string violation_of_rule_without_cluster(const Outcome& outcome,
                                              std::string_view version = kV1);

}  // namespace blackbox

#define CHECK_WITHOUT_CLUSTER(...) \
  CHECK(blackbox::violation_of_rule_without_cluster(__VA_ARGS__) == "")
