// SPDX-License-Identifier: Apache-2.0
#include "feed.hpp"

#include <execcred/base/try.hpp>
#include <execcred/hub/profiles.hpp>
#include <execcred/json/json.hpp>

#include <utility>

namespace execcred::sync {
namespace {

class HubFeed final : public ProfileFeed {
 public:
  HubFeed(HubClient client, const WatchQuery& query) : watch_(std::move(client), query) {}
  ~HubFeed() override {
    if (watcher_.joinable()) watcher_.join();
  }

  Picture read(bool is_anew, const FeedReceiver& receiver) override;
  Status watch(std::function<void()> on_change, const StopEvent& stop) override;
  bool is_up() const override { return watch_.view().is_in_sync; }

 private:
  HubWatch watch_;
  // The objects of the last scan: one that did not change has the same pointer.
  std::shared_ptr<const WatchedObjects> seen_ = std::make_shared<WatchedObjects>();
  std::thread watcher_;
};

ListedProfile parse(const WatchedObject& object) {
  const auto profile = [&object]() -> Result<ClusterProfile> {
    if (object.problem) return *object.problem;
    const json::Value document =
        TRY(json::parse(object.text, {.bytes = kMaxInventory, .depth = 64}));
    return parse_profile_of_hub(document);
  };
  return {.name_space = object.name_space,
          .name = object.name,
          .uid = object.uid,
          .profile = profile()};
}

Picture HubFeed::read(bool is_anew, const FeedReceiver& receiver) {
  const WatchView view = watch_.view();
  // An outdated view is not complete: there may be more or fewer objects.
  Picture picture{.is_known = view.is_complete,
                  .is_whole = view.is_complete && view.is_in_sync,
                  .failure = view.error};
  if (!view.is_complete) return picture;
  for (const std::shared_ptr<const WatchedObject>& object : *view.objects) {
    if (object->problem) {
      picture.is_whole = false;
    } else {
      ++picture.count;
    }
    const bool is_same = find_object(*seen_, object->name_space, object->name) == object.get();
    if (is_same && !is_anew) {
      receiver.keep(object->name_space + "/" + object->name);
    } else {
      receiver.take(parse(*object));
    }
  }
  seen_ = view.objects;
  return picture;
}

Status HubFeed::watch(std::function<void()> on_change, const StopEvent& stop) {
  watch_.on_change(std::move(on_change));
  watcher_ = std::thread([this, &stop] { watch_.run(stop); });
  return {};
}

}  // namespace

std::unique_ptr<ProfileFeed> hub_feed(HubClient client, const WatchQuery& query) {
  return std::make_unique<HubFeed>(std::move(client), query);
}

}  // namespace execcred::sync
