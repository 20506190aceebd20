// SPDX-License-Identifier: Apache-2.0
// The servers that a kubeconfig's user is used at, as rules for --allow-server.
#pragma once

#include <execcred/json/json.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace execcred::migrate {

struct ServerRules {
  std::vector<std::string> servers = {};  // for --allow-server: these, and no other
  std::vector<std::string> proxies = {};  // for --allow-proxy, without which a proxy-url is refused
  // Why there are no rules: they would refuse a working cluster, there are too many, or no server
  // is known.
  std::string obstacle = {};
};

class Clusters {
 public:
  // `kubeconfig` must outlive it. Malformed parts are ignored: execcred lint reports them.
  explicit Clusters(const json::Value& kubeconfig);

  // They are made once for each name: a file may repeat the name of a user in each of its entries.
  const ServerRules& rules_of(const std::string& user);

 private:
  ServerRules make_rules(const std::string& user) const;

  std::map<std::string, std::vector<std::string>, std::less<>> clusters_of_user_;
  std::map<std::string, const json::Value*, std::less<>> clusters_;
  std::map<std::string, ServerRules, std::less<>> rules_;  // by user
};

}  // namespace execcred::migrate
