// SPDX-License-Identifier: Apache-2.0
// Credentials in files: a mounted Secret's folder, and a certificate beside its key.
#pragma once

#include "options.hpp"
#include "stored_credential.hpp"

#include <execcred/provider.hpp>
#include <execcred/stored_secret.hpp>

#include <string>
#include <vector>

namespace execcred::static_secret {

// The values of these keys in the folder, all of one state of the volume. A folder without any of
// them fails (configuration) where it cannot be opened.
Result<StoredSecret> read_mounted_secret(const std::string& folder,
                                         const std::vector<std::string>& keys, Format format);

// A certificate and its key: of the two options, else of the folders that Istio mounts them in
// (or of --secret-dir). While they do not belong together a rotation is under way: they are read
// again, with growing pauses, until shortly before the deadline. A missing file fails at once.
Result<StoredCredential> read_certificate_files(const Options& options, const Plan& plan,
                                                const Services& services);

}  // namespace execcred::static_secret
