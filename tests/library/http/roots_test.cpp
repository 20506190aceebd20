// SPDX-License-Identifier: Apache-2.0
// The system's roots, of which only the needed ones are decoded. Each verdict must be the one that
// OpenSSL gives with the whole bundle loaded.
#include "unit/expect.hpp"
#include "unit/temp_dir.hpp"
#include "verdict.hpp"

#include <execcred/http/root_bundle.hpp>
#include <execcred/os/file.hpp>

#include <doctest/doctest.h>
#include <openssl/pem.h>

#include <cstdio>
#include <string>
#include <vector>

namespace execcred::test {
namespace {

// Some other roots beside the one that is searched for.
std::string crowd() {
  static const std::string kPem = [] {
    std::string pem;
    for (int i = 0; i < 5; ++i) pem += make_ca("crowd " + std::to_string(i)).pem;
    return pem;
  }();
  return kPem;
}

std::string with_crlf(const std::string& text) {
  std::string changed;
  for (const char c : text) changed += c == '\n' ? std::string("\r\n") : std::string(1, c);
  return changed;
}

struct Bundle {
  std::string what;
  std::string pem;
};

TEST_CASE("roots: the lazy bundle gives the same verdicts as the whole bundle") {
  const Identity root = make_ca("Root CA");
  const Identity expired = make_identity({.common_name = "Root CA",
                                          .begins = -200000,
                                          .ends = -100000,
                                          .is_ca = true,
                                          .key_of = &root});
  const Identity namesake = make_ca("Root CA");
  const Identity printable = make_identity(
      {.common_name = "ROOT  ca", .is_ca = true, .key_of = &root, .printable_name = true});
  const Identity other_root = make_ca("Other Root");
  const Identity cross = make_identity(
      {.common_name = "Root CA", .is_ca = true, .issuer = &other_root, .key_of = &root});
  const Identity weak = make_identity({.common_name = "Root CA", .is_ca = true, .rsa_bits = 1024});
  const Identity intermediate =
      make_identity({.common_name = "Intermediate", .is_ca = true, .issuer = &root});
  const Identity leaf = make_identity({.issuer = &intermediate});
  const Identity direct = make_identity({.issuer = &root});
  const Identity alone = make_identity({});
  const Identity late = make_identity({.begins = -200000, .ends = -100000, .issuer = &root});

  const std::vector<std::vector<const Identity*>> chains = {
      {&direct}, {&leaf, &intermediate},
      {&leaf},   {&alone},
      {&late},   {&leaf, &intermediate, &root},
      {&root},   {&leaf, &intermediate, &cross, &other_root},
  };
  const std::string begin = "-----BEGIN CERTIFICATE-----\n";
  const std::vector<Bundle> bundles = {
      {"the root", root.pem},
      {"the root in a crowd", crowd() + root.pem + crowd()},
      {"nobody we know", crowd()},
      {"an expired one and the root", expired.pem + root.pem},
      {"the root and an expired one", root.pem + expired.pem},
      {"an expired one alone", expired.pem},
      {"three of one name", namesake.pem + weak.pem + root.pem},
      {"a namesake alone", namesake.pem},
      {"the same name, spelled otherwise", crowd() + printable.pem},
      {"both spellings, the wrong one first", namesake.pem + printable.pem},
      {"cross-signed, without the other root", cross.pem},
      {"cross-signed, with the other root", cross.pem + other_root.pem},
      {"the other root", other_root.pem},
      {"the intermediate", intermediate.pem},
      {"the leaf itself", alone.pem + direct.pem},
      {"the same twice", root.pem + root.pem},
      {"CRLF", with_crlf(crowd() + root.pem)},
      {"no newline at the end", crowd() + root.pem.substr(0, root.pem.size() - 1)},
      {"text around", "# Root\n" + root.pem + "\nsubject=CN = x\n\n" + crowd() + "end"},
      {"trusted", trusted_pem(root, false)},
      {"rejected", trusted_pem(root, true)},
      {"rejected and plain", trusted_pem(root, true) + root.pem},
      {"a key before it", root.key_pem + root.pem},
      {"X509 CERTIFICATE",
       "-----BEGIN X509 CERTIFICATE-----\n" +
           root.pem.substr(begin.size(), root.pem.rfind("-----END") - begin.size()) +
           "-----END X509 CERTIFICATE-----\n"},
      {"nothing", ""},
  };
  const TempDir folder;
  int believed = 0;
  for (const Bundle& bundle : bundles) {
    const std::string path = write_file(folder / "bundle.pem", bundle.pem).native();
    for (std::size_t i = 0; i < chains.size(); ++i) {
      CAPTURE(bundle.what);
      CAPTURE(i);
      const int whole = verdict_of_whole(path, chains[i]);
      CHECK(verdict_of_lazy({.bundles = {path}}, chains[i]) == whole);
      believed += whole == X509_V_OK ? 1 : 0;
    }
  }
  CHECK(believed > 40);
}

TEST_CASE("roots: malformed parts of a bundle are skipped, and the rest is read") {
  const Identity root = make_ca("Root CA");
  const Identity direct = make_identity({.issuer = &root});
  const TempDir folder;
  const std::string begin = "-----BEGIN CERTIFICATE-----\n";
  const std::string end = "-----END CERTIFICATE-----\n";
  for (const std::string& bad :
       {begin + "!!!!\n" + end, begin + end, begin + "AAAA\n" + end, begin + begin, begin + "",
        std::string("-----BEGIN "), begin + "MIIB\n-----END X-----\n", begin + "MIH/\n" + end,
        "x" + begin + "AAAA\n" + end, std::string(1000, '\0'),
        std::string("-----BEGIN CERTIFICATE----\n")}) {
    CAPTURE(bad);
    const std::string path = write_file(folder / "bundle.pem", bad + "\n" + root.pem).native();
    CHECK(verdict_of_lazy({.bundles = {path}}, {&direct}) == X509_V_OK);
  }
}

TEST_CASE("roots: a search by subject finds the root with this subject, and no other") {
  std::vector<Identity> roots;
  std::string pem;
  for (int i = 0; i < 8; ++i) {
    roots.push_back(make_ca("root " + std::to_string(i)));
    pem += roots.back().pem;
  }
  const RootBundle bundle(pem);
  for (const Identity& root : roots) {
    const std::vector<X509Owner> found =
        bundle.find(*X509_get_subject_name(root.certificate.get()));
    REQUIRE(found.size() == 1);
    CHECK(X509_cmp(found.front().get(), root.certificate.get()) == 0);
  }
}

TEST_CASE("roots: a directory of hash links is searched first, then the bundle") {
  const Identity linked = make_ca("linked");
  const Identity bundled = make_ca("bundled");
  const Identity by_link = make_identity({.issuer = &linked});
  const Identity by_bundle = make_identity({.issuer = &bundled});
  const TempDir folder;
  const auto directory = make_directory(folder / "certs");
  char name[16] = {};
  std::snprintf(name, sizeof name, "%08lx.0",
                X509_NAME_hash_ex(X509_get_subject_name(linked.certificate.get()), nullptr, nullptr,
                                  nullptr));
  write_file(directory / name, linked.pem);
  const std::string bundle = write_file(folder / "bundle.pem", bundled.pem).native();
  const RootPaths both = {.directories = {(folder / "absent").native(), directory.native()},
                          .bundles = {(folder / "absent.pem").native(), bundle}};
  CHECK(verdict_of_lazy(both, {&by_link}) == X509_V_OK);
  CHECK(verdict_of_lazy(both, {&by_bundle}) == X509_V_OK);
  CHECK(verdict_of_lazy({.directories = both.directories}, {&by_link}) == X509_V_OK);
  CHECK(verdict_of_lazy({.directories = both.directories}, {&by_bundle}) != X509_V_OK);
}

TEST_CASE("roots: the error of a system without roots says what to install") {
  const TempDir folder;
  write_file(folder / "README", "no link");
  const StoreOwner store(X509_STORE_new());
  const Status status = add_roots(*store, {.directories = {folder.path().native(), "/nonexistent"},
                                           .bundles = {(folder / "absent.pem").native()}});
  check_fails(status, Error::Kind::configuration, "the system has no CA certificates");
  CHECK(contains(status.error().hint, "ca-certificates"));
}

TEST_CASE("roots: the system's own directory and bundle agree with OpenSSL's full load") {
  const RootPaths& paths = system_root_paths();
  for (const std::string& path : paths.bundles) {
    const BioOwner file(BIO_new_file(path.c_str(), "r"));
    if (file == nullptr) continue;
    const Result<std::string> pem = read_untrusted_file(path, 16 * 1024 * 1024);
    REQUIRE(pem);
    const RootBundle bundle(*pem);
    while (const X509Owner root{PEM_read_bio_X509_AUX(file.get(), nullptr, nullptr, nullptr)}) {
      bool is_found = false;
      for (const X509Owner& found : bundle.find(*X509_get_subject_name(root.get()))) {
        is_found = is_found || X509_cmp(found.get(), root.get()) == 0;
      }
      CHECK(is_found);
    }
  }
}

}  // namespace
}  // namespace execcred::test
