// SPDX-License-Identifier: Apache-2.0
#include <execcred/exec/identity.hpp>

#include <execcred/base/digest.hpp>
#include <execcred/base/text.hpp>
#include <execcred/os/file.hpp>

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred {

namespace {

std::string own_groups() {
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(0, getgroups(0, nullptr))));
  const int count = getgroups(static_cast<int>(groups.size()), groups.data());
  std::string text;
  for (int i = 0; i < count; ++i) text += std::to_string(groups[static_cast<std::size_t>(i)]) + " ";
  return text;
}

// The target of the symbolic link, cut to the buffer's size; empty if it cannot be read.
std::string target_of(const std::string& link) {
  std::array<char, 4096> path = {};
  const ssize_t size = readlink(link.c_str(), path.data(), path.size());
  return size > 0 ? std::string(path.data(), static_cast<std::size_t>(size)) : std::string();
}

// Adds what differs between two Pods on one node, also if they have one host name: the namespaces
// that the containers of a Pod share, and the files that the kubelet and the container runtime make
// for each Pod. Namespace numbers are used again, the paths of these files are not. A Pod on the
// host's network has the host's network namespace, but has its own of the others.
void identify_pod(CacheKey& key) {
  constexpr std::size_t kMaxMounts = 1024 * 1024;
  for (const std::string name : {"net", "ipc"}) {
    const std::string space = target_of("/proc/self/ns/" + name);
    if (!space.empty()) key.add("namespace", space);
  }
  const Result<std::string> mounts = read_untrusted_file("/proc/self/mountinfo", kMaxMounts);
  if (!mounts) return;
  for (const std::string_view mount : split(*mounts, '\n')) {
    // "ID PARENT DEVICE ROOT POINT ...", proc_pid_mountinfo(5)
    const std::vector<std::string_view> fields = split(mount, ' ');
    if (fields.size() < 5) continue;
    const bool is_of_pod = fields[4] == "/etc/hosts" || fields[4] == "/etc/hostname" ||
                           fields[4] == "/etc/resolv.conf";
    if (is_of_pod) key.add("mount", std::string(fields[3]).append(" ").append(fields[4]));
  }
}

}  // namespace

void identify_machine(CacheKey& key) {
  constexpr std::size_t kMaxId = 64;
  utsname names = {};
  if (uname(&names) == 0) key.add("machine", names.nodename);
  // Some sandboxes do not have this file.
  const Result<std::string> boot = read_untrusted_file("/proc/sys/kernel/random/boot_id", kMaxId);
  if (boot) key.add("boot", trim(*boot));
  identify_pod(key);
}

// In its own cgroup namespace, each container's cgroup is "0::/", so the namespaces are added too.
void identify_process(CacheKey& key) {
  constexpr std::size_t kMaxCgroups = 64 * 1024;
  key.add("process.uid", std::to_string(geteuid()));
  key.add("process.gid", std::to_string(getegid()));
  key.add("process.groups", own_groups());
  key.add("process.program", target_of("/proc/self/exe"));
  key.add("process.namespaces",
          target_of("/proc/self/ns/mnt") + " " + target_of("/proc/self/ns/cgroup"));
  const Result<std::string> cgroup = read_untrusted_file("/proc/self/cgroup", kMaxCgroups);
  key.add("process.cgroup", cgroup ? trim(*cgroup) : "unknown");
}

void add_token_identity(std::string_view name, const SecretString& token,
                        const Result<std::optional<Jwt>>& jwt, CacheKey& key) {
  const std::string prefix = std::string(name) + ".";
  const Result<TokenIdentity> identity =
      jwt && *jwt ? token_identity(**jwt) : Result<TokenIdentity>(TokenIdentity());
  if (!identity || identity->subject.empty()) {
    key.add(prefix + "fingerprint", fingerprint(name, token.reveal()));
    return;
  }
  // The issuer and the subject are for people. The other claims may be long or confidential.
  if (!identity->issuer.empty()) key.add(prefix + "iss", identity->issuer);
  key.add(prefix + "sub", identity->subject);
  key.add(prefix + "claims.fingerprint", fingerprint(name, identity->claims));
}

}  // namespace execcred
