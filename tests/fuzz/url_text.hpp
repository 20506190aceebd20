// SPDX-License-Identifier: Apache-2.0
// The URL that the parts of a parsed URL make.
#pragma once

#include <execcred/base/url.hpp>

#include <string>

namespace execcred::fuzz {

inline std::string url_text(const Url& url) {
  const bool needs_brackets = url.host.kind == Host::Kind::address && url.host.address.v6;
  std::string text = url.scheme + "://";
  text += needs_brackets ? "[" + url.host.name + "]" : url.host.name;
  text += ":" + std::to_string(url.port) + url.path;
  return url.query.empty() ? text : text + "?" + url.query;
}

}  // namespace execcred::fuzz
