// SPDX-License-Identifier: Apache-2.0
#include "endpoint.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/url.hpp>

#include <algorithm>
#include <array>

namespace execcred::aws {
namespace {

struct Partition {
  std::string_view name;    // in ARNs
  std::string_view prefix;  // of its regions
  std::string_view suffix;
  std::string_view dual_stack_suffix;
  bool has_fips_names = true;  // other hosts for FIPS; else all of them are validated
};

// The partitions in botocore's partitions.json. The last one is for all other regions.
constexpr std::array<Partition, 8> kPartitions = {{
    {"aws-cn", "cn-", "amazonaws.com.cn", "api.amazonwebservices.com.cn"},
    {"aws-us-gov", "us-gov-", "amazonaws.com", "api.aws", false},
    {"aws-eusc", "eusc-", "amazonaws.eu", "api.amazonwebservices.eu"},
    {"aws-iso", "us-iso-", "c2s.ic.gov", "api.aws.ic.gov"},
    {"aws-iso-b", "us-isob-", "sc2s.sgov.gov", "api.aws.scloud"},
    {"aws-iso-e", "eu-isoe-", "cloud.adc-e.uk", "api.cloud-aws.adc-e.uk"},
    {"aws-iso-f", "us-isof-", "csp.hci.ic.gov", "api.aws.hci.ic.gov"},
    {"aws", "", "amazonaws.com", "api.aws"},
}};

const Partition& partition_of(std::string_view region) {
  for (const Partition& partition : kPartitions) {
    if (region.starts_with(partition.prefix)) return partition;
  }
  return kPartitions.back();
}

bool is_true(const Environment& environment, std::string_view name) {
  return ascii_lower(environment.get(name).value_or("")) == "true";
}

}  // namespace

EndpointVariant endpoint_variant(const Environment& environment) {
  return {.is_fips = is_true(environment, "AWS_USE_FIPS_ENDPOINT"),
          .is_dual_stack = is_true(environment, "AWS_USE_DUALSTACK_ENDPOINT")};
}

std::string sts_host(std::string_view region, const EndpointVariant& variant) {
  const Partition& partition = partition_of(region);
  const bool is_fips = variant.is_fips && (partition.has_fips_names || variant.is_dual_stack);
  return (is_fips ? "sts-fips." : "sts.") + std::string(region) + "." +
         std::string(variant.is_dual_stack ? partition.dual_stack_suffix : partition.suffix);
}

bool are_in_one_partition(std::string_view one, std::string_view other) {
  return &partition_of(one) == &partition_of(other);
}

bool is_in_partition_of(std::string_view arn, std::string_view region) {
  constexpr std::string_view kStart = "arn:";
  const std::string_view rest = arn.substr(std::min(arn.size(), kStart.size()));
  return rest.substr(0, rest.find(':')) == partition_of(region).name;
}

Result<std::string> sts_url(std::string_view region, const Environment& environment) {
  if (!is_true(environment, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS")) {
    for (const std::string_view name : {"AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL"}) {
      const auto text = environment.get(name);
      if (!text) continue;
      const Result<Url> url = parse_url(*text);
      const std::string problem = !url                     ? url.error().message
                                  : url->scheme != "https" ? "is no https URL"
                                  : !url->query.empty()    ? "has a query"
                                                           : "";
      if (problem.empty()) return std::string(*text);
      return Error::configuration(std::string(name) + " " + redacted_url(*text) + " " + problem);
    }
  }
  return "https://" + sts_host(region, endpoint_variant(environment)) + "/";
}

}  // namespace execcred::aws
