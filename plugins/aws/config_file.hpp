// SPDX-License-Identifier: Apache-2.0
// The INI format of ~/.aws/config and ~/.aws/credentials, as the AWS SDKs read it:
//
//   [profile build]             a section
//   region = us-west-2          a setting; ':' does as well; names in any case
//   s3 =                        settings of a setting are indented
//     max_concurrent_requests = 20
//   # a comment, as is what begins with ';'
//
// Where two readers would differ, nothing is read: a section or a setting that stands twice, text
// behind a section's bracket, a line that is none of the above, a [DEFAULT] that would fill all
// sections. There are no comments behind values.
#pragma once

#include <execcred/result.hpp>
#include <execcred/secret.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred::aws {

struct ConfigSetting {
  std::string name = {};    // in lower case
  SecretString value = {};  // any may be a secret; with lines after the first joined by '\n'
};

struct ConfigSection {
  std::string name = {};  // what stands between the brackets, trimmed
  std::vector<ConfigSetting> settings = {};

  // nullptr where there is none.
  const SecretString* find(std::string_view wanted) const;
};

// Fails (configuration) with the line's number, and nothing of its text.
Result<std::vector<ConfigSection>> parse_config_file(std::string_view text);

}  // namespace execcred::aws
