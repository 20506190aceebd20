// SPDX-License-Identifier: Apache-2.0
// Names of AWS regions. They become part of a host name, so no other text may pass as one.
#pragma once

#include <string>
#include <string_view>

namespace execcred {

// ^[a-z]{2,}(-[a-z]+)+-[0-9]+$, at most 32 bytes: "us-west-2", "us-gov-east-1".
bool is_aws_region(std::string_view text);

// The region that an availability zone ("us-west-2b", "us-west-2-lax-1a") begins with; empty if
// there is none.
std::string aws_region_of_zone(std::string_view zone);

}  // namespace execcred
