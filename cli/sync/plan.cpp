// SPDX-License-Identifier: Apache-2.0
#include "plan.hpp"

#include <execcred/json/json.hpp>

#include <algorithm>
#include <string_view>

namespace execcred::sync {
namespace {

class Plan {
 public:
  Plan(const Ledger& ledger, const std::vector<Target*>& targets, TimePoint now, bool is_json)
      : ledger_(ledger), targets_(targets), now_(now), is_json_(is_json) {}

  std::string text() {
    for (const auto& [key, cluster] : ledger_.clusters()) {
      if (cluster->due <= now_) add(*cluster);
    }
    return std::move(text_);
  }

 private:
  void add(std::string_view verb, const std::string& what, std::string_view why) {
    if (is_json_) {
      json::Value line((json::Object()));
      line.add("action", json::Value(verb));
      line.add("place", json::Value(what));
      line.add("why", json::Value(why));
      text_ += json::to_text(line) + "\n";
    } else {
      text_ += std::string(verb) + " " + what + ": " + std::string(why) + "\n";
    }
  }

  void add(const Ledger::Cluster& cluster) {
    const bool is_refused = cluster.is_refused() && ledger_.may_remove();
    if (is_refused || (cluster.is_gone() && ledger_.prunes_absent())) {
      const std::string_view why = is_refused ? cluster.problem->message : kGone;
      for (const Held& held : cluster.held) add("remove", held.place, why);
    }
    if (!cluster.is_listed()) return;
    if (cluster.problem || cluster.is_duplicate) {
      add("skip", cluster.key, cluster.is_duplicate ? kDuplicate : cluster.problem->message);
      return;
    }
    const std::vector<Clash> clashes = ledger_.clashes_of(cluster);
    for (Target* const target : targets_) add(cluster, *target, clashes);
  }

  void add(const Ledger::Cluster& cluster, Target& target, const std::vector<Clash>& clashes) {
    const Result<Held> place = target.place_of(cluster.mark);
    if (!place) {
      add("skip", cluster.key, place.error().message);
      return;
    }
    const auto clash = std::find_if(clashes.begin(), clashes.end(),
                                    [&](const Clash& one) { return one.place == place->place; });
    if (clash != clashes.end()) {
      add("skip", place->place, clash->why);
      return;
    }
    const char* const reason = Ledger::due_reason(cluster, *place);
    // The credential of the other places stays.
    if (reason == nullptr && !ledger_.is_renewal_due(cluster, now_)) return;
    const bool is_there = std::any_of(cluster.held.begin(), cluster.held.end(),
                                      [&](const Held& held) { return held.place == place->place; });
    if (!is_there && target.is_foreign(*place)) {
      add("skip", place->place, "it is not this instance's");
      return;
    }
    add(is_there ? "renew" : "create", place->place, reason == nullptr ? "due" : reason);
  }

  const Ledger& ledger_;
  const std::vector<Target*>& targets_;
  TimePoint now_;
  bool is_json_;
  std::string text_;
};

}  // namespace

std::string plan_of(const Ledger& ledger, const std::vector<Target*>& targets, TimePoint now,
                    bool is_json) {
  return Plan(ledger, targets, now, is_json).text();
}

}  // namespace execcred::sync
