// SPDX-License-Identifier: Apache-2.0
#include "grpc_call_reader.hpp"

#include <nghttp2/nghttp2.h>

#include <stdexcept>

namespace execcred::test {
namespace {

constexpr std::size_t kFrameHead = 9;
constexpr std::size_t kMessageHead = 5;

std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint32_t value = 0;
  for (const char c : bytes.substr(at, size)) value = value << 8U | static_cast<unsigned char>(c);
  return value;
}

// The payload without the padding, and without the priority in HEADERS.
std::string_view content_of(const h2::Frame& frame) {
  std::string_view content = frame.payload;
  if ((frame.flags & h2::kPadded) != 0 && !content.empty()) {
    const auto padding = static_cast<unsigned char>(content.front());
    content = content.substr(1, content.size() - 1 - padding);
  }
  const bool has_priority = frame.type == h2::Type::headers && (frame.flags & h2::kPriority) != 0;
  return has_priority ? content.substr(5) : content;
}

}  // namespace

// nghttp2 is used only to decode headers, because clients compress texts with a Huffman code.
struct GrpcCallReader::Inflater {
  Inflater() {
    if (nghttp2_hd_inflate_new(&handle) != 0) throw std::bad_alloc();
  }
  ~Inflater() { nghttp2_hd_inflate_del(handle); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  h2::Fields inflate(std::string_view block) const {
    h2::Fields fields;
    const auto* at = reinterpret_cast<const std::uint8_t*>(block.data());
    const auto* const end = at + block.size();
    for (;;) {
      nghttp2_nv pair = {};
      int flags = 0;
      const auto used =
          nghttp2_hd_inflate_hd2(handle, &pair, &flags, at, static_cast<std::size_t>(end - at), 1);
      if (used < 0) throw std::runtime_error("the client's header block is malformed");
      at += used;
      if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0) {
        fields.emplace_back(std::string(reinterpret_cast<const char*>(pair.name), pair.namelen),
                            std::string(reinterpret_cast<const char*>(pair.value), pair.valuelen));
      }
      if ((flags & NGHTTP2_HD_INFLATE_FINAL) != 0) break;
    }
    nghttp2_hd_inflate_end_headers(handle);
    return fields;
  }

  nghttp2_hd_inflater* handle = nullptr;
};

GrpcCallReader::GrpcCallReader() : inflater_(std::make_unique<Inflater>()) {}
GrpcCallReader::~GrpcCallReader() = default;

std::string GrpcCall::message() const {
  if (body.size() < kMessageHead || body[0] != 0 ||
      number_at(body, 1, 4) != body.size() - kMessageHead) {
    return "(malformed)";
  }
  return body.substr(kMessageHead);
}

std::optional<h2::Frame> GrpcCallReader::next() {
  if (!has_preface_) {
    if (buffer_.size() < h2::kPreface.size()) return std::nullopt;
    if (!buffer_.starts_with(h2::kPreface)) throw std::runtime_error("no preface of HTTP/2");
    buffer_.erase(0, h2::kPreface.size());
    has_preface_ = true;
  }
  if (buffer_.size() < kFrameHead) return std::nullopt;
  const std::size_t length = number_at(buffer_, 0, 3);
  if (buffer_.size() < kFrameHead + length) return std::nullopt;
  h2::Frame frame = {.type = static_cast<h2::Type>(buffer_[3]),
                     .flags = static_cast<std::uint8_t>(buffer_[4]),
                     .stream = number_at(buffer_, 5, 4) & 0x7fffffffU,
                     .payload = buffer_.substr(kFrameHead, length)};
  buffer_.erase(0, kFrameHead + length);
  note(frame);
  return frame;
}

void GrpcCallReader::note(const h2::Frame& frame) {
  if (frame.type == h2::Type::headers || frame.type == h2::Type::continuation) read_headers(frame);
  if (frame.type == h2::Type::data) {
    ++call_.data_frames;
    call_.body.append(content_of(frame));
  }
  const bool ends = frame.type == h2::Type::headers || frame.type == h2::Type::data;
  if (ends && (frame.flags & h2::kEndStream) != 0) call_.is_complete = true;
}

void GrpcCallReader::read_headers(const h2::Frame& frame) {
  if (frame.type == h2::Type::headers) ++call_.header_frames;
  block_.append(content_of(frame));
  if ((frame.flags & h2::kEndHeaders) == 0) return;
  const h2::Fields fields = inflater_->inflate(block_);
  block_.clear();
  call_.stream = frame.stream;
  call_.fields.insert(call_.fields.end(), fields.begin(), fields.end());
}

}  // namespace execcred::test
