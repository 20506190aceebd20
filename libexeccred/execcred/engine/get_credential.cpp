// SPDX-License-Identifier: Apache-2.0
#include <execcred/engine/get_credential.hpp>

#include <execcred/base/pem.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/kube/command_hint.hpp>
#include <execcred/os/process.hpp>

#include <filesystem>
#include <system_error>
#include <utility>

namespace execcred {
namespace {

Error failure(const Access& access, const Finished& finished) {
  const std::string name = in_quotes(access.exec.command);
  if (finished.signal != 0) {
    return Error{.kind = Error::Kind::unavailable,
                 .message = name + " was ended by signal " + std::to_string(finished.signal)};
  }
  Error error{.kind = kind_of_exit_code(finished.exit_code),
              .message = name + " ended with exit code " + std::to_string(finished.exit_code)};
  const std::string_view said = trim(finished.error_output);
  if (!said.empty()) error.message += ": " + std::string(said.substr(0, said.find('\n')));
  take_error_output(finished.error_output, error);
  return error;
}

Error unusable(std::string message) {
  return Error{.kind = Error::Kind::no_credential, .message = std::move(message)};
}

// Faults for which every client would refuse the document.
Status check_usable(const Credential& credential) {
  if (credential.expires_at && *credential.expires_at <= SystemClock().now()) {
    return unusable("status.expirationTimestamp is over");
  }
  if (credential.client_certificate.empty()) return {};
  const auto certificates = parse_go_certificates(credential.client_certificate);
  if (!certificates) {
    return unusable("status.clientCertificateData " + certificates.error().message);
  }
  const Result<PemBlock> key = parse_go_private_key(credential.client_key.reveal());
  return key ? Status() : unusable("status.clientKeyData " + key.error().message);
}

}  // namespace

Result<Credential> get_credential(const Access& access, const Environment& environment,
                                  Duration limit) {
  return get_credential(access, environment, PluginRun{.limit = limit});
}

Result<Credential> get_credential(const Access& access, const Environment& environment,
                                  const PluginRun& run) {
  const Command command{.path = access.exec.command,
                        .arguments = access.exec.args,
                        .environment = environment_of_plugin(access, environment),
                        .limit = run.limit,
                        .on_error_output = run.on_error_output,
                        .ends_with_signals = run.ends_with_signals,
                        .stop = run.stop};
  const std::string doing = "getting a credential for ClusterProfile " + access.cluster_profile +
                            " with provider " + in_quotes(access.provider);
  Result<Finished> finished = run_command(command);
  if (!finished) {
    std::error_code ignored;
    const bool is_missing = !std::filesystem::exists(access.exec.command, ignored);
    return Result<Credential>(std::move(finished).error())
        .hint(std::string(
            missing_command_hint(is_missing ? access.exec.command : "", access.exec.install_hint)))
        .context(doing);
  }
  if (run.on_end) run.on_end(finished->exit_code, finished->signal);
  if (finished->exit_code != 0 || finished->signal != 0) {
    return Result<Credential>(failure(access, *finished)).context(doing);
  }
  Result<Credential> credential =
      parse_exec_credential(finished->output.reveal(), access.exec.api_version);
  if (credential) {
    const Status usable = check_usable(*credential);
    if (!usable) credential = usable.error();
  }
  return std::move(credential)
      .context("reading what " + in_quotes(access.exec.command) + " printed")
      .context(doing);
}

}  // namespace execcred
