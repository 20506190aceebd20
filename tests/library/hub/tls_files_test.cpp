// SPDX-License-Identifier: Apache-2.0
// A client that runs longer than its CA and its certificate, and reads them again from their files.
#include "support/scripted_server.hpp"
#include "unit/expect.hpp"

#include <doctest/doctest.h>
#include <execcred/base/environment.hpp>
#include <execcred/hub/client.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

namespace execcred::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// A folder as the kubelet writes it: ..data is a link that is replaced, so that all files change at
// once.
class Volume {
 public:
  Volume() {
    std::string name = (fs::temp_directory_path() / "execcred-tls-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Volume() { fs::remove_all(path_); }
  Volume(const Volume&) = delete;
  Volume& operator=(const Volume&) = delete;

  void swap(const std::string& ca, const std::string& certificate, const std::string& key) {
    const fs::path version = path_ / std::to_string(++versions_);
    fs::create_directory(version);
    std::ofstream(version / "ca.crt") << ca;
    std::ofstream(version / "tls.crt") << certificate;
    std::ofstream(version / "tls.key") << key;
    fs::create_directory_symlink(version.filename(), path_ / "..new");
    fs::rename(path_ / "..new", path_ / "..data");
    for (const char* const name : {"ca.crt", "tls.crt", "tls.key"}) {
      if (!fs::exists(path_ / name)) {
        fs::create_symlink(fs::path("..data") / name, path_ / name);
      }
    }
  }
  // Changes one file in place.
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
  }
  fs::path at(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
  int versions_ = 0;
};

Result<Hub> hub_of(const Volume& volume, const std::string& server) {
  std::ofstream(volume.at("config"))
      << R"({"apiVersion":"v1","kind":"Config","current-context":"c","clusters":[{"name":"c",)"
         R"("cluster":{"certificate-authority":"ca.crt","server":")" +
             server +
             R"("}}],"users":[{"name":"u","user":{"client-certificate":"tls.crt",)"
             R"("client-key":"tls.key"}}],"contexts":[{"name":"c","context":{"cluster":"c",)"
             R"("user":"u"}}]})";
  return find_hub(volume.at("config").string(), Environment());
}

bool is_answered(HubClient& hub) {
  hub.begin(std::chrono::steady_clock::now() + 10s);
  return hub.versions("multicluster.x-k8s.io").has_value();
}

TEST_CASE("hub: its CA and its client certificate are read again when their files change") {
  const Identity client_ca = make_ca("clients");
  const Identity first = make_identity({.common_name = "first", .issuer = &client_ca});
  const Identity second = make_identity({.common_name = "second", .issuer = &client_ca});
  const Identity stranger = make_identity({.common_name = "stranger"});
  const Identity other_ca = make_ca("another hub");
  ScriptedServer server(ScriptedServer::Transport::tls, &client_ca);
  server.otherwise([](Stream& stream, const Received&) {
    stream.write(reply(200, R"({"kind":"APIGroup","versions":[]})"));
    stream.cut();
  });
  Volume volume;
  volume.swap(server.ca_pem(), first.pem, first.key_pem);
  Result<Hub> found = hub_of(volume, server.url());
  REQUIRE_MESSAGE(found, full_text(found.error()));
  HubClient hub(found->copy(), {}, {.attempts = 1, .first_pause = 1ms});
  CHECK(is_answered(hub));

  SUBCASE("a new CA") {
    volume.swap(other_ca.pem, first.pem, first.key_pem);
    CHECK_FALSE(is_answered(hub));
    volume.swap(server.ca_pem(), first.pem, first.key_pem);
    CHECK(is_answered(hub));
  }
  SUBCASE("a new certificate with its key") {
    volume.swap(server.ca_pem(), stranger.pem, stranger.key_pem);
    CHECK_FALSE(is_answered(hub));
    volume.swap(server.ca_pem(), second.pem, second.key_pem);
    CHECK(is_answered(hub));
  }
  SUBCASE("files that do not belong together, that are broken or gone, are not used") {
    volume.write("tls.crt", second.pem);
    CHECK(is_answered(hub));
    volume.write("tls.key", second.key_pem);
    CHECK(is_answered(hub));
    volume.write("ca.crt", "-----BEGIN CERTIFICATE-----\nAAAA");
    CHECK(is_answered(hub));
    volume.write("ca.crt", other_ca.pem);
    CHECK_FALSE(is_answered(hub));
    fs::remove(volume.at("..data"));
    CHECK_FALSE(is_answered(hub));
    volume.swap(server.ca_pem(), first.pem, first.key_pem);
    CHECK(is_answered(hub));
    fs::remove(volume.at("..data"));
    CHECK(is_answered(hub));
  }
}

}  // namespace
}  // namespace execcred::test
