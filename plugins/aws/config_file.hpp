// SPDX-License-Identifier: Apache-2.0
// The INI format of ~/.aws/config and ~/.aws/credentials, as the AWS SDKs read it:
//
//   [profile build]  # comment  a section
//   region = us-west-2 ; too    a setting; ':' does as well; names in any case
//   s3 =                        settings of a setting are indented
//     max_concurrent_requests = 20
//   # a comment, as is what begins with ';'
//
// A comment after a setting begins after white space ("a#b" is a value), as the SDKs read it
// (botocore reads such a comment as part of the value). An indented line keeps all of its text.
//
// The file is refused if two readers could read it differently: if a section or a setting occurs
// twice, if there is other text after a section's bracket, any other kind of line, a byte order
// mark, or a [DEFAULT] section, which would apply to all sections.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::aws {

struct ConfigSetting {
  std::string name = {};         // in lower case
  SecretString value = {};       // any may be a secret; with lines after the first joined by '\n'
  std::size_t comment_line = 0;  // the number of its line if this has a comment
};

struct ConfigSection {
  std::string name = {};  // what stands between the brackets, trimmed
  std::vector<ConfigSetting> settings = {};
  std::string file = {};  // empty until the reader of the file sets it

  // nullptr if there is none.
  const ConfigSetting* setting(std::string_view wanted) const;
  const SecretString* find(std::string_view wanted) const;
};

// Fails (configuration); the message has the line's number and nothing of its text.
Result<std::vector<ConfigSection>> parse_config_file(std::string_view text);

}  // namespace execcred::aws
