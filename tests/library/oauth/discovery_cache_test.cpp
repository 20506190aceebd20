// SPDX-License-Identifier: Apache-2.0
#include "provider.hpp"
#include "unit/expect.hpp"
#include "unit/temp_dir.hpp"

#include <execcred/cache/entry.hpp>
#include <execcred/cache/key.hpp>
#include <execcred/oauth/discovery.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

namespace execcred::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class SetClock final : public Clock {
 public:
  TimePoint now() const override { return time; }
  TimePoint time = TimePoint(std::chrono::sys_days(std::chrono::year(2026) / 7 / 1) + 12h);
};

std::vector<std::string> names_in(const CacheDirectory& directory) {
  long position = 0;
  return directory.names(10, position);
}

CacheDirectory open_directory(const fs::path& path) {
  Result<CacheDirectory> directory =
      CacheDirectory::open(path.native(), Environment(), CacheDirectory::IfMissing::create);
  REQUIRE(directory);
  return std::move(directory).value();
}

// An issuer on loopback, and a cache directory for its document.
struct Fixture {
  Fixture() { provider.set_replies({http_reply(200, document())}); }

  std::string document(const std::string& more = {}) const {
    return R"({"issuer":")" + provider.origin() + R"(","token_endpoint":")" + provider.url() +
           "\"" + more + R"(,"jwks_uri":"https://idp.example/keys"})";
  }
  DiscoveryCache cache() const {
    return {&directory, provider.origin(), provider.settings().tls.ca_certificates};
  }
  Result<DiscoveryDocument> get(const DiscoveryCache& cache) {
    const auto client = make_http_client(provider.settings());
    CallContext call = {
        .clock = clock,
        .debug = [this](std::string_view step) { steps += std::string(step) + "\n"; },
        .may_retry = false};
    return cache.get(*client, call);
  }
  // Calls get(), which must succeed. Returns how many requests the issuer got meanwhile.
  std::size_t calls_for(const DiscoveryCache& cache) {
    const std::size_t before = provider.requests().size();
    const Result<DiscoveryDocument> found = get(cache);
    REQUIRE(found);
    CHECK(found->token_endpoint == provider.url());
    return provider.requests().size() - before;
  }
  std::size_t calls() { return calls_for(cache()); }
  fs::path file() const {
    const std::vector<std::string> names = names_in(directory);
    REQUIRE(names.size() == 1);
    return dir / ("cache/" + names.front());
  }

  TempDir dir;
  CacheDirectory directory = open_directory(dir / "cache");
  ScriptedProvider provider{{}};
  SetClock clock;
  std::string steps;
};

TEST_CASE("discovery cache: the issuer is asked once an hour") {
  Fixture fixture;
  CHECK(fixture.calls() == 1);
  CHECK(fixture.calls() == 0);
  CHECK(contains(fixture.steps, "out of the cache"));
  fixture.clock.time += 1h - 1ns;
  CHECK(fixture.calls() == 0);
  fixture.clock.time += 1ns;
  CHECK(fixture.calls() == 1);
  CHECK(fixture.calls() == 0);
}

TEST_CASE("discovery cache: only the members that are used are kept") {
  Fixture fixture;
  fixture.provider.set_replies({http_reply(
      200,
      fixture.document(R"(,"token_endpoint_auth_methods_supported":["private_key_jwt","none"],)"
                       R"("mtls_endpoint_aliases":{"token_endpoint":"https://mtls.example/t"})"))});
  const Result<DiscoveryDocument> fresh = fixture.get(fixture.cache());
  const Result<DiscoveryDocument> kept = fixture.get(fixture.cache());
  REQUIRE(fresh);
  REQUIRE(kept);
  CHECK(fixture.provider.requests().size() == 1);
  CHECK(kept->issuer == fixture.provider.origin());
  CHECK(kept->token_endpoint == fresh->token_endpoint);
  CHECK(kept->token_endpoint_auth_methods == std::vector<std::string>{"private_key_jwt", "none"});
  CHECK(kept->mtls_token_endpoint == "https://mtls.example/t");
  CHECK_FALSE(contains(content_of(fixture.file()), "jwks_uri"));
}

TEST_CASE("discovery cache: without a directory the issuer is asked each time") {
  Fixture fixture;
  const DiscoveryCache none(nullptr, fixture.provider.origin(), "");
  CHECK(fixture.calls_for(none) == 1);
  CHECK(fixture.calls_for(none) == 1);
  none.forget();
  CHECK(names_in(fixture.directory).empty());
}

TEST_CASE("discovery cache: a document fetched with other CA certificates is not used") {
  Fixture fixture;
  CHECK(fixture.calls() == 1);
  const std::string ca = fixture.provider.settings().tls.ca_certificates;
  const DiscoveryCache other(&fixture.directory, fixture.provider.origin(), ca + "\n");
  CHECK(fixture.calls_for(other) == 1);
  const DiscoveryCache of_system(&fixture.directory, fixture.provider.origin(), "");
  CHECK(fixture.calls_for(of_system) == 1);
  CHECK(fixture.calls() == 0);
}

TEST_CASE("discovery cache: a forgotten document is fetched again") {
  Fixture fixture;
  CHECK(fixture.calls() == 1);
  fixture.cache().forget();
  CHECK(names_in(fixture.directory).empty());
  fixture.cache().forget();
  CHECK(fixture.calls() == 1);
}

TEST_CASE("discovery cache: a damaged file is a miss, and is replaced") {
  Fixture fixture;
  CHECK(fixture.calls() == 1);
  const fs::path file = fixture.file();
  const std::string good = content_of(file);
  for (std::size_t i = 0; i < good.size(); i += 7) {
    CAPTURE(i);
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    write_file(file, bad);
    CHECK(fixture.calls() == 1);
  }
  write_file(file, good.substr(0, good.size() / 2));
  CHECK(fixture.calls() == 1);
  write_file(file, "");
  CHECK(fixture.calls() == 1);
  write_file(file, good, 0640);
  CHECK(fixture.calls() == 1);
  CHECK(fixture.calls() == 0);
}

TEST_CASE("discovery cache: a well-formed file with a wrong key, time or document is a miss") {
  Fixture fixture;
  CHECK(fixture.calls() == 1);
  const fs::path file = fixture.file();
  const std::string written = content_of(file);
  FieldReader good(written, "execcred discovery 1");
  const std::string key(good.field("key"));
  const auto put = [&](const std::string& its_key, TimePoint created, const std::string& document) {
    FieldWriter fields("execcred discovery 1");
    fields.add("key", its_key);
    fields.add("created", created.time_since_epoch().count());
    fields.add("document", document);
    write_file(file, fields.finish().reveal());
  };
  const std::string document = fixture.document();
  const TimePoint now = fixture.clock.time;
  put(key, now, document);
  CHECK(fixture.calls() == 0);
  put(key + "x", now, document);
  CHECK(fixture.calls() == 1);
  put(key, now + 1ns, document);
  CHECK(fixture.calls() == 1);
  put(key, now, R"({"issuer":"https://other.example","token_endpoint":"https://other.example/t"})");
  CHECK(fixture.calls() == 1);
  put(key, now,
      R"({"issuer":")" + fixture.provider.origin() + R"(","token_endpoint":"http://x/t"})");
  CHECK(fixture.calls() == 1);
  put(key, now, "[]");
  CHECK(fixture.calls() == 1);
}

TEST_CASE("discovery cache: a document that cannot be written to the cache is still used") {
  Fixture fixture;
  fs::remove_all(fixture.dir / "cache");
  CHECK(fixture.calls() == 1);
  CHECK(contains(fixture.steps, "cannot write the cache's file"));
}

TEST_CASE("discovery cache: a failure is not kept") {
  Fixture fixture;
  fixture.provider.set_replies({http_reply(404, "{}")});
  check_fails(fixture.get(fixture.cache()), Error::Kind::no_credential, "answered 404");
  fixture.provider.set_replies({http_reply(200, R"({"issuer":"https://other.example"})")});
  check_fails(fixture.get(fixture.cache()), Error::Kind::no_credential, "is of the issuer");
  CHECK(names_in(fixture.directory).empty());
}

}  // namespace
}  // namespace execcred::test
