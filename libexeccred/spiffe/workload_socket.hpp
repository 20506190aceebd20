// SPDX-License-Identifier: Apache-2.0
// The connection to a Workload API.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/os/file.hpp>
#include <execcred/spiffe/workload_endpoint.hpp>

#include <chrono>

namespace execcred {

// A non-blocking socket of this process. Fails: configuration (it may not be opened, or can be no
// socket), unavailable (nobody listens yet, or no longer; is_transient).
Result<FileDescriptor> connect_to(const WorkloadEndpoint& endpoint,
                                  std::chrono::steady_clock::time_point deadline);

}  // namespace execcred
