// SPDX-License-Identifier: Apache-2.0
#include "examine_all.hpp"

#include <memory>
#include <utility>

namespace execcred::doctor {
namespace {

class Examinations final : public cli::FleetWork {
 public:
  Examinations(std::vector<engine::Target> targets, ExaminationOptions options)
      : FleetWork(targets.size()),
        targets_(std::move(targets)),
        options_(std::move(options)),
        examination_(options_, stop()) {}

  bool run(std::size_t number) override {
    examination_.run(targets_[number]);
    return targets_[number].item.verdict() == Verdict::fail;
  }

  std::vector<Item> take_items(const std::vector<bool>& is_done) {
    std::vector<Item> items;
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      if (is_done[i]) items.push_back(std::move(targets_[i].item));
    }
    return items;
  }

 private:
  std::vector<engine::Target> targets_;
  ExaminationOptions options_;
  Examination examination_;
};

}  // namespace

FleetResult examine_all(std::vector<engine::Target> targets, const ExaminationOptions& examination,
                        const cli::FleetOptions& options) {
  const auto work = std::make_shared<Examinations>(std::move(targets), examination);
  cli::FleetEnd end = run_fleet(work, options);
  std::vector<Item> items = work->take_items(end.is_done);
  return {.items = std::move(items), .end = std::move(end)};
}

}  // namespace execcred::doctor
