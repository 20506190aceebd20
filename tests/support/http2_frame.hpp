// SPDX-License-Identifier: Apache-2.0
// HTTP/2 frames and the gRPC messages in them (RFC 9113, RFC 7541), made byte by byte so that a
// test can send what no HTTP/2 library would send. Nothing is checked: wrong frames are possible.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace execcred::test::h2 {

enum class Type : std::uint8_t {
  data = 0,
  headers = 1,
  priority = 2,
  rst_stream = 3,
  settings = 4,
  push_promise = 5,
  ping = 6,
  goaway = 7,
  window_update = 8,
  continuation = 9,
};

inline constexpr std::uint8_t kEndStream = 0x1;
inline constexpr std::uint8_t kAck = 0x1;
inline constexpr std::uint8_t kEndHeaders = 0x4;
inline constexpr std::uint8_t kPadded = 0x8;
inline constexpr std::uint8_t kPriority = 0x20;

inline constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// Error codes of RST_STREAM and GOAWAY (RFC 9113, section 7).
inline constexpr std::uint32_t kNoError = 0;
inline constexpr std::uint32_t kRefusedStream = 7;
inline constexpr std::uint32_t kCancel = 8;

struct Frame {
  Type type = Type::data;
  std::uint8_t flags = 0;
  std::uint32_t stream = 0;
  std::string payload = {};
};

using Fields = std::vector<std::pair<std::string, std::string>>;

// The value of the only field of this name; "(none)", or "(several)".
std::string field(const Fields& fields, std::string_view name);

std::string number16(std::uint16_t value);  // big-endian, as in all of HTTP/2
std::string number32(std::uint32_t value);

std::string frame(Type type, std::uint8_t flags, std::uint32_t stream, std::string_view payload);
// The header of a frame of this length, without the payload.
std::string frame_head(std::size_t length, Type type, std::uint8_t flags, std::uint32_t stream);

// HPACK: literals, neither indexed nor compressed.
std::string header_block(const Fields& fields);
// The same, but each field is added to the dynamic table.
std::string indexed_block(const Fields& fields);
// An HPACK integer in the lower `bits` bits of the first byte. `first` has the bits above them.
std::string hpack_number(std::size_t value, unsigned bits, std::uint8_t first);

std::string settings(const std::vector<std::pair<std::uint16_t, std::uint32_t>>& values = {});
std::string settings_ack();
std::string ping(std::string_view eight_bytes, std::uint8_t flags = 0);
std::string goaway(std::uint32_t last_stream, std::uint32_t code, std::string_view text = {});
std::string rst_stream(std::uint32_t stream, std::uint32_t code);
std::string window_update(std::uint32_t stream, std::uint32_t increment);

// In one frame.
std::string headers(std::uint32_t stream, const Fields& fields, bool ends_stream = false);
// In frames of at most 16384 bytes; one empty frame if there are no bytes.
std::string data(std::uint32_t stream, std::string_view bytes, bool ends_stream = false);

// A gRPC message: a flag, its length, its bytes.
std::string message(std::string_view bytes, char flag = 0);
std::string message_head(std::uint32_t length, char flag = 0);

}  // namespace execcred::test::h2
