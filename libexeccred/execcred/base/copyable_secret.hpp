// SPDX-License-Identifier: Apache-2.0
// A secret that is a member of a copyable value. A SecretString itself is copied only by copy().
#pragma once

#include <execcred/base/secret.hpp>

#include <utility>

namespace execcred {

// Each copy has memory of its own, which is overwritten before it is freed.
class CopyableSecret : public SecretString {
 public:
  CopyableSecret() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): such a member is set from a SecretString
  CopyableSecret(SecretString secret) noexcept : SecretString(std::move(secret)) {}
  CopyableSecret(const CopyableSecret& other) : SecretString(other.copy()) {}
  CopyableSecret& operator=(const CopyableSecret& other) { return *this = CopyableSecret(other); }
  CopyableSecret(CopyableSecret&&) noexcept = default;
  CopyableSecret& operator=(CopyableSecret&&) noexcept = default;
  ~CopyableSecret() = default;
};

}  // namespace execcred
