// SPDX-License-Identifier: Apache-2.0
// The hub, as a reader of Secrets sees it: an API server that gives one Secret by its name, and
// lists of them by label, a page at a time. It knows one bearer token.
#pragma once

#include "support/loopback_server.hpp"

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::test {

struct HubSecret {
  std::string name = {};
  std::map<std::string, std::string> data = {};  // as they are, not in base64
  std::map<std::string, std::string> labels = {};
  std::string type = "Opaque";
  std::string name_space = "clusters";
  std::map<std::string, std::string> annotations = {};
  std::map<std::string, std::string> raw_data = {};  // sent as they are
};

// The document of the API. Items of a list carry no kind.
std::string to_json(const HubSecret& secret, bool is_item = false);

// metav1.Status.
HttpResponse status_reply(int code, const std::string& reason, const std::string& message,
                          std::vector<std::string> headers = {});

class SecretHub {
 public:
  SecretHub();

  void add(HubSecret secret);
  void clear();
  // Replies for the next requests; later ones are answered as usual.
  void next(HttpResponse reply);
  // A reply for every request from now on.
  void always(HttpResponse reply);

  const std::string& token() const { return token_; }
  std::string url() const { return server_.url(); }
  const std::string& ca_pem() const { return server_.ca_pem(); }
  // A kubeconfig for it, whose context has this namespace.
  std::string kubeconfig(const std::string& name_space = "clusters") const;
  // The requests since the last call, like "GET /api/v1/…".
  std::vector<std::string> requests();

 private:
  HttpResponse answer(const HttpRequest& request);
  HttpResponse get(const std::string& name_space, const std::string& name);
  HttpResponse list(const std::string& name_space, const std::string& query);

  std::string token_;
  std::mutex mutex_;
  std::vector<HubSecret> secrets_;     // under mutex_
  std::deque<HttpResponse> replies_;   // under mutex_
  std::optional<HttpResponse> fixed_;  // under mutex_
  std::size_t told_ = 0;
  LoopbackServer server_;
};

}  // namespace execcred::test
