// SPDX-License-Identifier: Apache-2.0
// Sets libcurl's options: keeps the first failure, and wipes the header lines, which may hold
// secrets.
#pragma once

#include <execcred/base/error.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>

#include <curl/curl.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace execcred {

// The lines for CURLOPT_HTTPHEADER, which are wiped when this is destroyed. libcurl only reads
// them, so list() may cast their const away.
class HeaderLines {
 public:
  void add(std::string_view name, std::string_view value) {
    SecretString line(name);
    // For libcurl, "Name;" is a header with an empty value; "Name:" leaves the header out.
    line.append(value.empty() ? ";" : ": ");
    line.append(value);
    line.append(std::string_view("\0", 1));
    lines_.push_back(std::move(line));
  }
  void leave_out(std::string_view name) {
    lines_.emplace_back(std::string(name) + ":");
    lines_.back().append(std::string_view("\0", 1));
  }
  curl_slist* list() {
    nodes_.resize(lines_.size());
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      nodes_[i].data = const_cast<char*>(lines_[i].reveal().data());
      nodes_[i].next = i + 1 < lines_.size() ? &nodes_[i + 1] : nullptr;
    }
    return nodes_.empty() ? nullptr : nodes_.data();
  }

 private:
  std::vector<SecretString> lines_;
  std::vector<curl_slist> nodes_;
};

// Sets options in order. After the first failure it sets no further option; status() returns that
// failure (internal).
class CurlOptions {
 public:
  explicit CurlOptions(CURL* curl) : curl_(curl) {}

  template <class Value>
  void set(CURLoption option, Value value) {
    if (code_ == CURLE_OK) code_ = curl_easy_setopt(curl_, option, value);
  }
  void set(CURLoption option, const std::string& text) { set(option, text.c_str()); }
  void set(CURLoption option, int number) { set(option, long{number}); }

  Status status() const {
    if (code_ == CURLE_OK) return {};
    return Error::internal(std::string("libcurl does not do what is needed of it: ") +
                           curl_easy_strerror(code_));
  }

 private:
  CURL* curl_;
  CURLcode code_ = CURLE_OK;
};

}  // namespace execcred
