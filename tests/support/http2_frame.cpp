// SPDX-License-Identifier: Apache-2.0
#include "http2_frame.hpp"

#include <algorithm>

namespace execcred::test::h2 {
namespace {

constexpr std::size_t kMaxFrame = 16384;

std::string big_endian(std::uint64_t value, unsigned bytes) {
  std::string text;
  for (unsigned i = bytes; i-- > 0;) text.push_back(static_cast<char>(value >> (8 * i) & 0xff));
  return text;
}

std::string block(const Fields& fields, unsigned bits, std::uint8_t first) {
  std::string bytes;
  for (const auto& [name, value] : fields) {
    // Index 0: the name follows as a text. The first bit of each text is 0, for no Huffman code.
    bytes += hpack_number(0, bits, first);
    bytes += hpack_number(name.size(), 7, 0) + name;
    bytes += hpack_number(value.size(), 7, 0) + value;
  }
  return bytes;
}

}  // namespace

std::string field(const Fields& fields, std::string_view name) {
  std::string found = "(none)";
  for (const auto& [key, value] : fields) {
    if (key == name) found = found == "(none)" ? value : "(several)";
  }
  return found;
}

std::string number16(std::uint16_t value) { return big_endian(value, 2); }
std::string number32(std::uint32_t value) { return big_endian(value, 4); }

std::string frame_head(std::size_t length, Type type, std::uint8_t flags, std::uint32_t stream) {
  return big_endian(length, 3) + static_cast<char>(type) + static_cast<char>(flags) +
         number32(stream);
}

std::string frame(Type type, std::uint8_t flags, std::uint32_t stream, std::string_view payload) {
  return frame_head(payload.size(), type, flags, stream).append(payload);
}

std::string hpack_number(std::size_t value, unsigned bits, std::uint8_t first) {
  const std::size_t limit = (std::size_t{1} << bits) - 1;
  std::string bytes(1, static_cast<char>(first | std::min(value, limit)));
  if (value < limit) return bytes;
  for (value -= limit; value >= 128; value >>= 7U) {
    bytes.push_back(static_cast<char>(128U | (value & 127U)));
  }
  bytes.push_back(static_cast<char>(value));
  return bytes;
}

std::string header_block(const Fields& fields) { return block(fields, 4, 0); }
std::string indexed_block(const Fields& fields) { return block(fields, 6, 0x40); }

std::string settings(const std::vector<std::pair<std::uint16_t, std::uint32_t>>& values) {
  std::string payload;
  for (const auto& [name, value] : values) payload += number16(name) + number32(value);
  return frame(Type::settings, 0, 0, payload);
}

std::string settings_ack() { return frame(Type::settings, kAck, 0, {}); }

std::string ping(std::string_view eight_bytes, std::uint8_t flags) {
  return frame(Type::ping, flags, 0, eight_bytes);
}

std::string goaway(std::uint32_t last_stream, std::uint32_t code, std::string_view text) {
  return frame(Type::goaway, 0, 0, (number32(last_stream) + number32(code)).append(text));
}

std::string rst_stream(std::uint32_t stream, std::uint32_t code) {
  return frame(Type::rst_stream, 0, stream, number32(code));
}

std::string window_update(std::uint32_t stream, std::uint32_t increment) {
  return frame(Type::window_update, 0, stream, number32(increment));
}

std::string headers(std::uint32_t stream, const Fields& fields, bool ends_stream) {
  const std::uint8_t flags = ends_stream ? kEndHeaders | kEndStream : kEndHeaders;
  return frame(Type::headers, flags, stream, header_block(fields));
}

std::string data(std::uint32_t stream, std::string_view bytes, bool ends_stream) {
  std::string frames;
  do {
    const std::string_view part = bytes.substr(0, kMaxFrame);
    bytes.remove_prefix(part.size());
    const bool is_last = bytes.empty() && ends_stream;
    frames += frame(Type::data, is_last ? kEndStream : 0, stream, part);
  } while (!bytes.empty());
  return frames;
}

std::string message_head(std::uint32_t length, char flag) { return flag + number32(length); }

std::string message(std::string_view bytes, char flag) {
  return message_head(static_cast<std::uint32_t>(bytes.size()), flag).append(bytes);
}

}  // namespace execcred::test::h2
