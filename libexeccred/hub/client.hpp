// SPDX-License-Identifier: Apache-2.0
// The Kubernetes API of the hub, where ClusterProfiles and stored credentials are: for reading, and
// for requesting tokens, with an identity that needs no other rights.
//
// The identity comes from a kubeconfig (token, token file or client certificate; one whose user
// needs another program is refused) or from the Pod's service account.
#pragma once

#include <execcred/base/call_context.hpp>
#include <execcred/base/environment.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/http/http.hpp>
#include <execcred/http/retry.hpp>
#include <execcred/json/json.hpp>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred {

struct Hub {
  std::string server = {};      // https://HOST[:PORT][/PATH], without a final slash
  std::string name_space = {};  // this identity's own; empty where it has none
  SecretString token = {};      // empty for a client certificate
  // The file of the token, which is rewritten while the process runs (a Pod's service account);
  // empty for a token in the kubeconfig itself.
  std::filesystem::path token_file = {};
  // After which the file is read again, as client-go does.
  Duration token_age = std::chrono::minutes(1);
  HttpSettings http = {};
  std::string origin = {};            // "--kubeconfig '/x'", for messages
  std::string_view noun = "the hub";  // its name in messages; a literal, and not copied

  // For another client of the same hub: each client serves one thread.
  Hub copy() const;
};

// The kubeconfig that the flag names, else those of KUBECONFIG, else the Pod's service account. A
// flag with KUBECONFIG's own value counts as KUBECONFIG, which may name several files.
// Fails with configuration where none of them is there or one cannot be used.
Result<Hub> find_hub(std::string_view kubeconfig, const Environment& environment);
// The same for a program with an option --context: the kubeconfig's context of that name, which a
// Pod's service account does not have; for an empty name, the current one.
Result<Hub> find_hub(std::string_view kubeconfig, std::string_view context,
                     const Environment& environment);

// The Pod's: POD_NAMESPACE, as client-go reads it first, else the service account's file; empty
// where there is neither. POD_NAMESPACE is not checked to be a name.
std::string in_cluster_namespace(const Environment& environment);
// The service account's token, where this is a Pod (KUBERNETES_SERVICE_HOST is set).
Result<SecretString> in_cluster_token(const Environment& environment);
// The URL of the API server; empty where this is no Pod.
std::string in_cluster_server(const Environment& environment);

// The requested resource, for its path and for the RBAC rule that a refusal names.
struct HubResource {
  std::string group = {};  // "" is core
  std::string version = {};
  std::string resource = {};     // "secrets"
  std::string name_space = {};   // empty: all
  std::string name = {};         // empty: a list
  std::string subresource = {};  // "token", of the object of that name
};

// Which parts of the objects a list or a watch sends.
enum class HubContent {
  whole,
  metadata,  // apiVersion, kind and metadata alone (meta.k8s.io/v1 PartialObjectMetadata)
};

struct HubListQuery {
  std::string label_selector = {};  // may be empty
  std::size_t page_size = 500;
  HubContent content = HubContent::whole;
  std::size_t max_bytes = std::numeric_limits<std::size_t>::max();  // of all pages, as JSON
  Duration timeout = std::chrono::minutes(1);  // of list_at_once(): each page with its attempts
};

class HubClient {
 public:
  // What the call refers to must outlive this. The call itself is copied, and records nothing.
  HubClient(Hub hub, CallContext call, RetryPolicy retries = {});
  // For tests: with another HTTP client.
  HubClient(Hub hub, std::unique_ptr<HttpClient> http, CallContext call, RetryPolicy retries = {});

  const Hub& hub() const { return hub_; }
  // Replaces the call's deadline: a long-lived client gets one for each operation. The facts about
  // the previous operation are dropped.
  void begin(std::chrono::steady_clock::time_point deadline) {
    call_.deadline = deadline;
    call_.retry_after.reset();
  }
  // A stop ends a running read, and all pauses between attempts; a running change continues, unless
  // it says otherwise. Must outlive the client's use.
  void stop_with(const StopEvent* stop) {
    stop_ = stop;
    retries_.stop = stop;
  }
  // Of the last failing reply: the pause that the hub asks for.
  std::optional<Duration> retry_after() const { return call_.retry_after; }
  // Of the last reply; 0 where the last request got none.
  std::optional<int> last_status() const { return call_.last_status; }

  // One object; nullopt where the hub says that there is none of this name. Fails as send() does,
  // and with no_credential for what the hub refuses: the message of its Status, and as the hint the
  // RBAC rule that would allow it.
  Result<std::optional<json::Value>> find(const HubResource& resource);

  // The versions of an API group that the hub serves, in its order of preference; nullopt where it
  // serves no such group. Kubernetes allows this to every authenticated user (the ClusterRole
  // system:discovery). Fails as find() does.
  Result<std::optional<std::vector<std::string>>> versions(const std::string& group);

  // Whether the hub serves the resource at its version; the version may exist for other resources
  // of the group only. Fails as versions() does.
  Result<bool> serves(const HubResource& resource);

  // POSTs `body`, and returns the object that the hub made of it. Fails as find() does, and where
  // there is no such object. Repeated by the retry policy, so only for what the hub may do twice:
  // reviews and tokens, of which it stores nothing.
  Result<json::Value> create(const HubResource& resource, const json::Value& body);

  // The same for an object that the hub stores, by the name in `body`; the object is not returned.
  // False if the name exists, for example after a lost answer.
  Result<bool> create_named(const HubResource& resource, const json::Value& body);

  // What matches the label selector (may be empty), a page of `page_size` at a time, never two
  // pages at once. `receive` returns false to stop.
  using Receive = std::function<Result<bool>(json::Value item)>;
  Status list(const HubResource& resource, std::string_view label_selector, std::size_t page_size,
              const Receive& receive);

  // The same as one snapshot, whose resourceVersion is the result: a watch continues from there. If
  // the hub drops the snapshot before the last page, the list begins again. restart() is called
  // before each first page. Fails also with no_credential for more than max_bytes.
  Result<std::string> list_at_once(const HubResource& resource, const HubListQuery& query,
                                   const std::function<void()>& restart, const Receive& receive);

  // A request to the hub whose reply may be anything, with the identity of this client. `target` is
  // its path and query. Fails as send_with_retries() does.
  Result<HttpResponse> exchange(const std::string& target, HttpRequest request,
                                const RetryPolicy& policy);
  // Those that this client has.
  const RetryPolicy& retries() const { return retries_; }

 private:
  struct Page;

  Result<HttpResponse> send(HttpRequest request);
  Result<HttpResponse> send_as(HttpRequest request, const RetryPolicy& given);
  void read_token_again();
  Result<Page> read_page(const HubResource& resource, const HubListQuery& query,
                         const std::string& token, std::size_t max_bytes);
  Result<HttpResponse> post(const HubResource& resource, const json::Value& body);
  // An object of the discovery API; nullopt where the hub has nothing there.
  Result<std::optional<json::Value>> discover(const std::string& path, std::string_view kind);

  Hub hub_;
  std::unique_ptr<HttpClient> http_;
  CallContext call_;
  RetryPolicy retries_;
  const StopEvent* stop_ = nullptr;
  std::chrono::steady_clock::time_point token_read_ = std::chrono::steady_clock::now();
};

// Its path on the API server.
std::string path_of(const HubResource& resource);

}  // namespace execcred
