// SPDX-License-Identifier: Apache-2.0
// Valid and invalid chains of a server: three sources of roots must give the same verdict.
#include "verdict.hpp"

#include <cstdio>
#include <deque>
#include <string>
#include <utility>

namespace execcred::test {
namespace {

using Options = IdentityOptions;

// Keeps the identities that the cases refer to until the test ends.
class Authorities {
 public:
  const Identity& add(const Options& options) {
    return identities_.emplace_back(make_identity(options));
  }
  const Identity& ca(const std::string& name, std::vector<Extension> extensions = {}) {
    return add({.common_name = name, .is_ca = true, .extensions = std::move(extensions)});
  }
  const Identity& by(const Identity& issuer, std::vector<Extension> extensions = {}) {
    return add({.issuer = &issuer, .extensions = std::move(extensions)});
  }

 private:
  std::deque<Identity> identities_;
};

struct Case {
  std::string what;
  std::vector<std::string> roots;
  Chain chain;
  int expected;
};

using Cases = std::vector<Case>;

// Each root in a file of its own, as c_rehash links it.
std::string hash_directory(const TempDir& folder, const std::vector<std::string>& roots) {
  const auto directory = folder / "certs";
  std::filesystem::remove_all(directory);
  make_directory(directory);
  for (const std::string& pem : roots) {
    const BioOwner bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    const X509Owner root(PEM_read_bio_X509_AUX(bio.get(), nullptr, nullptr, nullptr));
    REQUIRE(root != nullptr);
    char name[24] = {};
    for (int number = 0; number == 0 || std::filesystem::exists(directory / name); ++number) {
      std::snprintf(name, sizeof name, "%08lx.%d",
                    X509_NAME_hash_ex(X509_get_subject_name(root.get()), nullptr, nullptr, nullptr),
                    number);
    }
    write_file(directory / name, pem);
  }
  return directory.native();
}

// With OpenSSL's full load, execcred's lookup in the bundle, and a directory of the same roots.
void check_verdicts(const Cases& cases) {
  const TempDir folder;
  for (const Case& c : cases) {
    CAPTURE(c.what);
    std::string pem;
    for (const std::string& root : c.roots) pem += root;
    const std::string bundle = write_file(folder / "bundle.pem", pem).native();
    CHECK(verdict_of_whole(bundle, c.chain) == c.expected);
    CHECK(verdict_of_lazy({.bundles = {bundle}}, c.chain) == c.expected);
    CHECK(verdict_of_lazy({.directories = {hash_directory(folder, c.roots)}}, c.chain) ==
          c.expected);
  }
}

TEST_CASE("roots matrix: times, names and keys of the server's own certificate") {
  Authorities all;
  const Identity& root = all.ca("Root CA");
  constexpr long kDay = 86400;
  const auto judged = [&](const std::string& what, Options options, int expected) {
    options.issuer = &root;
    return Case{what, {root.pem}, {&all.add(options)}, expected};
  };
  check_verdicts({
      judged("good", {}, X509_V_OK),
      judged("expired", {.begins = -2 * kDay, .ends = -kDay}, X509_V_ERR_CERT_HAS_EXPIRED),
      judged("future", {.begins = kDay, .ends = 2 * kDay}, X509_V_ERR_CERT_NOT_YET_VALID),
      judged("wrong host", {.alternative_names = "DNS:other.example"},
             X509_V_ERR_HOSTNAME_MISMATCH),
      judged("an address alone", {.alternative_names = "IP:127.0.0.1"},
             X509_V_ERR_HOSTNAME_MISMATCH),
      judged("a common name alone", {.common_name = "localhost", .alternative_names = ""},
             X509_V_ERR_HOSTNAME_MISMATCH),
      judged("RSA of 1024 bits", {.rsa_bits = 1024}, X509_V_ERR_EE_KEY_TOO_SMALL),
      judged("RSA of 2048 bits", {.rsa_bits = 2048}, X509_V_OK),
      judged("SHA-1", {.sha1 = true}, X509_V_ERR_CA_MD_TOO_WEAK),
      judged("for clients alone", {.extensions = {{NID_ext_key_usage, "clientAuth"}}},
             X509_V_ERR_INVALID_PURPOSE),
      judged("for servers", {.extensions = {{NID_ext_key_usage, "serverAuth"}}}, X509_V_OK),
      judged("something critical that nobody knows",
             {.extensions = {{NID_netscape_comment, "critical,x"}}},
             X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION),
  });
}

TEST_CASE("roots matrix: the issuer of the server's certificate") {
  Authorities all;
  const Identity& root = all.ca("Root CA");
  const Identity& namesake = all.ca("Root CA");
  const Identity& other = all.ca("Other Root");
  const Identity& middle = all.add({.common_name = "Middle", .is_ca = true, .issuer = &root});
  const Identity& cross =
      all.add({.common_name = "Root CA", .is_ca = true, .issuer = &other, .key_of = &root});
  const Identity& direct = all.by(root);
  const Identity& leaf = all.by(middle);
  const Identity& alone = all.add({});
  const Identity& old = all.ca("Renewed CA", {{NID_subject_key_identifier, "hash"}});
  const Identity& renewed = all.ca("Renewed CA", {{NID_subject_key_identifier, "hash"}});
  const Identity& young = all.by(renewed, {{NID_authority_key_identifier, "keyid:always"}});
  check_verdicts({
      {"by an intermediate", {root.pem}, {&leaf, &middle}, X509_V_OK},
      {"the root is sent too", {root.pem}, {&leaf, &middle, &root}, X509_V_OK},
      {"the intermediate is missing",
       {root.pem},
       {&leaf},
       X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY},
      {"the intermediate is trusted itself", {middle.pem}, {&leaf}, X509_V_OK},
      {"another CA", {other.pem}, {&direct}, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY},
      {"another CA, and the root is sent",
       {other.pem},
       {&direct, &root},
       X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN},
      {"a namesake alone", {namesake.pem}, {&direct}, X509_V_ERR_CERT_SIGNATURE_FAILURE},
      {"two of one name, told apart by nothing",
       {namesake.pem, root.pem},
       {&direct},
       X509_V_ERR_CERT_SIGNATURE_FAILURE},
      {"the same, the right one first", {root.pem, namesake.pem}, {&direct}, X509_V_OK},
      {"two of one name, told apart by their keys", {old.pem, renewed.pem}, {&young}, X509_V_OK},
      {"the same, the right one first", {renewed.pem, old.pem}, {&young}, X509_V_OK},
      {"cross-signed, by the old root", {other.pem}, {&direct, &cross}, X509_V_OK},
      {"cross-signed, by the new root", {root.pem}, {&direct, &cross}, X509_V_OK},
      {"cross-signed, by the link itself", {cross.pem}, {&direct}, X509_V_OK},
      {"self-signed", {root.pem}, {&alone}, X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT},
      {"self-signed and trusted", {root.pem, alone.pem}, {&alone}, X509_V_OK},
      {"the trusted certificate of a server", {direct.pem}, {&direct}, X509_V_OK},
  });
}

TEST_CASE("roots matrix: the rules for a CA's certificate") {
  Authorities all;
  const Identity& other = all.ca("Other Root");
  const auto judged = [&](const std::string& what, const Options& options, int expected) {
    Options own = options;
    own.common_name = "Root CA";
    const Identity& root = all.add(own);
    return Case{what, {other.pem, root.pem}, {&all.by(root)}, expected};
  };
  const auto limited = [&](const std::string& what, const Extension& limit, int expected) {
    const Identity& root = all.ca("Root CA", {limit});
    const Identity& middle = all.add({.common_name = "Middle", .is_ca = true, .issuer = &root});
    return Case{what, {root.pem}, {&all.by(middle), &middle}, expected};
  };
  check_verdicts({
      judged("expired", {.begins = -200000, .ends = -100000, .is_ca = true},
             X509_V_ERR_CERT_HAS_EXPIRED),
      judged("CA:FALSE", {}, X509_V_ERR_INVALID_CA),
      judged("version 1", {.is_version_1 = true}, X509_V_OK),
      judged("RSA of 1024 bits", {.is_ca = true, .rsa_bits = 1024}, X509_V_ERR_CA_KEY_TOO_SMALL),
      judged("signed by itself with SHA-1", {.is_ca = true, .sha1 = true}, X509_V_OK),
      judged("a key that may sign no certificate",
             {.is_ca = true, .extensions = {{NID_key_usage, "critical,digitalSignature"}}},
             X509_V_ERR_INVALID_CA),
      judged("for clients alone",
             {.is_ca = true, .extensions = {{NID_ext_key_usage, "clientAuth"}}},
             X509_V_ERR_INVALID_PURPOSE),
      limited("no CA below it", {NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
              X509_V_ERR_PATH_LENGTH_EXCEEDED),
      limited("one CA below it", {NID_basic_constraints, "critical,CA:TRUE,pathlen:1"}, X509_V_OK),
      limited("for other names", {NID_name_constraints, "critical,permitted;DNS:example.org"},
              X509_V_ERR_PERMITTED_VIOLATION),
      limited("for this name", {NID_name_constraints, "critical,permitted;DNS:localhost"},
              X509_V_OK),
      limited("but for this name", {NID_name_constraints, "critical,excluded;DNS:localhost"},
              X509_V_ERR_EXCLUDED_VIOLATION),
  });
  const Identity& root = all.ca("Trusted Root");
  const Identity& leaf = all.by(root);
  check_verdicts({
      {"trusted for servers", {trusted_pem(root, false)}, {&leaf}, X509_V_OK},
      {"rejected for servers", {trusted_pem(root, true)}, {&leaf}, X509_V_ERR_CERT_REJECTED},
  });
}

}  // namespace
}  // namespace execcred::test
