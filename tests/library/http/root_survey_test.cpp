// SPDX-License-Identifier: Apache-2.0
// The messages about a system whose CA certificates cannot be used.
#include <execcred/http/system_roots.hpp>
#include "support/tls_identity.hpp"
#include "unit/expect.hpp"
#include "unit/temp_dir.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

namespace execcred::test {
namespace {

constexpr const char* kBegin = "-----BEGIN CERTIFICATE-----\n";
constexpr const char* kEnd = "-----END CERTIFICATE-----\n";

TEST_CASE("root survey: the certificates of the first readable bundle are counted") {
  const Identity one = make_ca("one");
  const Identity two = make_ca("two");
  const TempDir folder;
  const std::string path = (folder / "bundle.pem").native();
  const std::string other = write_file(folder / "other.pem", one.pem).native();
  struct Case {
    std::string pem;
    std::size_t certificates;
    std::string note;
  };
  const std::string bad = std::string(kBegin) + "AAAA\n" + kEnd;
  const std::string cut = one.pem.substr(0, one.pem.size() / 2) + "\n";
  for (const Case& c : std::initializer_list<Case>{
           {one.pem, 1, "1 certificate"},
           {"# one\n" + one.pem + "text\n" + two.pem, 2, "2 certificates"},
           {one.pem + bad + two.pem, 2, "2 certificates, 1 malformed"},
           {cut + two.pem + bad, 1, "1 certificate, 2 malformed"},
           {bad, 0, "no certificates, 1 malformed"},
           {"", 0, "no certificates"},
           {one.key_pem, 0, "no certificates"},
           {std::string(1000, '\0'), 0, "no certificates"},
       }) {
    CAPTURE(c.note);
    write_file(path, c.pem);
    const RootSurvey survey =
        survey_roots({.bundles = {(folder / "absent").native(), path, other}});
    CHECK(survey.certificates == c.certificates);
    CHECK(survey.text == "'" + path + "' (" + c.note + ")");
  }
}

TEST_CASE("root survey: a hash link counts if its target is a file") {
  const TempDir folder;
  const auto directory = make_directory(folder / "certs");
  CHECK(survey_roots({.directories = {directory.native()}}).text.empty());
  std::filesystem::create_symlink("nowhere.pem", directory / "0123abcd.0");
  CHECK(survey_roots({.directories = {directory.native()}}).text.empty());
  write_file(directory / "ca.pem", make_ca("a CA").pem);
  std::filesystem::create_symlink("ca.pem", directory / "89abcdef.1");
  std::filesystem::create_symlink("ca.pem",
                                  directory / "89ABCDEF.1");  // OpenSSL looks for lower case
  const RootSurvey survey = survey_roots({.directories = {directory.native()}});
  CHECK(survey.certificates == 1);
  CHECK(survey.text == "'" + directory.native() + "' (1 hash link)");
}

TEST_CASE("root survey: no roots are a configuration error that names every path") {
  const TempDir folder;
  const std::string directory = folder.path().native();
  const std::string bundle = (folder / "bundle.pem").native();
  const RootPaths paths = {.directories = {directory, "/nonexistent"},
                           .bundles = {bundle, "/nonexistent/cert.pem"}};
  const Error nothing = no_roots(paths);
  CHECK(nothing.kind == Error::Kind::configuration);
  CHECK(nothing.message == "the system has no CA certificates to verify servers with");
  CHECK(nothing.hint == "there is no '" + bundle +
                            "', '/nonexistent/cert.pem', nor a hash link in '" + directory +
                            "', '/nonexistent': install the package ca-certificates, mount a "
                            "bundle, or pass the CA's certificate");
  make_directory(bundle);
  CHECK(contains(no_roots(paths).hint, "looked into '" + bundle + "' (not readable): install"));
}

}  // namespace
}  // namespace execcred::test
