// SPDX-License-Identifier: Apache-2.0
#include "pod.hpp"

#include "rights.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace execcred::test {
namespace {

const std::string kAccount = "/run/secrets/kubernetes.io/serviceaccount";
const std::string kWorkload = "/run/secrets/workload-spiffe-credentials";

void must(bool is_done) {
  if (!is_done) _exit(125);
}

void write(const std::string& path, const std::string& content) {
  if (content.empty()) return;
  const int file = open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0644);
  must(file >= 0);
  must(::write(file, content.data(), content.size()) == static_cast<ssize_t>(content.size()));
  close(file);
}

void mount_files(const ServiceAccount& account) {
  must(blackbox::make_mounts_private());
  must(mount("tmpfs", "/run", "tmpfs", 0, "mode=755") == 0);
  for (const std::string& folder :
       {std::string("/run/secrets"), std::string("/run/secrets/kubernetes.io"), kAccount,
        kWorkload}) {
    must(mkdir(folder.c_str(), 0755) == 0);
  }
  write(kAccount + "/token", account.token);
  write(kAccount + "/namespace", account.name_space);
  write(kAccount + "/ca.crt", account.ca);
  write(kWorkload + "/certificates.pem", account.workload_certificate);
  write(kWorkload + "/private_key.pem", account.workload_key);
}

}  // namespace

bool can_be_pod() {
  const auto outcome =
      blackbox::run_if_allowed({.arguments = {"/bin/true"}}, "a Pod's mounts below /run", [] {
        if (std::filesystem::read_symlink("/var/run") != "/run") return false;
        mount_files({});
        return true;
      });
  return outcome && outcome->exit_code == 0;
}

Outcome run_in_pod(blackbox::Command command, const ServiceAccount& account) {
  command.before_exec = [account] { mount_files(account); };
  return blackbox::run(command);
}

}  // namespace execcred::test
