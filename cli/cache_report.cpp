// SPDX-License-Identifier: Apache-2.0
#include "cache_report.hpp"

#include "table.hpp"

#include <execcred/base/duration.hpp>
#include <execcred/base/rfc3339.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/url.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

namespace execcred::cli {
namespace {

using json::Value;
using std::chrono::floor;
using std::chrono::seconds;

std::string_view state_of(const CacheItem& item, TimePoint now) {
  if (item.failure) return "failed";
  if (item.is_pending) return "pending";
  return now < item.ends ? "valid" : "ended";
}

// The age of an entry is not negative, although the clock may have been set back in the meantime.
seconds age_of(const CacheItem& item, TimePoint now) {
  return std::max(floor<seconds>(now - item.created), seconds(0));
}

std::string time_text(TimePoint time) { return format_rfc3339(floor<seconds>(time)); }

// The identity and target of a failure are those of the credential that is listed before it, if
// there is one.
struct Named {
  std::string identity = {};
  std::string target = {};
};

Named names_of(const std::vector<CacheItem>& items, std::size_t index) {
  const CacheItem& item = items[index];
  const bool follows = item.failure && index > 0 && items[index - 1].key == item.key;
  const CacheItem& named = follows ? items[index - 1] : item;
  return {.identity = named.identity, .target = named.target};
}

// The name=value lines of the key, without the line with the format's version before them.
std::vector<std::string> inputs_of(const CacheItem& item) {
  std::vector<std::string> inputs;
  const std::vector<std::string_view> lines = split(item.key, '\n');
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::size_t value = lines[i].find('=') + 1;
    inputs.push_back(std::string(lines[i].substr(0, value)) +
                     without_url_secrets(lines[i].substr(value)));
  }
  return inputs;
}

Style style_of(const CacheItem& item, TimePoint now) {
  if (item.failure) return Style::bad;
  if (item.is_pending) return Style::notice;
  return now < item.ends ? Style::good : Style::faint;
}

std::string key_text(const CacheItem& item) { return printable(join(inputs_of(item), " ")); }

std::string failure_text(const CacheItem& item, bool is_named) {
  std::string text = "  error: " + printable(item.failure->message) + "\n";
  if (!is_named) text += "  key: " + key_text(item) + "\n";
  return text;
}

Value error_json(const Error& error) {
  Value object((json::Object()));
  object.add("message", Value(error.message));
  if (!error.hint.empty()) object.add("hint", Value(error.hint));
  object.add("exitCode", Value(json::Number{std::to_string(exit_code(error.kind))}));
  return object;
}

Value entry_json(const std::vector<CacheItem>& items, std::size_t index, TimePoint now) {
  const CacheItem& item = items[index];
  const Named named = names_of(items, index);
  Value entry((json::Object()));
  entry.add("state", Value(state_of(item, now)));
  if (!named.identity.empty()) entry.add("identity", Value(named.identity));
  if (!named.target.empty()) entry.add("target", Value(named.target));
  entry.add("created", Value(time_text(item.created)));
  entry.add("ageSeconds", Value(json::Number{std::to_string(age_of(item, now).count())}));
  entry.add(item.failure ? "askedAgainAfter" : "expires", Value(time_text(item.ends)));
  if (item.failure) entry.add("error", error_json(*item.failure));
  json::Array key;
  for (std::string& input : inputs_of(item)) key.emplace_back(std::move(input));
  entry.add("key", Value(std::move(key)));
  return entry;
}

}  // namespace

std::string cache_text(const std::vector<CacheItem>& items, TimePoint now, bool is_wide,
                       const Paint& paint) {
  if (items.empty()) return {};
  std::vector<Cell> head = {"STATE", "AGE", "UNTIL", "IDENTITY", "TARGET"};
  if (is_wide) head.emplace_back("KEY");
  Table table(std::move(head));
  for (std::size_t i = 0; i < items.size(); ++i) {
    const CacheItem& item = items[i];
    const Named named = names_of(items, i);
    std::vector<Cell> row = {{state_of(item, now), style_of(item, now)},
                             format_duration(age_of(item, now)),
                             time_text(item.ends),
                             printable(named.identity),
                             printable(named.target)};
    if (is_wide) row.emplace_back(key_text(item));
    table.add(std::move(row));
    if (item.failure) table.add_lines(failure_text(item, is_wide || !named.target.empty()));
  }
  return table.text(paint);
}

std::string cache_names(const std::vector<CacheItem>& items) {
  std::string text;
  for (const CacheItem& item : items) text += key_text(item) + "\n";
  return text;
}

Value cache_json(std::string_view directory, const std::vector<CacheItem>& items, TimePoint now) {
  Value object((json::Object()));
  if (!directory.empty()) object.add("directory", Value(directory));
  json::Array entries;
  for (std::size_t i = 0; i < items.size(); ++i) entries.push_back(entry_json(items, i, now));
  object.add("items", Value(std::move(entries)));
  return object;
}

}  // namespace execcred::cli
