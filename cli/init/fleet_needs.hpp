// SPDX-License-Identifier: Apache-2.0
// What a fleet's ClusterProfiles need: an entry for each of their providers, and the Secrets that
// the entries read.
#pragma once

#include "catalogue.hpp"

#include <execcred/base/url.hpp>
#include <execcred/kube/cluster_profile.hpp>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace execcred::init {

// The servers and Secrets of one provider.
struct Need {
  const cli::KnownProvider* known = nullptr;
  std::vector<Url> servers = {};
  std::set<std::string> other_namespaces = {};  // of Secrets, that a ClusterProfile names
};

class FleetNeeds {
 public:
  // `plugins`: the plugins of providers, by name, beside the catalogue's.
  FleetNeeds(const cli::KnownConsumer& consumer, std::map<std::string, std::string> plugins)
      : consumer_(&consumer), plugins_(std::move(plugins)) {}

  void add(const ClusterProfile& profile);

  const cli::KnownConsumer& consumer() const { return *consumer_; }
  const std::map<std::string, Need>& needs() const { return needs_; }
  // By namespace.
  const std::map<std::string, std::set<std::string>>& secrets() const { return secrets_; }
  const std::set<std::string>& profile_namespaces() const { return profile_namespaces_; }
  const std::set<std::string>& unknown() const { return unknown_; }
  // The hosts for which a plugin reads a projected token, each with its only server, as its
  // ClusterProfile has it.
  std::map<std::string, std::string> projected() const;
  // What is left out by design, and why: one printable line each, without duplicates.
  std::set<std::string> remarks() const;
  // What cannot be used, likewise.
  const std::set<std::string>& problems() const { return problems_; }

 private:
  void add(const ClusterProfile& profile, const AccessProvider& provider);
  void add_secret(const AccessProvider& provider, const std::string& where, Need& need);

  const cli::KnownConsumer* consumer_;
  std::map<std::string, std::string> plugins_;
  std::map<std::string, Need> needs_;
  std::map<std::string, std::set<std::string>> secrets_;
  std::set<std::string> profile_namespaces_;
  std::set<std::string> unknown_;
  std::map<std::string, std::map<std::string, std::string>> projected_;  // by host and origin
  std::set<std::string> remarks_;
  std::set<std::string> problems_;
};

// The mapping of the needs. `directory` is where the consumer has the plugins.
json::Value mapping_of(const FleetNeeds& fleet, const std::string& directory);

// The hub's Roles and RoleBindings, as YAML documents.
std::string rbac_of(const FleetNeeds& fleet);

}  // namespace execcred::init
