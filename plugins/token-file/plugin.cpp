// SPDX-License-Identifier: Apache-2.0
// execcred-token-file: gives the client the bearer token in a file.
//
// The usual file is a projected service-account token, which the kubelet renews in place. So the
// plugin reads it on every call and caches nothing; the token's own "exp" claim, bounded
// by --max-age, is the time at which the client calls again.
#include <execcred/base/cause.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/bearer_token.hpp>
#include <execcred/exec/inputs.hpp>
#include <execcred/exec/plugin_main.hpp>
#include <execcred/os/file.hpp>

#include <memory>
#include <utility>

namespace execcred::token_file {
namespace {

class TokenFile final : public Provider {
 public:
  void add_options(OptionSet& options) override {
    options.group("Credential source");
    options.add("token-file", path_, "PATH", "File that holds the bearer token")
        .required()
        .example("/var/run/secrets/execcred/{server.host}/token")
        .with_template();
    options.group("Access rules");
    options
        .add("audience", audiences_, "AUDIENCE",
             "Give the token only if its aud claim holds one of these")
        .from_profile();
  }

  Result<Plan> plan(const Settings& /*settings*/, Inputs& inputs) const override {
    std::string path = TRY(inputs.expand("--token-file", path_));
    return Plan{.ask = [this, path = std::move(path)](CallContext& call) -> Result<Issued> {
      Result<Credential> credential = read(path, call);
      if (credential) return Issued{.credential = std::move(*credential)};
      credential.error().is_local = true;
      return std::move(credential).error();
    }};
  }

 private:
  Result<Credential> read(const std::string& path, const CallContext& call) const {
    const SecretString content = TRY(read_secret_file(path).hint(
        "mount a projected serviceAccountToken volume there, or pass --token-file=PATH"));
    call.debug("read " + std::to_string(content.size()) + " bytes from " + in_quotes(path));
    return credential(content, call.clock.now()).context("reading the token in " + in_quotes(path));
  }

  Binding bind(const Settings& /*settings*/) const override {
    if (path_.empty()) return {};
    return {.text = path_.find('{') == std::string::npos
                        ? "that is one token for all of them"
                        : "the ClusterProfile also chooses whose token that is"};
  }

  Result<Credential> credential(const SecretString& content, TimePoint now) const {
    BearerToken token = TRY(bearer_token_of_source(content));
    // Only the API server can check the signature. Here, "exp" is only the time at which the client
    // asks again.
    const std::optional<UnverifiedClaims> claims = TRY(token.claims());
    if (claims) TRY(of_source(check_lifetime(*claims, now)));
    TRY(check_audiences(claims));
    return Credential{.token = std::move(token).take(),
                      .expires_at = claims ? claims->expires_at : std::nullopt};
  }

  Status check_audiences(const std::optional<UnverifiedClaims>& claims) const {
    if (audiences_.empty()) return {};
    const std::string wanted = "it must be for " + join(audiences_, " or ");
    if (!claims) {
      return Error{.kind = Error::Kind::no_credential,
                   .message = "the token is no JWT, so its audience cannot be checked",
                   .hint = wanted + "; leave --audience out for opaque tokens",
                   .cause = cause::kCredentialWrongAudience};
    }
    if (has_any_audience(*claims, audiences_)) return {};
    return Error{.kind = Error::Kind::no_credential,
                 .message = claims->audiences.empty()
                                ? "the token names no audience"
                                : "the token is for " + in_quotes(join(claims->audiences, ", ")),
                 .hint = wanted + "; set 'audience' where the token is made",
                 .cause = cause::kCredentialWrongAudience};
  }

  std::string path_;
  std::vector<std::string> audiences_;
};

}  // namespace

PluginDefinition plugin() {
  return {.info = {.name = "execcred-token-file",
                   .summary = "Gives the client the bearer token kept in a file.",
                   .examples =
                       {{{"Print the token of a file, as clients read it",
                          "execcred-token-file --token-file=token"},
                         {"Show every setting, and request nothing",
                          "execcred-token-file --token-file=token --max-age=5m --show-config"}}},
                   .is_cheap_to_ask = true},
          .make = [] { return std::unique_ptr<Provider>(std::make_unique<TokenFile>()); }};
}

}  // namespace execcred::token_file
