// SPDX-License-Identifier: Apache-2.0
// The names of a ClusterProfile's Secrets.
#pragma once

#include "contents.hpp"

#include <execcred/base/result.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::sync {

// The value of --secret-name. The name and namespace of the ClusterProfile and the name of the
// format replace {name}, {namespace} and {format}. The names for the formats cluster-api and istio
// are fixed by their readers.
class SecretNames {
 public:
  static constexpr std::string_view kDefault = "{name}-{format}";

  // Fails (configuration) if the pattern has another placeholder or cannot give the name of a
  // Secret, and if two of the formats would have the same name.
  static Result<SecretNames> parse(const std::optional<std::string>& pattern,
                                   const std::vector<SecretFormat>& formats);

  // Fails (configuration) if the result cannot be the name of a Secret.
  Result<std::string> name_of(SecretFormat format, const std::string& name_space,
                              const std::string& name) const;

 private:
  std::string expand(SecretFormat format, const std::string& name_space,
                     const std::string& name) const;

  std::string pattern_ = std::string(kDefault);
};

}  // namespace execcred::sync
