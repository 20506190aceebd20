// SPDX-License-Identifier: Apache-2.0
// The options of execcred-oidc-federation.
#pragma once

#include <execcred/cache/credential_cache.hpp>
#include <execcred/exec/inner_program.hpp>
#include <execcred/exec/option_set.hpp>
#include <execcred/exec/profile_choice.hpp>
#include <execcred/exec/settings.hpp>
#include <execcred/oauth/client_authentication.hpp>
#include <execcred/oauth/token_request.hpp>
#include <execcred/spiffe/svid_choice.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::oidc_federation {

// The variable that every SPIFFE client reads.
inline constexpr std::string_view kSocketVariable = "SPIFFE_ENDPOINT_SOCKET";

enum class Flow {
  token_exchange,
  jwt_bearer,
  client_credentials,
  refresh_token,
  pass_through,  // the cluster accepts the subject token itself
  pinniped,      // the cluster's Concierge accepts it
};

enum class SubjectSource {
  none,
  file,
  variable,
  url,
  command,
  github_actions,
  gcp_metadata,
  kubernetes,
  spiffe,
};

struct RequestHeader {
  std::string name = {};
  std::string value = {};
};

struct SpiffeOptions {
  std::string socket = {};
  SvidChoice choice = {};
};

struct SubjectOptions {
  std::filesystem::path file = {};
  std::string variable = {};
  std::string url = {};
  std::vector<RequestHeader> headers = {};  // of the URL
  std::string field = {};                   // of the URL's JSON
  std::filesystem::path ca_file = {};       // of the URL and of GitHub Actions
  InnerCommand command = {};
  SubjectSource named = SubjectSource::none;
  std::string service_account = {};  // NAMESPACE/NAME
  std::string kubeconfig = {};
  SpiffeOptions spiffe = {};
  std::string audience = {};  // of a fetched one

  SubjectSource source() const;
};

struct ServerOptions {
  std::string issuer_url = {};
  std::string token_url = {};
  std::filesystem::path ca_file = {};
};

struct ClientOptions {
  std::string id = {};
  std::vector<ChoicePattern> allow_ids = {};
  std::optional<ClientAuthMethod> auth = {};
  std::filesystem::path secret_file = {};
  std::filesystem::path private_key_file = {};
  std::string key_id = {};
  std::string signing_alg = {};
  std::filesystem::path certificate = {};
  std::filesystem::path certificate_key = {};
  std::string assertion_type = {};
  std::string assertion_audience = {};
};

struct ConciergeOptions {
  std::string authenticator_type = {};
  std::string authenticator_name = {};
  std::string api_group_suffix = "pinniped.dev";
  std::string endpoint = {};  // empty: the cluster's own server
  std::filesystem::path ca_file = {};
};

struct Options {
  Flow flow = Flow::token_exchange;
  SubjectOptions subject = {};
  ServerOptions server = {};
  ClientOptions client = {};
  TokenRequest request = {};  // but for its grant, subject and actor token
  std::filesystem::path actor_token_file = {};
  std::vector<std::string> expect_audiences = {};
  ConciergeOptions concierge = {};
  CacheOptions cache = {};

  // Whether the flow uses a token endpoint.
  bool has_server() const { return flow != Flow::pass_through && flow != Flow::pinniped; }
  // Whether the subject token authenticates the client.
  bool is_federated() const { return client.auth == ClientAuthMethod::federated; }
  bool needs_subject() const { return flow != Flow::client_credentials || is_federated(); }
  // The source of the subject token. A flow without one has none, whatever the environment names.
  SubjectSource subject_source() const {
    return needs_subject() ? subject.source() : SubjectSource::none;
  }
};

void add_options(OptionSet& set, Options& options);

// Fails (configuration) for combinations that make no sense: an option that the flow does not use,
// a subject token that is given twice or not at all, an incomplete client authentication.
Status check_options(const Options& options, const Settings& settings);

// Checks that a client that authenticates has a client ID. A ClusterProfile may choose the ID, so
// check_options leaves this to the run if --allow-client-id is given. Fails (configuration).
Status check_client_id(const Options& options, const Settings& settings);

}  // namespace execcred::oidc_federation
