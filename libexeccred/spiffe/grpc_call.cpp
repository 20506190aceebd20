// SPDX-License-Identifier: Apache-2.0
#include <execcred/spiffe/grpc_call.hpp>

#include <execcred/base/error.hpp>
#include <execcred/base/text.hpp>
#include <execcred/spiffe/grpc_reply.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <sys/socket.h>

namespace execcred {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kReceiveSize = 8 * 1024;
// Beyond the message: frames that carry nothing may come, but not for ever.
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

// nghttp2 copies what it is given.
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
    // What is still to be sent when the reply is there (acknowledgements) nobody needs.
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
  // False: the call is over, with the failure in failure_ where the reply is not done.
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
  // Of a call on the socket, by errno.
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
  // What is sent first (preface, settings, headers, message) fits into one segment.
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
      // What the other side said before it left is still to be read.
      return true;
    } else if (errno != EINTR) {
      return fail(failed("sending"));
    }
  }
  return true;
}

bool GrpcCall::receive() {
  // Our stream is open, so it was nghttp2 that gave the session up, and told the other side.
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
    return give_up("there is more of it than any reply can have");
  }
  const ssize_t used =
      nghttp2_session_mem_recv(session_.get(), reinterpret_cast<const std::uint8_t*>(buffer.data()),
                               static_cast<std::size_t>(size));
  // It may have held a private key.
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

// Politeness: whether it arrives changes nothing for us.
void GrpcCall::cancel() {
  nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, stream_, NGHTTP2_CANCEL);
  send_pending();
}

}  // namespace

GrpcReply call_grpc(int socket, const GrpcRequest& request, steady_clock::time_point deadline) {
  return GrpcCall(socket, request, deadline).run();
}

}  // namespace execcred
