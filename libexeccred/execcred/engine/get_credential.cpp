// SPDX-License-Identifier: Apache-2.0
#include <execcred/engine/get_credential.hpp>

#include <execcred/base/cause.hpp>
#include <execcred/base/pem.hpp>
#include <execcred/base/text.hpp>
#include <execcred/engine/credential_check.hpp>
#include <execcred/engine/plugin_run.hpp>

#include <utility>

namespace execcred {
namespace {

Status unusable(std::string message, std::string_view cause = cause::kProgramOutputInvalid) {
  return Error{.kind = Error::Kind::no_credential, .message = std::move(message), .cause = cause};
}

// Faults for which every client would refuse the document, or every server the credential.
Status check_usable(const Credential& credential) {
  if (credential.expires_at && *credential.expires_at <= SystemClock().now()) {
    return unusable("status.expirationTimestamp is over", cause::kCredentialExpired);
  }
  if (!credential.client_certificate.empty()) {
    const auto certificates = parse_go_client_certificates(credential.client_certificate);
    if (!certificates) {
      return unusable("status.clientCertificateData " + certificates.error().message);
    }
    const Result<PemBlock> key = parse_go_private_key(credential.client_key.reveal());
    if (!key) return unusable("status.clientKeyData " + key.error().message);
  }
  // What this check cannot read, a client may be able to.
  engine::Item item;
  const engine::CredentialFacts facts =
      check_credential(credential, {.now = SystemClock().now()}, item);
  const engine::Step& step = item.step(engine::StepId::credential);
  const bool is_certain = facts.is_provisional || step.cause == cause::kCredentialKeyMismatch;
  return is_certain ? unusable(step.message, step.cause) : Status();
}

}  // namespace

Result<Credential> get_credential(const Access& access, const Environment& environment,
                                  Duration limit) {
  return get_credential(access, environment, PluginRun{.limit = limit});
}

Result<Credential> get_credential(const Access& access, const Environment& environment,
                                  const PluginRun& run) {
  Result<Credential> credential =
      engine::run_plugin(access, access.exec.command, environment, run).credential;
  if (credential) {
    const Status usable = check_usable(*credential);
    if (!usable) {
      credential = Result<Credential>(usable.error())
                       .context("reading what " + in_quotes(access.exec.command) + " printed");
    }
  }
  return std::move(credential)
      .context("getting a credential for ClusterProfile " + access.cluster_profile +
               " with provider " + in_quotes(access.provider));
}

}  // namespace execcred
