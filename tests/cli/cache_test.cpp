// SPDX-License-Identifier: Apache-2.0
// execcred cache: what is in the plugins' cache, without the secrets.
#include "documents.hpp"
#include "filled_cache.hpp"
#include "plugin_under_test.hpp"

#include <sys/stat.h>

#include <sstream>
#include <utility>

using namespace blackbox;
using namespace std::chrono_literals;

namespace {

namespace fs = std::filesystem;

Outcome cache(std::vector<std::string> arguments, std::vector<std::string> environment = {}) {
  arguments.insert(arguments.begin(), {kCli, "cache"});
  return run({.arguments = std::move(arguments), .environment = std::move(environment)});
}

}  // namespace

TEST_SUITE_BEGIN("cli");

TEST_CASE("cache list: columns show each entry's state, age, identity, target and expiry") {
  const FilledCache cache;
  cache.add_credential("https://a.example.com", now() - 90s, now() + 1h);
  cache.add_credential("https://b.example.com", now() - 2h, now() - 1h, "b", "api");
  const Outcome outcome = cache.run({"list"});
  check_succeeds(outcome);
  CHECK(outcome.error_output.empty());
  std::vector<std::string> lines;
  std::istringstream stream(outcome.output);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].starts_with("STATE  AGE"));
  CHECK(lines[1].starts_with("valid  1m3"));
  CHECK(lines[2].starts_with("ended  2h"));
  const std::size_t identity = lines[0].find("IDENTITY");
  const std::size_t target = lines[0].find("TARGET");
  CHECK(lines[1].substr(identity).starts_with("system:serviceaccount:fleet:controller  "));
  CHECK(lines[1].substr(target) == "https://spoke-1.example.com:6443");
  CHECK(lines[2].substr(identity).starts_with("b  "));
  CHECK(lines[2].substr(target) == "api");
  const std::string until = lines[1].substr(lines[0].find("UNTIL"), 20);
  CHECK(parse_timestamp(until) > seconds_since_epoch() + 3500);
}

TEST_CASE("cache list: -o name and wide show the keys, -o yaml the entries") {
  const FilledCache cache;
  cache.add_credential("https://a.example.com", now() - 90s, now() + 1h);
  const std::string key = "issuer-url=https://a.example.com plugin=execcred-oidc-federation";
  CHECK(cache.run({"list", "-oname"}).output == key + "\n");
  CHECK(cache.run({"list", "-owide"}).output.find("TARGET") != std::string::npos);
  CHECK(cache.run({"list", "-owide"}).output.ends_with("  " + key + "\n"));
  CHECK(cache.run({"list", "-oyaml"}).output.find("\n- state: valid\n") != std::string::npos);
}

TEST_CASE("cache list: a failure shows its error, and its key if no credential has the identity") {
  const FilledCache cache;
  cache.add_failure("https://down.example.com", now(), now() + 30s, "the provider\nis down");
  const Outcome alone = cache.run({"list"});
  check_succeeds(alone);
  CHECK(alone.output.find("failed  ") != std::string::npos);
  CHECK(alone.output.find("\n  error: the provider\\x0ais down\n") != std::string::npos);
  // Without a credential, the identity is unknown, so the key is shown.
  CHECK(alone.output.find("\n  key: issuer-url=https://down.example.com "
                          "plugin=execcred-oidc-federation\n") != std::string::npos);
  cache.add_credential("https://down.example.com", now() - 1min, now() + 1min, "me", "spoke-1");
  const Outcome both = cache.run({"list"});
  check_succeeds(both);
  CHECK(both.output.find("  key: ") == std::string::npos);
  const std::size_t failed = both.output.find("failed");
  REQUIRE(failed != std::string::npos);
  CHECK(both.output.find("me        spoke-1", failed) != std::string::npos);
}

TEST_CASE("cache list -o json: the fields of credentials and of failures") {
  const FilledCache cache;
  cache.add_credential("https://a.example.com", now() - 90s, now() + 1h);
  cache.add_failure("https://b.example.com", now(), now() + 30s, "the provider is down");
  const Outcome outcome = cache.run({"list", "-o", "json"});
  check_succeeds(outcome);
  const auto at = [&outcome](const char* path) { return json_at(outcome.output, path); };
  CHECK(at("directory") == cache.path());
  CHECK(at("items.0.state") == "valid");
  CHECK(at("items.0.identity") == "system:serviceaccount:fleet:controller");
  CHECK(at("items.0.target") == "https://spoke-1.example.com:6443");
  CHECK(std::stoi(at("items.0.ageSeconds")) >= 90);
  CHECK(parse_timestamp(at("items.0.expires")) > seconds_since_epoch());
  CHECK(parse_timestamp(at("items.0.created")) < seconds_since_epoch());
  CHECK(at("items.0.key.0") == "issuer-url=https://a.example.com");
  CHECK(at("items.0.key.1") == "plugin=execcred-oidc-federation");
  CHECK(at("items.0.key.2") == "(missing)");
  CHECK(at("items.1.state") == "failed");
  CHECK(at("items.1.error.message") == "the provider is down");
  CHECK(at("items.1.error.hint") == "wait");
  CHECK(at("items.1.error.exitCode") == "3");
  CHECK(parse_timestamp(at("items.1.askedAgainAfter")) > seconds_since_epoch());
  CHECK(at("items.1.expires") == "(missing)");
  CHECK(at("items.2") == "(missing)");
}

TEST_CASE("cache list: control characters of an identity do not reach the terminal" *
          doctest::description("promise 20")) {
  const std::string direction_mark = {'\xe2', '\x80', '\xae'};
  const FilledCache cache;
  cache.add_credential("https://a.example.com", now(), now() + 1h, "a\x1b[31m\nb",
                       "caf\xc3\xa9 " + direction_mark + " x");
  const Outcome outcome = cache.run({"list"});
  check_succeeds(outcome);
  CHECK(outcome.output.find("a\\x1b[31m\\x0ab") != std::string::npos);
  CHECK(outcome.output.find("caf\xc3\xa9") != std::string::npos);
  CHECK(outcome.output.find(direction_mark) == std::string::npos);
}

TEST_CASE("cache: a missing directory counts as empty, and list and clear do not create it") {
  const Sandbox sandbox;
  const std::string home = "HOME=" + sandbox.path().native();
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"list"}, {"list", "-o", "json"}, {"clear"}}) {
    const Outcome named =
        cache({arguments.front(), "--cache-dir=" + sandbox.at("a/b")}, {"PATH=/bin"});
    check_succeeds(named);
    CHECK((named.output + named.error_output).find("no cache directory yet") != std::string::npos);
    check_succeeds(cache(arguments, {home}));
  }
  CHECK(is_same_json(cache({"list", "-o", "json", "--cache-dir=" + sandbox.at("a")}).output,
                     R"({"items":[]})"));
  CHECK(fs::is_empty(sandbox.path()));
}

TEST_CASE("cache clear: removes all files except the locks, and reports the number of entries") {
  const FilledCache cache;
  cache.add_credential("https://a.example.com", now(), now() + 1h);
  cache.add_credential("https://b.example.com", now(), now() + 1h);
  cache.add_failure("https://b.example.com", now(), now() + 30s, "down");
  const std::string number = "0123456789abcdef";
  const std::string key = "cache/" + number + number;
  cache.sandbox().write(key + ".lock", "", 0600);
  cache.sandbox().write(key + "." + number + "." + number + ".seen", "", 0600);
  cache.sandbox().write(key + "." + number + ".new", kCachedSecret, 0600);
  const Outcome outcome = cache.run({"clear"});
  check_succeeds(outcome);
  CHECK(outcome.output == "3 entries removed from '" + cache.path() + "'\n");
  CHECK(count_files(cache.path(), "") == 1);
  CHECK(count_files(cache.path(), ".lock") == 1);
  CHECK(cache.run({"clear"}).output.starts_with("0 entries removed from "));
  const Outcome list = cache.run({"list"});
  check_succeeds(list);
  CHECK(list.output.empty());
  CHECK(list.error_output == "the cache '" + cache.path() + "' is empty\n");
}

TEST_CASE("cache: a pending signing request is listed, and clear keeps it") {
  const FilledCache cache;
  cache.add_request("execcred-a");
  cache.add_request("execcred-b", now() - 1s);
  cache.sandbox().write("cache/0123456789abcdef0123456789abcdef.request", kCachedSecret, 0600);
  const Outcome list = cache.run({"list"});
  check_succeeds(list);
  const std::size_t pending = list.output.find("\npending  ");
  REQUIRE(pending != std::string::npos);
  CHECK(list.output.find("  certificatesigningrequest/execcred-a\n", pending) != std::string::npos);
  CHECK(list.output.find("\nended  ") != std::string::npos);
  check_no_secret(cache.run({"list", "-ojson"}));
  CHECK(cache.run({"clear"}).output.starts_with("2 entries removed from "));
  CHECK(count_files(cache.path(), ".request") == 1);
  const Outcome left = cache.run({"list", "-ojson"});
  CHECK(json_at(left.output, "items.0.state") == "pending");
  CHECK(json_at(left.output, "items.0.target") == "certificatesigningrequest/execcred-a");
  CHECK(cache.run({"clear"}).output.starts_with("0 entries removed from "));
}

TEST_CASE("cache: clear and path, which have no output formats, refuse --output") {
  const FilledCache cache;
  cache.add_credential("https://a.example.com", now(), now() + 1h);
  for (const std::string action : {"clear", "path"}) {
    CHECK_REFUSAL(cache.run({action, "-o", "json"}), 2, "--output is given with " + action);
  }
  CHECK(count_files(cache.path(), ".credential") == 1);
}

TEST_CASE("cache path: the directory that a plugin would use") {
  const Sandbox sandbox;
  const std::string runtime = sandbox.at("run");
  const std::string home = sandbox.at("home");
  fs::create_directory(runtime);
  fs::create_directory(home);
  const auto path = [](const std::vector<std::string>& environment,
                       std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.begin(), "path");
    const Outcome outcome = cache(std::move(arguments), environment);
    check_succeeds(outcome);
    return outcome.output;
  };
  CHECK(path({"HOME=" + home}) == home + "/.cache/execcred\n");
  CHECK(path({"XDG_RUNTIME_DIR=" + runtime, "HOME=" + home}) == runtime + "/execcred\n");
  CHECK(path({"EXECCRED_CACHE_DIR=" + home + "/x", "HOME=" + home}) == home + "/x\n");
  CHECK(path({"EXECCRED_CACHE_DIR=" + home + "/x"}, {"--cache-dir=" + home + "/y/"}) ==
        home + "/y\n");
  struct stat status = {};
  REQUIRE(stat((home + "/y").c_str(), &status) == 0);
  CHECK((status.st_mode & 07777U) == 0700U);
}

TEST_CASE("cache list: 2,000 entries, sorted by key") {
  const FilledCache cache;
  for (int i = 0; i < 2'000; ++i) {
    const std::string name = std::to_string(10'000 + i);
    cache.add_credential("https://" + name, now(), now() + 1h, name, name);
  }
  const Outcome outcome = cache.run({"list"});
  check_succeeds(outcome);
  std::size_t before = 0;
  for (int i = 0; i < 2'000; ++i) {
    const std::size_t at = outcome.output.find(std::to_string(10'000 + i) + "\n", before);
    REQUIRE(at != std::string::npos);
    before = at;
  }
}

TEST_SUITE_END();
