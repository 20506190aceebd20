// SPDX-License-Identifier: Apache-2.0
#include "subject_spiffe.hpp"

#include "subject_url.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/identity.hpp>
#include <execcred/os/file.hpp>
#include <execcred/spiffe/jwt_svid.hpp>
#include <execcred/spiffe/workload_api.hpp>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <unistd.h>

namespace execcred::oidc_federation {
namespace {

constexpr std::size_t kMaxCgroups = 64 * 1024;

std::string own_groups() {
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(0, ::getgroups(0, nullptr))));
  const int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
  std::string text;
  for (int i = 0; i < count; ++i) text += std::to_string(groups[static_cast<std::size_t>(i)]) + " ";
  return text;
}

// The target of the symbolic link, cut to the buffer's size; empty if it cannot be read.
std::string target_of(const char* link) {
  std::array<char, 4096> path = {};
  const ssize_t size = ::readlink(link, path.data(), path.size());
  return size > 0 ? std::string(path.data(), static_cast<std::size_t>(size)) : std::string();
}

// An agent attests a process by its user, its groups, its program and its cgroup, which identifies
// the container or the service. Two processes of one user that differ in these do not share an
// entry. In its own cgroup namespace, each container's cgroup is "0::/", so the namespaces are
// added too.
void identify_process(CacheKey& key) {
  identify_machine(key);
  key.add("process.uid", std::to_string(::geteuid()));
  key.add("process.gid", std::to_string(::getegid()));
  key.add("process.groups", own_groups());
  key.add("process.program", target_of("/proc/self/exe"));
  key.add("process.namespaces",
          target_of("/proc/self/ns/mnt") + " " + target_of("/proc/self/ns/cgroup"));
  const Result<std::string> cgroup = read_untrusted_file("/proc/self/cgroup", kMaxCgroups);
  key.add("process.cgroup", cgroup ? trim(*cgroup) : "unknown");
}

}  // namespace

Status identify_spiffe(const Options& options, CacheKey& key) {
  const SpiffeOptions& spiffe = options.subject.spiffe;
  key.add("subject", "spiffe").add("subject-audience", subject_audience(options));
  key.add("subject.socket", spiffe.socket);
  key.add("subject.spiffe-id", spiffe.choice.spiffe_id);
  key.add("subject.hint", spiffe.choice.hint);
  identify_process(key);
  return {};
}

Result<SecretString> fetch_spiffe(const Options& options, const CallContext& call) {
  const SpiffeOptions& spiffe = options.subject.spiffe;
  if (spiffe.socket.empty()) {
    return Error{.kind = Error::Kind::configuration,
                 .message = "--subject=spiffe needs the Workload API's socket",
                 .hint = "set SPIFFE_ENDPOINT_SOCKET=unix:///PATH, or pass --socket"};
  }
  WorkloadEndpoint endpoint = TRY(parse_workload_endpoint(spiffe.socket));
  const WorkloadApi api(std::move(endpoint), call);
  JwtSvid svid = TRY(fetch_jwt_svid(api, {subject_audience(options)}, spiffe.choice, call.clock));
  call.debug("got a JWT-SVID of " + in_quotes(svid.spiffe_id));
  return std::move(svid.token);
}

}  // namespace execcred::oidc_federation
