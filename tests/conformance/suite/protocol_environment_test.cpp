// SPDX-License-Identifier: Apache-2.0
// Conditions in which a plugin may run: a hostile environment, any user, a deleted working
// directory.
#include "build_kind.hpp"
#include "client.hpp"
#include "file_watch.hpp"
#include "rules.hpp"
#include "sandbox.hpp"

#include <doctest/doctest.h>
#include <elf.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

using namespace blackbox;
namespace fs = std::filesystem;

namespace {

constexpr uid_t kAnyUser = 65532;

// Whether the kernel starts the program through a dynamic loader, which reads LD_* itself.
bool has_interpreter(const std::string& path) {
  const std::string image = read_text(path);
  Elf64_Ehdr header = {};
  if (image.size() < sizeof header) return false;
  std::memcpy(&header, image.data(), sizeof header);
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment = {};
    const std::size_t at = header.e_phoff + i * header.e_phentsize;
    if (at + sizeof segment > image.size()) return false;
    std::memcpy(&segment, image.data() + at, sizeof segment);
    if (segment.p_type == PT_INTERP) return true;
  }
  return false;
}

// Variables by which libraries read files, load code or write files, each with a bait of its own.
// No plugin needs one of them.
std::vector<std::string> hostile_variables(FileWatch& watch, bool with_loader) {
  const std::string code = "no shared object\n";
  const std::string text = "127.0.0.1 localhost\n";
  std::vector<std::string> variables = {
      "OPENSSL_CONF=" + watch.bait("openssl.cnf", text),
      "OPENSSL_CONF_INCLUDE=" + watch.folder(),
      "OPENSSL_MODULES=" + watch.folder(),
      "OPENSSL_ENGINES=" + watch.folder(),
      "SSLKEYLOGFILE=" + watch.bait_to_create("keylog"),
      "HOSTALIASES=" + watch.bait("hostaliases", text),
      "RESOLV_HOST_CONF=" + watch.bait("host.conf", text),
      "LOCPATH=" + watch.folder(),
      "NLSPATH=" + watch.bait("messages", text),
      "GCONV_PATH=" + watch.folder(),
      "LC_ALL=" + watch.bait("locale", text),
      "LANG=xx_XX.UTF-8",
      "LANGUAGE=xx",
      "TZ=:" + watch.bait("zone", text),
      "TZDIR=" + watch.folder(),
      "MALLOC_TRACE=" + watch.bait_to_create("malloc-trace"),
      "MEMUSAGE_OUTPUT=" + watch.bait_to_create("memusage"),
      "TMPDIR=" + watch.folder(),
      "CURL_HOME=" + watch.folder(),
      "NETRC=" + watch.bait("netrc", text),
      "KRB5_CONFIG=" + watch.bait("krb5.conf", text),
      "GETCONF_DIR=" + watch.folder(),
      "BASH_ENV=" + watch.bait("bash-env", text),
      "ENV=" + watch.bait("env", text),
      "GLIBC_TUNABLES=glibc.malloc.check=3:glibc.malloc.tcache_count=0",
      "MALLOC_CHECK_=3",
      "POSIXLY_CORRECT=1",
      "LIBC_FATAL_STDERR_=1",
  };
  if (!with_loader) return variables;
  for (const std::string name : {"LD_PRELOAD", "LD_AUDIT", "LD_PROFILE"}) {
    variables.push_back(name + "=" + watch.bait(name, code));
  }
  variables.push_back("LD_LIBRARY_PATH=" + watch.folder());
  variables.push_back("LD_DEBUG=all");
  variables.push_back("LD_DEBUG_OUTPUT=" + watch.bait_to_create("ld-debug"));
  variables.push_back("LD_BIND_NOW=1");
  return variables;
}

// A copy of the plugin that another user can execute.
std::string copy_of_plugin(const Sandbox& sandbox, const std::string& path) {
  const std::string copy = sandbox.at("plugin");
  fs::copy_file(path, copy);
  fs::permissions(copy, fs::perms(0755));
  return copy;
}

void become(uid_t user) {
  if (setgroups(0, nullptr) != 0 || setresgid(user, user, user) != 0 ||
      setresuid(user, user, user) != 0) {
    _exit(125);
  }
}

}  // namespace

TEST_SUITE_BEGIN(kProtocolSuite);

TEST_CASE("a hostile environment: no variable makes it open, create or load a file" *
          doctest::description("promise 17")) {
  if (kWithTsan) {
    MESSAGE("skipped: the sanitizer makes files");
    return;
  }
  FileWatch watch;
  Command command = plugin_command_with(client_info(kV1, "https://10.1.2.3:6443"));
  const bool is_dynamic = has_interpreter(command.arguments.front());
  if (is_dynamic) MESSAGE("skipped: LD_*, which the dynamic loader of this build reads itself");
  std::vector<std::string> hostile = hostile_variables(watch, !is_dynamic);
  for (std::string& variable : hostile) command.environment.push_back(std::move(variable));
  command.before_exec = [&watch] {
    if (chdir(watch.folder().c_str()) != 0) _exit(125);
  };
  watch.start();
  CHECK_SUCCESS(run(command));
  if (has_own_rules()) {
    command.arguments.emplace_back("--no-such-option");
    CHECK_FAILURE(run(command), 2, "unknown option '--no-such-option'");
  }
  int touched = 0;
  for (const std::string& name : watch.touched()) {
    // The working directory itself is opened by chdir in this test.
    CHECK_RULE(name == ".", name + " was touched");
    touched += name == "." ? 0 : 1;
  }
  MESSAGE("files touched: " << touched << ", by " << hostile.size() << " variables");
}

TEST_CASE("a hostile environment: the detector notices a program that touches a bait" * kOfSuite) {
  FileWatch watch;
  std::vector<std::string> variables = hostile_variables(watch, true);
  watch.start();
  std::set<std::string> expected;
  for (const std::string& variable : variables) {
    const std::string path = variable.substr(variable.find(watch.folder()) == std::string::npos
                                                 ? variable.size()
                                                 : variable.find(watch.folder()));
    if (path.empty() || path == watch.folder()) continue;
    CAPTURE(path);
    const std::string verb = fs::exists(path) ? "read line < " : ": > ";
    const Outcome outcome =
        run({.arguments = {"/bin/sh", "-c", verb + path}, .environment = {variable}});
    CHECK(outcome.exit_code >= 0);
    CHECK(watch.touched().count(fs::path(path).filename()) == 1);
    expected.insert(path);
  }
  CHECK(expected.size() >= 15);
}

TEST_CASE("other processes of its user cannot look into it" * kOwnRules) {
  const Sandbox sandbox;
  const Pipe never_ends;
  Command command = answered_command({"--exec-info=-", "--timeout=20s"});
  command.arguments.front() = copy_of_plugin(sandbox, command.arguments.front());
  command.before_exec = [&never_ends] {
    replace_descriptor(0, never_ends.read_end());
    if (geteuid() == 0) become(kAnyUser);
  };
  Child child(command);
  const std::string own_name = process_status(getpid(), "Name");
  // The files in /proc of a process that is not dumpable belong to root. So do those of a process
  // that has ended and, for a moment, those of a process that has become another user and does not
  // run the plugin yet.
  CHECK(wait_until([&] {
    if (process_status(child.pid(), "Name") == own_name) return false;
    struct stat status = {};
    const std::string path = "/proc/" + std::to_string(child.pid()) + "/environ";
    return stat(path.c_str(), &status) == 0 && status.st_uid == 0 &&
           !process_status(child.pid(), "Uid").starts_with("0") && is_running(child.pid());
  }));
}

TEST_CASE("malformed and repeated variables are passed over") {
  Command command = answered_command();
  for (const std::string entry : {"", "=", "=x", "NAME", "EXECCRED_TIMEOUT", "KUBERNETES_EXEC_INFO",
                                  "\xff\xfe=\xff", "A=", "A=1", "A=2"}) {
    command.environment.push_back(entry);
  }
  command.environment.push_back("LONG=" + std::string(100'000, 'x'));
  CHECK_SUCCESS(run(command));
  for (int i = 0; i < 2000; ++i) command.environment.push_back("V" + std::to_string(i) + "=x");
  CHECK_SUCCESS(run(command));
}

TEST_CASE("any user may run it, without a name, a home or a group") {
  if (geteuid() != 0) {
    MESSAGE("skipped: only root becomes another user");
    return;
  }
  if (kWithCoverage) {
    MESSAGE("skipped: another user cannot write the program's counters");
    return;
  }
  const Sandbox sandbox;
  for (const uid_t user : {kAnyUser, 1000680000U, 1U}) {
    CAPTURE(user);
    Command command = plugin_command_with(client_info(kV1, "https://10.1.2.3:6443"));
    command.arguments.front() = copy_of_plugin(sandbox, command.arguments.front());
    command.before_exec = [user] { become(user); };
    CHECK_SUCCESS(run(command));
    fs::remove(sandbox.at("plugin"));
  }
}

TEST_CASE("the working directory may be gone, unreadable or the root") {
  const Sandbox sandbox;
  const std::string gone = sandbox.at("gone");
  Command command = plugin_command_with(client_info(kV1, "https://10.1.2.3:6443"));
  command.before_exec = [&gone] {
    if (mkdir(gone.c_str(), 0700) != 0 || chdir(gone.c_str()) != 0 || rmdir(gone.c_str()) != 0) {
      _exit(125);
    }
  };
  CHECK_SUCCESS(run(command));
  command.before_exec = [] {
    if (chdir("/") != 0) _exit(125);
  };
  CHECK_SUCCESS(run(command));
  const std::string closed = sandbox.at("closed");
  fs::create_directory(closed);
  command.before_exec = [&closed] {
    if (chdir(closed.c_str()) != 0 || chmod(closed.c_str(), 0) != 0) _exit(125);
  };
  CHECK_SUCCESS(run(command));
  fs::permissions(closed, fs::perms(0700));
}

TEST_CASE("an odd umask and no new privileges change nothing") {
  Command command = answered_command();
  command.before_exec = [] {
    umask(0777);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) _exit(125);
  };
  CHECK_SUCCESS(run(command));
}

TEST_CASE("its messages carry the plugin's name, whatever it was started as" * kOwnRules) {
  const Sandbox sandbox;
  Command command = answered_command({"--no-such-option"});
  const std::string message = run(command).error_output;
  fs::create_symlink(command.arguments.front(), sandbox.at("an\nother-name"));
  command.arguments.front() = sandbox.at("an\nother-name");
  CHECK(run(command).error_output == message);
}

TEST_SUITE_END();
