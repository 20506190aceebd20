// SPDX-License-Identifier: Apache-2.0
// Where the SPIFFE Workload API listens (SPIFFE Workload Endpoint standard, section 4).
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/base/url.hpp>

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

}  // namespace execcred
