// SPDX-License-Identifier: Apache-2.0
// The current refresh token of a server that issues a new one at each use (RFC 6749, section 6; RFC
// 9700, section 4.14.2). The user's secret contains the first token, and this store the latest one.
//
//   auto store = TRY(RefreshTokenStore::open(directory, source, deadline, clock));
//   …the request, with store.current()…
//   TRY(store.keep(refresh_token_of_the_reply));
//
// A used token is invalid, and a server that gets it twice may revoke all tokens of its family. So
// only one process at a time holds the store. It checks that the next token can be written before
// it uses the current one, and it writes the next one to the disk before it does anything else with
// the reply. A process that is killed between the server's answer and that write still loses the
// token.
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
    SecretString original = {};  // the user's token; another one starts a new chain
  };

  // Waits until `deadline` while another process holds the store. `directory` and `clock` must
  // outlive the store. Fails (unavailable) if another process still holds it then, or if nothing
  // can be written.
  static Result<RefreshTokenStore> open(const CacheDirectory& directory, const Source& source,
                                        std::chrono::steady_clock::time_point deadline,
                                        const Clock& clock);
  RefreshTokenStore(RefreshTokenStore&&) noexcept;
  RefreshTokenStore& operator=(RefreshTokenStore&&) noexcept;
  // Releases the store.
  ~RefreshTokenStore();

  // The token that was stored last, or else the original. A file that is corrupt or for another
  // source is ignored.
  const SecretString& current() const { return current_; }

  // Writes the token to the disk before it returns; current() is then this token. Does nothing if
  // the token is empty: the current one stays valid. Fails (unavailable) if it cannot be written.
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
