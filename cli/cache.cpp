// SPDX-License-Identifier: Apache-2.0
// execcred cache: lists and removes what plugins of this user have cached. It never shows secrets.
#include "commands.hpp"

#include "cache_report.hpp"
#include "list_text.hpp"

#include <execcred/base/clock.hpp>
#include <execcred/base/environment.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/cache/directory.hpp>
#include <execcred/cache/listing.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace execcred::cli {
namespace {

constexpr std::string_view kNoDirectory = "there is no cache directory yet\n";
constexpr std::string_view kUnsafe =
    "plugins ask their provider in each run then; run chmod 0700 on it, or name another with "
    "--cache-dir";

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
    return Error{.kind = Error::Kind::configuration,
                 .message = std::move(message),
                 .hint = "it is list, clear or path"};
  }

 private:
  Result<Outcome> list() const {
    const std::optional<CacheDirectory> directory =
        TRY(CacheDirectory::find(directory_, Environment::copy()).hint(std::string(kUnsafe)));
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
        TRY(CacheDirectory::find(directory_, Environment::copy()).hint(std::string(kUnsafe)));
    if (!directory) return Outcome{.text = SecretString(kNoDirectory)};
    const TimePoint start = SystemClock().now();
    const std::size_t cleared = clear_cache(*directory);
    const std::vector<CacheItem> left = list_cache(*directory);
    // Pending requests stay, and entries that plugins have written since the start are not counted.
    const auto kept = static_cast<std::size_t>(std::count_if(
        left.begin(), left.end(),
        [start](const CacheItem& item) { return item.created < start && !item.is_pending; }));
    if (kept > 0) {
      return Error{.kind = Error::Kind::unavailable,
                   .message = count_of_entries(kept) + " of the cache " +
                              in_quotes(directory->path()) + " could not be removed",
                   .hint = "check whether its file system is read-only"};
    }
    return Outcome{.text = SecretString(count_of_entries(cleared) + " removed from " +
                                        in_quotes(directory->path()) + "\n")};
  }

  // Creates the directory if necessary, as a plugin does: only then it is certain that plugins use
  // it.
  Result<Outcome> path() const {
    const CacheDirectory directory =
        TRY(CacheDirectory::open(directory_, Environment::copy(), CacheDirectory::IfMissing::create)
                .hint(std::string(kUnsafe)));
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
