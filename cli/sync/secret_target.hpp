// SPDX-License-Identifier: Apache-2.0
// Secrets of the hub, one for each ClusterProfile and format.
//
// A Secret is created whole by POST. Later it is replaced by PUT, with the metadata that others
// wrote, and only if it is still the object that was read. A Secret without this instance's labels,
// or of another ClusterProfile, is never changed.
//
// The reply to a write is kept as the object that was read last, so the next write needs no GET. If
// another writer has changed the Secret since, the hub refuses the write, and the Secret is read
// again.
#pragma once

#include "names.hpp"
#include "target.hpp"

#include <execcred/hub/client.hpp>
#include <execcred/hub/watch.hpp>
#include <execcred/os/stop_event.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace execcred::sync {

// Clients of the hub's API, one for each thread that works at a time.
class HubClients {
 public:
  using Make = std::function<Result<HubClient>()>;
  explicit HubClients(Make make) : make_(std::move(make)) {}

  // Calls `use` with a client that no other thread uses at the same time.
  template <class Use>
  auto with(const Use& use) -> decltype(use(std::declval<HubClient&>())) {
    std::unique_ptr<HubClient> client = EXECCRED_TRY(take());
    auto result = use(*client);
    if (!result) keep_retry_after(client->retry_after());
    give_back(std::move(client));
    return result;
  }

  // As Store::retry_after().
  Duration retry_after() const;

 private:
  Result<std::unique_ptr<HubClient>> take();
  void give_back(std::unique_ptr<HubClient> client);
  void keep_retry_after(std::optional<Duration> retry_after);

  Make make_;
  mutable std::mutex mutex_;
  std::chrono::steady_clock::time_point retry_at_ = {};
  std::vector<std::unique_ptr<HubClient>> idle_;
};

struct SecretSettings {
  std::string instance = {};
  // The namespace of the Secrets; empty for that of each ClusterProfile.
  std::string name_space = {};
  // The namespace to scan; empty for all namespaces.
  std::string scanned = {};
  // The time limit of one request with its attempts.
  Duration timeout = std::chrono::seconds(30);
};

class SecretStore final : public Store {
 public:
  SecretStore(SecretSettings settings, HubClients& clients);
  ~SecretStore() override;

  // Watches the Secrets until `stop` is requested, so that is_gone() knows which ones are deleted.
  // `stop` must outlive the store.
  Status watch(HubClient client, const StopEvent& stop);

  Result<std::vector<Held>> scan() override;
  bool is_gone(const Held& held) const override;
  Watching watching() const override;
  Duration retry_after() const override { return clients_.retry_after(); }
  Result<Wrote> mark_expired(const Held& held, const MayWrite& may_write) override;
  Result<Wrote> remove(const Held& held, const MayWrite& may_write) override;

  Held place_of(const std::string& name, const Mark& mark);
  bool is_foreign(const Held& held) const;
  Result<Wrote> write(const Held& held, const SecretForm& form, const MayWrite& may_write);

 private:
  class Seen;

  // Whether the watch has the Secret in this resourceVersion.
  bool is_at(const Held& held, const std::string& version) const;

  SecretSettings settings_;
  HubClients& clients_;
  std::unique_ptr<Seen> seen_;
  std::unique_ptr<HubWatch> watch_;
  std::thread watcher_;
};

class SecretTarget final : public Target {
 public:
  SecretTarget(SecretStore& store, SecretNames names, SecretFormat format)
      : store_(store), names_(std::move(names)), format_(format) {}

  Store& store() override { return store_; }
  Result<Held> place_of(const Mark& mark) override;
  bool is_foreign(const Held& held) const override { return store_.is_foreign(held); }
  Result<Wrote> write(const Held& held, const Issue& issue, const MayWrite& may_write) override;

 private:
  SecretStore& store_;
  SecretNames names_;
  SecretFormat format_;
};

}  // namespace execcred::sync
