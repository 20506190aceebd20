// SPDX-License-Identifier: Apache-2.0
// The files of a TLS identity, which are rewritten while a process runs (a Pod's CA, certificates
// of cert-manager), and a client that reads them again.
#pragma once

#include <execcred/http/http.hpp>

#include <filesystem>
#include <memory>

namespace execcred {

// Empty paths: the setting is not from a file.
struct TlsFiles {
  std::filesystem::path ca_certificates = {};
  std::filesystem::path client_certificate = {};
  std::filesystem::path client_key = {};
};

// Reads the files into `settings`; what has no file stays. Fails as read_ca_file() and
// read_file() do.
Status read_tls_files(const TlsFiles& files, TlsSettings& settings);

// As make_http_client(). Before each request it looks whether a file has changed (its device,
// inode, time or size) and then reads all of them again. They are used if none changed meanwhile
// and OpenSSL accepts them together; else the last ones stay, and the next request tries again.
std::unique_ptr<HttpClient> make_http_client(HttpSettings settings, TlsFiles files);

}  // namespace execcred
