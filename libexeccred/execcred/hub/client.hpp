// SPDX-License-Identifier: Apache-2.0
// A client of the hub's Kubernetes API, where ClusterProfiles and stored credentials are.
//
// The identity comes from a kubeconfig (a token, a token file or a client certificate) or from the
// Pod's service account. A kubeconfig whose user needs another program is refused.
#pragma once

#include <execcred/base/call_context.hpp>
#include <execcred/base/environment.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/http/http.hpp>
#include <execcred/http/retry.hpp>
#include <execcred/hub/tls_files.hpp>
#include <execcred/json/json.hpp>
#include <execcred/json/list_item.hpp>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
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
  // The age of the token at which the file is read again, as in client-go.
  Duration token_age = std::chrono::minutes(1);
  HttpSettings http = {};
  TlsFiles tls_files = {};            // where those of http.tls come from, to be read again
  std::string origin = {};            // "--kubeconfig '/x'", for messages
  std::string_view noun = "the hub";  // its name in messages; a literal, and not copied

  // A copy for another client of the same hub, because only one thread at a time may use a client.
  Hub copy() const;
};

// Finds the hub: the kubeconfig that the flag names, else those of KUBECONFIG, else the Pod's
// service account. A flag with KUBECONFIG's own value counts as KUBECONFIG, which may name several
// files. Fails (configuration) if none of these is there, or if a kubeconfig cannot be used; for
// the service account, fails as in_cluster_token() and read_ca_file() do.
Result<Hub> find_hub(std::string_view kubeconfig, const Environment& environment);
// The same for a program with an option --context: `context` names the kubeconfig's context; empty
// means its current context. Fails (configuration) if a context is named but there is no
// kubeconfig.
Result<Hub> find_hub(std::string_view kubeconfig, std::string_view context,
                     const Environment& environment);

// The Pod's namespace: POD_NAMESPACE, which client-go also reads first, else the service account's
// file; empty if there is neither. POD_NAMESPACE is returned without a check.
std::string in_cluster_namespace(const Environment& environment);
// The token of the Pod's service account. Fails (configuration) if this is not a Pod
// (KUBERNETES_SERVICE_HOST is not set), or as read_secret_file() and bearer_token() do.
Result<SecretString> in_cluster_token(const Environment& environment);
// The PEM of the CA of the Pod's API server. Fails as read_ca_file() does.
Result<std::string> in_cluster_authority();
// The URL of the Pod's API server; empty if this is not a Pod.
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
  // The time limit of each page with its attempts; nullopt: the call's deadline is that of the
  // list.
  std::optional<Duration> page_timeout = std::nullopt;
  // Called before each first page. If the hub drops its snapshot before the last page, the list
  // begins again. A caller that needs one snapshot then forgets what it received. Empty: what was
  // received is not received again.
  std::function<void()> restart = {};
};

class HubClient {
 public:
  // The objects that `call` refers to must outlive this. Its outcome is that of the caller's call.
  HubClient(Hub hub, CallContext call, RetryPolicy retries = {});
  // For tests: with another HTTP client.
  HubClient(Hub hub, std::unique_ptr<HttpClient> http, CallContext call, RetryPolicy retries = {});

  const Hub& hub() const { return hub_; }
  // Replaces the call's deadline, and drops retry_after() and what was sent before. A long-lived
  // client does this before each operation.
  void begin(std::chrono::steady_clock::time_point deadline) {
    call_.deadline = deadline;
    call_.outcome->retry_after.reset();
    call_.outcome->secrets.clear();
  }
  // A requested stop ends a running read, and all pauses between attempts. A running change
  // continues, unless its is_ended_by_stop is set. `stop` must outlive its use by the client.
  void stop_with(const StopEvent* stop) {
    stop_ = stop;
    retries_.stop = stop;
  }
  // The pause that the hub asked for in its last failing reply since begin(); nullopt if there is
  // none.
  std::optional<Duration> retry_after() const { return call_.outcome->retry_after; }
  // The HTTP status of the last reply; 0 if the last request got no reply.
  std::optional<int> last_status() const { return call_.outcome->last_status; }

  // Reads one object; nullopt if the hub reports that there is none of this name. Fails as
  // send_with_retries() does. If the hub refuses, fails with unavailable for 429 and 5xx, else with
  // no_credential; the message contains the hub's Status, and the hint of a 403 is the RBAC rule
  // that would allow the request.
  Result<std::optional<json::Value>> find(const HubResource& resource);

  // The versions of an API group that the hub serves, in its order of preference; nullopt if it
  // serves no such group. Kubernetes allows this request to every authenticated user (the
  // ClusterRole system:discovery). Fails as find() does.
  Result<std::optional<std::vector<std::string>>> versions(const std::string& group);

  // Whether the hub serves the resource at its version; the version may exist for other resources
  // of the group only. Fails as versions() does.
  Result<bool> serves(const HubResource& resource);

  // POSTs `body`, and returns the object in the reply. Fails as find() does, and also for a 404.
  // The retry policy may repeat the request, so it must be one that the hub may process twice:
  // reviews and tokens, which it does not store.
  Result<json::Value> create(const HubResource& resource, const json::Value& body);

  // The same for an object that the hub stores under the name in `body`; the object is not
  // returned. False if the name exists already, for example because an earlier reply was lost.
  Result<bool> create_named(const HubResource& resource, const json::Value& body);

  // Lists the objects that match, a page at a time, and returns the list's resourceVersion, from
  // which a watch continues. Only one page is in memory at once. A page that is too large is
  // requested again with half its objects, and a list that expires is read again without pages, as
  // client-go does. `receive` gets each object and returns false to stop. Fails as find() and
  // `receive` do, not because of one object: its problem is in the item.
  using Receive = std::function<Result<bool>(ListItem item)>;
  Result<std::string> list(const HubResource& resource, const HubListQuery& query,
                           const Receive& receive);

  // Sends a request to the hub with the identity of this client, and returns any reply. `target` is
  // the URL's path and query. Fails as send_with_retries() does. An error that the caller makes of
  // the reply passes through redacted().
  Result<HttpResponse> exchange(const std::string& target, HttpRequest request,
                                const RetryPolicy& policy);
  // The error without what this client sent. All errors of this class are redacted.
  Error redacted(Error error) const { return call_.outcome->secrets.redacted(std::move(error)); }
  // The retry policy of this client.
  const RetryPolicy& retries() const { return retries_; }

 private:
  template <class T>
  Result<T> in_context(Result<T> answer, std::string doing) const {
    return call_.outcome->secrets.redacted(std::move(answer)).context(std::move(doing));
  }

  struct Page;
  struct Place;

  Result<HttpResponse> send(HttpRequest request);
  Result<HttpResponse> send_as(HttpRequest request, const RetryPolicy& given);
  void read_token_again();
  Result<Page> read_page(const HubResource& resource, const HubListQuery& query,
                         const Place& place);
  Result<Page> read_fitting_page(const HubResource& resource, const HubListQuery& query,
                                 Place& place);
  Result<HttpResponse> post(const HubResource& resource, const json::Value& body);
  // An object of the discovery API; nullopt if the hub answers with 404.
  Result<std::optional<json::Value>> discover(const std::string& path, std::string_view kind);

  Hub hub_;
  std::unique_ptr<HttpClient> http_;
  CallContext call_;
  RetryPolicy retries_;
  const StopEvent* stop_ = nullptr;
  std::chrono::steady_clock::time_point token_read_ = std::chrono::steady_clock::now();
};

// The resource's path on the API server.
std::string path_of(const HubResource& resource);

}  // namespace execcred
