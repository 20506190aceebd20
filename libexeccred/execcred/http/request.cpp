// SPDX-License-Identifier: Apache-2.0
#include <execcred/http/request.hpp>

#include <execcred/base/form.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/http/reply.hpp>
#include <execcred/os/file.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace execcred {
namespace {

// Headers that determine where a message ends are set by libcurl only.
bool is_reserved_header(const std::string& name) {
  constexpr std::array<std::string_view, 8> kReserved = {
      "connection", "content-length", "expect",  "host",
      "te",         "trailer",        "upgrade", "transfer-encoding"};
  return std::find(kReserved.begin(), kReserved.end(), ascii_lower(name)) != kReserved.end();
}

}  // namespace

Status check_request(const HttpRequest& request) {
  if (!is_http_token(request.method) || request.method == "CONNECT") {
    return Error::configuration(in_quotes(request.method) + " is no HTTP method");
  }
  for (const HttpHeader& header : request.headers) {
    if (!is_http_token(header.name)) {
      return Error::configuration(in_quotes(header.name) + " is no name of an HTTP header");
    }
    if (is_reserved_header(header.name)) {
      return Error::configuration("the HTTP header " + in_quotes(header.name) + " cannot be set");
    }
    if (has_control_character(header.value.reveal())) {
      return Error::configuration("the value of the HTTP header " + in_quotes(header.name) +
                                  " has a control character");
    }
  }
  return {};
}

Result<Url> parse_target(const HttpRequest& request) {
  Result<Url> url = parse_url(request.url);
  if (!url) return Error::configuration("the URL to ask " + url.error().message);
  const bool is_plain = url->scheme == "http";
  if (url->scheme == "https" || (is_plain && request.allow_plain_http)) return url;
  Error error = Error::configuration(in_quotes(origin_of(*url)) + " is no https URL");
  if (is_plain)
    error.hint = "without TLS, others on the network could read and change what is sent";
  return error;
}

Error spent(Error error) {
  error.is_transient = false;
  if (error.kind == Error::Kind::unavailable && error.hint.empty()) {
    error.hint =
        "the server may have processed the request, so it is not sent twice in one run; run the "
        "plugin again";
  }
  return error;
}

void HttpRequest::add_header(std::string_view name, std::string_view value) {
  headers.push_back({.name = std::string(name), .value = SecretString(value), .is_secret = false});
}

void HttpRequest::set_form(const Form& form) {
  body = form.encoded();
  secrets.clear();
  for (const Form::Field& field : form.fields()) {
    if (field.is_secret) secrets.push_back(field.value.copy());
  }
}

std::optional<std::string_view> HttpResponse::header(std::string_view name) const {
  for (const auto& [header_name, value] : headers) {
    if (header_name == name) return value;
  }
  return std::nullopt;
}

Result<std::string> read_ca_file(const std::filesystem::path& path) {
  std::string pem = TRY(read_file(path, kMaxPemFile));
  if (pem.find("-----BEGIN CERTIFICATE-----") == std::string::npos) {
    return Error::configuration(
        in_quotes(path.native()) + " holds no certificate in PEM",
        "give it the certificate of the CA, \"-----BEGIN CERTIFICATE-----\"");
  }
  return pem;
}

}  // namespace execcred
