// SPDX-License-Identifier: Apache-2.0
#include <execcred/hub/tls_files.hpp>

#include <execcred/base/try.hpp>
#include <execcred/http/tls.hpp>
#include <execcred/kube/kubeconfig.hpp>
#include <execcred/os/file.hpp>

#include <sys/stat.h>

#include <array>
#include <tuple>
#include <utility>

namespace execcred {
namespace {

using Look = std::tuple<dev_t, ino_t, time_t, long, off_t>;
using Looks = std::array<Look, 3>;

Look look_at(const std::filesystem::path& path) {
  struct stat status = {};
  if (path.empty() || ::stat(path.c_str(), &status) != 0) return {};
  return {status.st_dev, status.st_ino, status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
          status.st_size};
}

Looks look_at(const TlsFiles& files) {
  return {look_at(files.ca_certificates), look_at(files.client_certificate),
          look_at(files.client_key)};
}

bool is_usable(const TlsSettings& settings) {
  const Result<std::unique_ptr<Tls>> tls = Tls::make(settings);
  return tls && (*tls)->load_roots();
}

bool is_same(const TlsSettings& one, const TlsSettings& other) {
  return one.ca_certificates == other.ca_certificates &&
         one.client_certificate == other.client_certificate &&
         one.client_key.reveal() == other.client_key.reveal();
}

class RereadingClient final : public HttpClient {
 public:
  RereadingClient(HttpSettings settings, TlsFiles files)
      : settings_(std::move(settings)),
        files_(std::move(files)),
        client_(execcred::make_http_client(settings_)) {}

  Result<HttpResponse> send(const HttpRequest& request) override {
    read_again();
    return client_->send(request);
  }

 private:
  void read_again() {
    const Looks looks = look_at(files_);
    if (looks == looks_) return;
    TlsSettings tls = settings_.tls;
    if (!read_tls_files(files_, tls) || look_at(files_) != looks) return;
    if (!is_same(tls, settings_.tls)) {
      if (!is_usable(tls)) return;
      settings_.tls = std::move(tls);
      client_ = execcred::make_http_client(settings_);
    }
    looks_ = looks;
  }

  HttpSettings settings_;
  TlsFiles files_;
  Looks looks_ = {};  // at the files that are used
  std::unique_ptr<HttpClient> client_;
};

}  // namespace

Status read_tls_files(const TlsFiles& files, TlsSettings& settings) {
  if (!files.ca_certificates.empty()) {
    settings.ca_certificates = TRY(read_ca_file(files.ca_certificates));
  }
  if (!files.client_certificate.empty()) {
    settings.client_certificate = TRY(read_file(files.client_certificate, kMaxPemFile));
  }
  if (!files.client_key.empty()) {
    std::string key = TRY(read_file(files.client_key, kMaxPemFile));
    settings.client_key = SecretString(key);
    wipe(key);
  }
  return {};
}

std::unique_ptr<HttpClient> make_http_client(HttpSettings settings, TlsFiles files) {
  return std::make_unique<RereadingClient>(std::move(settings), std::move(files));
}

}  // namespace execcred
