// SPDX-License-Identifier: Apache-2.0
// What counts as the identity of a token and of a machine.
#include "support/claim_changes.hpp"
#include "unit/temp_dir.hpp"

#include <doctest/doctest.h>
#include <execcred/base/encoding.hpp>
#include <execcred/cache/key.hpp>
#include <execcred/exec/identity.hpp>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <functional>
#include <set>

namespace execcred {
namespace {

namespace fs = std::filesystem;

std::string key_of(const std::string& token) {
  CacheKey key;
  const SecretString text{std::string_view(token)};
  add_token_identity("token", text, parse_jwt(text), key);
  return key.text();
}

std::string jwt_of(std::string_view claims) {
  return std::string("eyJhbGciOiJSUzI1NiJ9.").append(encode_base64url(claims).reveal()) + ".c2ln";
}

std::string key_of_claims(std::string_view claims) { return key_of(jwt_of(claims)); }

std::string key_of_machine() {
  CacheKey key;
  identify_machine(key);
  return key.text();
}

constexpr int kNotPermitted = 77;

// The machine's key in a child process after `enter`; empty if `enter` returns false.
std::string key_in_child(const std::function<bool()>& enter) {
  std::array<int, 2> ends = {};
  REQUIRE(pipe2(ends.data(), O_CLOEXEC) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (!enter()) _exit(kNotPermitted);
    const std::string text = key_of_machine();
    const ssize_t written = write(ends[1], text.data(), text.size());
    _exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  std::array<char, 4096> buffer = {};
  for (ssize_t size = 1; size > 0;) {
    size = read(ends[0], buffer.data(), buffer.size());
    if (size > 0) text.append(buffer.data(), static_cast<std::size_t>(size));
  }
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNotPermitted) return {};
  REQUIRE(WEXITSTATUS(status) == 0);
  return text;
}

// Only root may make other namespaces outside a user namespace.
bool leave(int namespaces) {
  return unshare(geteuid() == 0 ? namespaces : namespaces | CLONE_NEWUSER) == 0;
}

}  // namespace

TEST_CASE("a token's identity: each claim counts, except those of one token and of one Pod") {
  std::set<std::string> keys;
  test::check_that_claims_are_identity([&keys](const std::string& claims) {
    return keys.insert(key_of_claims(claims)).second ? 1 : 0;
  });
}

TEST_CASE(
    "a token's identity: the order of members, the form of aud, and white space do not count") {
  const std::string key =
      key_of_claims(R"({"iss":"i","sub":"s","aud":["a","b"],"x":{"a":[1,2],"b":"c"},"n":"é"})");
  for (
      const char* same :
      {R"({"x":{"b":"c","a":[1,2]},"n":"é","aud":["b","a"],"sub":"s","iss":"i"})",
       R"( { "iss" : "i", "sub":"s","aud":["a","b","a"],"x":{"a":[1, 2],"b":"c"},"n":"é","exp":9})",
       R"({"iss":"i","sub":"s","aud":["a","b"],"x":{"a":[1,2],"b":"\u0063"},"n":"\u00e9"})"}) {
    CAPTURE(same);
    CHECK(key_of_claims(same) == key);
  }
  CHECK(key_of_claims(R"({"iss":"i","sub":"s","aud":"a"})") ==
        key_of_claims(R"({"iss":"i","sub":"s","aud":["a"]})"));
}

TEST_CASE("a token's identity: what looks alike is different") {
  const std::vector<std::string> others = {R"("x":1)",
                                           R"("x":"1")",
                                           R"("x":1.0)",
                                           R"("x":1e0)",
                                           R"("x":9007199254740993)",
                                           R"("x":9007199254740992)",
                                           R"("x":0.1)",
                                           R"("x":0.1000000000000000055511151231257827)",
                                           R"("x":[1,2])",
                                           R"("x":[2,1])",
                                           R"("x":[[1],2])",
                                           R"("x":["1","2"])",
                                           R"("x":["1\",\"2"])",
                                           R"("x":{"y":1})",
                                           R"("x":{"y":{"z":1}})",
                                           R"("x":{"y":1,"z":1})",
                                           R"("x.y":1)",
                                           R"("x":null)",
                                           R"("X":1)",
                                           R"("x":true)",
                                           R"("x":"true")",
                                           R"("x":{"exp":1})",
                                           R"("x":{"kubernetes.io":{"pod":1}})",
                                           R"("x":{"kubernetes.io":{"pod":2}})",
                                           R"("kubernetes.io":"pod")",
                                           R"("kubernetes.io":["pod"])",
                                           R"("kubernetes.io":{"x":{"pod":1}})",
                                           R"("kubernetes.io":{"x":{"pod":2}})",
                                           R"("pod":1)",
                                           R"("warnafter":1)",
                                           R"("aud":["a","b"])",
                                           R"("aud":["a,b"])",
                                           R"("aud":"a b")",
                                           R"("aud":null)",
                                           R"("iat ":1)"};
  std::set<std::string> keys = {key_of_claims(R"({"iss":"i","sub":"s"})")};
  for (const std::string& other : others) {
    CAPTURE(other);
    CHECK(keys.insert(key_of_claims(R"({"iss":"i","sub":"s",)" + other + "}")).second);
  }
}

TEST_CASE("a token's identity: an issuer that is missing is a claim like others") {
  std::set<std::string> keys;
  for (const char* claims : {R"({"sub":"s"})", R"({"sub":"s","x":1})", R"({"iss":"","sub":"s"})",
                             R"({"iss":1,"sub":"s"})", R"({"iss":"i","sub":"s"})"}) {
    CAPTURE(claims);
    CHECK(keys.insert(key_of(jwt_of(claims))).second);
    CHECK(key_of(jwt_of(claims)) == key_of(jwt_of(claims) + "A"));
  }
}

TEST_CASE("a token's identity: without a subject, each token is another one") {
  for (const char* claims :
       {R"({"iss":"i","x":1})", R"({"iss":"i","sub":""})", R"({"iss":"i","sub":"s","sub":"t"})",
        R"({"iss":"i","sub":"s","aud":1})"}) {
    CAPTURE(claims);
    const std::string token = jwt_of(claims);
    CHECK(key_of(token) == key_of(token));
    CHECK(key_of(token) != key_of(token + "A"));
    CHECK(key_of(token).find("token.fingerprint=") != std::string::npos);
  }
}

TEST_CASE("a machine's identity: two processes of one Pod have one") {
  const std::string key = key_of_machine();
  CHECK(key_in_child([] { return true; }) == key);
  const std::string in_own_pids = key_in_child([] { return leave(CLONE_NEWPID); });
  if (in_own_pids.empty()) {
    MESSAGE("skipped: no namespaces are permitted");
    return;
  }
  CHECK(in_own_pids == key);
}

TEST_CASE("a machine's identity: Pods with one host name on one node are different") {
  // In turn: the usual Pod, one on the host's network, and one that also has the host's IPC.
  struct Pod {
    std::string what;
    int namespaces;
    bool has_mounts;
  };
  const test::TempDir folder;
  std::set<std::string> keys = {key_of_machine()};
  for (const Pod& pod :
       {Pod{"its own network", CLONE_NEWNET, false}, Pod{"its own IPC", CLONE_NEWIPC, false},
        Pod{"files of the kubelet", CLONE_NEWNS, true},
        Pod{"files of the kubelet for another Pod", CLONE_NEWNS, true}}) {
    CAPTURE(pod.what);
    const fs::path source = test::write_file(folder / ("hosts-" + std::to_string(keys.size())), "");
    const std::string key = key_in_child([&] {
      if (!leave(pod.namespaces)) return false;
      if (!pod.has_mounts) return true;
      return mount("", "/", "", MS_REC | MS_PRIVATE, "") == 0 &&
             mount(source.c_str(), "/etc/hosts", "", MS_BIND, "") == 0;
    });
    if (key.empty()) {
      MESSAGE("skipped: no namespaces are permitted");
      return;
    }
    CHECK(keys.insert(key).second);
  }
}

}  // namespace execcred
