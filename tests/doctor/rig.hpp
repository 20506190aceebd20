// SPDX-License-Identifier: Apache-2.0
// A fake API server on loopback, with the requests of doctor, and one cluster to examine, whose
// parts a case can break.
#pragma once

#include "child_process.hpp"
#include "documents.hpp"
#include "sandbox.hpp"
#include "support/stream_server.hpp"
#include "support/tls_identity.hpp"
#include "test_paths.hpp"

#include <execcred/exec/jwt.hpp>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace doctor_test {

using blackbox::Outcome;

inline const std::string kCli = EXECCRED_BIN "/execcred";
inline const std::string kTokenFile = EXECCRED_BIN "/execcred-token-file";

struct ApiRequest {
  std::string method = {};
  std::string path = {};
  std::string token = {};  // of "Authorization: Bearer", or empty
  std::string body = {};
  std::vector<std::string> head = {};           // its lines
  std::vector<std::string> impersonation = {};  // those like "Impersonate-User: bob"
  bool has_certificate = false;
};

struct ApiReply {
  int status = 200;
  std::string body = {};
  std::string headers = {};  // whole lines with their line ends
};

// {"kind":"Status",…} as API servers write it.
ApiReply status_reply(int code, std::string_view reason, std::string_view message,
                      std::string_view details = "{}");
ApiReply unauthorized();
ApiReply anonymous_forbidden();
ApiReply review_of(std::string_view user);

class FakeApi {
 public:
  using Answer = std::function<ApiReply(const ApiRequest&)>;

  struct Options {
    execcred::test::IdentityOptions server = {};
    execcred::test::ServerTls tls = {};  // its identity is made here
    // Replaces HTTP.
    execcred::test::StreamServer::Handler converse = {};
  };

  // Knows one token, of the user "jane", and refuses anonymous callers.
  explicit FakeApi(std::string token) : FakeApi(std::move(token), Options()) {}
  FakeApi(std::string token, const Options& options);

  // An answer of the case's own. Its status 0 means: give the usual answer.
  void answer(Answer answer);

  std::string url() const { return "https://127.0.0.1:" + std::to_string(server_->port()); }
  std::uint16_t port() const { return server_->port(); }
  const std::string& ca_pem() const { return ca_.pem; }
  const execcred::test::Identity& ca() const { return ca_; }
  std::vector<ApiRequest> requests() const;
  std::size_t connections() const { return server_->connections(); }

 private:
  void converse(execcred::test::Stream& stream);
  ApiReply reply_to(const ApiRequest& request);

  std::string token_;
  execcred::test::Identity ca_;
  execcred::test::Identity identity_;
  mutable std::mutex mutex_;
  Answer answer_;                     // under mutex_
  std::vector<ApiRequest> requests_;  // likewise
  std::unique_ptr<execcred::test::StreamServer> server_;
};

// What a case may change. The texts are JSON.
struct Scene {
  Scene();

  blackbox::Sandbox sandbox;
  std::string token;  // that the server knows
  std::unique_ptr<FakeApi> api;

  std::string command = kTokenFile;
  std::vector<std::string> args;
  std::string more_of_exec = R"(,"provideClusterInfo":true,"interactiveMode":"Never")";
  std::string more_of_entry;
  std::string server;
  std::string ca;  // PEM; empty: none
  std::string more_of_cluster;
  std::string conditions = R"([{"type":"ControlPlaneHealthy","status":"True"}])";
  std::string profile;  // replaces what the parts above make
  std::string mapping;  // likewise
  std::vector<std::string> environment;
  std::vector<std::string> arguments;  // of doctor
  std::string warn_before = "1h";      // the CAs here live for a day

  // Starts another server instead of the usual one.
  void serve(const FakeApi::Options& options);
  void write_token(std::string_view content) const;
  std::string profile_text() const;
  std::string mapping_text() const;
  blackbox::Command doctor_command(std::vector<std::string> more = {}) const;
  Outcome run(std::vector<std::string> more = {}) const;
};

// Values of the output of -o json.
struct Found {
  std::string result;
  std::string cause;
  std::string user;
  std::map<std::string, std::string> steps;     // result of each
  std::map<std::string, std::string> messages;  // of each
};
Found read_found(std::string_view json, std::size_t item = 0);

}  // namespace doctor_test
