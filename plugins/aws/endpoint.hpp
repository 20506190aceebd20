// SPDX-License-Identifier: Apache-2.0
// The hosts of STS: one for each region, by the partition that the region is in.
#pragma once

#include <execcred/base/environment.hpp>
#include <execcred/base/result.hpp>

#include <string>
#include <string_view>

namespace execcred::aws {

struct EndpointVariant {
  bool is_fips = false;        // AWS_USE_FIPS_ENDPOINT
  bool is_dual_stack = false;  // AWS_USE_DUALSTACK_ENDPOINT
};

EndpointVariant endpoint_variant(const Environment& environment);

// The host of STS in the region: "sts.us-west-2.amazonaws.com". `region` must satisfy
// is_aws_region().
std::string sts_host(std::string_view region, const EndpointVariant& variant);

// Whether two regions are in one partition: credentials and role ARNs of one are valid in the
// other.
bool are_in_one_partition(std::string_view one, std::string_view other);

// Whether an ARN ("arn:aws-cn:…") is valid in that region.
bool is_in_partition_of(std::string_view arn, std::string_view region);

// The URL at which STS is called: AWS_ENDPOINT_URL_STS or AWS_ENDPOINT_URL, unless
// AWS_IGNORE_CONFIGURED_ENDPOINT_URLS is true; else https:// and the host. These variables are not
// used for presigned URLs, which only the cluster's authenticator calls. Fails (configuration) if
// the URL is not https.
Result<std::string> sts_url(std::string_view region, const Environment& environment);

}  // namespace execcred::aws
