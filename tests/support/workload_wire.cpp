// SPDX-License-Identifier: Apache-2.0
#include "workload_wire.hpp"

namespace execcred::test {
namespace {

constexpr std::uint32_t kVarint = 0;
constexpr std::uint32_t kLengthDelimited = 2;

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 128; value >>= 7U) bytes.push_back(static_cast<char>(128U | (value & 127U)));
  bytes.push_back(static_cast<char>(value));
  return bytes;
}

// False if the number does not end.
bool take_varint(std::string_view& bytes, std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= std::uint64_t{byte & 127U} << shift;
    if (byte < 128) return true;
  }
  return false;
}

}  // namespace

std::string wire_field_always(std::uint32_t number, std::string_view bytes) {
  return (varint(number << 3U | kLengthDelimited) + varint(bytes.size())).append(bytes);
}

std::string wire_field(std::uint32_t number, std::string_view bytes) {
  return bytes.empty() ? std::string() : wire_field_always(number, bytes);
}

std::string wire_number(std::uint32_t number, std::uint64_t value) {
  return varint(number << 3U | kVarint) + varint(value);
}

std::string jwt_svid_response(const std::vector<JwtSvidWire>& svids) {
  std::string message;
  for (const JwtSvidWire& svid : svids) {
    message += wire_field_always(
        1, wire_field(1, svid.spiffe_id) + wire_field(2, svid.svid) + wire_field(3, svid.hint));
  }
  return message;
}

std::string x509_svid_response(const std::vector<X509SvidWire>& svids) {
  std::string message;
  for (const X509SvidWire& svid : svids) {
    message +=
        wire_field_always(1, wire_field(1, svid.spiffe_id) + wire_field(2, svid.certificates) +
                                 wire_field(3, svid.private_key) + wire_field(4, svid.bundle) +
                                 wire_field(5, svid.hint));
  }
  return message;
}

JwtSvidRequestWire read_jwt_svid_request(std::string_view message) {
  JwtSvidRequestWire request;
  while (!message.empty()) {
    std::uint64_t key = 0;
    std::uint64_t size = 0;
    request.is_malformed = !take_varint(message, key) || (key & 7U) != kLengthDelimited ||
                           !take_varint(message, size) || size > message.size() ||
                           (key >> 3U != 1 && key >> 3U != 2);
    if (request.is_malformed) break;
    (key >> 3U == 1 ? request.audiences : request.spiffe_ids).emplace_back(message.substr(0, size));
    message.remove_prefix(size);
  }
  return request;
}

}  // namespace execcred::test
