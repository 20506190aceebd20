// SPDX-License-Identifier: Apache-2.0
// Answers of the Workload API: an accepted answer is complete, and is the same when encoded again.
// Encoded fields are decoded to the same values, also with unknown fields between them.
#include <execcred/spiffe/workload_api.hpp>
#include "fuzz.hpp"

#include <string>

namespace execcred::fuzz {
namespace {

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value > 0x7f; value >>= 7U) bytes += static_cast<char>((value & 0x7fU) | 0x80U);
  return bytes + static_cast<char>(value);
}

std::string field(std::uint32_t number, std::string_view value) {
  return (varint(number << 3U | 2U) + varint(value.size())).append(value);
}

std::string written(const JwtSvidMessage& svid) {
  return field(1, svid.spiffe_id) + field(2, svid.svid.reveal()) + field(3, svid.hint);
}

std::string written(const X509SvidMessage& svid) {
  return field(1, svid.spiffe_id) + field(2, svid.certificates) +
         field(3, svid.private_key.reveal()) + field(4, svid.bundle) + field(5, svid.hint);
}

bool is_complete(const JwtSvidMessage& svid) {
  return !svid.spiffe_id.empty() && !svid.svid.empty();
}

bool is_complete(const X509SvidMessage& svid) {
  return !svid.spiffe_id.empty() && !svid.certificates.empty() && !svid.private_key.empty() &&
         !svid.bundle.empty();
}

template <class Svid>
std::string written(const std::vector<Svid>& svids) {
  std::string response;
  for (const Svid& svid : svids) response += field(1, written(svid));
  return response;
}

template <class Decode>
void check_decoder(std::string_view input, Decode decode) {
  const auto svids = decode(input);
  if (!svids) {
    require(svids.error().kind == Error::Kind::no_credential, "a bad answer is no credential");
    return;
  }
  require(!svids->empty() && svids->size() <= 1000, "some SVIDs");
  for (const auto& svid : *svids) {
    require(is_complete(svid), "with all that they need");
    require(written(svid).size() <= input.size() + 20, "no larger than what came");
  }
  const auto again = decode(written(*svids));
  require(again && written(*again) == written(*svids), "said again, the same");
}

// The parts of the input as the fields of one SVID, and the last one as an unknown field.
void check_fields(std::string_view input) {
  const std::vector<std::string_view> given = parts(input, "%", 6);
  const std::string unknown = field(15, given[5]) + varint(16U << 3U) + varint(given[5].size());
  std::string fields;
  for (std::uint32_t i = 0; i < 5; ++i) fields += field(i + 1, given[i]) + unknown;
  const auto x509 = decode_x509_svid_response(unknown + field(1, fields) + unknown);
  const bool has_x509 =
      !given[0].empty() && !given[1].empty() && !given[2].empty() && !given[3].empty();
  require(x509.has_value() == has_x509, "an X.509-SVID where its fields are");
  if (x509) {
    const X509SvidMessage& svid = x509->front();
    require(x509->size() == 1 && svid.spiffe_id == given[0] && svid.certificates == given[1] &&
                svid.private_key.reveal() == given[2] && svid.bundle == given[3] &&
                svid.hint == given[4],
            "each in its place");
  }
  const auto jwt = decode_jwt_svid_response(field(1, fields) + unknown);
  require(jwt.has_value() == (!given[0].empty() && !given[1].empty()), "a JWT-SVID likewise");
  require(!jwt || (jwt->front().spiffe_id == given[0] && jwt->front().svid.reveal() == given[1] &&
                   jwt->front().hint == given[2]),
          "each in its place");
}

}  // namespace

void check(std::string_view input) {
  check_decoder(input, decode_jwt_svid_response);
  check_decoder(input, decode_x509_svid_response);
  check_decoder(field(1, input), decode_jwt_svid_response);
  check_decoder(field(1, input), decode_x509_svid_response);
  check_fields(input);
}

}  // namespace execcred::fuzz
