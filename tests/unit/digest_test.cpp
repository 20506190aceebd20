// SPDX-License-Identifier: Apache-2.0
#include "support/seed.hpp"

#include <doctest/doctest.h>
#include <execcred/base/digest.hpp>

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>

namespace execcred {
namespace {

std::string random_bytes(std::mt19937& random, std::size_t size) {
  std::uniform_int_distribution<int> byte(0, 255);
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(byte(random));
  return bytes;
}

Sha256Digest by_openssl(const std::string& bytes) {
  Sha256Digest digest = {};
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  return digest;
}

TEST_CASE("sha256: the examples that NIST published for FIPS 180-4") {
  CHECK(to_hex(sha256("")) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(to_hex(sha256("abc")) ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(to_hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")) ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(to_hex(sha256("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                      "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu")) ==
        "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  CHECK(to_hex(sha256(std::string(1'000'000, 'a'))) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("sha256: equals OpenSSL's result for every short length and for some long ones") {
  std::mt19937 random(test::seed());
  for (std::size_t size = 0; size <= 600; ++size) {
    CAPTURE(size);
    const std::string bytes = random_bytes(random, size);
    REQUIRE(sha256(bytes) == by_openssl(bytes));
  }
  for (const std::size_t size : {4095U, 4096U, 4097U, 65'535U, 65'536U, 1'048'577U}) {
    CAPTURE(size);
    const std::string bytes = random_bytes(random, size);
    REQUIRE(sha256(bytes) == by_openssl(bytes));
  }
}

TEST_CASE("sha256: the result does not depend on how a message is split") {
  std::mt19937 random(test::seed());
  for (int i = 0; i < 300; ++i) {
    const std::string bytes = random_bytes(random, random() % 400);
    Sha256 hash;
    for (std::size_t begin = 0; begin < bytes.size();) {
      const std::size_t size = std::min<std::size_t>(random() % 130, bytes.size() - begin);
      hash.add(std::string_view(bytes).substr(begin, size));
      begin += size;
    }
    CAPTURE(bytes.size());
    REQUIRE(hash.finish() == by_openssl(bytes));
  }
}

TEST_CASE("hmac_sha256: the test cases of RFC 4231") {
  struct Case {
    std::string key, message, digest;
  };
  std::string counted;
  for (int i = 1; i <= 25; ++i) counted.push_back(static_cast<char>(i));
  const std::string long_key(131, '\xaa');
  for (const Case& c :
       {Case{std::string(20, '\x0b'), "Hi There",
             "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
        Case{"Jefe", "what do ya want for nothing?",
             "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
        Case{std::string(20, '\xaa'), std::string(50, '\xdd'),
             "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
        Case{counted, std::string(50, '\xcd'),
             "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"},
        Case{long_key, "Test Using Larger Than Block-Size Key - Hash Key First",
             "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
        Case{long_key,
             "This is a test using a larger than block-size key and a larger than block-size "
             "data. The key needs to be hashed before being used by the HMAC algorithm.",
             "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"}}) {
    CAPTURE(c.message);
    CHECK(to_hex(hmac_sha256(c.key, c.message)) == c.digest);
  }
  // Case 5 of RFC 4231 has a truncated digest.
  CHECK(to_hex(hmac_sha256(std::string(20, '\x0c'), "Test With Truncation")).substr(0, 32) ==
        "a3b6167473100ee06e0c796c2955552b");
}

TEST_CASE("hmac_sha256: equals OpenSSL's result for each key length from 0 to 140") {
  std::mt19937 random(test::seed());
  for (std::size_t size = 0; size <= 140; ++size) {
    CAPTURE(size);
    const std::string key = random_bytes(random, size);
    const std::string message = random_bytes(random, random() % 300);
    Sha256Digest expected = {};
    HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
         reinterpret_cast<const unsigned char*>(message.data()), message.size(), expected.data(),
         nullptr);
    REQUIRE(hmac_sha256(key, message) == expected);
  }
}

TEST_CASE("fingerprint: is half of the SHA-256 of the purpose, a NUL and the secret") {
  CHECK(fingerprint("client-secret", "s3cret") == "4c21a3b36165f34c7795834402453f25");
  CHECK(fingerprint("", "") == "6e340b9cffb37a989ca544e6bb780a2c");
  CHECK(fingerprint("command", std::vector<std::string>{"--key", "a"}) ==
        fingerprint("command", std::string_view("--key\0a\0", 8)));
}

TEST_CASE("fingerprint: differs for another secret, and for another purpose") {
  const std::set<std::string> all = {
      fingerprint("client-secret", "s3cret"),  fingerprint("client-secret", "s3cres"),
      fingerprint("client-secret", "s3cret "), fingerprint("refresh-token", "s3cret"),
      fingerprint("client-secrets", "3cret"),  fingerprint("client-secret", "")};
  CHECK(all.size() == 6);
}

}  // namespace
}  // namespace execcred
