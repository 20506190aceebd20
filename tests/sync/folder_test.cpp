// SPDX-License-Identifier: Apache-2.0
// `execcred sync --to-dir --once`: what it writes, renews and removes, and what it leaves alone.
#include "cli/inventory.hpp"
#include "documents.hpp"
#include "plugin_under_test.hpp"
#include "support/texts.hpp"

#include <doctest/doctest.h>

#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "fleet.hpp"

using namespace blackbox;
namespace fs = std::filesystem;

namespace {

int mode_of(const fs::path& path) {
  struct stat status = {};
  return lstat(path.c_str(), &status) == 0 ? static_cast<int>(status.st_mode & 07777) : -1;
}

gid_t group_of(const fs::path& path) {
  struct stat status = {};
  return lstat(path.c_str(), &status) == 0 ? status.st_gid : static_cast<gid_t>(-1);
}

}  // namespace

TEST_SUITE_BEGIN("sync");

TEST_CASE("sync --to-dir: a folder for each cluster, in the layout of a kubelet's volume") {
  const Fleet fleet({"a", "b"});
  const Outcome outcome = fleet.once();
  CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
  CHECK(outcome.output == "");
  const fs::path a = fleet.folder("a");
  CHECK(fs::read_symlink(a / "token") == "..data/token");
  CHECK(fs::read_symlink(a / "..data").native().starts_with("..2"));
  CHECK(read_text(a / "token").starts_with("t0ken-"));
  CHECK(read_text(a / "token").find('\n') == std::string::npos);
  CHECK(read_text(a / "server") == "https://a.example:6443");
  CHECK(read_text(a / "expiration").size() == 20);
  CHECK(read_text(a / "kubeconfig").find("tokenFile: token\n") != std::string::npos);
  CHECK(read_text(a / ".execcred-sync").find("\"execcred.io/instance\": \"default\"") !=
        std::string::npos);
  CHECK(mode_of(a) == 0700);
  CHECK(mode_of(a / "..data" / "token") == 0600);
  CHECK(fs::exists(fleet.folder("b") / "token"));
}

TEST_CASE("sync --to-dir: a valid credential is kept, and no plugin runs") {
  const Fleet fleet({"a", "b"});
  fleet.once();
  const std::string token = fleet.token("a");
  CHECK(fleet.once().exit_code == 0);
  CHECK(fleet.token("a") == token);
  CHECK(fleet.runs() == 2);
}

#ifdef EXECCRED_FAULTS
TEST_CASE("sync --once: without a descriptor for its signals it does its work and ends") {
  for (const char* const call : {"eventfd:24:2", "signalfd:24:1"}) {
    CAPTURE(call);
    const Fleet fleet({"a"});
    const std::string mark = fleet.sandbox().at("mark");
    Command command = fleet.command({"--once", "--to-dir=" + fleet.root().native()});
    command.environment.push_back("LD_PRELOAD=" EXECCRED_FAULTS);
    command.environment.push_back(std::string("FAULT=") + call + ":" + mark);
    const Outcome outcome = run(command);
    CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
    CHECK(fs::exists(mark));
    CHECK(fleet.token("a").starts_with("t0ken-"));
  }
}

TEST_CASE("sync --once: a plugin's output is read to its end, also a byte at a time") {
  const Fleet fleet({"a"});
  Command command = fleet.command({"--once", "--to-dir=" + fleet.root().native()});
  command.environment.push_back("LD_PRELOAD=" EXECCRED_FAULTS);
  command.environment.push_back("FAULT=read:-1:0:" + fleet.sandbox().at("mark"));
  const Outcome outcome = run(command);
  CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
  CHECK(fs::exists(fleet.sandbox().at("mark")));
  CHECK(fleet.token("a").starts_with("t0ken-"));
}
#endif

TEST_CASE("sync --to-dir: if the server changes, a new credential is written") {
  const Fleet fleet({"a"});
  fleet.once();
  const std::string token = fleet.token("a");
  const fs::path before = fs::read_symlink(fleet.folder("a") / "..data");
  fleet.write_profile("a", {provider("p", "https://new.example:6443")});
  CHECK(fleet.once().exit_code == 0);
  CHECK(fleet.token("a") != token);
  CHECK(read_text(fleet.folder("a") / "server") == "https://new.example:6443");
  // A reader that resolved ..data before still finds its files.
  CHECK(read_text(fleet.folder("a") / before / "token") == token);
  fleet.write_profile("a", {provider("p", "https://newer.example:6443")});
  fleet.once();
  CHECK_FALSE(fs::exists(fleet.folder("a") / before));
}

TEST_CASE("sync --to-dir: a missing folder, a file, and a folder that others can write fail") {
  const Fleet fleet({"a"});
  CHECK_REFUSAL(fleet.sync({"--once", "--to-dir=" + fleet.sandbox().at("absent")}), 2,
                "cannot open the folder");
  CHECK_REFUSAL(fleet.sync({"--once", "--to-dir=" + fleet.sandbox().write("file", "")}), 2,
                "Not a directory");
  for (const mode_t mode : {0777U, 0770U, 01777U}) {
    chmod(fleet.root().c_str(), mode);
    CHECK_REFUSAL(fleet.once(), 2, "can be written by others than its owner");
  }
  CHECK(fs::is_empty(fleet.root()));
}

TEST_CASE("sync --to-dir: file mode and group can be chosen, but others get no access") {
  const Fleet fleet({"a"});
  const std::string group = "--dir-group=" + std::to_string(getegid());
  CHECK(fleet.once({"--file-mode=0640", group}).exit_code == 0);
  CHECK(mode_of(fleet.folder("a")) == 0750);
  CHECK(mode_of(fleet.folder("a").parent_path()) == 0750);
  CHECK(mode_of(fleet.folder("a") / "..data") == 0777);
  CHECK(mode_of(fleet.folder("a") / "..data" / "") == 0750);
  CHECK(mode_of(fleet.folder("a") / "..data" / "token") == 0640);
  for (const std::string mode : {"0666", "0604", "0000", "9", "0700", "x", "04600"}) {
    CHECK_REFUSAL(fleet.once({"--file-mode=" + mode}), 2, "is no mode of a credential's file");
  }
  CHECK_REFUSAL(fleet.once({"--dir-group=no-such-group"}), 2, "there is no group 'no-such-group'");
}

TEST_CASE("sync --to-dir: a namespace's folder of a killed run gets its mode and group") {
  const Fleet fleet({"a"});
  // A run makes the folder with this mode. It is killed before it sets the final mode and group.
  fs::create_directory(fleet.root() / "fleet");
  chmod((fleet.root() / "fleet").c_str(), 0700);
  const gid_t group = geteuid() == 0 ? 65533 : getegid();
  CHECK(fleet.once({"--file-mode=0640", "--dir-group=" + std::to_string(group)}).exit_code == 0);
  CHECK(mode_of(fleet.root() / "fleet") == 0750);
  CHECK(group_of(fleet.root() / "fleet") == group);
}

TEST_CASE("sync --to-dir: another --file-mode or --dir-group is applied by the next run") {
  const Fleet fleet({"a"});
  const gid_t other = geteuid() == 0 ? 65533 : getegid();
  const fs::path a = fleet.folder("a");
  const auto check_modes = [&](int folder_mode, int file_mode, gid_t group) {
    for (const fs::path& folder : {a, a / "..data" / ""}) {
      CHECK(mode_of(folder) == folder_mode);
      CHECK(group_of(folder) == group);
    }
    CHECK(mode_of(a / "..data" / "token") == file_mode);
    CHECK(group_of(a / "..data" / "token") == group);
  };
  CHECK(fleet.once().exit_code == 0);
  check_modes(0700, 0600, getegid());
  const std::string own = "--dir-group=" + std::to_string(getegid());
  CHECK(fleet.once({"--file-mode=0640", own}).exit_code == 0);
  check_modes(0750, 0640, getegid());
  CHECK(mode_of(fleet.root() / "fleet") == 0750);
  const std::string others = "--dir-group=" + std::to_string(other);
  CHECK(fleet.once({"--file-mode=0640", others}).exit_code == 0);
  check_modes(0750, 0640, other);
  CHECK(group_of(fleet.root() / "fleet") == other);
  const std::size_t runs = fleet.runs();
  CHECK(fleet.once({"--file-mode=0640", others}).exit_code == 0);
  CHECK(fleet.runs() == runs);
  CHECK(fleet.once({others}).exit_code == 0);
  check_modes(0700, 0600, other);
}

TEST_CASE("sync --dir-group: another user of that group can read the files, others cannot") {
  constexpr gid_t kGroup = 65533;
  const Fleet fleet({"a"});
  if (geteuid() != 0) {
    MESSAGE("skipped: this user may not give files to other groups");
    return;
  }
  CHECK(fleet.once({"--file-mode=0640", "--dir-group=" + std::to_string(kGroup)}).exit_code == 0);
  fs::permissions(fleet.sandbox().path(), fs::perms::owner_all | fs::perms::others_exec);
  fs::permissions(fleet.root(), fs::perms::owner_all | fs::perms::others_exec);
  const auto read_as = [&](gid_t group) {
    return run(
        {.arguments = {"/bin/cat", fleet.folder("a") / "kubeconfig", fleet.folder("a") / "token"},
         .before_exec = [group] {
           if (setgroups(0, nullptr) != 0 || setgid(group) != 0 || setuid(65534) != 0) {
             _exit(125);
           }
         }});
  };
  const Outcome reader = read_as(kGroup);
  CHECK_MESSAGE(reader.exit_code == 0, describe(reader));
  CHECK(reader.output.ends_with(fleet.token("a")));
  CHECK(read_as(65534).exit_code == 1);
  // A renewal keeps the group.
  fleet.write_profile("a", {provider("p", "https://new.example:6443")});
  CHECK(fleet.once({"--file-mode=0640", "--dir-group=" + std::to_string(kGroup)}).exit_code == 0);
  CHECK(read_as(kGroup).output.ends_with(fleet.token("a")));
}

TEST_CASE("sync --to-dir: foreign files are reported and kept, and the rest is written") {
  const Fleet fleet({"a", "b", "c", "d"});
  fs::create_directories(fleet.folder("a"));
  fleet.sandbox().write("out/fleet/a/token", "theirs");
  fleet.sandbox().write("out/fleet/b", "a file");
  fs::create_symlink("/etc", fleet.folder("c"));
  const Outcome outcome = fleet.once();
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.error_output.find("cluster=fleet/a") != std::string::npos);
  CHECK(outcome.error_output.find("cause=target-foreign") != std::string::npos);
  CHECK(read_text(fleet.folder("a") / "token") == "theirs");
  CHECK(read_text(fleet.folder("b")) == "a file");
  CHECK(fs::is_symlink(fleet.folder("c")));
  CHECK_FALSE(fs::exists("/etc/.execcred-sync"));
  CHECK(fleet.token("d").starts_with("t0ken-"));
}

TEST_CASE("sync --to-dir: the folder of a deleted ClusterProfile is removed") {
  const Fleet fleet({"a", "b"});
  fleet.once();
  fleet.remove_profile("b");
  const Outcome plan = fleet.sync({"--dry-run", "--to-dir=" + fleet.root().native()});
  CHECK(plan.exit_code == 0);
  CHECK(plan.output.starts_with("remove '"));
  CHECK(fs::exists(fleet.folder("b")));
  CHECK(fleet.once({"--prune=false"}).exit_code == 0);
  CHECK(fs::exists(fleet.folder("b")));
  const Outcome foreign = fleet.once({"--instance=other"});
  CHECK(foreign.exit_code == 1);
  CHECK(foreign.error_output.find("cause=target-foreign") != std::string::npos);
  CHECK(fs::exists(fleet.folder("b")));
  CHECK(fleet.once().exit_code == 0);
  CHECK_FALSE(fs::exists(fleet.folder("b")));
  CHECK(fleet.token("a").starts_with("t0ken-"));
}

TEST_CASE("sync -l: the folder of a ClusterProfile that is not selected stays") {
  const Fleet fleet({"a", "b"});
  CHECK(fleet.once().exit_code == 0);
  const std::string unlabelled = read_text(fleet.sandbox().path() / "profiles/a.json");
  std::string labelled = unlabelled;
  labelled.insert(labelled.find("\"name\":"), R"("labels":{"tier":"one"},)");
  fleet.sandbox().write("profiles/a.json", labelled);
  const std::string token = fleet.token("b");
  const Outcome plan =
      fleet.sync({"-l", "tier=one", "--dry-run", "--to-dir=" + fleet.root().native()});
  CHECK_MESSAGE(plan.output.find("remove") == std::string::npos, describe(plan));
  CHECK(fleet.once({"-l", "tier=one"}).exit_code == 0);
  CHECK(fleet.token("b") == token);
  // What a rule refuses is removed of a selected one.
  fleet.write_profile("b", {});
  const Outcome refused = fleet.once({"-l", "!tier"});
  CHECK_MESSAGE(refused.exit_code == 1, describe(refused));
  CHECK_FALSE(fs::exists(fleet.folder("b")));
  CHECK(fs::exists(fleet.folder("a")));
}

TEST_CASE("sync --to-dir: nothing is removed while the inventory is broken or empty") {
  const Fleet fleet({"a", "b"});
  fleet.once();
  fleet.remove_profile("b");
  fleet.sandbox().write("profiles/broken.yaml", "kind: ClusterProfile\nmetadata: [");
  const Outcome outcome = fleet.once();
  CHECK(outcome.exit_code == 1);
  CHECK_MESSAGE(outcome.error_output.find("the document is no valid YAML") != std::string::npos,
                outcome.error_output);
  CHECK(fs::exists(fleet.folder("b")));
  fs::remove(fleet.sandbox().path() / "profiles/broken.yaml");
  fleet.remove_profile("a");
  const Outcome of_none = fleet.once();
  CHECK(of_none.exit_code == 2);
  CHECK(of_none.error_output.find("the inventory holds no ClusterProfile") != std::string::npos);
  CHECK(fs::exists(fleet.folder("a")));
  CHECK(fs::exists(fleet.folder("b")));
  CHECK(fleet.once({"--allow-empty"}).exit_code == 0);
  CHECK_FALSE(fs::exists(fleet.folder("a")));
  CHECK_FALSE(fs::exists(fleet.folder("b")));
}

TEST_CASE("sync: a mapping without providers, or with one that has no name, removes nothing") {
  const Fleet fleet({"a", "b"});
  fleet.once();
  fleet.remove_profile("b");
  const std::string mapping = read_text(fleet.sandbox().path() / "mapping.json");
  struct Case {
    std::string mapping;
    int exit_code;
    std::string why;
  };
  for (const Case& row : std::vector<Case>{
           {R"({"providers":[]})", 2, "mapping.json' has no provider"},
           {R"({"providers":[{"execConfig":{"command":"/bin/p"}}]})", 1, "cause=mapping-invalid"},
           {R"({"providers":[{"name":"z"}]})", 1,
            "no rule removes a credential while an entry is wrong"},
           {R"({"providers":[{"name":"z"}]})", 1, "cause=provider-unknown"}}) {
    CAPTURE(row.mapping);
    fleet.sandbox().write("mapping.json", row.mapping);
    const Outcome outcome = fleet.once();
    CHECK_MESSAGE(outcome.exit_code == row.exit_code, describe(outcome));
    CHECK_MESSAGE(outcome.error_output.find(row.why) != std::string::npos, describe(outcome));
    CHECK(fs::exists(fleet.folder("a") / "token"));
    const Outcome plan = fleet.sync({"--to-dir=" + fleet.root().native(), "--dry-run"});
    CHECK_MESSAGE(plan.output.find("/a': ") == std::string::npos, describe(plan));
  }
  fleet.sandbox().write("mapping.json", R"({"providers":[]})");
  CHECK(fleet.once({"--allow-empty"}).exit_code == 1);
  CHECK_FALSE(fs::exists(fleet.folder("a")));
  fleet.sandbox().write("mapping.json", mapping);
  CHECK(fleet.once().exit_code == 0);
  CHECK(fs::exists(fleet.folder("a") / "token"));
}

TEST_CASE("sync: nothing is removed while one of two folders is empty") {
  const Fleet fleet({"a"});
  const std::string more = fleet.sandbox().at("more");
  const std::string b =
      fleet.sandbox().write("more/b.json", profile("b", {provider("p", "https://b.example:6443")}));
  CHECK(fleet.once({"-f", more}).exit_code == 0);
  CHECK(fs::exists(fleet.folder("b") / "token"));
  // This is what an unmounted volume looks like.
  fs::remove(b);
  const Outcome outcome = fleet.once({"-f", more});
  CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
  CHECK_MESSAGE(outcome.error_output.find("warning: '" + more + "' holds no ClusterProfile") !=
                    std::string::npos,
                outcome.error_output);
  CHECK(fs::exists(fleet.folder("b") / "token"));
  CHECK(fleet.once({"-f", more, "--allow-empty"}).exit_code == 0);
  CHECK_FALSE(fs::exists(fleet.folder("b")));
}

TEST_CASE(
    "sync: while a path is missing, those of the other paths are written, and none is removed") {
  const Fleet fleet({"a", "c"});
  const std::string more = fleet.sandbox().at("more");
  fleet.sandbox().write("more/b.json", profile("b", {provider("p", "https://b.example:6443")}));
  CHECK(fleet.once({"-f", more}).exit_code == 0);
  fleet.remove_profile("c");
  fs::rename(fleet.sandbox().path() / "profiles", fleet.sandbox().path() / "elsewhere");
  fleet.sandbox().write("more/b.json", profile("b", {provider("p", "https://new.example:6443")}));
  const Outcome outcome = fleet.once({"-f", more});
  CHECK_MESSAGE(outcome.exit_code == 2, describe(outcome));
  const std::size_t named = outcome.error_output.find(fleet.sandbox().at("profiles"));
  CHECK(named != std::string::npos);
  CHECK(outcome.error_output.find(fleet.sandbox().at("profiles"), named + 1) == std::string::npos);
  CHECK(read_text(fleet.folder("b") / "server") == "https://new.example:6443");
  CHECK(fs::exists(fleet.folder("a")));
  CHECK(fs::exists(fleet.folder("c")));
  fs::rename(fleet.sandbox().path() / "elsewhere", fleet.sandbox().path() / "profiles");
  CHECK(fleet.once({"-f", more}).exit_code == 0);
  CHECK(fs::exists(fleet.folder("a")));
  CHECK_FALSE(fs::exists(fleet.folder("c")));
}

TEST_CASE("sync: -n default chooses the ClusterProfiles of files without a namespace") {
  const Fleet fleet({"a"});
  fleet.sandbox().write("profiles/b.json",
                        R"({"apiVersion":"multicluster.x-k8s.io/v1alpha1","kind":"ClusterProfile",)"
                        R"("metadata":{"name":"b"},"status":{"accessProviders":[)" +
                            provider("p", "https://b.example:6443") + "]}}");
  for (const std::string name_space : {"default", "fleet"}) {
    const Outcome outcome = fleet.once({"-n", name_space});
    CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
    CHECK(fs::exists(fleet.root() / "default/b/token"));
    CHECK(fs::exists(fleet.folder("a")) == (name_space == "fleet"));
  }
}

TEST_CASE("sync: nothing is removed while a file is empty") {
  const Fleet fleet({"a", "b"});
  fleet.once();
  fleet.sandbox().write("profiles/b.json", "");
  const Outcome outcome = fleet.once({"--allow-empty"});
  CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
  CHECK_MESSAGE(outcome.error_output.find("b.json' is an empty file") != std::string::npos,
                outcome.error_output);
  CHECK(fs::exists(fleet.folder("b") / "token"));
  fleet.remove_profile("b");
  CHECK(fleet.once().exit_code == 0);
  CHECK_FALSE(fs::exists(fleet.folder("b")));
}

TEST_CASE(
    "sync --to-dir: a cluster that a rule forbids loses its folder, one that fails keeps it") {
  const Fleet fleet({"a", "b", "c"});
  fleet.once();
  const std::string token = fleet.token("b");
  fleet.write_profile("a", {provider("unknown")});
  fleet.write_profile("b", {provider("failing")});
  fleet.write_profile("c", {});
  const Outcome outcome = fleet.once();
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.error_output.find("cause=provider-unknown") != std::string::npos);
  CHECK(outcome.error_output.find("cause=no-provider") != std::string::npos);
  CHECK_FALSE(fs::exists(fleet.folder("c")));
  CHECK(outcome.error_output.find("cause=program-failed") != std::string::npos);
  CHECK_FALSE(fs::exists(fleet.folder("a")));
  CHECK(fleet.token("b") == token);
}

TEST_CASE("sync --to-dir: a cluster whose server the plugin does not allow loses its folder") {
  const Fleet fleet({"a"});
  fleet.write_profile("a", {provider("real", "https://a.example:6443")});
  CHECK(fleet.once().exit_code == 0);
  CHECK(fleet.token("a") == "token-of-a-file");
  fleet.write_profile("a", {provider("real", "https://evil.example:6443")});
  const Outcome outcome = fleet.once();
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.error_output.find("cause=server-not-allowed") != std::string::npos);
  CHECK_FALSE(fs::exists(fleet.folder("a")));
}

TEST_CASE("sync --to-dir: exit code 3 for an unavailable plugin, 1 if another plugin fails" *
          doctest::description("promise 23")) {
  const Fleet fleet({"a"});
  fleet.write_profile("a", {provider("unavailable")});
  const auto causes = [&fleet](int exit_code) {
    const Outcome outcome = fleet.once();
    CHECK_MESSAGE(outcome.exit_code == exit_code, outcome.error_output);
    return outcome.error_output;
  };
  CHECK(causes(3).find("cluster=fleet/a provider=unavailable cause=source-unavailable") !=
        std::string::npos);
  fleet.write_profile("b", {provider("failing")});
  CHECK(causes(1).find("cluster=fleet/b provider=failing cause=program-failed") !=
        std::string::npos);
}

TEST_CASE("sync --to-dir: of two ClusterProfiles with one name, neither is written") {
  const Fleet fleet({"a", "b"});
  fleet.once();
  const std::string token = fleet.token("a");
  fleet.sandbox().write("profiles/again.json", profile("a", {provider("p", "https://x.example")}));
  const Outcome outcome = fleet.once();
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.error_output.find("cause=target-clash") != std::string::npos);
  CHECK(fleet.token("a") == token);
  CHECK(read_text(fleet.folder("a") / "server") == "https://a.example:6443");
}

TEST_CASE("sync --to-dir: an expired credential is not written") {
  const Fleet fleet({"a"});
  fleet.write_profile("a", {provider("ended")});
  const Outcome outcome = fleet.once();
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.error_output.find("cause=credential-expired") != std::string::npos);
  CHECK_FALSE(fs::exists(fleet.folder("a")));
}

TEST_CASE("sync --dry-run: names what would change, runs nothing and writes nothing") {
  const Fleet fleet({"a"});
  const Outcome outcome = fleet.sync({"--dry-run", "--to-dir=" + fleet.root().native()});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.output == "create '" + fleet.folder("a").native() + "': missing\n");
  CHECK(fs::is_empty(fleet.root()));
  CHECK(fleet.runs() == 0);
}

TEST_CASE("sync --dry-run: of two ClusterProfiles with one name, neither is named as written") {
  const Fleet fleet({"a", "b"});
  fleet.sandbox().write("profiles/again.json", profile("a", {provider("p", "https://x.example")}));
  const Outcome outcome = fleet.sync({"--dry-run", "--to-dir=" + fleet.root().native()});
  CHECK(outcome.output == "skip fleet/a: there are two ClusterProfiles of this name\ncreate '" +
                              fleet.folder("b").native() + "': missing\n");
}

TEST_CASE("sync --dry-run: a folder of another owner is not named as written") {
  const Fleet fleet({"a", "b"});
  fleet.sandbox().write("out/fleet/a/token", "theirs");
  const Outcome outcome = fleet.sync({"--dry-run", "--to-dir=" + fleet.root().native()});
  CHECK(outcome.output == "skip '" + fleet.folder("a").native() +
                              "': it is not this instance's\ncreate '" +
                              fleet.folder("b").native() + "': missing\n");
}

TEST_CASE("sync --dry-run: does not remove the leftovers of a killed run") {
  const Fleet fleet({"a"});
  fleet.once();
  const std::string left_over = "out/fleet/.execcred-sync.0123456789abcdef/token";
  fleet.sandbox().write(left_over, "half");
  CHECK(fleet.sync({"--dry-run", "--to-dir=" + fleet.root().native()}).exit_code == 0);
  CHECK(fs::exists(fleet.sandbox().path() / left_over));
  fleet.once();
  CHECK_FALSE(fs::exists(fleet.sandbox().path() / left_over));
}

TEST_CASE("sync: invalid options, and options that exclude or need each other, are refused") {
  const Fleet fleet({"a"});
  const std::string folder = "--to-dir=" + fleet.root().native();
  CHECK_REFUSAL(fleet.sync({"--once"}), 2, "neither --to-dir nor --to-secret is given");
  CHECK_REFUSAL(fleet.sync({"--once", "--to-secret=token"}), 2, "without --secret-namespace");
  CHECK_REFUSAL(fleet.sync({"--once", "--to-secret=token,flux", "--secret-namespace=x"}), 2,
                "'flux' is no format of a Secret");
  CHECK_REFUSAL(fleet.sync({folder, "--once", "--secret-namespace=x"}), 2, "are for --to-secret");
  CHECK_REFUSAL(fleet.sync({folder, "--once", "--secret-name=x"}), 2, "are for --to-secret");
  CHECK_REFUSAL(fleet.sync({"--once", "--to-secret=token", "--secret-namespace=X"}), 2,
                "'X' cannot be the name of a namespace");
  for (const std::string percent : {"0", "100", "-1", "x", "50%"}) {
    CHECK_REFUSAL(fleet.sync({folder, "--once", "--renew-at=" + percent}), 2,
                  "is no number from 1 to 99");
  }
  CHECK_REFUSAL(fleet.sync({folder, "--once", "--lease=name"}), 2, "is no name of a Lease");
  CHECK_REFUSAL(fleet.sync({folder, "--listen=x"}), 2, "--listen 'x' is no address");
  CHECK_REFUSAL(fleet.sync({folder, "--listen=x", "--once"}), 2, "--listen 'x' is no address");
  CHECK_REFUSAL(fleet.sync({folder, "--listen=x", "--dry-run"}), 2, "--listen 'x' is no address");
  CHECK_REFUSAL(fleet.sync({folder, "--listen=::1:80"}), 2, "is no address");
  for (const std::string end : {"--once", "--dry-run"}) {
    CHECK_REFUSAL(fleet.sync({folder, "--listen=:0", end}), 2, "--listen is for a run without");
  }
  CHECK_REFUSAL(fleet.sync({folder, "--once", "--dir-group=4294967295"}), 2,
                "there is no group '4294967295'");
  CHECK_REFUSAL(fleet.sync({folder, "--once", "--instance=a b"}), 2,
                "cannot be the value of a label");
  CHECK_REFUSAL(fleet.sync({folder, "--once", "--log-format=xml"}), 2, "'xml' is no log format");
  CHECK_REFUSAL(fleet.sync({folder, "--once", "--kubeconfig=/x"}), 2, "without --from-hub");
}

TEST_CASE("sync --log-format=json: every line is an object, errors too") {
  const Fleet fleet({"a"});
  fleet.write_profile("b", {provider("failing")});
  const Outcome outcome = fleet.once({"--log-format=json"});
  CHECK(outcome.exit_code == 1);
  std::size_t lines = 0;
  for (const std::string& line : execcred::test::lines_of(outcome.error_output)) {
    ++lines;
    CHECK(json_at(line, "level") != "");
    CHECK(json_at(line, "message") != "");
  }
  CHECK(lines == 2);
  const Outcome refused =
      fleet.sync({"--once", "--log-format=json", "--to-dir=" + fleet.sandbox().at("absent")});
  CHECK(refused.exit_code == 2);
  CHECK(json_at(refused.error_output, "level") == "error");
  CHECK(json_at(refused.error_output, "hint").starts_with("create it first"));
}

TEST_CASE("sync --log-format=json: a usage error is an object, too") {
  const Fleet fleet({"a"});
  const std::string folder = "--to-dir=" + fleet.root().native();
  const auto message_of = [&](std::vector<std::string> arguments) {
    const Outcome outcome = fleet.sync(std::move(arguments));
    CHECK_MESSAGE(outcome.exit_code == 2, describe(outcome));
    CHECK(execcred::test::lines_of(outcome.error_output).size() == 1);
    CHECK(json_at(outcome.error_output, "level") == "error");
    return json_at(outcome.error_output, "message");
  };
  const std::string json = "--log-format=json";
  CHECK(message_of({folder, "--no-such", json}) == "unknown option '--no-such'");
  CHECK(message_of({folder, json, "word"}).find("is no option") != std::string::npos);
  CHECK(message_of({folder, "--file-mode=0666", json}).starts_with("--file-mode: '0666'"));
  CHECK(message_of({folder, "--log-format", "json", "--lease"}) == "--lease needs a value");
  CHECK(message_of({"--once", json}) == "neither --to-dir nor --to-secret is given");
  const Outcome without_mapping = run({.arguments = {kCli, "sync", json, folder}});
  CHECK(without_mapping.exit_code == 2);
  CHECK(json_at(without_mapping.error_output, "message").ends_with(" is required"));
}
