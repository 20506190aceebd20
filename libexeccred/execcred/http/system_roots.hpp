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

// The places where distributions keep the certificates. No environment variable changes them.
const RootPaths& system_root_paths();

// Counts OpenSSL's hash links in a directory that lead to readable files, up to `at_most`.
std::size_t count_hash_links(const std::string& directory, std::size_t at_most = SIZE_MAX);

// Makes the store look up certificates in the directories, and for a subject that none of them has,
// in the bundle. The bundle is not read before that. `paths` must outlive the store. Fails
// (configuration) if there is neither a readable bundle nor a hash link, and (internal) if OpenSSL
// cannot set up the lookup.
Status add_roots(X509_STORE& store, const RootPaths& paths);

// Reads the bundle now if no directory has hash links, because the first lookup will then need it.
void read_roots_ahead(const X509_STORE& store);

// Describes what is in the places of the system's CA certificates, for error messages. It reads and
// decodes everything, so it is slow.

struct RootSurvey {
  std::size_t certificates = 0;  // in the bundle that is used, and hash links that can be followed
  std::string text = {};         // "'/etc/ssl/cert.pem' (2 certificates, 1 malformed)", ...
};

RootSurvey survey_roots(const RootPaths& paths);

// The error (configuration) for the case that the system has no usable CA certificate. Its hint
// describes what was found.
Error no_roots(const RootPaths& paths);

}  // namespace execcred
