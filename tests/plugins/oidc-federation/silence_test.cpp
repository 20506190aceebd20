// SPDX-License-Identifier: Apache-2.0
// Servers that do not answer, at each stage: the run ends within --timeout, and names the stage.
#include "build_kind.hpp"
#include "entry_file.hpp"
#include "federation.hpp"
#include "rights.hpp"
#include "support/texts.hpp"
#include "unit/temp_dir.hpp"

#include <doctest/doctest.h>
#include <execcred/cache/key.hpp>

#include <netinet/in.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

namespace execcred::test {
namespace {

constexpr milliseconds kTimeout(1000);

// A listener with a full backlog that never accepts, so that not even the TCP handshake completes.
class BlackHole {
 public:
  BlackHole() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const raw = reinterpret_cast<sockaddr*>(&address);
    REQUIRE(bind(listener_, raw, size) == 0);
    REQUIRE(listen(listener_, 0) == 0);
    REQUIRE(getsockname(listener_, raw, &size) == 0);
    port_ = ntohs(address.sin_port);
    // One fills the backlog; the others' handshakes are left unanswered.
    for (int i = 0; i < 3; ++i) {
      const int filler = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
      REQUIRE((connect(filler, raw, size) == 0 || errno == EINPROGRESS));
      fillers_.push_back(filler);
    }
  }
  ~BlackHole() {
    for (const int filler : fillers_) close(filler);
    close(listener_);
  }
  BlackHole(const BlackHole&) = delete;
  BlackHole& operator=(const BlackHole&) = delete;

  std::string authority() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  int listener_;
  std::uint16_t port_ = 0;
  std::vector<int> fillers_;
};

// A name server that reads no question, and the process's way to it alone.
class SilentDns {
 public:
  explicit SilentDns(const blackbox::Sandbox& sandbox)
      : socket_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)),
        file_(sandbox.write("resolv.conf", "nameserver 127.83.83.83\n")) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(53);
    address.sin_addr.s_addr = htonl(0x7f535353);
    const auto* const raw = reinterpret_cast<const sockaddr*>(&address);
    is_there_ = geteuid() == 0 && bind(socket_, raw, sizeof address) == 0;
  }
  ~SilentDns() { close(socket_); }
  SilentDns(const SilentDns&) = delete;
  SilentDns& operator=(const SilentDns&) = delete;

  // nullopt if it is not allowed; a message that begins with "skipped: " reports this.
  std::optional<Outcome> run(blackbox::Command command) const {
    return blackbox::run_if_allowed(std::move(command), "another name server", [this] {
      return is_there_ && blackbox::make_mounts_private() &&
             mount(file_.c_str(), "/etc/resolv.conf", "", MS_BIND, "") == 0;
    });
  }

 private:
  int socket_;
  std::string file_;
  bool is_there_ = false;
};

void say_nothing(Stream& stream, const Received& /*request*/) { stream.wait_for_close(); }

// Sends one byte at a time, without end.
void trickle(Stream& stream, const Received& /*request*/) {
  stream.write(
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n");
  while (stream.write(" ")) {
    const timespec pause = {.tv_sec = 0, .tv_nsec = 20'000'000};
    nanosleep(&pause, nullptr);
  }
}

void check_ends(const Outcome& outcome, const std::string& told) {
  CHECK_FAILURE(outcome, 3, "timed out");
  CHECK(outcome.elapsed < kTimeout + blackbox::kGrace);
  CAPTURE(outcome.error_output);
  CHECK(blackbox::says(outcome, told));
}

Ask impatient(Ask ask) {
  ask.arguments.emplace_back("--timeout=1s");
  return ask;
}

}  // namespace

TEST_CASE("silence: at connect" * doctest::description("promise 1")) {
  const BlackHole hole;
  Federation fed;
  check_ends(blackbox::run(plugin_of({"--flow=token-exchange", "--timeout=1s", "--no-cache",
                                      "--token-url=https://" + hole.authority() + "/token",
                                      "--subject-token-file=" + fed.subject_path})),
             "token endpoint");
  check_ends(blackbox::run(plugin_of({"--flow=token-exchange", "--timeout=1s", "--no-cache",
                                      "--issuer-url=https://" + hole.authority(),
                                      "--subject-token-file=" + fed.subject_path})),
             "discovery");
}

TEST_CASE("silence: in the TLS handshake" * doctest::description("promise 1")) {
  const StreamServer silent([](Stream& stream) { stream.wait_for_close(); });
  Federation fed;
  const std::string url = "https://127.0.0.1:" + std::to_string(silent.port());
  check_ends(blackbox::run(plugin_of({"--flow=token-exchange", "--timeout=1s", "--no-cache",
                                      "--token-url=" + url + "/token",
                                      "--subject-token-file=" + fed.subject_path})),
             "token endpoint");
}

TEST_CASE("silence: at discovery, before and in the token reply, with the cache and without" *
          doctest::description("promise 1")) {
  struct Case {
    std::string what;
    const char* path;
    ScriptedServer::Answer answer;
    std::string told;
  };
  for (const Case& c : {Case{"discovery", kDiscovery, say_nothing, "discovery"},
                        Case{"half a discovery document", kDiscovery, trickle, "discovery"},
                        Case{"the token endpoint", kToken, say_nothing, "token endpoint"},
                        Case{"half a token reply", kToken, trickle, "token endpoint"}}) {
    for (const bool has_cache : {true, false}) {
      CAPTURE(c.what);
      CAPTURE(has_cache);
      Federation fed;
      fed.idp.on(c.path, c.answer);
      Ask ask = {.by_issuer = true, .has_cache = has_cache};
      if (!has_cache) ask.arguments = {"--no-cache"};
      check_ends(fed.run(impatient(ask)), c.told);
    }
  }
}

TEST_CASE("silence: at each source of a subject token" * doctest::description("promise 1")) {
  Federation fed;
  ScriptedServer source(ScriptedServer::Transport::plain);
  for (const char* path :
       {"/t", "/computeMetadata/v1/instance/service-accounts/default/identity"}) {
    source.on(path, say_nothing);
  }
  ScriptedServer github;
  github.on("/token", trickle);
  const std::string ca = fed.sandbox.write("github-ca.pem", github.ca_pem());
  for (const Ask& ask :
       {Ask{.arguments = {"--subject-token-url=" + source.url("/t")}, .has_subject = false},
        Ask{.arguments = {"--subject=gcp-metadata", "--subject-audience=a"},
        .variables = {"GCE_METADATA_HOST=" + source.authority()},
        .has_subject = false},
        Ask{.arguments = {"--subject=github-actions", "--subject-audience=a",
                          "--subject-ca-file=" + ca},
        .variables = {"ACTIONS_ID_TOKEN_REQUEST_URL=" + github.url("/token"),
                      "ACTIONS_ID_TOKEN_REQUEST_TOKEN=" + new_secret()},
        .has_subject = false}}) {
    CAPTURE(ask.arguments[0]);
    check_ends(fed.run_cold(impatient(ask)), "subject token");
  }
  CHECK(fed.idp.connections() == 0);
}

TEST_CASE("silence: the Concierge" * doctest::description("promise 1")) {
  Federation fed;
  ScriptedServer concierge;
  concierge.on("/apis/login.concierge.pinniped.dev/v1alpha1/tokencredentialrequests", say_nothing);
  const std::string ca = fed.sandbox.write("concierge-ca.pem", concierge.ca_pem());
  check_ends(
      fed.run(impatient(
          {.flow = "pinniped",
           .arguments = {"--concierge-authenticator-type=jwt", "--concierge-authenticator-name=x",
                         "--concierge-endpoint=" + concierge.url(), "--concierge-ca-file=" + ca}})),
      "Concierge");
}

TEST_CASE("a port on which nothing listens is a temporary failure") {
  std::string url;
  {
    const StreamServer gone([](Stream&) {});
    url = "https://127.0.0.1:" + std::to_string(gone.port());
  }
  Federation fed;
  const Outcome outcome = blackbox::run(
      plugin_of({"--flow=token-exchange", "--timeout=1s", "--no-cache",
                 "--token-url=" + url + "/token", "--subject-token-file=" + fed.subject_path}));
  CHECK_FAILURE(outcome, 3, "cannot connect to https://");
}

TEST_CASE("SIGTERM ends a run that waits for a server, without half an answer") {
  Federation fed;
  fed.idp.on(kToken, say_nothing);
  blackbox::Child child(fed.command({.arguments = {"--timeout=8s"}}));
  CHECK(blackbox::wait_until([&] { return fed.idp.calls() == 1; }));
  child.send(SIGTERM);
  const Outcome outcome = child.wait();
  CHECK_FALSE(outcome.was_hanging);
  CHECK(outcome.elapsed < blackbox::kNoWait);
  CHECK(outcome.output == "");
  CHECK(outcome.signal == SIGTERM);
}

TEST_CASE("silence: a name look-up that hangs ends with the call, so a cached token is given" *
          doctest::description("promise 1")) {
  Federation fed;
  const SilentDns dns(fed.sandbox);
  const std::string token = token_of(fed.run({}));
  age_entry(fed.cache_path, std::chrono::minutes(57));
  // The same entry for a server whose name nobody resolves.
  const std::string url = "https://idp.test/token";
  CachedCredential entry = only_entry(fed.cache_path);
  entry.key = replaced(entry.key, fed.idp.token_url(), url);
  write_file(fed.cache_path + "/" + hash_key(entry.key).hex() + ".credential",
             std::string(write_cached_credential(entry).reveal()));
  const auto command = [&] {
    return plugin_of({"--flow=token-exchange", "--token-url=" + url, "--ca-file=" + fed.ca_path,
                      "--subject-token-file=" + fed.subject_path, "--cache-dir=" + fed.cache_path,
                      "--timeout=3s"});
  };
  const std::optional<Outcome> refreshing = dns.run(command());
  if (!refreshing) return;
  CHECK(token_of(*refreshing) == token);
  CHECK(refreshing->elapsed < milliseconds(blackbox::kIsSanitized ? 6000 : 3000));
  CHECK(cache_files(fed.cache_path, ".failure").size() == 1);

  for (const char* ending : {".failure", ".credential"}) {
    for (const auto& file : cache_files(fed.cache_path, ending)) std::filesystem::remove(file);
  }
  const std::optional<Outcome> failing = dns.run(command());
  CHECK_FAILURE(*failing, 3, "idp.test");
  CHECK_FALSE(blackbox::says(*failing, "timed out after 3s"));
  CHECK(cache_files(fed.cache_path, ".failure").size() == 1);
  CHECK(fed.idp.calls() == 1);
}

}  // namespace execcred::test
