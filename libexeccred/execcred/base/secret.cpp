// SPDX-License-Identifier: Apache-2.0
#include <execcred/base/secret.hpp>

#include <execcred/base/text.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace execcred {

SecretString::~SecretString() {
  if (data_) explicit_bzero(data_.get(), capacity_);
}

void SecretString::append(std::string_view text) {
  if (text.empty()) return;
  std::memcpy(reserve(text.size()), text.data(), text.size());
  grow(text.size());
}

char* SecretString::reserve(std::size_t size) {
  if (capacity_ - size_ < size) {
    SecretString larger;
    larger.capacity_ = std::max(size_ + size, 2 * capacity_);
    larger.data_ = std::make_unique_for_overwrite<char[]>(larger.capacity_);
    if (size_ > 0) std::memcpy(larger.data_.get(), data_.get(), size_);
    larger.size_ = size_;
    swap(larger);
  }
  return data_.get() + size_;
}

SecretString SecretString::trimmed() const { return SecretString(trim(reveal())); }

void SecretString::swap(SecretString& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
}

void wipe(std::string& text) {
  text.resize(text.capacity());
  explicit_bzero(text.data(), text.size());
  text.clear();
}

}  // namespace execcred
