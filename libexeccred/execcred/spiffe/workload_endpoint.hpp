// SPDX-License-Identifier: Apache-2.0
// The address of the SPIFFE Workload API (SPIFFE Workload Endpoint standard, section 4).
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

// Parses unix:///PATH (unix:/PATH is the same) or tcp://IP:PORT. Fails (configuration) for anything
// else: also if the URI has a query, a fragment, user info or percent-encoding, or if a tcp URI has
// a path, a host name, or no port.
Result<WorkloadEndpoint> parse_workload_endpoint(std::string_view text);
// Returns the text if it is such an address: for an option. Fails as parse_workload_endpoint()
// does.
Result<std::string> checked_workload_endpoint(const std::string& text);

// The connection to a Workload API.

// Connects a new, non-blocking socket. Fails (configuration) if the socket may not be opened,
// cannot be a socket, or could be another user's; (unavailable, transient) if no agent is
// listening.
Result<FileDescriptor> connect_to(const WorkloadEndpoint& endpoint,
                                  std::chrono::steady_clock::time_point deadline);

}  // namespace execcred
