// SPDX-License-Identifier: Apache-2.0
// The API server of a cluster, as far as execcred-bootstrap sees it: TokenRequests, and
// CertificateSigningRequests with an approver and a signer that do what the case says.
#pragma once

#include "support/issuer.hpp"
#include "support/plugin_rig.hpp"
#include "support/scripted_server.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::test {

inline constexpr const char* kTokenPath =
    "/api/v1/namespaces/fleet/serviceaccounts/controller/token";
inline constexpr const char* kSigningPath =
    "/apis/certificates.k8s.io/v1/certificatesigningrequests";

// How a token differs from the request.
struct TokenWish {
  std::optional<std::int64_t> seconds = {};  // its lifetime, by status.expirationTimestamp
  std::optional<std::int64_t> exp_seconds = {};
  std::string subject = "system:serviceaccount:fleet:controller";
  std::optional<std::string> audiences = {};  // JSON
  std::string more_claims = {};
  bool is_opaque = false;
};

// How a certificate differs from the request.
struct IssueWish {
  std::string usage = "clientAuth";  // empty: no such extension
  long begins = -60;                 // seconds from now
  long ends = 3600;
  bool has_other_key = false;
  bool is_ca = false;
  std::optional<std::string> user = {};
  std::optional<std::vector<std::string>> groups = {};
  std::string unit = {};         // an additional organizational unit
  int chain = 1;                 // certificates
  bool is_chain_broken = false;  // the first is not signed by the second
  std::string instead = {};      // this text instead of a certificate
};

// What happens to a new request.
enum class Approver { approves, waits, denies, fails, only_approves };

class ClusterApi {
 public:
  explicit ClusterApi(const Identity* client_ca = nullptr);

  // Decides on all present and future requests.
  void decide(Approver approver);
  // Sets status.conditions (JSON) in place of the approver's. The approver still decides whether a
  // certificate is issued.
  void set_conditions(const std::string& conditions);
  // Deletes all requests, like the cluster's garbage collector.
  void vanish();
  // Each new request is deleted at once.
  void set_vanishing(bool is_vanishing);
  // The next `count` requested names are already in use by another client.
  void set_taken(int count);
  // The next `count` calls on signing requests are processed, but get no answer.
  void lose_answers(int count);
  // The next `looks` reads of signing requests find none, as on a server that lags behind.
  void lag_for(int looks);
  // The next `looks` reads of signing requests are answered, and no later one is.
  void stall_after(int looks);
  // Answers this method with 403, as RBAC does.
  void forbid(const std::string& method);
  void allow_all();

  // The number of requests that were made, and the number of POSTs.
  int made() const;
  std::size_t posts() const { return server.count(kSigningPath); }
  std::vector<std::string> names() const;
  // The spec of the newest request.
  std::string last_spec() const;

  TokenWish token;
  IssueWish issue;
  ScriptedServer server;

 private:
  struct Request {
    std::string body = {};
    std::string status = "{}";
  };

  void answer(Stream& stream, const Received& request);
  std::string give_token(const Received& request) const;
  std::string create(const Received& request);
  std::string get(const std::string& name);
  std::string status_for(const std::string& body) const;

  mutable std::mutex mutex_;
  std::map<std::string, Request> requests_;
  std::string last_;
  std::set<std::string> forbidden_;
  Approver approver_ = Approver::approves;
  std::string conditions_;  // in place of the approver's
  bool is_vanishing_ = false;
  int lag_ = 0;
  int taken_ = 0;
  int lost_ = 0;
  int looks_ = -1;  // reads that are still answered; negative: all of them
  int made_ = 0;
};

// An error reply of kube-apiserver.
std::string status_reply(int code, const std::string& reason, const std::string& message,
                         const std::string& name = {});

// What the PKCS#10 request of a spec holds.
struct RequestFacts {
  std::string subject = {};  // "O=fleet, CN=fleet-controller", groups sorted
  std::string key_type = {};
  std::string public_key = {};  // DER, in base64
  bool is_self_signed = false;
  int extensions = 0;
};
RequestFacts facts_of_request(const std::string& spec);
// Whether the private key (PEM) belongs to the certificate.
bool is_pair(const std::string& certificate, const std::string& key);

}  // namespace execcred::test
