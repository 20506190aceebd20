// SPDX-License-Identifier: Apache-2.0
// A client that runs longer than its token is valid, and reads it again from a file.
#include "live_api.hpp"
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

using namespace std::chrono_literals;
using Kind = Error::Kind;

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "execcred-hub-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

struct Setting {
  Folder folder;
  LiveApi api;
  std::string good = "Bearer first";

  Setting() {
    api.before([this](Stream& stream, const Received& request) {
      return request.header("Authorization") != good &&
             stream.write(status_reply(401, "Unauthorized", "Unauthorized"));
    });
    api.put("secrets", {{"kind", "Secret"}, {"metadata", {{"name", "web"}, {"namespace", "a"}}}});
  }
  Hub hub() {
    Hub hub = api.hub();
    hub.token = SecretString("first");
    hub.token_file = folder.write("token", "first\n");
    return hub;
  }
};

Result<std::optional<json::Value>> read(HubClient& hub) {
  return hub.find({.version = "v1", .resource = "secrets", .name_space = "a", .name = "web"});
}

TEST_CASE("hub token: after a 401 it is read again from its file, and used if it changed") {
  Setting s;
  HubClient hub(s.hub(), {}, {.first_pause = 1ms});
  CHECK(read(hub));
  s.good = "Bearer second";
  check_fails(read(hub), Kind::no_credential, "401 Unauthorized");
  CHECK(s.api.requests().size() == 2);
  s.folder.write("token", "second\n");
  CHECK(read(hub));
  CHECK(s.api.requests().size() == 4);
  CHECK(read(hub));
  CHECK(s.api.requests().size() == 5);
}

TEST_CASE("hub token: it is read again at its age, without a valid file the old one stays") {
  Setting s;
  Hub settings = s.hub();
  settings.token_age = 0ns;
  HubClient hub(settings.copy(), {}, {.first_pause = 1ms});
  s.folder.write("token", "second\n");
  s.good = "Bearer second";
  CHECK(read(hub));
  CHECK(s.api.requests().size() == 1);
  s.folder.write("token", "two words\n");
  CHECK(read(hub));
  std::filesystem::remove(settings.token_file);
  CHECK(read(hub));
  CHECK(s.api.requests().size() == 3);
}

TEST_CASE("hub token: a kubeconfig's tokenFile is relative to the kubeconfig") {
  const Folder folder;
  const std::filesystem::path token = folder.write("sa-token", "first\n");
  const std::filesystem::path config = folder.write(
      "config",
      R"({"apiVersion":"v1","kind":"Config","current-context":"c","clusters":[{"name":"c",)"
      R"("cluster":{"server":"https://127.0.0.1:1"}}],"users":[{"name":"u","user":)"
      R"({"tokenFile":"sa-token"}}],"contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}]})");
  const Result<Hub> hub = find_hub(config.string(), Environment());
  REQUIRE(hub);
  CHECK(hub->token.reveal() == "first");
  CHECK(hub->token_file == token);
  CHECK(hub->copy().token_file == token);
  CHECK(hub->copy().token.reveal() == "first");
}

}  // namespace
}  // namespace execcred::test
