// SPDX-License-Identifier: Apache-2.0
#include "get_fleet.hpp"

#include "list_text.hpp"
#include "table.hpp"

#include <execcred/base/cause.hpp>
#include <execcred/base/environment.hpp>
#include <execcred/base/text.hpp>
#include <execcred/engine/get_credential.hpp>
#include <execcred/engine/report.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <utility>

namespace execcred::cli {
namespace {

using json::Value;

constexpr std::size_t kLongestError = 1000;  // bytes

std::string_view name_of(FleetResult result) {
  switch (result) {
    case FleetResult::ok:
      return "ok";
    case FleetResult::fail:
      return "fail";
    case FleetResult::skipped:
      break;
  }
  return "skipped";
}

Style style_of(FleetResult result) {
  switch (result) {
    case FleetResult::ok:
      return Style::good;
    case FleetResult::fail:
      return Style::bad;
    case FleetResult::skipped:
      break;
  }
  return Style::faint;
}

void fail(const Error& error, FleetItem& item) {
  item.result = FleetResult::fail;
  item.exit_code = exit_code(error.kind);
  item.error = shown_text(error.message, kLongestError);
  item.hint = shown_text(error.hint, kLongestError);
}

std::chrono::milliseconds milliseconds_of(Duration duration) {
  return std::chrono::round<std::chrono::milliseconds>(duration);
}

class Runs final : public FleetWork {
 public:
  Runs(std::vector<FleetTarget> targets, Duration limit)
      : FleetWork(targets.size()), targets_(std::move(targets)), limit_(limit) {}

  bool run(std::size_t number) override {
    FleetTarget& target = targets_[number];
    if (target.access) get(*target.access, target.item);
    target.access.reset();
    return target.item.result == FleetResult::fail;
  }

  FleetItem& item_of(std::size_t number) { return targets_[number].item; }

 private:
  void get(const Access& access, FleetItem& item) const {
    const auto start = std::chrono::steady_clock::now();
    const Result<Credential> credential =
        get_credential(access, environment_, PluginRun{.limit = limit_, .stop = stop()});
    item.duration = std::chrono::steady_clock::now() - start;
    if (!credential) return fail(credential.error(), item);
    item.result = FleetResult::ok;
    item.expires = credential->expires_at;
  }

  std::vector<FleetTarget> targets_;
  Duration limit_;
  Environment environment_ = Environment::copy();
};

std::vector<const FleetItem*> by_result(const std::vector<FleetItem>& items) {
  std::vector<const FleetItem*> sorted;
  sorted.reserve(items.size());
  for (const FleetItem& item : items) sorted.push_back(&item);
  std::stable_partition(sorted.begin(), sorted.end(),
                        [](const FleetItem* item) { return item->result == FleetResult::fail; });
  return sorted;
}

std::string summary(const std::vector<FleetItem>& items) {
  std::array<std::size_t, 3> counts = {};
  for (const FleetItem& item : items) ++counts[static_cast<std::size_t>(item.result)];
  return std::to_string(items.size()) + (items.size() == 1 ? " cluster: " : " clusters: ") +
         std::to_string(counts[0]) + " ok, " + std::to_string(counts[1]) + " fail, " +
         std::to_string(counts[2]) + " skipped\n";
}

std::string table(const std::vector<FleetItem>& items, bool is_wide, const Paint& paint) {
  std::vector<Cell> head = {"CLUSTER", "PROVIDER", "RESULT", "EXPIRES", "EXIT", "TIME"};
  if (is_wide) head.insert(head.end(), {"SERVER", "COMMAND"});
  head.emplace_back("ERROR");
  Table table(std::move(head));
  for (const FleetItem* const item : by_result(items)) {
    const bool has_run = item->result != FleetResult::skipped;
    std::vector<Cell> row = {item->full_name(),
                             printable(item->provider),
                             {name_of(item->result), style_of(item->result)},
                             item->expires ? engine::text_of(*item->expires) : "",
                             has_run ? std::to_string(item->exit_code) : "",
                             has_run ? format_duration(milliseconds_of(item->duration)) : ""};
    if (is_wide) row.insert(row.end(), {printable(item->server), printable(item->command)});
    row.emplace_back(item->error);
    table.add(std::move(row));
  }
  return table.text(paint) + "\n" + summary(items);
}

Value value_of(const FleetItem& item) {
  Value object((json::Object()));
  add_text(object, "namespace", item.name_space);
  object.add("name", Value(item.name));
  add_text(object, "provider", item.provider);
  add_text(object, "server", item.server);
  object.add("result", Value(name_of(item.result)));
  if (item.expires) object.add("expires", Value(engine::text_of(*item.expires)));
  if (item.result != FleetResult::skipped) {
    object.add("exitCode", number_of(item.exit_code));
    object.add("durationMs", number_of(milliseconds_of(item.duration).count()));
  }
  add_text(object, "error", item.error);
  add_text(object, "hint", item.hint);
  return object;
}

}  // namespace

std::string FleetItem::full_name() const { return full_name_of(name_space, name); }

FleetTarget fleet_target(const engine::Mapping& mapping, const ClusterProfile& profile,
                         const std::string& provider) {
  engine::Target judged = engine::target_of(mapping, profile, provider);
  FleetTarget target{.item = {.name_space = judged.item.name_space,
                              .name = judged.item.name,
                              .provider = judged.item.provider},
                     .access = std::move(judged.access)};
  FleetItem& item = target.item;
  if (target.access) {
    item.server = target.access->cluster.server;
    item.command = target.access->exec.command;
    return target;
  }
  // Of two faults, `get` reports that of the mapping.
  const engine::Step& of_mapping = judged.item.step(engine::StepId::mapping);
  const bool is_of_mapping = of_mapping.verdict == engine::Verdict::fail;
  const engine::Step& step = is_of_mapping ? of_mapping : *judged.item.failed_step();
  item.error = step.message;
  item.hint = step.hint;
  if (step.cause == cause::kNoProvider || step.cause == cause::kProviderUnknown) return target;
  item.result = FleetResult::fail;
  item.exit_code = exit_code(step.kind);
  if (const MappedProvider* const chosen = mapping.find(item.provider)) {
    item.command = chosen->exec.command;
  }
  return target;
}

FleetItems<FleetItem> get_all(std::vector<FleetTarget> targets, Duration limit,
                              const FleetOptions& options) {
  return collect_from_fleet<FleetItem>(std::make_shared<Runs>(std::move(targets), limit), options);
}

std::string fleet_text(const std::vector<FleetItem>& items, std::string_view format,
                       const Paint& paint) {
  if (format == "json" || format == "yaml") {
    json::Array array;
    for (const FleetItem& item : items) array.push_back(value_of(item));
    return document_text(list_of(std::move(array)), format);
  }
  if (items.empty()) return {};
  if (format != "name") return table(items, format == "wide", paint);
  std::string text;
  for (const FleetItem* const item : by_result(items)) text += item->full_name() + "\n";
  return text;
}

}  // namespace execcred::cli
