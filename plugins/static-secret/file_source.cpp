// SPDX-License-Identifier: Apache-2.0
#include "file_source.hpp"

#include <execcred/base/cause.hpp>
#include <execcred/base/pause.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/os/file.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <optional>
#include <utility>

namespace execcred::static_secret {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kFirstPause(100);
constexpr milliseconds kReserve(
    300);  // to report the error before the deadline does it with less detail

struct CertificateFiles {
  fs::path certificate = {};
  fs::path key = {};
};

struct Pair {
  SecretString certificates = {};
  SecretString key = {};
};

struct FileNames {
  const char* folder;
  const char* certificate;
  const char* key;
};

// The files that Istio mounts. Their root certificate has no field in ExecCredential.
constexpr std::array<FileNames, 2> kMounted = {{
    {"/var/run/secrets/workload-spiffe-credentials", "certificates.pem", "private_key.pem"},
    {"/etc/certs", "cert-chain.pem", "key.pem"},
}};

Error no_file(const fs::path& path) {
  return Error{.kind = Error::Kind::configuration,
               .message = "cannot read " + in_quotes(path.native()) + ": " + system_message(ENOENT),
               .cause = cause::kSourceMissing};
}

// Reads both files, in one state of their directory if they are in the same one.
Result<Pair> read_pair(const CertificateFiles& files) {
  if (files.certificate.parent_path() != files.key.parent_path()) {
    Pair pair;
    pair.certificates = TRY(read_secret_file(files.certificate));
    pair.key = TRY(read_secret_file(files.key));
    return pair;
  }
  std::vector<std::optional<SecretString>> contents = TRY(read_secret_directory(
      files.certificate.parent_path(), {files.certificate.filename(), files.key.filename()}));
  if (!contents[0]) return no_file(files.certificate);
  if (!contents[1]) return no_file(files.key);
  return Pair{.certificates = *std::move(contents[0]), .key = *std::move(contents[1])};
}

// The first of the known sets of files whose certificate exists.
Result<CertificateFiles> find_mounted(const std::string& folder) {
  std::vector<std::string> looked_for;
  for (const FileNames& names : kMounted) {
    const fs::path place = folder.empty() ? fs::path(names.folder) : fs::path(folder);
    std::error_code none;
    if (fs::exists(fs::symlink_status(place / names.certificate, none))) {
      return CertificateFiles{.certificate = place / names.certificate, .key = place / names.key};
    }
    looked_for.push_back(in_quotes((place / names.certificate).native()));
  }
  return Error{.kind = Error::Kind::configuration,
               .message = "there is neither " + join(looked_for, " nor "),
               .hint =
                   "mount the certificates there, or pass --client-certificate and "
                   "--client-key",
               .cause = cause::kSourceMissing};
}

Result<StoredCredential> read_pair_of(const CertificateFiles& files, TimePoint now) {
  const Pair pair = TRY(read_pair(files));
  StoredCredential stored;
  TRY(add_certificate(pair.certificates.reveal(), pair.key, now, stored.credential)
          .context("reading the certificate in " + in_quotes(files.certificate.native()) +
                   " and its key in " + in_quotes(files.key.native())));
  return stored;
}

Result<StoredSecret> read_mounted_secret(const std::string& folder,
                                         const std::vector<std::string>& keys, Format format) {
  const std::size_t max_bytes = format == Format::kubeconfig ? kMaxKubeconfig : kMaxSecretFile;
  std::vector<std::optional<SecretString>> contents =
      TRY(read_secret_directory(folder, keys, max_bytes)
              .hint("mount the Secret there, or pass --secret-dir=PATH"));
  StoredSecret secret{.is_decoded = true};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (contents[i]) secret.data.emplace(keys[i], *std::move(contents[i]));
  }
  return secret;
}

Result<StoredCredential> read_certificate_files(const Options& options, const Plan& plan,
                                                TimePoint now) {
  if (options.client_certificate.empty()) {
    return read_pair_of(TRY(find_mounted(plan.secret_dir)), now);
  }
  return read_pair_of({.certificate = options.client_certificate, .key = options.client_key}, now)
      .context("reading --client-certificate and --client-key");
}

// Reads a bundle. Its key and certificates are of one state: the kubelet replaces the file as a
// whole (KEP-4317).
Result<StoredCredential> read_bundle(const fs::path& path, TimePoint now) {
  const std::string reading = "reading --credential-bundle-file " + in_quotes(path.native());
  const SecretString bundle =
      TRY(read_secret_file(path).context(reading).hint("mount the volume with the bundle there"));
  StoredCredential stored;
  TRY(add_certificate(bundle.reveal(), bundle, now, stored.credential).context(reading));
  return stored;
}

Result<StoredCredential> read_kubeconfig_file(const Options& options, TimePoint now) {
  const std::string reading =
      "reading --kubeconfig-file " + in_quotes(options.kubeconfig_file.native());
  const SecretString text =
      TRY(read_secret_file(options.kubeconfig_file, kMaxKubeconfig).context(reading));
  std::error_code none;
  const fs::path folder = fs::absolute(options.kubeconfig_file, none).parent_path();
  return read_stored_kubeconfig(text.reveal(), options, now, folder).context(reading);
}

Result<StoredCredential> read_once(const Plan& plan, const Options& options, TimePoint now) {
  if (!options.credential_bundle_file.empty()) {
    return read_bundle(options.credential_bundle_file, now);
  }
  if (!options.client_certificate.empty() || plan.lookup == Lookup::in_files) {
    return read_certificate_files(options, plan, now);
  }
  if (!options.kubeconfig_file.empty()) return read_kubeconfig_file(options, now);
  const StoredSecret secret =
      TRY(read_mounted_secret(plan.secret_dir, keys_of(options, plan), plan.format));
  return read_stored(secret, plan, options, now);
}

}  // namespace

Result<StoredCredential> read_from_files(const Plan& plan, const Options& options,
                                         const CallContext& run) {
  // A bundle is written in one piece, and so is a kubeconfig that names no files.
  const bool may_be_rotating = options.credential_bundle_file.empty() &&
                               (options.kubeconfig_file.empty() || !options.allow_fields.empty());
  milliseconds pause = kFirstPause;
  for (;;) {
    Result<StoredCredential> stored = read_once(plan, options, run.clock.now());
    if (stored || !stored.error().is_transient || !may_be_rotating) return stored;
    const Duration left = run.deadline - kReserve - steady_clock::now();
    if (left <= Duration::zero()) return stored;
    run.debug("the key does not belong to the certificate yet; reading both again");
    pause_for(std::min<Duration>(pause, left));
    pause *= 2;
  }
}

}  // namespace execcred::static_secret
