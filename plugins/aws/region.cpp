// SPDX-License-Identifier: Apache-2.0
#include "region.hpp"

#include "credential_plan.hpp"
#include "endpoint.hpp"
#include "session.hpp"

#include <execcred/aws/metadata.hpp>
#include <execcred/aws/region.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>

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
  return Error::configuration(
      std::string(found.where) + " " + in_quotes(found.region) + " is no name of an AWS region",
      std::string(kHint));
}

}  // namespace

Result<std::optional<std::string>> known_region(const Options& options, const Profiles* profiles,
                                                const Environment& environment) {
  if (!options.region.empty()) return std::optional(options.region);
  const std::optional<Found> found = TRY(region_of_profile(options, profiles));
  if (found) {
    std::string region = TRY(checked(*found));
    return std::optional(std::move(region));
  }
  if (!is_aws_metadata_disabled(environment)) return std::optional<std::string>();
  return Error::configuration("no region is known", std::string(kHint));
}

Result<std::string> region_of_instance(CallContext& call) {
  const AwsMetadataUrls urls = metadata_urls(call.environment);
  std::string region = TRY(AwsMetadata(urls, call)
                               .region()
                               .context("looking for the region, which nothing else names")
                               .hint(std::string(kHint)));
  return checked({.region = std::move(region), .where = "the instance's region"});
}

Result<std::string> sts_region(const Options& options, bool is_own, const Profiles* profiles,
                               const std::string& token_region, const Environment& environment) {
  if (is_own) return token_region;
  std::optional<Found> found = region_of_environment(environment);
  if (!found) {
    found = TRY(region_of_profile(options, profiles));
  }
  if (!found) return token_region;
  std::string region = TRY(checked(*found));
  return are_in_one_partition(region, token_region) ? region : token_region;
}

}  // namespace execcred::aws
