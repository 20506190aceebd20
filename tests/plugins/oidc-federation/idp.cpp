// SPDX-License-Identifier: Apache-2.0
#include "idp.hpp"

#include "documents.hpp"
#include "plugin_under_test.hpp"

namespace execcred::test {
namespace {

// All tokens begin with the same text, which is remembered as one secret for all of them.
std::string opaque_token(int number) {
  std::string digits = std::to_string(number);
  digits.insert(0, 6 - std::min<std::size_t>(digits.size(), 6), '0');
  return "fr0mTheProvider-kept-secret-" + digits;
}

}  // namespace

Idp::Idp(const Identity* client_ca) : ScriptedServer(Transport::tls, client_ca) {
  blackbox::remember_secret(opaque_token(0));
  on(kToken, [this](Stream& stream, const Received&) {
    stream.write(reply(200, token_reply(opaque_token(++tokens_))));
  });
  on(kDiscovery, reply(200, discovery_document()));
}

std::string Idp::discovery_document(const std::string& more) const {
  return R"({"issuer":")" + issuer() + R"(","token_endpoint":")" + token_url() + "\"" + more + "}";
}

void Idp::answer(const std::string& body, int status, const std::string& headers) {
  on(kToken, reply(status, body, headers));
}

std::string token_reply(const std::string& token, const std::string& more) {
  return R"({"access_token":)" + blackbox::json_string(token) +
         R"(,"token_type":"Bearer","expires_in":3600)" + more + "}";
}

}  // namespace execcred::test
