// SPDX-License-Identifier: Apache-2.0
// The lines that a cache file is made of; cache_entry.hpp shows them.
#pragma once

#include <execcred/base/secret.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace execcred {

// Of all lines before the last, which holds it.
std::uint64_t cache_checksum(std::string_view text);

class FieldWriter {
 public:
  explicit FieldWriter(std::string_view header);

  void add(std::string_view name, std::string_view value);
  void add(std::string_view name, std::int64_t value) { add(name, std::to_string(value)); }
  SecretString finish();

 private:
  SecretString text_;
};

// After the first mismatch every field is missing.
class FieldReader {
 public:
  FieldReader(std::string_view text, std::string_view header);

  std::string_view field(std::string_view name);
  // Not negative, in the writer's spelling.
  std::int64_t number(std::string_view name);
  // The next field, if it has this name.
  std::optional<std::string_view> optional_field(std::string_view name);
  // Every byte was read.
  bool is_complete() const { return is_good_ && rest_.empty(); }
  std::uint64_t checksum() const { return checksum_; }

 private:
  std::string_view take_line();
  std::string_view take(std::size_t size);

  std::string_view rest_;
  std::uint64_t checksum_ = 0;
  bool is_good_ = true;
};

}  // namespace execcred
