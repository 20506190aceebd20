// SPDX-License-Identifier: Apache-2.0
#include "support/jws_keys.hpp"
#include "unit/expect.hpp"

#include <doctest/doctest.h>
#include <execcred/oauth/jwt_sign.hpp>

#include <set>
#include <string>
#include <vector>

namespace execcred::test {
namespace {

using Kind = Error::Kind;

// RFC 7515, appendix A.1.1: the payload of all its examples.
constexpr std::string_view kPayload =
    "{\"iss\":\"joe\",\r\n \"exp\":1300819380,\r\n \"http://example.com/is_root\":true}";
constexpr std::string_view kRs256 =
    "eyJhbGciOiJSUzI1NiJ9."
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVl"
    "fQ."
    "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5"
    "jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb"
    "1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QO"
    "YEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";
constexpr std::string_view kEs256 =
    "eyJhbGciOiJFUzI1NiJ9."
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVl"
    "fQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
constexpr std::string_view kEdDsa =
    "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc."
    "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";

json::Value claims() {
  json::Value value;
  value.add("sub", json::Value("me"));
  return value;
}

TEST_CASE("jwt_sign: RS256 of RFC 7515, appendix A.2") {
  const Result<SigningKey> key = SigningKey::read(rfc7515_rsa_key());
  REQUIRE(key);
  CHECK(key->algorithm() == "RS256");
  const Result<SecretString> token = key->sign(R"({"alg":"RS256"})", kPayload);
  REQUIRE(token);
  CHECK(token->reveal() == kRs256);
}

TEST_CASE("jwt_sign: ES256 of RFC 7515, appendix A.3, has 64 bytes and differs each time") {
  const KeyPtr rfc_key = parse_key(rfc7515_ec_key());
  CHECK(is_signed_by(kEs256, "ES256", rfc_key));
  const Result<SigningKey> key = SigningKey::read(rfc7515_ec_key());
  REQUIRE(key);
  CHECK(key->algorithm() == "ES256");
  // Often enough that some r or s begins with a zero byte.
  std::set<std::string> signatures;
  for (int i = 0; i < 600; ++i) {
    const Result<SecretString> token = key->sign(R"({"alg":"ES256"})", kPayload);
    REQUIRE(token);
    REQUIRE(part_of(token->reveal(), 2).size() == 64);
    REQUIRE(is_signed_by(token->reveal(), "ES256", rfc_key));
    signatures.insert(part_of(token->reveal(), 2));
  }
  CHECK(signatures.size() == 600);
}

TEST_CASE("jwt_sign: EdDSA of RFC 8037, appendix A.4") {
  const Result<SigningKey> key = SigningKey::read(rfc8037_key());
  REQUIRE(key);
  CHECK(key->algorithm() == "EdDSA");
  const Result<SecretString> token = key->sign(R"({"alg":"EdDSA"})", "Example of Ed25519 signing");
  REQUIRE(token);
  CHECK(token->reveal() == kEdDsa);
}

TEST_CASE("jwt_sign: each algorithm's signature verifies with its key, of its token alone") {
  const KeyPtr rsa = new_rsa_key(2048);
  const KeyPtr other = new_rsa_key(2048);
  const KeyPtr p384 = new_ec_key("P-384");
  const KeyPtr p521 = new_ec_key("P-521");
  const KeyPtr ed25519 = new_ed25519_key();
  const auto check = [](const char* algorithm, const KeyPtr& signer, const KeyPtr& stranger,
                        std::size_t size) {
    CAPTURE(algorithm);
    const Result<SigningKey> key = SigningKey::read(pkcs8_pem(signer), algorithm);
    REQUIRE(key);
    const Result<SecretString> token = sign_jwt(*key, "key 1", claims());
    REQUIRE(token);
    CHECK(part_of(token->reveal(), 0) ==
          std::string(R"({"alg":")") + algorithm + R"(","kid":"key 1","typ":"JWT"})");
    CHECK(part_of(token->reveal(), 1) == R"({"sub":"me"})");
    CHECK(part_of(token->reveal(), 2).size() == size);
    CHECK(is_signed_by(token->reveal(), algorithm, signer));
    CHECK_FALSE(is_signed_by(token->reveal(), algorithm, stranger));
    std::string changed(token->reveal());
    changed[changed.find('.') + 2] ^= 1;
    CHECK_FALSE(is_signed_by(changed, algorithm, signer));
  };
  for (const char* name : {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}) {
    check(name, rsa, other, 256);
  }
  check("ES384", p384, new_ec_key("P-384"), 96);
  check("ES512", p521, new_ec_key("P-521"), 132);
  check("EdDSA", ed25519, new_ed25519_key(), 64);
  CHECK(SigningKey::read(pkcs8_pem(p384))->algorithm() == "ES384");
  CHECK(SigningKey::read(pkcs8_pem(p521))->algorithm() == "ES512");
  CHECK(SigningKey::read(pkcs8_pem(other))->algorithm() == "RS256");
}

TEST_CASE("jwt_sign: without a key id there is no kid, and a kid is escaped") {
  const Result<SigningKey> key = SigningKey::read(rfc8037_key());
  REQUIRE(key);
  CHECK(part_of(sign_jwt(*key, "", claims())->reveal(), 0) == R"({"alg":"EdDSA","typ":"JWT"})");
  CHECK(part_of(sign_jwt(*key, "\"\n", claims())->reveal(), 0) ==
        R"({"alg":"EdDSA","kid":"\"\n","typ":"JWT"})");
}

TEST_CASE("jwt_sign: an algorithm that does not fit the key is refused, with a hint") {
  const auto read = [](const SecretString& pem, std::string_view algorithm) {
    return SigningKey::read(pem, algorithm);
  };
  check_fails(read(rfc7515_rsa_key(), "ES256"), Kind::configuration,
              "the signing algorithm 'ES256' does not fit the private key, an RSA key");
  check_fails(read(rfc7515_rsa_key(), "ES256"), Kind::configuration,
              "hint: use RS256, RS384, RS512, PS256, PS384, PS512");
  check_fails(read(rfc7515_ec_key(), "ES384"), Kind::configuration, "hint: use ES256");
  check_fails(read(rfc8037_key(), "RS256"), Kind::configuration, "hint: use EdDSA");
  for (const char* name : {"HS256", "none", "rs256", "RS1"}) {
    check_fails(read(rfc7515_rsa_key(), name), Kind::configuration, "is none that is known");
  }
}

TEST_CASE("jwt_sign: keys that cannot sign are refused, and none is shown") {
  check_fails(SigningKey::read(encrypted_key()), Kind::no_credential,
              "the private key is encrypted");
  check_fails(SigningKey::read(encrypted_key()), Kind::no_credential,
              "decrypt it with openssl pkey");
  check_fails(SigningKey::read(SecretString("-----BEGIN RSA PRIVATE KEY-----\n"
                                            "Proc-Type: 4,ENCRYPTED\n"
                                            "DEK-Info: AES-128-CBC,00\n\nAAAA\n"
                                            "-----END RSA PRIVATE KEY-----\n")),
              Kind::no_credential, "the private key is encrypted");
  check_fails(SigningKey::read(SecretString(" \n")), Kind::no_credential, "missing or empty");
  check_fails(SigningKey::read(SecretString("-----BEGIN CERTIFICATE-----\nAAAA\n"
                                            "-----END CERTIFICATE-----\n")),
              Kind::no_credential, "of 'CERTIFICATE'");
  check_fails(SigningKey::read(pkcs8_pem(new_rsa_key(1024))), Kind::no_credential,
              "it has 1024 bits, and RSA needs 2048");
  check_fails(SigningKey::read(pkcs8_pem(new_ec_key("secp256k1"))), Kind::no_credential,
              "the curve must be P-256, P-384 or P-521");
  check_fails(SigningKey::read(pkcs8_pem(KeyPtr(EVP_PKEY_Q_keygen(nullptr, nullptr, "X25519")))),
              Kind::no_credential, "of a kind that cannot sign");
  const SecretString pem = rfc7515_rsa_key();
  const Result<SigningKey> cut = SigningKey::read(SecretString(pem.reveal().substr(0, 400)));
  check_fails(cut, Kind::no_credential, "the private key is PEM without the END line of ");
  CHECK_FALSE(contains(full_text(cut.error()), "MII"));
}

}  // namespace
}  // namespace execcred::test
