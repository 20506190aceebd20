// SPDX-License-Identifier: Apache-2.0
// execcred cache: lists and removes what plugins of this user have cached. It never shows secrets.
#include "commands.hpp"

#include "list_text.hpp"
#include "paint.hpp"
#include "table.hpp"

#include <execcred/base/clock.hpp>
#include <execcred/base/duration.hpp>
#include <execcred/base/environment.hpp>
#include <execcred/base/rfc3339.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/cache/directory.hpp>
#include <execcred/cache/listing.hpp>
#include <execcred/json/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace execcred::cli {
namespace {

using json::Value;
using std::chrono::floor;
using std::chrono::seconds;

constexpr std::string_view kNoDirectory = "there is no cache directory yet\n";

// The hint for a directory that cannot be used: what mends it, if the error says that, and another.
template <class Found>
Result<Found> usable(Result<Found> directory) {
  if (directory) return directory;
  std::string& hint = directory.error().hint;
  hint = "plugins ask their provider in each run then; " + hint + (hint.empty() ? "" : ", or ") +
         "name another with --cache-dir";
  return directory;
}

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
                     redacted_urls(lines[i].substr(value)));
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
  add_text(object, "hint", error.hint);
  object.add("exitCode", number_of(exit_code(error.kind)));
  return object;
}

Value entry_json(const std::vector<CacheItem>& items, std::size_t index, TimePoint now) {
  const CacheItem& item = items[index];
  const Named named = names_of(items, index);
  Value entry((json::Object()));
  entry.add("state", Value(state_of(item, now)));
  add_text(entry, "identity", named.identity);
  add_text(entry, "target", named.target);
  entry.add("created", Value(time_text(item.created)));
  entry.add("ageSeconds", number_of(age_of(item, now).count()));
  entry.add(item.failure ? "askedAgainAfter" : "expires", Value(time_text(item.ends)));
  if (item.failure) entry.add("error", error_json(*item.failure));
  json::Array key;
  for (std::string& input : inputs_of(item)) key.emplace_back(std::move(input));
  entry.add("key", Value(std::move(key)));
  return entry;
}

// A table with one row for each entry; empty if there are no entries. Below the row of a failure
// are its error and, if the row has neither a target nor a key, its key. `is_wide` adds a column
// with the keys.
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

// The key of each entry, one line each.
std::string cache_names(const std::vector<CacheItem>& items) {
  std::string text;
  for (const CacheItem& item : items) text += key_text(item) + "\n";
  return text;
}

// {"directory": …, "items": [{state, identity, target, created, ageSeconds, expires |
// askedAgainAfter, error, key}]}. "directory" is left out if `directory` is empty.
Value cache_json(std::string_view directory, const std::vector<CacheItem>& items, TimePoint now) {
  Value object((json::Object()));
  add_text(object, "directory", directory);
  json::Array entries;
  for (std::size_t i = 0; i < items.size(); ++i) entries.push_back(entry_json(items, i, now));
  object.add("items", Value(std::move(entries)));
  return object;
}

std::string count_of_entries(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " entry" : " entries");
}

class Cache final : public Command {
 public:
  void add_options(CommandOptions& options) override {
    options.add_operands(actions_,
                         {.usage = "list|clear|path", .choices = {"list", "clear", "path"}});
    options.group("Input");
    options.add("cache-dir", directory_,
                {.value = "PATH",
                 .help = "Cache directory; default: the one that the plugins use",
                 .takes = Takes::directory,
                 .variable = "EXECCRED_CACHE_DIR"});
    add_format_option(options, output_, {"text", "json", "yaml", "name", "wide"});
    add_color_option(options, color_);
    options.add_example("List the entries, without their secrets", "execcred cache list -o json");
    options.add_example("Remove them all", "execcred cache clear");
  }

  Result<Outcome> run() override {
    const std::string action = actions_.size() == 1 ? actions_.front() : "";
    if (action == "list") return list();
    if (output_ != "text" && (action == "clear" || action == "path")) {
      return Error::configuration("--output is given with " + action,
                                  "the formats are those of execcred cache list");
    }
    if (action == "clear") return clear();
    if (action == "path") return path();
    std::string message = "no action is given";
    if (!action.empty()) message = in_quotes(action) + " is no action";
    if (actions_.size() > 1) message = std::to_string(actions_.size()) + " actions are given";
    return Error::configuration(std::move(message), "it is list, clear or path");
  }

 private:
  Result<Outcome> list() const {
    const std::optional<CacheDirectory> directory =
        TRY(usable(CacheDirectory::find(directory_, Environment::copy())));
    const TimePoint now = SystemClock().now();
    const std::vector<CacheItem> items =
        directory ? list_cache(*directory) : std::vector<CacheItem>();
    if (output_ == "json" || output_ == "yaml") {
      const std::string path = directory ? directory->path() : "";
      return Outcome{.text = SecretString(document_text(cache_json(path, items, now), output_))};
    }
    if (output_ == "name") return Outcome{.text = SecretString(cache_names(items))};
    Outcome outcome{.text =
                        SecretString(cache_text(items, now, output_ == "wide", Paint::of(color_)))};
    if (items.empty()) {
      outcome.notes = directory ? "the cache " + in_quotes(directory->path()) + " is empty\n"
                                : std::string(kNoDirectory);
    }
    return outcome;
  }

  Result<Outcome> clear() const {
    const std::optional<CacheDirectory> directory =
        TRY(usable(CacheDirectory::find(directory_, Environment::copy())));
    if (!directory) return Outcome{.text = SecretString(kNoDirectory)};
    const TimePoint start = SystemClock().now();
    const std::size_t cleared = clear_cache(*directory);
    const std::vector<CacheItem> left = list_cache(*directory);
    // Pending requests stay, and entries that plugins have written since the start are not counted.
    const auto kept = static_cast<std::size_t>(std::count_if(
        left.begin(), left.end(),
        [start](const CacheItem& item) { return item.created < start && !item.is_pending; }));
    if (kept > 0) {
      return Error::unavailable(count_of_entries(kept) + " of the cache " +
                                    in_quotes(directory->path()) + " could not be removed",
                                "check whether its file system is read-only");
    }
    return Outcome{.text = SecretString(count_of_entries(cleared) + " removed from " +
                                        in_quotes(directory->path()) + "\n")};
  }

  // Creates the directory if necessary, as a plugin does: only then it is certain that plugins use
  // it.
  Result<Outcome> path() const {
    const CacheDirectory directory = TRY(usable(
        CacheDirectory::open(directory_, Environment::copy(), CacheDirectory::IfMissing::create)));
    return Outcome{.text = SecretString(printable(directory.path()) + "\n")};
  }

  std::vector<std::string> actions_;
  std::string directory_;
  std::string output_;
  std::string color_;
};

}  // namespace

std::unique_ptr<Command> make_cache() { return std::make_unique<Cache>(); }

}  // namespace execcred::cli
