// SPDX-License-Identifier: Apache-2.0
#include <execcred/cache/machine_identity.hpp>

#include <execcred/base/text.hpp>
#include <execcred/os/file.hpp>

#include <sys/utsname.h>

#include <string>

namespace execcred {

void identify_machine(CacheKey& key) {
  constexpr std::size_t kMaxId = 64;
  utsname names = {};
  if (uname(&names) == 0) key.add("machine", names.nodename);
  // Not there in every sandbox.
  const Result<std::string> boot = read_untrusted_file("/proc/sys/kernel/random/boot_id", kMaxId);
  if (boot) key.add("boot", trim(*boot));
}

}  // namespace execcred
