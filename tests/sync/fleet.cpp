// SPDX-License-Identifier: Apache-2.0
#include "fleet.hpp"

#include "cli/inventory.hpp"
#include "support/texts.hpp"

#include <utility>

namespace blackbox {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrint =
    "printf '{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\","
    "\"status\":{\"expirationTimestamp\":\"%s\",\"token\":\"t0ken-%s\"}}' "
    "\"$(date -u -d \"+$lifetime seconds\" +%Y-%m-%dT%H:%M:%SZ)\" \"$(date +%s%N)\"";

}  // namespace

Fleet::Fleet(const std::vector<std::string>& names) {
  const std::string here = sandbox_.path().native();
  fs::create_directory(root());
  fs::permissions(root(), fs::perms::owner_all);
  fs::create_directory(sandbox_.path() / "profiles");
  set_lifetime(3600);
  const std::string p =
      sandbox_.script("bin/p", "echo \"${EXECCRED_REFRESH_BEFORE:-none}\" >> '" + here +
                                   "/runs'\nlifetime=$(cat '" + here + "/lifetime')\n" + kPrint);
  const std::string ended = sandbox_.script("bin/ended", std::string("lifetime=-5\n") + kPrint);
  const std::string failing = sandbox_.script("bin/failing", "echo 'it is broken' >&2\nexit 1");
  const std::string unavailable =
      sandbox_.script("bin/execcred-unavailable",
                      "case $1 in --version) echo 'execcred-unavailable 1';; esac\n"
                      "printf '%s' '{\"cause\":\"source-unavailable\",\"error\":\"no answer\"}' "
                      ">&\"$EXECCRED_REPORT_FILE\"\nexit 3");
  const std::string token = sandbox_.write("token", "token-of-a-file", 0600);
  sandbox_.write("mapping.json",
                 mapping({mapped("p", p), mapped("failing", failing), mapped("ended", ended),
                          mapped("unavailable", unavailable),
                          mapped("real", kTokenFile,
                                 ", \"provideClusterInfo\": true, \"args\": [\"--token-file=" +
                                     token + "\", \"--allow-server=https://a.example:6443\"]")}));
  for (const std::string& name : names) {
    write_profile(name, {provider("p", "https://" + name + ".example:6443")});
  }
}

std::string Fleet::token(const std::string& name) const {
  return read_text(folder(name) / "token");
}

void Fleet::write_profile(const std::string& name,
                          const std::vector<std::string>& providers) const {
  // Renamed into place, because a run may be reading.
  const std::string partial = sandbox_.write(".partial", profile(name, providers));
  fs::rename(partial, sandbox_.path() / "profiles" / (name + ".json"));
}

void Fleet::remove_profile(const std::string& name) const {
  fs::remove(sandbox_.path() / "profiles" / (name + ".json"));
}

void Fleet::set_lifetime(int seconds) const { sandbox_.write("lifetime", std::to_string(seconds)); }

std::vector<std::string> Fleet::refreshes() const {
  return execcred::test::lines_of(read_text(sandbox_.path() / "runs"));
}

Command Fleet::command(std::vector<std::string> arguments) const {
  std::vector<std::string> all = {
      kCli, "sync", "-m", sandbox_.at("mapping.json"), "-f", sandbox_.at("profiles")};
  for (std::string& argument : arguments) all.push_back(std::move(argument));
  return {.arguments = std::move(all), .environment = {"PATH=/usr/bin:/bin"}};
}

Outcome Fleet::once(std::vector<std::string> arguments) const {
  arguments.push_back("--once");
  arguments.push_back("--to-dir=" + root().native());
  return sync(std::move(arguments));
}

}  // namespace blackbox
