// SPDX-License-Identifier: Apache-2.0
// Known secrets on every path: neither tokens nor keys may appear in messages or files. The plugin
// writes no files, and makes only one connection.
#include "file_watch.hpp"
#include "peer.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>

namespace execcred::test {
namespace {

namespace fs = std::filesystem;

std::string jwt_answer(const JwtSvidWire& svid) {
  blackbox::remember_secret(svid.svid);
  return grpc::answer(jwt_svid_response({svid}));
}

}  // namespace

TEST_CASE("canary: --debug shows the steps, and no secret" * doctest::description("promise 16")) {
  for (const std::string type : {"jwt", "x509"}) {
    const AgentPeer agent;
    const Outcome outcome = agent.run({.type = type, .is_traced = true});
    CHECK(outcome.exit_code == 0);
    CHECK(blackbox::says(outcome, "debug: "));
    CHECK(blackbox::says(outcome, kWorkload));
    CHECK(blackbox::secret_in(outcome.error_output) == "");
    CHECK(blackbox::secret_in(outcome.output) != "");
  }
}

TEST_CASE("canary: no secret of a refused answer is shown" * doctest::description("promise 16")) {
  const SvidIssuer issuer;
  const std::string token = issuer.jwt({.spiffe_id = kWorkload, .audiences = {"other"}});
  const X509SvidWire x509 = issuer.x509({.spiffe_id = kWorkload, .common_name = ""});
  blackbox::remember_secret(blackbox::base64(x509.private_key));
  blackbox::remember_secret(x509.private_key);
  X509SvidWire damaged = x509;
  damaged.private_key.pop_back();
  const std::string message = jwt_svid_response({{.spiffe_id = kWorkload, .svid = token}});
  struct Case {
    const char* type;
    std::string bytes;
    const char* told;
    int exit_code = 1;
  };
  for (const Case& c :
       {Case{"jwt", jwt_answer({.spiffe_id = kWorkload, .svid = token}),
             "the JWT-SVID is not for the audience"},
        Case{"jwt", jwt_answer({.spiffe_id = "spiffe://example.org/other", .svid = token}),
             "but the agent calls it 'spiffe://example.org/other'"},
        // Two SVIDs, of which none is selected.
        Case{"jwt",
             grpc::answer(jwt_svid_response({{.spiffe_id = kWorkload, .svid = token},
                                             {.spiffe_id = kWorkload, .svid = token}})),
             "the agent has 2 identities for this process"},
        Case{"jwt", grpc::begin() + h2::data(1, h2::message(message)) + grpc::trailers("13"),
             "did not answer: Internal", 3},
        Case{"jwt", grpc::begin() + h2::data(1, h2::message(message, 1)) + grpc::trailers("0"),
             "the reply is compressed, although compression was not requested"},
        Case{"jwt", grpc::begin() + h2::data(1, message) + grpc::trailers("0"),
             "the reply's message has unknown flags"},
        Case{"jwt", grpc::answer("\x0a" + message),
             "the agent's answer is no Protocol Buffers message"},
        Case{"x509", grpc::stream_answer(x509_svid_response({x509})), "has no common name"},
        Case{"x509", grpc::stream_answer(x509_svid_response({damaged})),
             "the X.509-SVID's private key is no PKCS#8 in DER"},
        Case{"x509", grpc::begin() + h2::data(1, x509_svid_response({x509})),
             "the reply's message has unknown flags"}}) {
    const Peer peer(c.bytes);
    const Outcome outcome =
        peer.run({.type = c.type, .is_traced = true, .timeout = milliseconds(400)});
    CHECK(outcome.exit_code == c.exit_code);
    CHECK(blackbox::says(outcome, c.told));
    CHECK(outcome.output == "");
    CHECK(blackbox::secret_in(outcome.error_output) == "");
  }
}

TEST_CASE("canary: an agent's texts in errors are shortened and escaped" *
          doctest::description("promise 16")) {
  for (const std::string& text : {std::string(5000, 'x'), std::string("a\rb\tc\x1b[2Jd\x01"),
                                  std::string("\xe2\x80\xae\xff\xfe")}) {
    const Peer peer(grpc::failure(grpc::kInvalidArgument, text));
    CHECK_FAILURE(peer.run(), 1, "the SPIFFE Workload API at");
    const Peer listed(
        grpc::answer(jwt_svid_response({{.spiffe_id = text, .svid = "a.b.c", .hint = text},
                                        {.spiffe_id = kWorkload, .svid = "a.b.c", .hint = text}})));
    CHECK_FAILURE(listed.run(), 1, "the agent has 2 identities for this process");
  }
}

TEST_CASE("canary: --show-config connects to no agent, and shows the source of each setting" *
          doctest::description("promise 16")) {
  const AgentPeer agent;
  const Outcome outcome =
      run_at("", {.arguments = {"--show-config"},
                  .variables = {"SPIFFE_ENDPOINT_SOCKET=" + agent.peer.server.uri()}});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.output.find(agent.peer.server.uri()) != std::string::npos);
  CHECK(outcome.output.find("SPIFFE_ENDPOINT_SOCKET") != std::string::npos);
  CHECK(agent.peer.server.connections() == 0);
}

TEST_CASE("no file is written in the home, cache, temporary or working directory") {
  for (const std::string type : {"jwt", "x509"}) {
    const AgentPeer agent;
    const blackbox::Sandbox home;
    const std::string folder = home.path();
    Ask ask = {
        .type = type,
        .variables = {"HOME=" + folder, "XDG_CACHE_HOME=" + folder, "XDG_RUNTIME_DIR=" + folder,
                      "EXECCRED_CACHE_DIR=" + folder, "TMPDIR=" + folder},
        .before_exec = [&folder] {
          if (chdir(folder.c_str()) != 0) _exit(125);
        }};
    CHECK_SUCCESS(agent.run(ask));
    ask.arguments = {"--spiffe-id=spiffe://example.org/absent"};
    ask.timeout = milliseconds(300);
    CHECK_FAILURE(agent.run(ask), 1,
                  type == "jwt" ? "has no identity for this process"
                                : "the agent has no identity with the SPIFFE ID");
    CHECK(fs::is_empty(folder));
  }
}

TEST_CASE("hostile variables of libraries have no effect, and no file that they name is touched") {
  blackbox::FileWatch watch;
  const std::string config = watch.bait("openssl.cnf", "x\n");
  const std::string log = watch.bait_to_create("keylog");
  for (const std::string type : {"jwt", "x509"}) {
    const AgentPeer agent;
    watch.start();
    CHECK_SUCCESS(agent.run(
        {.type = type,
         .variables = {"OPENSSL_CONF=" + config, "SSLKEYLOGFILE=" + log,
                       "OPENSSL_MODULES=" + watch.folder(), "GRPC_TRACE=all",
                       "GRPC_VERBOSITY=debug", "NGHTTP2_DEBUG=1", "http_proxy=http://127.0.0.1:1",
                       "grpc_proxy=http://127.0.0.1:1"}}));
    CHECK(watch.touched().empty());
  }
}

}  // namespace execcred::test
