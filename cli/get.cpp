// SPDX-License-Identifier: Apache-2.0
#include "get.hpp"

#include <execcred/rfc3339.hpp>

#include <optional>
#include <utility>

namespace execcred::cli {
namespace {

using std::chrono::sys_seconds;

std::optional<sys_seconds> expiration(const Credential& credential) {
  if (!credential.expires_at) return std::nullopt;
  return std::chrono::floor<std::chrono::seconds>(*credential.expires_at);
}

void append_member(SecretString& out, std::string_view name, std::string_view text) {
  if (text.empty()) return;
  std::string member;
  member.reserve(2 * (name.size() + text.size()) + 8);
  member += out.reveal().ends_with('{') ? "\n  " : ",\n  ";
  json::write_string(name, member);
  member += ": ";
  json::write_string(text, member);
  out.append(member);
  wipe(member);
}

SecretString write_json(const Access& access, const Credential& credential) {
  SecretString out("{");
  append_member(out, "clusterProfile", access.cluster_profile);
  append_member(out, "provider", access.provider);
  append_member(out, "server", access.cluster.server);
  if (const std::optional<sys_seconds> time = expiration(credential)) {
    append_member(out, "expirationTimestamp", format_rfc3339(*time));
  }
  append_member(out, "token", credential.token.reveal());
  append_member(out, "clientCertificateData", credential.client_certificate);
  append_member(out, "clientKeyData", credential.client_key.reveal());
  out.append("\n}\n");
  return out;
}

Result<SecretString> write_token(std::string_view lead, const Credential& credential) {
  if (credential.token.empty()) {
    return Error{.kind = Error::Kind::no_credential,
                 .message = "the credential is a client certificate, not a token",
                 .hint = "use -o exec-credential or -o json"};
  }
  SecretString out(lead);
  out.append(credential.token.reveal());
  out.append("\n");
  return out;
}

}  // namespace

void Get::add_options(OptionSet& options) {
  access_.add_to(options);
  options
      .add_parsed("output", output_, "FORMAT", "exec-credential, token, header or json",
                  [](const std::string& text) {
                    return parse_output(text, {"exec-credential", "token", "header", "json"});
                  })
      .short_name('o')
      .default_text(output_)
      .no_environment();
  options
      .add_parsed("timeout", timeout_, "DURATION", "How long the plugin may run, at most 60s",
                  parse_timeout)
      .default_text(format_duration(timeout_))
      .no_environment();
}

Result<SecretString> Get::credential_text() const {
  TRY_ASSIGN(const ProviderMapping mapping, access_.mapping());
  TRY_ASSIGN(const ClusterProfile profile, access_.one_profile());
  TRY_ASSIGN(const Access access, resolve_access(mapping, profile, access_.provider()));
  TRY_ASSIGN(const Credential credential, get_credential(access, Environment::copy(), timeout_));
  if (output_ == "token") return write_token("", credential);
  if (output_ == "header") return write_token("Authorization: Bearer ", credential);
  if (output_ == "json") return write_json(access, credential);
  return write_exec_credential(access.exec.api_version, credential, expiration(credential));
}

Result<Outcome> Get::run() {
  TRY_ASSIGN(SecretString text, credential_text());
  return Outcome{.text = std::move(text)};
}

}  // namespace execcred::cli
