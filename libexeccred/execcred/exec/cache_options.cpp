// SPDX-License-Identifier: Apache-2.0
#include <execcred/exec/cache_options.hpp>

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>

#include <string>

namespace execcred {
namespace {

Result<std::optional<Duration>> parse_refresh_before(const std::string& text) {
  const Duration before = TRY(parse_duration(text));
  if (before >= Duration::zero()) return std::optional(before);
  return Error::configuration(in_quotes(text) + " is negative",
                              "with 0s, a credential is used up to its end");
}

void add(OptionSet& set, CacheOptions& options, bool* is_requested) {
  set.group("Cache");
  set.not_identity("it says where and how long a credential is kept, and not which one it is");
  if (is_requested != nullptr)
    set.add("cache", *is_requested, "Keep the credential for other runs");
  OptionBuilder directory =
      set.add("cache-dir", options.directory, "PATH", "Directory of the credential cache")
          .directory()
          .default_text("below XDG_RUNTIME_DIR, XDG_CACHE_HOME, ~/.cache or /dev/shm");
  if (is_requested != nullptr) directory.only_for("cache", kCacheRequested);
  if (is_requested == nullptr) {
    set.add("no-cache", options.no_cache, "Request a new credential in each run");
  }
  OptionBuilder refresh =
      set.add_parsed("refresh-before", options.refresh_before, "DURATION",
                     "How long before its end a credential is refreshed", parse_refresh_before)
          .default_text("a fifth of its lifetime, at most 5m");
  if (is_requested != nullptr) refresh.only_for("cache", kCacheRequested);
  set.not_identity({});
}

}  // namespace

void add_cache_options(OptionSet& set, CacheOptions& options) { add(set, options, nullptr); }

void add_cache_options_on_request(OptionSet& set, CacheOptions& options, bool& is_requested) {
  add(set, options, &is_requested);
}

CacheOptions cache_of_run(CacheOptions options, const CredentialRequest& request) {
  if (request.info.cluster) options.client_detail = request.info.cluster->server;
  return options;
}

}  // namespace execcred
