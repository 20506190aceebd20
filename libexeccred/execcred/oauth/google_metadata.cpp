// SPDX-License-Identifier: Apache-2.0
#include <execcred/oauth/google_metadata.hpp>

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/oauth/local_url.hpp>

#include <utility>

namespace execcred {
namespace {

constexpr std::string_view kVariable = "GCE_METADATA_HOST";
constexpr std::string_view kPath = "/computeMetadata/v1/";
constexpr std::string_view kFlavor = "Google";

Status check_host(const std::string& host) {
  const Result<Url> url = parse_url("http://" + host);
  if (url && url->path.empty() && url->query.empty()) return {};
  return Error::configuration(
      std::string(kVariable) + " is " + in_quotes(host) + ", which is no host",
      "it is HOST or HOST:PORT");
}

}  // namespace

std::string google_metadata_host(const Environment& environment) {
  return std::string(environment.get(kVariable).value_or("metadata.google.internal"));
}

Result<HttpResponse> ask_google_metadata(std::string_view path, CallContext& call) {
  const std::string host = google_metadata_host(call.environment);
  TRY(check_host(host));
  HttpRequest request = {.url = "http://" + host + std::string(kPath).append(path)};
  request.add_header("Metadata-Flavor", kFlavor);
  HttpResponse reply = TRY(ask_local_url(std::move(request), {}, call));
  if (reply.header("metadata-flavor") == kFlavor) return reply;
  return Error::no_credential(in_quotes(host) + " is no metadata server of Google's",
                              std::string(kVariable) + " names it");
}

}  // namespace execcred
