// SPDX-License-Identifier: Apache-2.0
// Bodies of the type application/x-www-form-urlencoded, as OAuth 2.0 uses them (RFC 6749, appendix
// B).
#pragma once

#include <execcred/base/secret.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred {

// A name may occur several times (resource, audience). Fields keep their order.
class Form {
 public:
  struct Field {
    std::string name = {};
    SecretString value = {};
    bool is_secret = false;  // never shown in a message, even if the other side repeats it
  };

  void add(std::string_view name, std::string_view value);
  void add(std::string_view name, const SecretString& value);

  bool has(std::string_view name) const;
  const std::vector<Field>& fields() const { return fields_; }
  SecretString encoded() const;

 private:
  std::vector<Field> fields_;
};

}  // namespace execcred
