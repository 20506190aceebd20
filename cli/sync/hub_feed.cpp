// SPDX-License-Identifier: Apache-2.0
#include "feed.hpp"

#include <execcred/hub/profiles.hpp>

#include <map>
#include <mutex>
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
  bool is_up() const override { return watch_.state().is_in_sync; }

 private:
  using Object = std::shared_ptr<const WatchedObject>;
  using Objects = std::map<std::string, Object, std::less<>>;  // by "NAMESPACE/NAME"

  HubWatch watch_;
  std::mutex mutex_;
  Objects news_;  // since the last look; null: it went
  Objects objects_;
  std::thread watcher_;
};

ListedProfile parse(const WatchedObject& object) {
  const auto profile = [&object]() -> Result<ClusterProfile> {
    if (object.problem) return *object.problem;
    return parse_profile_of_hub(parse_item(object.text));
  };
  return {.name_space = object.name_space,
          .name = object.name,
          .uid = object.uid,
          .profile = profile()};
}

Picture HubFeed::read(bool is_anew, const FeedReceiver& receiver) {
  // The state is read first: what it says about all objects is true of the changes that are taken
  // after it.
  const WatchState state = watch_.state();
  std::vector<Error> failures;
  if (state.error) failures.push_back(*state.error);
  if (!state.is_complete) return {.failures = std::move(failures)};
  Objects news;
  {
    const std::lock_guard lock(mutex_);
    news.swap(news_);
  }
  for (auto& [key, object] : news) {
    if (!object) {
      objects_.erase(key);
      receiver.drop(key);
      continue;
    }
    if (!is_anew) receiver.take(parse(*object));
    objects_.insert_or_assign(key, std::move(object));
  }
  if (is_anew) {
    for (const auto& [key, object] : objects_) receiver.take(parse(*object));
  }
  // An outdated list is not whole: there may be more ClusterProfiles, or fewer. An object that
  // cannot be read has a name on the hub, so it says nothing about the others.
  return {.is_known = true,
          .is_whole = state.is_in_sync && state.nameless.empty(),
          .count = objects_.size(),
          .failures = std::move(failures),
          .problems = state.nameless};
}

Status HubFeed::watch(std::function<void()> on_change, const StopEvent& stop) {
  watch_.on_change(std::move(on_change));
  watch_.on_object([this](Object object, bool is_there) {
    std::string key = object->name_space + "/" + object->name;
    const std::lock_guard lock(mutex_);
    news_.insert_or_assign(std::move(key), is_there ? std::move(object) : nullptr);
  });
  watcher_ = std::thread([this, &stop] { watch_.run(stop); });
  return {};
}

}  // namespace

std::unique_ptr<ProfileFeed> hub_feed(HubClient client, const WatchQuery& query) {
  return std::make_unique<HubFeed>(std::move(client), query);
}

}  // namespace execcred::sync
