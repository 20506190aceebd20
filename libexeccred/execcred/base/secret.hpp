// SPDX-License-Identifier: Apache-2.0
// Secret text: tokens and private keys.
//
// Its memory is overwritten before it is freed. It cannot be printed or compared by accident, and
// every place that reads the text calls `.reveal()`. It does not cover copies that others make (the
// kernel's pipe buffers, a library's parser).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace execcred {

class SecretString {
 public:
  SecretString() = default;
  explicit SecretString(std::string_view text) { append(text); }
  SecretString(SecretString&& other) noexcept { swap(other); }
  SecretString& operator=(SecretString&& other) noexcept {
    SecretString(std::move(other)).swap(*this);
    return *this;
  }
  SecretString(const SecretString&) = delete;
  SecretString& operator=(const SecretString&) = delete;
  ~SecretString();

  std::string_view reveal() const { return {data_.get(), size_}; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  void append(std::string_view text);
  // Makes room for `size` more bytes at the end. The caller writes to the returned address, then
  // passes the number of bytes written to grow().
  char* reserve(std::size_t size);
  void grow(std::size_t size) { size_ += size; }

  // A copy without the white space (space, \t, \n, \v, \f, \r) at both ends.
  SecretString trimmed() const;
  SecretString copy() const { return SecretString(reveal()); }

 private:
  void swap(SecretString& other) noexcept;

  std::unique_ptr<char[]> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

using SecretTexts = std::vector<SecretString>;

template <class Stream>
Stream& operator<<(Stream&, const SecretString&) = delete;

// Overwrites the text of a string that turned out to hold a secret, and empties it.
void wipe(std::string& text);

}  // namespace execcred
