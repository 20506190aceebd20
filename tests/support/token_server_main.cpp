// SPDX-License-Identifier: Apache-2.0
//
// loopback-token-server: an OAuth 2.0 token endpoint that gives every client the same token. It is
// for scripts/bench, where only the time of an answer matters.
//
// It listens on 127.0.0.1 and a free port with a certificate that it makes itself. It runs until
// SIGTERM, SIGINT or the end of its parent process.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "loopback_server.hpp"
#include "server_program.hpp"

namespace execcred::test {
namespace {

// Has the size of an RS256 token with a dozen claims. Google's tokens are similar.
std::string token_reply() {
  return R"({"access_token":")" + std::string(900, 'a') +
         R"(","issued_token_type":"urn:ietf:params:oauth:token-type:access_token",)"
         R"("token_type":"Bearer","expires_in":3600})";
}

void serve(const std::string& ca_file, const std::string& url_file) {
  const StopSignals stop_signals;
  die_with_parent();
  const LoopbackServer server([reply = token_reply()](const HttpRequest& request) {
    if (request.method != "POST") return HttpResponse{.status = 405};
    return HttpResponse{.headers = {"Content-Type: application/json"}, .body = reply};
  });
  write_file(ca_file, server.ca_pem());
  write_file(url_file, server.url("/token") + "\n");
  stop_signals.await();
}

}  // namespace
}  // namespace execcred::test

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: loopback-token-server CA_FILE URL_FILE\n", stderr);
    return 2;
  }
  try {
    execcred::test::serve(argv[1], argv[2]);
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "loopback-token-server: error: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
