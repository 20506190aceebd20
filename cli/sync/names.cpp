// SPDX-License-Identifier: Apache-2.0
#include "names.hpp"

#include <execcred/base/text.hpp>

namespace execcred::sync {
namespace {

constexpr const char* kPlaceholders = "it knows {name}, {namespace} and {format}";

// The pattern, in which value_of(NAME) replaces each {NAME}.
template <class ValueOf>
std::string replaced(std::string_view pattern, const ValueOf& value_of) {
  std::string text;
  for (std::size_t at = 0; at < pattern.size();) {
    const std::size_t end = pattern[at] == '{' ? pattern.find('}', at) : std::string_view::npos;
    if (end == std::string_view::npos) {
      text += pattern[at++];
    } else {
      text += value_of(pattern.substr(at + 1, end - at - 1));
      at = end + 1;
    }
  }
  return text;
}

}  // namespace

Result<SecretNames> SecretNames::parse(const std::optional<std::string>& pattern,
                                       const std::vector<SecretFormat>& formats) {
  SecretNames names;
  if (pattern) names.pattern_ = *pattern;
  std::string unknown;
  const std::string rest =
      replaced(names.pattern_, [&unknown](std::string_view name) -> std::string {
        const bool is_known = name == "name" || name == "namespace" || name == "format";
        if (!is_known) unknown = "{" + std::string(name) + "}";
        return "x";
      });
  if (!unknown.empty()) {
    return Error::configuration("--secret-name has the placeholder " + in_quotes(unknown),
                                kPlaceholders);
  }
  if (!is_dns1123_subdomain(rest)) {
    return Error::configuration(
        "--secret-name " + in_quotes(names.pattern_) + " cannot be a Secret's name",
        std::string(kPlaceholders) + "; else lower-case letters, digits, '-' and '.'");
  }
  for (std::size_t i = 0; i < formats.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (names.expand(formats[i], "namespace", "name") !=
          names.expand(formats[k], "namespace", "name")) {
        continue;
      }
      return Error::configuration(
          "the Secrets of the formats " + std::string(execcred::sync::name_of(formats[k])) +
              " and " + std::string(execcred::sync::name_of(formats[i])) + " would have one name",
          "give them names with --secret-name, such as {name}-for-{format}");
    }
  }
  return names;
}

std::string SecretNames::expand(SecretFormat format, const std::string& name_space,
                                const std::string& name) const {
  if (format == SecretFormat::cluster_api) return name + "-kubeconfig";
  if (format == SecretFormat::istio) return "istio-remote-secret-" + name;
  return replaced(pattern_, [&](std::string_view placeholder) -> std::string {
    if (placeholder == "name") return name;
    if (placeholder == "namespace") return name_space;
    return std::string(execcred::sync::name_of(format));
  });
}

Result<std::string> SecretNames::name_of(SecretFormat format, const std::string& name_space,
                                         const std::string& name) const {
  std::string text = expand(format, name_space, name);
  if (is_dns1123_subdomain(text)) return text;
  return Error::configuration(
      in_quotes(text) + " cannot be a Secret's name",
      "it may have 253 characters: choose a shorter --secret-name, or rename the "
      "ClusterProfile");
}

}  // namespace execcred::sync
