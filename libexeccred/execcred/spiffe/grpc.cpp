// SPDX-License-Identifier: Apache-2.0
#include <execcred/spiffe/grpc.hpp>

#include <execcred/base/encoding.hpp>
#include <execcred/base/error.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>

#include <nghttp2/nghttp2.h>

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <climits>
#include <cstdint>
#include <memory>
#include <utility>

namespace execcred {
namespace {

constexpr std::size_t kMaxGrpcMessage = 1024;

constexpr std::array<std::string_view, 17> kNames = {
    "OK",       "Canceled",       "Unknown",          "InvalidArgument",   "DeadlineExceeded",
    "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
    "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
    "DataLoss", "Unauthenticated"};

}  // namespace

std::string_view name_of(GrpcCode code) { return kNames.at(static_cast<std::size_t>(code)); }

std::optional<GrpcCode> parse_grpc_status(std::string_view text) {
  unsigned number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool has_leading_zero = text.size() > 1 && text.front() == '0';
  if (problem != std::errc() || end != text.data() + text.size() || has_leading_zero) {
    return std::nullopt;
  }
  return number < kNames.size() ? static_cast<GrpcCode>(number) : GrpcCode::unknown;
}

std::string decode_grpc_message(std::string_view text) {
  std::string message;
  for (std::size_t i = 0; i < text.size() && message.size() < kMaxGrpcMessage; ++i) {
    const int escaped = percent_decoded_byte(text, i);
    const char c = escaped < 0 ? text[i] : static_cast<char>(escaped);
    if (escaped >= 0) i += 2;
    if (!has_control_character(std::string_view(&c, 1))) message += c;
  }
  return message;
}

GrpcCode code_of_http_status(int status) {
  switch (status) {
    case 400:
      return GrpcCode::internal;
    case 401:
      return GrpcCode::unauthenticated;
    case 403:
      return GrpcCode::permission_denied;
    case 404:
      return GrpcCode::unimplemented;
    case 429:
    case 502:
    case 503:
    case 504:
      return GrpcCode::unavailable;
    default:
      return GrpcCode::unknown;
  }
}

GrpcCode code_of_http2_error(std::uint32_t error) {
  constexpr std::uint32_t kRefusedStream = 0x7;
  constexpr std::uint32_t kCancel = 0x8;
  constexpr std::uint32_t kEnhanceYourCalm = 0xb;
  constexpr std::uint32_t kInadequateSecurity = 0xc;
  switch (error) {
    case kRefusedStream:
      return GrpcCode::unavailable;
    case kCancel:
      return GrpcCode::cancelled;
    case kEnhanceYourCalm:
      return GrpcCode::resource_exhausted;
    case kInadequateSecurity:
      return GrpcCode::permission_denied;
    default:
      return GrpcCode::internal;
  }
}

std::string grpc_timeout(Duration left) {
  using std::chrono::duration_cast;
  constexpr std::int64_t kMaxValue = 99'999'999;
  const std::int64_t nanoseconds = duration_cast<std::chrono::nanoseconds>(left).count();
  if (nanoseconds <= 0) return "1n";
  if (nanoseconds <= kMaxValue) return std::to_string(nanoseconds) + "n";
  const std::int64_t microseconds = nanoseconds / 1000;
  if (microseconds <= kMaxValue) return std::to_string(microseconds) + "u";
  return std::to_string(std::min(microseconds / 1000, kMaxValue)) + "m";
}

std::string grpc_frame(std::string_view message) {
  const auto size = static_cast<std::uint32_t>(message.size());
  std::string frame(1, '\0');
  for (const unsigned shift : {24U, 16U, 8U, 0U}) {
    frame += static_cast<char>(size >> shift & 0xffU);
  }
  return frame.append(message);
}

Status GrpcMessageReader::take_from(std::string_view& piece) {
  while (!piece.empty() && header_size_ < kHeaderSize) {
    header_.at(header_size_++) = static_cast<unsigned char>(piece.front());
    piece.remove_prefix(1);
    if (header_size_ == kHeaderSize) TRY(read_header());
  }
  const std::string_view mine = piece.substr(0, size_ - message_.size());
  message_.append(mine);
  piece.remove_prefix(mine.size());
  return {};
}

Status GrpcMessageReader::read_header() {
  if (header_[0] == 1)
    return Error::no_credential("the reply is compressed, although compression was not requested");
  if (header_[0] != 0) return Error::no_credential("the reply's message has unknown flags");
  for (std::size_t i = 1; i < kHeaderSize; ++i) size_ = size_ << 8 | header_.at(i);
  if (size_ <= max_size_) return {};
  return Error::no_credential("the reply announces a message of " + std::to_string(size_) +
                              " bytes; at most " + std::to_string(max_size_) + " are accepted");
}

namespace {

// The limit of all header blocks together; what gRPC sends is below 1 KiB.
constexpr std::size_t kMaxHeaders = 64 * 1024;
constexpr std::size_t kHeaderOverhead = 32;  // RFC 9113 section 6.5.2

// Whether the type is "application/grpc", "application/grpc+proto", "application/grpc;…".
bool is_grpc(std::string_view content_type) {
  constexpr std::string_view kType = "application/grpc";
  if (!content_type.starts_with(kType)) return false;
  const std::string_view rest = content_type.substr(kType.size());
  return rest.empty() || rest.front() == '+' || rest.front() == ';';
}

}  // namespace

void GrpcReplyReader::begin_headers() {
  grpc_status_.reset();
  grpc_message_.clear();
}

void GrpcReplyReader::add_header(std::string_view name, std::string_view value) {
  header_bytes_ += name.size() + value.size() + kHeaderOverhead;
  if (header_bytes_ > kMaxHeaders) {
    return malformed("the reply's headers are larger than 64 KiB");
  }
  if (name == ":status") {
    int status = 0;
    const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), status);
    if (problem == std::errc() && end == value.data() + value.size()) http_status_ = status;
  } else if (name == "content-type") {
    content_type_ = value;
  } else if (name == "grpc-status") {
    if (grpc_status_) return malformed("the reply has more than one grpc-status");
    grpc_status_ = value;
  } else if (name == "grpc-message") {
    grpc_message_ = decode_grpc_message(value);
  }
}

void GrpcReplyReader::end_headers(bool ends_stream) { has_trailers_ = ends_stream; }

void GrpcReplyReader::add_data(std::string_view piece) {
  if (is_done() || !has_message()) return;
  if (Status taken = message_.take_from(piece); !taken) {
    return malformed(taken.error().message);
  }
  if (takes_first_ && message_.is_complete()) {
    reply_ = GrpcReply{.code = GrpcCode::ok, .message = message_.take()};
  } else if (!piece.empty()) {
    malformed("the reply holds more than one message");
  }
}

// Whether the body is a gRPC message. If not, it is an error page.
bool GrpcReplyReader::has_message() const { return http_status_ == 200 && is_grpc(content_type_); }

void GrpcReplyReader::break_rules(std::string_view what) {
  malformed("the reply is no valid HTTP/2: " + std::string(what));
}

void GrpcReplyReader::end_stream(std::uint32_t http2_error) {
  is_closed_ = true;
  if (is_done()) return;
  if (has_trailers_) return finish();  // a reset behind them changes nothing
  if (http2_error != 0) {
    const GrpcCode code = code_of_http2_error(http2_error);
    return fail(code, "the stream was reset with HTTP/2 error " + std::to_string(http2_error),
                false);
  }
  finish_without_status();
}

GrpcReply GrpcReplyReader::take() { return std::move(*reply_); }

void GrpcReplyReader::fail(GrpcCode code, std::string_view text, bool is_malformed) {
  if (is_done()) return;
  reply_ = GrpcReply{.code = code, .text = printable(text), .is_malformed = is_malformed};
}

void GrpcReplyReader::finish() {
  if (!grpc_status_) return finish_without_status();
  const std::optional<GrpcCode> code = parse_grpc_status(*grpc_status_);
  if (!code) return malformed("the reply's grpc-status is " + in_quotes(*grpc_status_));
  if (*code != GrpcCode::ok) return fail(*code, grpc_message_, false);
  if (message_.is_cut()) return fail(GrpcCode::unavailable, "the reply was cut", false);
  if (!message_.is_complete()) return malformed("the reply says OK, but has no message");
  reply_ = GrpcReply{.code = GrpcCode::ok, .message = message_.take()};
}

void GrpcReplyReader::finish_without_status() {
  if (!http_status_) return malformed("the reply has no HTTP status");
  const int status = *http_status_;
  if (status != 200) {
    const GrpcCode code = code_of_http_status(status);
    const bool may_pass = status == 429 || status >= 500;
    return fail(code, "the reply has HTTP status " + std::to_string(status), !may_pass);
  }
  if (!is_grpc(content_type_)) {
    return malformed("the reply is " + in_quotes(content_type_) + ", not application/grpc");
  }
  if (message_.is_cut()) return fail(GrpcCode::unavailable, "the reply was cut", false);
  malformed("the reply has no grpc-status");
}

namespace {

using std::chrono::steady_clock;

constexpr std::size_t kReceiveSize = 8 * 1024;
// The limit of all bytes besides the message: empty frames may come, but only a limited number.
constexpr std::size_t kMaxOverhead = 1024 * 1024;
constexpr std::uint32_t kMaxHeaderList = 64 * 1024;

template <auto Delete>
struct Deleter {
  template <class Handle>
  void operator()(Handle* handle) const {
    Delete(handle);
  }
};

using SessionPtr = std::unique_ptr<nghttp2_session, Deleter<nghttp2_session_del>>;
using CallbacksPtr =
    std::unique_ptr<nghttp2_session_callbacks, Deleter<nghttp2_session_callbacks_del>>;
using OptionPtr = std::unique_ptr<nghttp2_option, Deleter<nghttp2_option_del>>;

std::string_view text_of(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

// nghttp2 copies the name and the value.
nghttp2_nv header(std::string_view name, std::string_view value) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): the C interface has no const
  auto* const name_bytes = reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data()));
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): likewise
  auto* const value_bytes = reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data()));
  return {name_bytes, value_bytes, name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

class GrpcCall {
 public:
  GrpcCall(int socket, const GrpcRequest& request, steady_clock::time_point deadline)
      : socket_(socket),
        request_(request),
        deadline_(deadline),
        body_(grpc_frame(request.message)),
        reply_(request) {}

  GrpcReply run() {
    if (!start()) return local("there is no memory for HTTP/2");
    // Frames that are still to be sent after the reply (acknowledgements) are not needed.
    while (!reply_.is_done()) {
      if (!send_pending()) return take();
      if (!reply_.is_done() && !receive()) return take();
    }
    if (reply_.should_cancel()) cancel();
    return reply_.take();
  }

 private:
  bool start();
  static CallbacksPtr make_callbacks();
  bool submit();
  // False if the call is over; if the reply is not done, failure_ is then the failure.
  bool send_pending();
  bool receive();
  bool wait_for(short events);
  void cancel();
  GrpcReply take() { return reply_.is_done() ? reply_.take() : std::move(failure_); }

  static GrpcReply lost(std::string text) {
    return {.code = GrpcCode::unavailable, .text = std::move(text)};
  }
  static GrpcReply local(std::string text) {
    return {.code = GrpcCode::unavailable, .text = std::move(text), .is_local = true};
  }
  // The failure of a call on the socket, by errno.
  static GrpcReply failed(const std::string& what) {
    const int problem = errno;
    GrpcReply reply = lost(what + " failed: " + system_message(problem));
    reply.is_local = !is_network_failure(problem);
    return reply;
  }
  bool fail(GrpcReply failure) {
    failure_ = std::move(failure);
    return false;
  }

  bool give_up(std::string_view why) {
    reply_.break_rules(why);
    return false;
  }

  static GrpcCall& of(void* user_data) { return *static_cast<GrpcCall*>(user_data); }

  int socket_;
  const GrpcRequest& request_;
  steady_clock::time_point deadline_;
  std::string body_;
  std::size_t body_sent_ = 0;
  GrpcReplyReader reply_;
  SessionPtr session_ = {};
  std::int32_t stream_ = -1;
  std::size_t received_ = 0;
  GrpcReply failure_ = {};
};

CallbacksPtr GrpcCall::make_callbacks() {
  nghttp2_session_callbacks* made = nullptr;
  if (nghttp2_session_callbacks_new(&made) != 0) return nullptr;
  CallbacksPtr callbacks(made);
  nghttp2_session_callbacks_set_on_begin_headers_callback(
      made, [](nghttp2_session*, const nghttp2_frame* frame, void* user_data) {
        GrpcCall& call = of(user_data);
        if (frame->hd.stream_id == call.stream_) call.reply_.begin_headers();
        return 0;
      });
  nghttp2_session_callbacks_set_on_header_callback(
      made,
      [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
         std::size_t name_size, const std::uint8_t* value, std::size_t value_size, std::uint8_t,
         void* user_data) -> int {
        GrpcCall& call = of(user_data);
        if (frame->hd.stream_id != call.stream_) return 0;
        call.reply_.add_header(text_of(name, name_size), text_of(value, value_size));
        return call.reply_.is_done() ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
      });
  nghttp2_session_callbacks_set_on_frame_recv_callback(
      made, [](nghttp2_session*, const nghttp2_frame* frame, void* user_data) {
        GrpcCall& call = of(user_data);
        if (frame->hd.type == NGHTTP2_HEADERS && frame->hd.stream_id == call.stream_) {
          call.reply_.end_headers((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0);
        }
        return 0;
      });
  nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(
      made, [](nghttp2_session*, const nghttp2_frame*, int error, void* user_data) {
        of(user_data).reply_.break_rules(nghttp2_strerror(error));
        return 0;
      });
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
      made, [](nghttp2_session*, std::uint8_t, std::int32_t stream, const std::uint8_t* data,
               std::size_t size, void* user_data) {
        GrpcCall& call = of(user_data);
        if (stream == call.stream_) call.reply_.add_data(text_of(data, size));
        return 0;
      });
  nghttp2_session_callbacks_set_on_stream_close_callback(
      made, [](nghttp2_session*, std::int32_t stream, std::uint32_t error, void* user_data) {
        GrpcCall& call = of(user_data);
        if (stream == call.stream_) call.reply_.end_stream(error);
        return 0;
      });
  return callbacks;
}

bool GrpcCall::start() {
  const CallbacksPtr callbacks = make_callbacks();
  nghttp2_option* made_option = nullptr;
  if (!callbacks || nghttp2_option_new(&made_option) != 0) return false;
  const OptionPtr option(made_option);
  nghttp2_option_set_max_deflate_dynamic_table_size(made_option, 0);
  nghttp2_session* made = nullptr;
  if (nghttp2_session_client_new2(&made, callbacks.get(), this, made_option) != 0) {
    return false;
  }
  session_.reset(made);
  return submit();
}

bool GrpcCall::submit() {
  constexpr std::array<nghttp2_settings_entry, 2> kSettings = {
      {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0}, {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kMaxHeaderList}}};
  const std::string timeout = grpc_timeout(deadline_ - steady_clock::now());
  std::vector<nghttp2_nv> headers = {
      header(":method", "POST"),        header(":scheme", "http"),
      header(":path", request_.method), header(":authority", "localhost"),
      header("te", "trailers"),         header("content-type", "application/grpc"),
      header("grpc-timeout", timeout),  header("user-agent", "execcred"),
  };
  headers.reserve(headers.size() + request_.metadata.size());
  for (const auto& [name, value] : request_.metadata) headers.push_back(header(name, value));

  nghttp2_data_provider body = {};
  body.source.ptr = this;
  body.read_callback = [](nghttp2_session*, std::int32_t, std::uint8_t* buffer, std::size_t size,
                          std::uint32_t* flags, nghttp2_data_source* source, void*) {
    GrpcCall& call = of(source->ptr);
    const std::size_t piece = std::min(size, call.body_.size() - call.body_sent_);
    std::copy_n(call.body_.data() + call.body_sent_, piece, buffer);
    call.body_sent_ += piece;
    if (call.body_sent_ == call.body_.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(piece);
  };
  if (nghttp2_submit_settings(session_.get(), NGHTTP2_FLAG_NONE, kSettings.data(),
                              kSettings.size()) != 0) {
    return false;
  }
  stream_ = nghttp2_submit_request(session_.get(), nullptr, headers.data(), headers.size(), &body,
                                   nullptr);
  return stream_ > 0;
}

bool GrpcCall::send_pending() {
  // All frames are sent together, so that the first ones (preface, settings, headers, message) fit
  // into one segment.
  std::string pending;
  for (;;) {
    const std::uint8_t* data = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_.get(), &data);
    if (size < 0) return fail(local(nghttp2_strerror(static_cast<int>(size))));
    if (size == 0) break;
    pending.append(text_of(data, static_cast<std::size_t>(size)));
  }
  std::string_view rest = pending;
  while (!rest.empty()) {
    const ssize_t sent = ::send(socket_, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      if (!wait_for(POLLOUT)) return false;
    } else if (errno == EPIPE || errno == ECONNRESET) {
      // Data that the other side sent before it closed must still be read.
      return true;
    } else if (errno != EINTR) {
      return fail(failed("sending"));
    }
  }
  return true;
}

bool GrpcCall::receive() {
  // The stream is open, so nghttp2 has ended the session and has notified the other side.
  if (nghttp2_session_want_read(session_.get()) == 0) return give_up("it broke the protocol");
  if (!wait_for(POLLIN)) return false;
  std::array<char, kReceiveSize> buffer;
  const ssize_t size = ::recv(socket_, buffer.data(), buffer.size(), 0);
  if (size < 0) {
    if (errno == EAGAIN || errno == EINTR) return true;
    return fail(failed("receiving"));
  }
  if (size == 0) return fail(lost("the connection was closed before the reply was complete"));
  received_ += static_cast<std::size_t>(size);
  if (received_ > 2 * request_.max_message + kMaxOverhead) {
    return give_up("it is larger than any valid reply");
  }
  const ssize_t used =
      nghttp2_session_mem_recv(session_.get(), reinterpret_cast<const std::uint8_t*>(buffer.data()),
                               static_cast<std::size_t>(size));
  // The buffer may have contained a private key.
  explicit_bzero(buffer.data(), static_cast<std::size_t>(size));
  if (used == NGHTTP2_ERR_NOMEM) return fail(local("there is no memory for HTTP/2"));
  return used >= 0 || give_up(nghttp2_strerror(static_cast<int>(used)));
}

bool GrpcCall::wait_for(short events) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - steady_clock::now());
    if (left.count() <= 0) {
      return fail({.code = GrpcCode::deadline_exceeded, .text = "no reply came in time"});
    }
    pollfd descriptor = {.fd = socket_, .events = events, .revents = 0};
    const int timeout = static_cast<int>(std::min<std::int64_t>(left.count(), INT_MAX));
    const int ready = ::poll(&descriptor, 1, timeout);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return fail(failed("waiting"));
  }
}

// Tells the other side that the rest is not needed. Its arrival makes no difference here.
void GrpcCall::cancel() {
  nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, stream_, NGHTTP2_CANCEL);
  send_pending();
}

}  // namespace

GrpcReply call_grpc(int socket, const GrpcRequest& request, steady_clock::time_point deadline) {
  return GrpcCall(socket, request, deadline).run();
}

}  // namespace execcred
