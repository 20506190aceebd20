// SPDX-License-Identifier: Apache-2.0
// Label selectors in the form that kubectl's -l takes (k8s.io/apimachinery/pkg/labels):
//
//   app=web   app==web   tier!=db   region   !legacy   env in (a,b)   env notin (c)
//
// joined by commas. They are sent to the API server, and its answer is matched again here.
#pragma once

#include <execcred/base/result.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace execcred {

using Labels = std::map<std::string, std::string, std::less<>>;

class LabelSelector {
 public:
  // An empty text selects everything. Fails (configuration) for a selector that the API server
  // would refuse.
  static Result<LabelSelector> parse(std::string_view text);

  bool matches(const Labels& labels) const { return unmet(labels).empty(); }
  // The requirements that the labels do not meet.
  LabelSelector unmet(const Labels& labels) const;

  // Returns these requirements, and those of `defaults` for keys that these do not have.
  LabelSelector with_defaults(const LabelSelector& defaults) const;

  // Returns these requirements, and all of `more`.
  LabelSelector with(const LabelSelector& more) const;

  bool empty() const { return requirements_.empty(); }
  // The selector as the API server accepts it.
  std::string text() const;

 private:
  enum class Operator { in, not_in, exists, does_not_exist };
  struct Requirement {
    std::string key = {};
    Operator op = Operator::exists;
    std::vector<std::string> values = {};
  };

  static Result<Requirement> parse_requirement(std::string_view text);
  static Result<Requirement> parse_equality(std::string_view text);
  static Result<Requirement> parse_set(std::string_view text, std::size_t open);

  std::vector<Requirement> requirements_;
};

// "[PREFIX/]NAME". The prefix is a DNS-1123 subdomain. The name has at most 63 characters of
// [-_.a-zA-Z0-9], and starts and ends with a letter or digit.
bool is_label_key(std::string_view text);
// The same without a prefix. The text may be empty.
bool is_label_value(std::string_view text);

}  // namespace execcred
