// SPDX-License-Identifier: Apache-2.0
// Names of AWS regions. They become part of a host name, so no other text is accepted as one.
#pragma once

#include <string>
#include <string_view>

namespace execcred {

// Whether the text matches ^[a-z]{2,}(-[a-z]+)+-[0-9]+$ and has at most 32 bytes: "us-west-2",
// "us-gov-east-1".
bool is_aws_region(std::string_view text);

// The region at the beginning of an availability zone ("us-west-2b", "us-west-2-lax-1a"); empty if
// there is none.
std::string aws_region_of_zone(std::string_view zone);

}  // namespace execcred
