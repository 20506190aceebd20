// SPDX-License-Identifier: Apache-2.0
// Credentials in files: a mounted Secret's directory, or a certificate and its key.
#pragma once

#include "plan.hpp"
#include "stored_credential.hpp"

namespace execcred::static_secret {

// Reads the files that the options name: a mounted Secret's keys, all of one state of the volume; a
// kubeconfig; a bundle; or a certificate and its key, of the two options, or else of the
// directories in which Istio mounts them (or of --secret-dir).
//
// If a certificate and a key do not belong together, a rotation is in progress: they are read
// again, with growing pauses, until shortly before the deadline. A missing file fails at once.
Result<StoredCredential> read_from_files(const Plan& plan, const Options& options,
                                         const CallContext& run);

}  // namespace execcred::static_secret
