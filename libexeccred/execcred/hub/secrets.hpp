// SPDX-License-Identifier: Apache-2.0
// Secrets of the hub, read and written whole.
//
// A Secret is the hub's JSON object, so that a change keeps what others wrote to it (labels,
// annotations, fields of later versions). A change applies only to the version that was read: a
// replace and a remove send the uid and the resourceVersion.
#pragma once

#include <execcred/base/duration.hpp>
#include <execcred/base/result.hpp>
#include <execcred/hub/change.hpp>
#include <execcred/hub/client.hpp>
#include <execcred/json/json.hpp>
#include <execcred/kube/label_selector.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace execcred {

struct HubSecretsSettings {
  // The time limit of one operation with all its attempts; of each page for a list.
  Duration timeout = std::chrono::seconds(30);
};

class HubSecrets {
 public:
  // The client must outlive this, and is used by one thread at a time.
  explicit HubSecrets(HubClient& hub, HubSecretsSettings settings = {});

  // Lists all Secrets that match, as one snapshot; an empty namespace means all namespaces.
  // restart() is called before the first one: once, and again if the snapshot expires. `receive`
  // must wipe whole objects (json::wipe). Fails as HubClient::list() does, and (configuration) if
  // the namespace is not a valid name.
  Status list(const std::string& name_space, const LabelSelector& selector, HubContent content,
              std::function<void()> restart, const std::function<void(ListItem)>& receive);

  // Reads one Secret; nullopt if it does not exist. Fails as HubClient::find() does, and
  // (configuration) if the namespace or the name is not valid.
  Result<std::optional<json::Value>> get(const std::string& name_space, const std::string& name);

  // POST. The object contains its name. After `unknown` and `conflict`, read the object: this call
  // may have created it.
  ChangeOutcome create(const std::string& name_space, const json::Value& object);

  // PUT, which the hub does only if its object still has the uid and resourceVersion of `object`.
  // An object without them is not sent (configuration).
  ChangeOutcome replace(const std::string& name_space, const std::string& name,
                        const json::Value& object);

  // DELETE with the uid and the resource version as preconditions. `done` may mean only that the
  // object is marked for deletion: an object with finalizers stays until they are removed.
  ChangeOutcome remove(const std::string& name_space, const std::string& name,
                       const std::string& uid, const std::string& resource_version);

 private:
  void begin();
  // Each change has a name or preconditions, so the hub acts on it once at most.
  ChangeOutcome send(HubChange one);

  HubClient& hub_;
  HubSecretsSettings settings_;
};

// metadata.FIELD of the object; empty if it is not a string. The view refers to `object`.
std::string_view metadata_text(const json::Value& object, std::string_view field);

}  // namespace execcred
