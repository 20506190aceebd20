// SPDX-License-Identifier: Apache-2.0
#include "stored_credential.hpp"

#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/json/json_reader.hpp>

#include <array>
#include <utility>

namespace execcred::static_secret {
namespace {

constexpr std::size_t kMaxConfig = 1024 * 1024;

struct Refused {
  std::string_view field;
  std::string_view why;
  std::string_view hint;
};

// Login methods that are not credentials: they make a credential by running or calling something.
constexpr std::array<Refused, 3> kRefused = {{
    {"execProviderConfig",
     "it names a command, which this plugin would run for the writer of the Secret",
     "let the mapping name the plugin that this command is"},
    {"awsAuthConfig", "it asks for an EKS token, which is made and not stored",
     "execcred-aws makes it"},
    {"username", "no client of the exec protocol takes a password",
     "store a bearerToken or a client certificate"},
}};

bool is_empty_text(const json::Value& value) { return value.string() && value.string()->empty(); }

Status check_refused(const json::ObjectReader& config) {
  for (const Refused& refused : kRefused) {
    const json::Value* value = config.find(refused.field);
    if (value == nullptr || is_empty_text(*value)) continue;
    return Error::no_credential(
        std::string(refused.field) +
            " of the cluster's config is refused: " + std::string(refused.why),
        std::string(refused.hint));
  }
  return {};
}

// The value of a field that is base64, as Go's encoding/json writes bytes.
Result<SecretString> bytes(const json::ObjectReader& object, std::string_view name) {
  const json::Value* const text = object.find(name);
  if (text == nullptr || is_empty_text(*text)) return SecretString();
  if (text->string() == nullptr)
    return Error::no_credential(object.path_of(name) + " is no string");
  // decode_base64() skips line breaks, as Go does.
  std::optional<std::string> decoded = decode_base64(*text->string());
  if (!decoded) return Error::no_credential(object.path_of(name) + " is no base64");
  SecretString value(*decoded);
  wipe(*decoded);
  return value;
}

Status add_tls(const json::ObjectReader& tls, const Options& options, TimePoint now,
               StoredCredential& stored) {
  const bool is_insecure = TRY(tls.boolean_or_false("insecure"));
  if (is_insecure && !options.allow_insecure) {
    return Error::no_credential(
        "tlsClientConfig.insecure is set: the server's certificate would not be verified",
        "store the CA as caData; --allow-insecure allows it anyway");
  }
  const SecretString authority = TRY(bytes(tls, "caData"));
  const std::optional<std::string> name =
      TRY(tls.optional_string("serverName").hint("write a host's name, or leave it out"));
  StoredServer& server = stored.servers.front();
  server.certificate_authority = authority.reveal();
  server.tls_server_name = name.value_or("");
  server.is_insecure = is_insecure;
  if (!stored.credential.token.empty() && !options.both) return {};
  const SecretString certificates = TRY(bytes(tls, "certData"));
  const SecretString key = TRY(bytes(tls, "keyData"));
  if (certificates.empty() && key.empty()) return {};
  return add_certificate(certificates.reveal(), key, now, stored.credential);
}

Status add_config(const json::ObjectReader& config, const Options& options, TimePoint now,
                  StoredCredential& stored) {
  TRY(check_refused(config));
  const json::Value* const token = config.find("bearerToken");
  if (token != nullptr && !is_empty_text(*token)) {
    if (token->string() == nullptr) return Error::no_credential("bearerToken is no string");
    TRY(add_token(SecretString(*token->string()), now, stored.credential));
  }
  const std::optional<json::ObjectReader> tls = TRY(config.optional_object("tlsClientConfig"));
  if (tls) TRY(add_tls(*tls, options, now, stored));
  if (!stored.credential.token.empty() || !stored.credential.client_certificate.empty()) return {};
  return Error::no_credential(
      "the cluster's config has neither bearerToken nor certData and keyData");
}

}  // namespace

Result<StoredCredential> read_argocd(std::string_view server, const SecretString& config,
                                     const Options& options, TimePoint now) {
  StoredCredential stored{.is_self_contained = true};
  stored.servers.push_back({.server = std::string(server), .origin = "Argo CD's Secret"});
  const Result<json::SecretValue> document =
      json::parse_secret(config.reveal(), {.bytes = kMaxConfig});
  if (!document) return Error::no_credential("it is no JSON: it " + document.error().message);
  const auto read = [&]() -> Status {
    const json::ObjectReader reader = TRY(json::ObjectReader::open(**document, ""));
    return add_config(reader, options, now, stored);
  };
  Status status = read();
  if (status) return stored;
  // Malformed fields are in the Secret, so they are no error of the configuration.
  status.error().kind = Error::Kind::no_credential;
  return std::move(status).error();
}

}  // namespace execcred::static_secret
