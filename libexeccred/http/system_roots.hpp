// SPDX-License-Identifier: Apache-2.0
// The CA certificates of the system. Only those that a handshake needs are decoded: decoding a
// whole bundle costs more than the rest of a request.
#pragma once

#include <execcred/base/error.hpp>
#include <execcred/base/result.hpp>

#include <openssl/x509.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace execcred {

inline constexpr std::size_t kMaxRootBundle = 16 * 1024 * 1024;  // a larger file is none

struct RootPaths {
  std::vector<std::string> directories = {};  // with OpenSSL's hash links (002c0b4f.0)
  std::vector<std::string> bundles = {};      // PEM files; the first that can be read is used
};

// Where the distributions keep them. No environment variable changes that.
const RootPaths& system_root_paths();

// OpenSSL's hash links in a directory that lead to files which can be read.
std::size_t count_hash_links(const std::string& directory, std::size_t at_most = SIZE_MAX);

// Lets the store look into the directories, and for a subject that none of them has, into the
// bundle, which is not read before. `paths` must outlive the store. Fails (configuration) where
// there is nothing to look into.
Status add_roots(X509_STORE& store, const RootPaths& paths);

// Reads the bundle now, where the first lookup is sure to need it: no directory has hash links.
void read_roots_ahead(const X509_STORE& store);

// What was found in the places of the system's CA certificates, for the message when none could be
// used. It reads and decodes everything, so it is slow.

struct RootSurvey {
  std::size_t certificates = 0;  // in the bundle that is used, and hash links that can be followed
  std::string text = {};         // "'/etc/ssl/cert.pem' (2 certificates, 1 malformed)", ...
};

RootSurvey survey_roots(const RootPaths& paths);

// Fails (configuration) if nothing can be read, or nothing contains a certificate.
Error no_roots(const RootPaths& paths);

}  // namespace execcred
