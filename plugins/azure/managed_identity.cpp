// SPDX-License-Identifier: Apache-2.0
#include "managed_identity.hpp"

#include "managed_endpoint.hpp"
#include "managed_reply.hpp"

#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/http/retry.hpp>
#include <execcred/os/deadline.hpp>

#include <memory>
#include <string_view>
#include <utility>

namespace execcred::azure {
namespace {

// The number of attempts in azure-identity. They are made within one call's deadline, and only if
// the cache allows retries.
constexpr int kAttempts = 6;

class ManagedIdentity {
 public:
  explicit ManagedIdentity(const Options& options) : options_(options) {}

  Status open(Inputs& inputs);
  Result<Issued> ask(CallContext& call) const;

 private:
  Status select();
  bool is_app_service() const { return endpoint_.kind == ManagedEndpoint::Kind::app_service; }
  HttpRequest request() const;
  ManagedReplyRules rules(TimePoint now) const;
  Result<HttpResponse> send(CallContext& call) const;

  const Options& options_;
  ManagedEndpoint endpoint_;
  IdentitySelector selector_;
  std::string server_;  // the endpoint's origin
};

Status ManagedIdentity::open(Inputs& inputs) {
  inputs.add_machine();
  endpoint_ = TRY(managed_endpoint(inputs.environment()));
  const Url url = TRY(parse_url(endpoint_.url));
  server_ = origin_of(url);
  return select();
}

Status ManagedIdentity::select() {
  const auto take = [this](std::string_view name, const std::string& value) -> Status {
    if (value.empty()) return {};
    if (!selector_.name.empty()) {
      return Error{.kind = Error::Kind::configuration,
                   .message = "the managed identity is named twice",
                   .hint =
                       "one of --client-id, --identity-resource-id and --identity-object-id "
                       "names it"};
    }
    selector_ = {.name = std::string(name), .value = value};
    return {};
  };
  TRY(take("client_id", options_.client_id));
  TRY(take("object_id", options_.identity_object_id));
  return take(endpoint_.resource_parameter(), options_.identity_resource_id);
}

HttpRequest ManagedIdentity::request() const {
  HttpRequest request = {.url = endpoint_.url};
  request.url.append("?api-version=").append(endpoint_.api_version());
  request.url += "&resource=" + percent_encode(options_.server_id);
  if (!selector_.name.empty()) {
    request.url += "&" + selector_.name + "=" + percent_encode(selector_.value);
  }
  // This header protects the endpoint: a forged request (SSRF) would not have it.
  request.add_header("Metadata", "true");
  if (is_app_service()) {
    request.headers.push_back({.name = "X-IDENTITY-HEADER", .value = endpoint_.header.copy()});
  }
  request.add_header("Accept", "application/json");
  request.allow_plain_http = true;
  return request;
}

ManagedReplyRules ManagedIdentity::rules(TimePoint now) const {
  return {.kind = endpoint_.kind, .selector = selector_, .now = now, .server = server_};
}

Result<HttpResponse> ManagedIdentity::send(CallContext& call) const {
  const auto client = make_http_client({}, call);  // no proxy, whatever the variables say
  const Judge judge = [this, &call](const HttpRequest& /*request*/, const HttpResponse& reply) {
    return judge_managed_reply(reply, rules(call.clock.now()));
  };
  return send_with_retries(*client, request(), call, {.attempts = kAttempts, .judge = judge});
}

Result<Issued> ManagedIdentity::ask(CallContext& call) const {
  deadline::enter_phase("asking the endpoint of managed identities");
  call.debug("asking " + server_ + " for a token of " +
             (selector_.name.empty() ? std::string("its managed identity")
                                     : "the managed identity with " + selector_.name + " " +
                                           in_quotes(selector_.value)));
  const HttpResponse response =
      TRY(send(call).context("asking the endpoint of managed identities"));
  TokenReply reply = TRY(parse_managed_reply(response, rules(call.clock.now())));
  Issued fresh;
  fresh.credential = {.token = std::move(reply.token), .expires_at = reply.expires_at};
  fresh.identity = selector_.name.empty() ? "the machine's managed identity"
                                          : "managed identity " + selector_.value;
  fresh.target = options_.server_id + " at " + server_;
  return fresh;
}

}  // namespace

Result<CredentialCache::Ask> open_managed_identity(const Options& options, Inputs& inputs) {
  const auto identity = std::make_shared<ManagedIdentity>(options);
  TRY(identity->open(inputs));
  return CredentialCache::Ask([identity](CallContext& call) { return identity->ask(call); });
}

}  // namespace execcred::azure
