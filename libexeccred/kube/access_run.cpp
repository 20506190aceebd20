// SPDX-License-Identifier: Apache-2.0
// The second half of access.hpp: running what was resolved.
#include <execcred/base/pem.hpp>
#include <execcred/base/text.hpp>
#include <execcred/kube/access.hpp>
#include <execcred/os/process.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace execcred {
namespace {

std::vector<std::string> variables(const Access& access, const Environment& environment) {
  std::vector<std::string> entries = environment.entries();
  for (const EnvironmentVariable& variable : access.exec.env) {
    entries.push_back(variable.name + "=" + variable.value);
  }
  entries.push_back("KUBERNETES_EXEC_INFO=" + write_exec_info(access.exec_info()));
  return last_of_each_name(entries);
}

// "NAME: error: …" and "  hint: …" as plugins of ours print them; the first line of any other.
void take_story(std::string_view error_output, Error& error) {
  constexpr std::string_view kError = ": error: ";
  constexpr std::string_view kHint = "  hint: ";
  constexpr std::string_view kWhile = "  while ";
  for (const std::string_view line : split(error_output, '\n')) {
    const std::size_t start = line.find(kError);
    if (start != std::string_view::npos && line.starts_with("execcred-")) {
      error.message = std::string(line.substr(0, start)) + ": " +
                      std::string(line.substr(start + kError.size()));
    } else if (line.starts_with(kHint)) {
      error.hint = line.substr(kHint.size());
    } else if (line.starts_with(kWhile)) {
      error.context.emplace_back(line.substr(kWhile.size()));
    }
  }
}

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
  take_story(finished.error_output, error);
  return error;
}

Error unusable(std::string message) {
  return Error{.kind = Error::Kind::no_credential, .message = std::move(message)};
}

// One that can be read; clients pass over what else is there (Go's tls.X509KeyPair).
bool has_certificate(std::string_view pem) {
  constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----";
  constexpr std::string_view kEnd = "-----END CERTIFICATE-----";
  const std::size_t begin = pem.find(kBegin);
  if (begin == std::string_view::npos) return false;
  const std::size_t end = pem.find(kEnd, begin);
  return end != std::string_view::npos &&
         parse_pem_certificates(pem.substr(begin, end + kEnd.size() - begin));
}

// What every client would refuse, though the document is one.
Status check_usable(const Credential& credential) {
  if (credential.expires_at && *credential.expires_at <= SystemClock().now()) {
    return unusable("status.expirationTimestamp is over");
  }
  if (credential.client_certificate.empty()) return {};
  if (!has_certificate(credential.client_certificate)) {
    return unusable("status.clientCertificateData holds no certificate in PEM");
  }
  const std::string_view key = credential.client_key.reveal();
  if (key.find("PRIVATE KEY-----") != std::string_view::npos) return {};
  return unusable("status.clientKeyData is no private key in PEM");
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
                        .environment = variables(access, environment),
                        .limit = run.limit,
                        .on_error_output = run.on_error_output,
                        .ends_with_signals = run.ends_with_signals};
  const std::string doing = "getting a credential for ClusterProfile " + access.cluster_profile +
                            " with provider " + in_quotes(access.provider);
  Result<Finished> finished = run_command(command);
  if (!finished) {
    return Result<Credential>(std::move(finished).error())
        .hint(access.exec.install_hint)
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
