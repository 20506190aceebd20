// SPDX-License-Identifier: Apache-2.0
#include "http_message.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace execcred::test {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::size_t kReadSize = 4096;

// std::tolower depends on the locale.
char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return to_lower(x) == to_lower(y); });
}

bool is_token_char(char c) {
  return (c >= '0' && c <= '9') || (to_lower(c) >= 'a' && to_lower(c) <= 'z') ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_char);
}

bool has_control_byte(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == '\x7f';
  });
}

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

void receive_more(const ReadBytes& read_bytes, std::string& received) {
  std::array<char, kReadSize> buffer{};
  const std::size_t size = read_bytes(buffer);
  if (size == 0) throw PeerGone();
  received.append(buffer.data(), size);
}

// Returns where the head ends; what follows it in `received` already belongs to the body.
std::size_t receive_head(const ReadBytes& read_bytes, std::string& received) {
  while (true) {
    const std::size_t end = received.find(kHeadEnd);
    if (std::min(end, received.size()) > kMaxHeadBytes) {
      throw HttpRefusal(431, "the request head is too large");
    }
    if (end != std::string::npos) return end;
    receive_more(read_bytes, received);
  }
}

void parse_request_line(std::string_view line, HttpRequest& request) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) {
    throw HttpRefusal(400, "the request line has not three parts");
  }
  const std::string_view target = line.substr(first + 1, last - first - 1);
  request.method = line.substr(0, first);
  request.target = target;
  if (!is_token(request.method) || target.front() != '/' ||
      target.find(' ') != std::string_view::npos || has_control_byte(target)) {
    throw HttpRefusal(400, "the request line is malformed");
  }
  if (!line.substr(last + 1).starts_with("HTTP/1.")) {
    throw HttpRefusal(505, "the request is not HTTP/1");
  }
}

HttpHeader parse_header(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon)) ||
      has_control_byte(line)) {
    throw HttpRefusal(400, "a header is malformed");
  }
  return {.name = std::string(line.substr(0, colon)),
          .value = std::string(trim(line.substr(colon + 1)))};
}

HttpRequest parse_head(std::string_view head) {
  HttpRequest request;
  std::size_t end = head.find(kLineEnd);
  parse_request_line(head.substr(0, end), request);
  while (end != std::string_view::npos) {
    head.remove_prefix(end + kLineEnd.size());
    end = head.find(kLineEnd);
    request.headers.push_back(parse_header(head.substr(0, end)));
  }
  return request;
}

std::size_t body_size(const HttpRequest& request) {
  if (request.header("Transfer-Encoding")) {
    throw HttpRefusal(501, "transfer codings are not supported");
  }
  const auto is_length = [](const HttpHeader& header) {
    return equal_ignoring_case(header.name, "Content-Length");
  };
  const auto length = std::find_if(request.headers.begin(), request.headers.end(), is_length);
  if (length == request.headers.end()) return 0;
  if (std::any_of(std::next(length), request.headers.end(), is_length)) {
    throw HttpRefusal(400, "Content-Length is there twice");
  }
  const std::string& digits = length->value;
  std::size_t size = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
  if (error == std::errc::invalid_argument || stop != digits.data() + digits.size()) {
    throw HttpRefusal(400, "Content-Length is no number");
  }
  if (error == std::errc::result_out_of_range || size > kMaxBodyBytes) {
    throw HttpRefusal(413, "the request body is too large");
  }
  return size;
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 307:
      return "Temporary Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 413:
      return "Content Too Large";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "";  // RFC 9112 allows an empty phrase; clients use the number
  }
}

bool brings_content_length(const HttpResponse& response) {
  constexpr std::string_view kName = "Content-Length:";
  return std::any_of(response.headers.begin(), response.headers.end(), [&](std::string_view line) {
    return equal_ignoring_case(line.substr(0, kName.size()), kName);
  });
}

}  // namespace

std::optional<std::string> HttpRequest::header(std::string_view name) const {
  const auto found = std::find_if(headers.begin(), headers.end(), [&](const HttpHeader& header) {
    return equal_ignoring_case(header.name, name);
  });
  if (found == headers.end()) return std::nullopt;
  return found->value;
}

std::string_view HttpRequest::path() const {
  return std::string_view(target).substr(0, target.find('?'));
}

HttpRequest read_request(const ReadBytes& read_bytes) {
  std::string received;
  const std::size_t head_size = receive_head(read_bytes, received);
  HttpRequest request = parse_head(std::string_view(received).substr(0, head_size));
  const std::size_t size = body_size(request);
  received.erase(0, head_size + kHeadEnd.size());
  while (received.size() < size) receive_more(read_bytes, received);
  request.body = received.substr(0, size);
  return request;
}

std::string to_wire(const HttpResponse& response) {
  std::string wire = "HTTP/1.1 " + std::to_string(response.status) + " ";
  wire.append(reason_phrase(response.status)).append(kLineEnd);
  for (const std::string& line : response.headers) wire.append(line).append(kLineEnd);
  if (!brings_content_length(response)) {
    wire.append("Content-Length: " + std::to_string(response.body.size())).append(kLineEnd);
  }
  wire.append("Connection: close").append(kHeadEnd).append(response.body);
  return wire;
}

}  // namespace execcred::test
