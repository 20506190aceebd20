// SPDX-License-Identifier: Apache-2.0
// Valid contents and kinds of the token file.
#include "support/certificates.hpp"
#include "support/token_file.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

using namespace blackbox;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxFile = 128 * 1024;
constexpr uid_t kStranger = 64123;

Outcome run_on(const std::string& path) {
  return run(token_file_command({"--token-file=" + path}));
}

std::string token_of(const Outcome& outcome) { return read_answer(outcome.output).token; }

}  // namespace

TEST_SUITE_BEGIN("token_file");

TEST_CASE("content: white space around the token is removed, and no other byte changes") {
  const std::string token = "t0k3n-._~+/=!#$%&'*^`|:;,@()<>?\"\\{}[]";
  const Sandbox sandbox;
  for (const std::string& content :
       {token, token + "\n", token + "\r\n", "\n\t " + token + " \n\n", token + "\v\f\r\n"}) {
    CAPTURE(content);
    const Outcome outcome = run_on(sandbox.write("token", content));
    CHECK_SUCCESS(outcome);
    CHECK(token_of(outcome) == token);
  }
}

TEST_CASE("content: a JWT that was read half written is refused, and the whole one is given") {
  const TokenFile whole;
  for (const std::size_t part : {3UL, 20UL, whole.token().rfind('.') - 1}) {
    CAPTURE(part);
    const TokenFile cut(whole.token().substr(0, part));
    CHECK_FAILURE(cut.run(), 1, "the token begins as a JWT does, but is none");
    CHECK(says(cut.run(), "try again"));
  }
  CHECK_SUCCESS(whole.run());
}

TEST_CASE("content: text that is not one header-safe word is refused, and not shown") {
  const Sandbox sandbox;
  remember_secret("S3cretCanaryWord");
  const std::string canary = "S3cretCanaryWord";
  const std::string kubeconfig =
      "apiVersion: v1\nkind: Config\nusers:\n- user: {token: " + canary + "}\n";
  std::string every_control = canary;
  every_control.push_back('\x01');
  for (const std::string& content :
       {std::string(),
        std::string("\n"),
        std::string(" \t\r\n"),
        canary + " " + canary,
        canary + "\n" + canary,
        canary + "\r\n\r\n" + canary,
        canary + "\tx",
        every_control,
        canary + '\0',
        '\0' + canary,
        canary + "\x7f",
        canary + "\x1b[2J",
        "\xef\xbb\xbf" + canary,
        canary + "\xc3\xa9",
        canary + "\xff",
        canary + "\xe2\x80\xa8",
        "Bearer " + canary,
        "{\"token\":\"" + canary + "\"}",
        "[\"" + canary + "\"]",
        "token: " + canary,
        kubeconfig,
        "---\n" + kubeconfig,
        base64(kubeconfig),
        "-----BEGIN PRIVATE KEY-----\n" + canary + "\n-----END PRIVATE KEY-----\n",
        kAuthorityOne,
        base64(kAuthorityOne),
        base64("-----BEGIN RSA PRIVATE KEY-----\n" + canary)}) {
    CAPTURE(content);
    const std::string path = sandbox.write("token", content);
    const Outcome outcome = run_on(path);
    CHECK_REFUSAL(outcome, 1, path);
    CHECK_FAILURE(run(token_file_command({"--token-file=" + path, "--audience=a"})), 1,
                  "reading the token in");
  }
}

TEST_CASE("content: the message distinguishes a PEM file, a kubeconfig and an empty file") {
  const Sandbox sandbox;
  CHECK(says(run_on(sandbox.write("a", kAuthorityOne)), "PEM"));
  CHECK(says(run_on(sandbox.write("b", "apiVersion: v1\nkind: Config\n")), "kubeconfig"));
  CHECK(says(run_on(sandbox.write("c", "")), "empty"));
}

TEST_CASE("content: a file may have 128 KiB and not a byte more") {
  const Sandbox sandbox;
  const std::string whole(kMaxFile, 'x');
  CHECK((token_of(run_on(sandbox.write("whole", whole))) == whole));
  const std::string padded = whole.substr(1) + "\n";
  CHECK(token_of(run_on(sandbox.write("padded", padded))).size() == kMaxFile - 1);
  CHECK_FAILURE(run_on(sandbox.write("larger", whole + "\n")), 2, "it is larger than 128 KiB");
  CHECK(says(run_on(sandbox.at("larger")), "128 KiB"));
  // A sparse gigabyte is refused for its size, not read.
  const std::string sparse = sandbox.write("sparse", "");
  fs::resize_file(sparse, 1UL << 30);
  const Outcome outcome = run_on(sparse);
  CHECK_FAILURE(outcome, 2, "it is larger than 128 KiB");
  CHECK(outcome.elapsed < blackbox::kNoWait);
}

TEST_CASE("kind: a path that cannot be opened, or is no regular file, is an error without delay") {
  const Sandbox sandbox;
  const std::string fifo = sandbox.at("fifo");
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  const std::string listening = sandbox.at("socket");
  const int socket_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
  REQUIRE(listening.size() < sizeof address.sun_path);
  std::strncpy(address.sun_path, listening.c_str(), sizeof address.sun_path - 1);
  REQUIRE(bind(socket_fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  const std::string file = sandbox.write("file", "token");
  for (const std::string& path :
       {sandbox.at("none"), sandbox.at("none/token"), sandbox.path().native(), file + "/",
        file + "/token", sandbox.path().native() + "/", std::string("/"), std::string("."), fifo,
        listening, std::string("/dev/null"), std::string("/dev/zero"), std::string("/dev/stdin"),
        std::string("/dev/fd/0"), std::string("/dev/tty"), sandbox.at(std::string(300, 'n')),
        "/" + std::string(5000, 'p')}) {
    CAPTURE(path);
    const Outcome outcome = run_on(path);
    CHECK_REFUSAL(outcome, 2, "cannot read");
    CHECK(outcome.elapsed < blackbox::kNoWait);
  }
  close(socket_fd);
  const Outcome missing = run_on(sandbox.at("none"));
  CHECK(says(missing, "No such file or directory"));
  CHECK(says(missing, "  hint: mount a projected serviceAccountToken volume there"));
}

TEST_CASE("kind: a relative path is looked for in the working directory") {
  const Sandbox sandbox;
  sandbox.write("folder/token", "relative-token");
  for (const std::string path : {"folder/token", "./folder/token", "folder/../folder/token"}) {
    CAPTURE(path);
    Command command = token_file_command({"--token-file=" + path});
    command.before_exec = [&sandbox] {
      if (chdir(sandbox.path().c_str()) != 0) _exit(125);
    };
    CHECK(token_of(run(command)) == "relative-token");
    command.before_exec = [&sandbox] {
      const std::string gone = sandbox.at("gone");
      if (mkdir(gone.c_str(), 0755) != 0 || chdir(gone.c_str()) != 0 || rmdir(gone.c_str()) != 0) {
        _exit(125);
      }
    };
    CHECK_REFUSAL(run(command), 2, "cannot read");
  }
}

TEST_CASE("symlinks: one inside its own directory is followed, one that leaves it is refused") {
  const Sandbox sandbox;
  sandbox.write("volume/real", "token-inside");
  sandbox.write("volume/deep/real", "token-inside");
  const std::string outside = sandbox.write("outside/real", "token-outside");
  remember_secret("token-outside");
  const auto link = [&sandbox](const std::string& target, const std::string& name) {
    fs::create_symlink(target, sandbox.at("volume/" + name));
    return sandbox.at("volume/" + name);
  };
  for (const std::string& path : {link("real", "a"), link("./real", "b"), link("deep/real", "c"),
                                  link("deep/../real", "d"), link("a", "e")}) {
    CAPTURE(path);
    CHECK(token_of(run_on(path)) == "token-inside");
  }
  link("../../outside", "deep/escape");
  for (const std::string& path :
       {link("../outside/real", "f"), link(outside, "g"), link("deep/../../outside/real", "h"),
        link("f", "i"), link("/etc/hostname", "j"), link("../volume/../outside/real", "k"),
        link("deep/escape/real", "l")}) {
    CAPTURE(path);
    CHECK_REFUSAL(run_on(path), 2, "symbolic link");
  }
  for (const std::string& path : {link("loop", "loop"), link("m2", "m1"), link("none", "n")}) {
    CAPTURE(path);
    CHECK_REFUSAL(run_on(path), 2, "cannot read");
  }
  // A directory of the path may be a symlink of a trusted user, such as /var/run.
  fs::create_directory_symlink(sandbox.at("volume"), sandbox.at("alias"));
  CHECK(token_of(run_on(sandbox.at("alias/real"))) == "token-inside");
}

TEST_CASE("permissions: a file or directory that others may write is refused") {
  const Sandbox sandbox;
  for (const mode_t mode : {0622U, 0602U, 0620U, 0666U, 0777U}) {
    CAPTURE(mode);
    CHECK_REFUSAL(run_on(sandbox.write("token-" + std::to_string(mode), "t", mode)), 2, "writable");
  }
  for (const mode_t mode : {0400U, 0440U, 0444U, 0600U, 0640U, 0644U, 0755U}) {
    CAPTURE(mode);
    CHECK_SUCCESS(run_on(sandbox.write("token-" + std::to_string(mode), "t", mode)));
  }
  const std::string inside = sandbox.write("folder/deep/token", "t");
  for (const mode_t mode : {0777U, 0775U, 0757U}) {
    for (const std::string folder : {"folder", "folder/deep"}) {
      CAPTURE(folder);
      fs::permissions(sandbox.at(folder), fs::perms(mode));
      CHECK_REFUSAL(run_on(inside), 2, sandbox.at(folder));
      fs::permissions(sandbox.at(folder), fs::perms(0755));
    }
  }
  CHECK_SUCCESS(run_on(inside));
}

TEST_CASE("permissions: a file that cannot be read is a configuration error") {
  if (geteuid() == 0) {
    MESSAGE("skipped: root reads every file");
    return;
  }
  const Sandbox sandbox;
  CHECK_REFUSAL(run_on(sandbox.write("token", "t", 0200)), 2, "Permission denied");
}

TEST_CASE("owners: only root and the plugin's user are trusted, also in a sticky directory") {
  if (geteuid() != 0) {
    MESSAGE("skipped: only root gives files away");
    return;
  }
  const Sandbox sandbox;
  const std::string path = sandbox.write("volume/token", "t");
  const std::string volume = sandbox.at("volume");
  fs::create_symlink("token", sandbox.at("volume/link"));
  // As the kubelet mounts a projected volume.
  REQUIRE(chmod(volume.c_str(), 01777) == 0);
  CHECK_SUCCESS(run_on(path));
  CHECK_SUCCESS(run_on(sandbox.at("volume/link")));
  REQUIRE(chown(path.c_str(), kStranger, 0) == 0);
  CHECK_REFUSAL(run_on(path), 2, std::to_string(kStranger));
  REQUIRE(chown(path.c_str(), 0, kStranger) == 0);
  CHECK_SUCCESS(run_on(path));
  REQUIRE(lchown(sandbox.at("volume/link").c_str(), kStranger, 0) == 0);
  CHECK_REFUSAL(run_on(sandbox.at("volume/link")), 2, std::to_string(kStranger));
  for (const mode_t mode : {0755U, 01777U}) {
    REQUIRE(chown(volume.c_str(), kStranger, 0) == 0);
    REQUIRE(chmod(volume.c_str(), mode) == 0);
    CHECK_REFUSAL(run_on(path), 2, std::to_string(kStranger));
  }
}

TEST_SUITE_END();
