// SPDX-License-Identifier: Apache-2.0
// The Workload API's messages (workload.proto of the SPIFFE Workload API standard), to and from
// Protocol Buffers.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/spiffe/workload_api.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred {

std::string encode_jwt_svid_request(const std::vector<std::string>& audiences,
                                    const std::string& spiffe_id);

// Unknown fields are passed over. Fails (no_credential): what is no Protocol Buffers message, no
// SVID or more than 1,000, one without a mandatory field.
Result<std::vector<JwtSvidMessage>> decode_jwt_svid_response(std::string_view message);
Result<std::vector<X509SvidMessage>> decode_x509_svid_response(std::string_view message);

}  // namespace execcred
