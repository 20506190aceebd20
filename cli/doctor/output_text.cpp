// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include "table.hpp"

#include <execcred/base/text.hpp>

#include <algorithm>
#include <array>
#include <map>

namespace execcred::doctor {
namespace {

constexpr std::size_t kNameWidth = 14;
constexpr std::size_t kVerdictWidth = 9;

std::string padded(std::string_view text, std::size_t width) {
  std::string cell(text);
  if (cell.size() < width) cell.append(width - cell.size(), ' ');
  return cell;
}

cli::Style style_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::fail:
      return cli::Style::bad;
    case Verdict::warn:
      return cli::Style::notice;
    case Verdict::ok:
      return cli::Style::good;
    case Verdict::skipped:
      break;
  }
  return cli::Style::faint;
}

std::string duration_text(Duration duration) {
  return format_duration(std::chrono::round<std::chrono::milliseconds>(duration));
}

std::vector<cli::Cell> row_of(const Item& item, bool is_wide) {
  std::vector<cli::Cell> row = {printable(item.full_name()),
                                printable(item.provider),
                                {name_of(item.verdict()), style_of(item.verdict())},
                                item.cause(),
                                item.user,
                                item.expires ? text_of(*item.expires) : "",
                                duration_text(item.duration)};
  if (is_wide) {
    const Step* const step = item.cause_step();
    row.emplace_back(step == nullptr ? "" : step->message);
  }
  return row;
}

int rank(const Item& item) {
  switch (item.verdict()) {
    case Verdict::fail:
      return 0;
    case Verdict::warn:
      return 1;
    default:
      return 2;
  }
}

}  // namespace

std::vector<const Item*> by_result(const std::vector<Item>& items) {
  std::vector<const Item*> sorted;
  sorted.reserve(items.size());
  for (const Item& item : items) sorted.push_back(&item);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Item* a, const Item* b) { return rank(*a) < rank(*b); });
  return sorted;
}

std::string explanation_of(std::string_view cause) {
  return "more: execcred explain " + std::string(cause) + "\n";
}

std::string write_one(const Item& item, bool shows_exchange, const cli::Paint& paint,
                      std::string_view next) {
  std::string text = printable(item.full_name());
  if (!item.provider.empty()) text += ", provider " + printable(item.provider);
  text += "\n";
  for (std::size_t i = 0; i < kStepCount; ++i) {
    const auto id = static_cast<StepId>(i);
    const Step& step = item.step(id);
    text += "  " + padded(name_of(id), kNameWidth) +
            paint(style_of(step.verdict), name_of(step.verdict)) +
            padded("", kVerdictWidth - name_of(step.verdict).size()) + step.message + "\n";
    if (!shows_exchange || id != StepId::authenticate) continue;
    for (const std::string& line : item.exchange) text += "    " + line + "\n";
  }
  if (item.expires) text += "expires: " + text_of(*item.expires) + "\n";
  const Step* const cause = item.cause_step();
  text += "result: " + paint(style_of(item.verdict()), name_of(item.verdict())) + "\n";
  if (cause == nullptr) return text;
  text += "cause: " + std::string(cause->cause) + "\n";
  if (!cause->hint.empty()) text += "  hint: " + cause->hint + "\n";
  return text.append(next) + explanation_of(cause->cause);
}

std::vector<CauseCount> count_causes(const std::vector<Item>& items) {
  std::map<std::string_view, CauseCount> causes;
  for (const Item& item : items) {
    if (item.cause().empty()) continue;
    CauseCount& one = causes[item.cause()];
    one = {.cause = item.cause(),
           .count = one.count + 1,
           .worst = std::max(one.worst, item.verdict())};
  }
  std::vector<CauseCount> sorted;
  sorted.reserve(causes.size());
  for (const auto& [cause, one] : causes) sorted.push_back(one);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const CauseCount& a, const CauseCount& b) { return a.count > b.count; });
  return sorted;
}

std::string write_totals(const std::vector<Item>& items) {
  std::array<std::size_t, 3> verdicts = {};
  for (const Item& item : items) ++verdicts[static_cast<std::size_t>(rank(item))];
  return std::to_string(items.size()) + " clusters: " + std::to_string(verdicts[2]) + " ok, " +
         std::to_string(verdicts[1]) + " warn, " + std::to_string(verdicts[0]) + " fail";
}

std::string write_summary(const std::vector<Item>& items, std::string_view next) {
  std::string text = write_totals(items) + "\n";
  const std::vector<CauseCount> causes = count_causes(items);
  for (const auto& [cause, count, worst] : causes) {
    std::string number = std::to_string(count);
    if (number.size() < 6) number.insert(0, 6 - number.size(), ' ');
    text += number + "  " + std::string(cause) + "\n";
  }
  return causes.empty() ? text : text.append(next) + explanation_of(causes.front().cause);
}

std::string write_table(const std::vector<Item>& items, bool is_wide, const cli::Paint& paint,
                        std::string_view next) {
  std::vector<cli::Cell> head = {"CLUSTER", "PROVIDER", "RESULT", "CAUSE",
                                 "USER",    "EXPIRES",  "TIME"};
  if (is_wide) head.emplace_back("MESSAGE");
  cli::Table table(std::move(head));
  for (const Item* const item : by_result(items)) table.add(row_of(*item, is_wide));
  return table.text(paint) + "\n" + write_summary(items, next);
}

std::string write_names(const std::vector<Item>& items) {
  std::string text;
  for (const Item* const item : by_result(items)) text += printable(item->full_name()) + "\n";
  return text;
}

}  // namespace execcred::doctor
