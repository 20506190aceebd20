// SPDX-License-Identifier: Apache-2.0
// The refresh token that is good now, where a server gives a new one for each that is used (RFC
// 6749, section 6; RFC 9700, section 4.14.2): the user's secret has the first, and this the last.
//
//   auto store = TRY(RefreshTokenStore::open(directory, source, deadline, clock));
//   …the request, with store.current()…
//   TRY(store.keep(reply.refresh_token));
//
// A token that was used is worth nothing, and a server that sees it twice may withdraw all of its
// kind. So one process at a time has the store; that the next token can be written is tried before
// the present one is spent; and the next one is on the disk before anything else is done with the
// reply. A process that is killed between the server's answer and that write loses it all the same.
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/cache/directory.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace execcred {

class CacheLock;

class RefreshTokenStore {
 public:
  struct Source {
    std::string token_server = {};  // its URL
    std::string client_id = {};
    SecretString original = {};  // what the user gave; another one starts anew
  };

  // Waits for other processes until `deadline`. `directory` and `clock` must outlive the store.
  // Fails with unavailable: another process has it all that time, or nothing can be written.
  static Result<RefreshTokenStore> open(const CacheDirectory& directory, const Source& source,
                                        std::chrono::steady_clock::time_point deadline,
                                        const Clock& clock);
  RefreshTokenStore(RefreshTokenStore&&) noexcept;
  RefreshTokenStore& operator=(RefreshTokenStore&&) noexcept;
  // Lets others have it.
  ~RefreshTokenStore();

  // The one that was kept last, else the original. A file that is corrupt or says something else
  // counts as none.
  const SecretString& current() const { return current_; }

  // Returns when the token is on the disk; current() is this one then. Nothing to do for an empty
  // one: the server leaves the current one good. Fails with unavailable.
  Status keep(const SecretString& token);

 private:
  RefreshTokenStore(const CacheDirectory& directory, const Source& source, const Clock& clock);

  Status prepare(const SecretString& original) const;
  void read();
  Status write(const SecretString& token) const;

  const CacheDirectory* directory_;
  const Clock* clock_;
  std::string key_;   // CacheKey::text()
  std::string name_;  // of the file
  SecretString current_;
  std::unique_ptr<CacheLock> lock_;
};

}  // namespace execcred
