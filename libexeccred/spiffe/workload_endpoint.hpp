// SPDX-License-Identifier: Apache-2.0
// Where the SPIFFE Workload API listens (SPIFFE Workload Endpoint standard, section 4).
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/base/url.hpp>
#include <execcred/os/file.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace execcred {

struct WorkloadEndpoint {
  std::string text = {};   // as it was written
  std::string path = {};   // of a Unix domain socket, absolute, at most 107 bytes; else empty
  IpAddress address = {};  // of tcp
  std::uint16_t port = 0;
};

// unix:///PATH (unix:/PATH is the same) or tcp://IP:PORT. Fails (configuration): anything else, a
// query, a fragment, user info, percent-encoding, a tcp URI with a path or a name or without a
// port.
Result<WorkloadEndpoint> parse_workload_endpoint(std::string_view text);
// The text itself, for an option.
Result<std::string> checked_workload_endpoint(const std::string& text);

// The connection to a Workload API.

// A non-blocking socket of this process. Fails: configuration (it may not be opened, or can be no
// socket), unavailable (nobody listens yet, or no longer; is_transient).
Result<FileDescriptor> connect_to(const WorkloadEndpoint& endpoint,
                                  std::chrono::steady_clock::time_point deadline);

}  // namespace execcred
