// SPDX-License-Identifier: Apache-2.0
#include <execcred/spiffe/workload_messages.hpp>

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include <cstdint>
#include <utility>

namespace execcred {
namespace {

constexpr std::size_t kMaxSvids = 1000;

Error unfit(std::string message) {
  return Error{.kind = Error::Kind::no_credential,
               .message = std::move(message),
               .hint = "is this a SPIFFE Workload API? its agent's version may not fit"};
}

std::string_view view(protozero::pbf_reader& field) {
  const protozero::data_view data = field.get_view();
  return {data.data(), data.size()};
}

// The type is part of the tag: protozero checks it nowhere else.
constexpr std::uint32_t bytes_field(std::uint32_t number) {
  return protozero::tag_and_type(number, protozero::pbf_wire_type::length_delimited);
}

constexpr std::uint32_t kSvids = bytes_field(1);

template <class Svid>
Svid read_svid(protozero::pbf_reader reader);

template <>
JwtSvidMessage read_svid(protozero::pbf_reader reader) {
  JwtSvidMessage svid;
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case bytes_field(1):
        svid.spiffe_id = view(reader);
        break;
      case bytes_field(2):
        svid.svid = SecretString(view(reader));
        break;
      case bytes_field(3):
        svid.hint = view(reader);
        break;
      default:
        reader.skip();
    }
  }
  return svid;
}

template <>
X509SvidMessage read_svid(protozero::pbf_reader reader) {
  X509SvidMessage svid;
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case bytes_field(1):
        svid.spiffe_id = view(reader);
        break;
      case bytes_field(2):
        svid.certificates = view(reader);
        break;
      case bytes_field(3):
        svid.private_key = SecretString(view(reader));
        break;
      case bytes_field(4):
        svid.bundle = view(reader);
        break;
      case bytes_field(5):
        svid.hint = view(reader);
        break;
      default:
        reader.skip();
    }
  }
  return svid;
}

// The mandatory field that is missing or empty, which are the same in Protocol Buffers.
std::string_view missing_field(const JwtSvidMessage& svid) {
  if (svid.spiffe_id.empty()) return "spiffe_id";
  return svid.svid.empty() ? "svid" : "";
}

std::string_view missing_field(const X509SvidMessage& svid) {
  if (svid.spiffe_id.empty()) return "spiffe_id";
  if (svid.certificates.empty()) return "x509_svid";
  if (svid.private_key.empty()) return "x509_svid_key";
  return svid.bundle.empty() ? "bundle" : "";
}

template <class Svid>
Result<std::vector<Svid>> read_svids(std::string_view message) {
  std::vector<Svid> svids;
  protozero::pbf_reader reader(message.data(), message.size());
  while (reader.next()) {
    if (reader.tag_and_type() != kSvids) {
      reader.skip();
      continue;
    }
    if (svids.size() == kMaxSvids) return unfit("the agent's answer holds more than 1000 SVIDs");
    svids.push_back(read_svid<Svid>(reader.get_message()));
    if (const std::string_view field = missing_field(svids.back()); !field.empty()) {
      return unfit("an SVID in the agent's answer has no '" + std::string(field) + "'");
    }
  }
  if (svids.empty()) return unfit("the agent's answer holds no SVID");
  return svids;
}

template <class Svid>
Result<std::vector<Svid>> decode(std::string_view message) {
  try {
    return read_svids<Svid>(message);
  } catch (const protozero::exception&) {
    return unfit("the agent's answer is no Protocol Buffers message");
  }
}

}  // namespace

std::string encode_jwt_svid_request(const std::vector<std::string>& audiences,
                                    const std::string& spiffe_id) {
  std::string message;
  protozero::pbf_writer writer(message);
  for (const std::string& audience : audiences) writer.add_string(1, audience);
  if (!spiffe_id.empty()) writer.add_string(2, spiffe_id);
  return message;
}

Result<std::vector<JwtSvidMessage>> decode_jwt_svid_response(std::string_view message) {
  return decode<JwtSvidMessage>(message);
}

Result<std::vector<X509SvidMessage>> decode_x509_svid_response(std::string_view message) {
  return decode<X509SvidMessage>(message);
}

}  // namespace execcred
