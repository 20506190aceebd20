// SPDX-License-Identifier: Apache-2.0
#include <execcred/cache/identity.hpp>

#include <execcred/base/digest.hpp>
#include <execcred/base/text.hpp>
#include <execcred/exec/jwt.hpp>
#include <execcred/os/file.hpp>

#include <sys/utsname.h>

#include <optional>
#include <string>

namespace execcred {

void identify_machine(CacheKey& key) {
  constexpr std::size_t kMaxId = 64;
  utsname names = {};
  if (uname(&names) == 0) key.add("machine", names.nodename);
  // Some sandboxes do not have this file.
  const Result<std::string> boot = read_untrusted_file("/proc/sys/kernel/random/boot_id", kMaxId);
  if (boot) key.add("boot", trim(*boot));
}

void add_token_identity(std::string_view name, const SecretString& token, CacheKey& key) {
  const std::string prefix = std::string(name) + ".";
  const Result<std::optional<UnverifiedClaims>> claims = unverified_claims(token);
  if (!claims || !claims->has_value() || (*claims)->issuer.empty() || (*claims)->subject.empty()) {
    key.add(prefix + "fingerprint", fingerprint(name, token.reveal()));
    return;
  }
  key.add(prefix + "iss", (*claims)->issuer).add(prefix + "sub", (*claims)->subject);
  for (const std::string& audience : (*claims)->audiences) key.add(prefix + "aud", audience);
}

}  // namespace execcred
