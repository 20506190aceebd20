// SPDX-License-Identifier: Apache-2.0
#include "region.hpp"

#include "credential_plan.hpp"
#include "endpoint.hpp"
#include "session.hpp"

#include <execcred/aws/metadata.hpp>
#include <execcred/aws/region.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/identity.hpp>

#include <utility>

namespace execcred::aws {
namespace {

constexpr std::string_view kHint =
    "--region, the ClusterProfile's region, AWS_REGION or the profile's region names it";

struct Found {
  std::string region;
  std::string_view where;
};

std::optional<Found> region_of_environment(const Environment& environment) {
  for (const std::string_view name : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
    if (const auto region = environment.get(name)) {
      return Found{.region = std::string(*region), .where = name};
    }
  }
  return std::nullopt;
}

Result<std::optional<Found>> region_of_profile(const Options& options, const Profiles* profiles) {
  if (profiles == nullptr) return std::optional<Found>();
  const std::optional<Profile> profile = profiles->find(profile_name(options));
  if (!profile) return std::optional<Found>();
  std::string region = TRY(profile->text("region"));
  if (region.empty()) return std::optional<Found>();
  return std::optional(Found{.region = std::move(region), .where = "the profile's region"});
}

Result<std::string> checked(const Found& found) {
  if (is_aws_region(found.region)) return found.region;
  return Error{.kind = Error::Kind::configuration,
               .message = std::string(found.where) + " " + in_quotes(found.region) +
                          " is no name of an AWS region",
               .hint = std::string(kHint)};
}

Result<std::string> region_of_instance(const CacheOptions& cache, const CallContext& run) {
  const AwsMetadataUrls urls = metadata_urls(run.environment);
  CacheKey key;
  key.add("plugin", "aws").add("what", "region").add("instance", urls.zone);
  identify_machine(key);
  const auto ask = [&](CallContext& call) -> Result<Issued> {
    const std::string region = TRY(AwsMetadata(urls, call).region());
    Issued fresh = {.identity = "this instance", .target = "its region"};
    fresh.credential.token = SecretString(region);
    return fresh;
  };
  const Credential kept = TRY(CredentialCache(cache, run)
                                  .get(key, ask)
                                  .context("looking for the region, which nothing else names")
                                  .hint(std::string(kHint)));
  return checked({.region = std::string(kept.token.reveal()), .where = "the instance's region"});
}

}  // namespace

Result<std::string> token_region(const Options& options, const Profiles* profiles,
                                 const CacheOptions& cache, const CallContext& run) {
  if (!options.region.empty()) return options.region;
  const std::optional<Found> found = TRY(region_of_profile(options, profiles));
  if (found) return checked(*found);
  if (!is_aws_metadata_disabled(run.environment)) return region_of_instance(cache, run);
  return Error{.kind = Error::Kind::configuration,
               .message = "no region is known",
               .hint = std::string(kHint)};
}

Result<std::string> sts_region(const Options& options, bool is_own, const Profiles* profiles,
                               const std::string& token_region, const CallContext& run) {
  if (is_own) return token_region;
  std::optional<Found> found = region_of_environment(run.environment);
  if (!found) {
    found = TRY(region_of_profile(options, profiles));
  }
  if (!found) return token_region;
  std::string region = TRY(checked(*found));
  return are_in_one_partition(region, token_region) ? region : token_region;
}

}  // namespace execcred::aws
