// SPDX-License-Identifier: Apache-2.0
#include "subject.hpp"

#include <execcred/aws/credentials.hpp>
#include <execcred/aws/metadata.hpp>
#include <execcred/aws/region.hpp>
#include <execcred/aws/signature.hpp>
#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/json/json.hpp>

#include <array>
#include <utility>

namespace execcred::google {
namespace {

constexpr std::string_view kTarget = "x-goog-cloud-target-resource";
constexpr std::array<std::string_view, 2> kRegionVariables = {"AWS_REGION", "AWS_DEFAULT_REGION"};

// The token URL is derived from the other URLs if it is missing, because version 1 of the service
// is not supported.
Result<AwsMetadataUrls> metadata_urls(const AwsSource& source) {
  AwsMetadataUrls urls = {.token_lifetime = std::chrono::minutes(5)};
  if (!source.credentials_url.empty()) urls.role = source.credentials_url;
  if (!source.region_url.empty()) urls.zone = source.region_url;
  const std::string& known =
      source.credentials_url.empty() ? source.region_url : source.credentials_url;
  if (!known.empty()) {
    const Url url = TRY(parse_url(known));
    urls.token = url.scheme + "://" + authority_of(url.host, url.port) + "/latest/api/token";
  }
  if (!source.session_token_url.empty()) urls.token = source.session_token_url;
  return urls;
}

Result<std::string> region_of(const AwsSource& source, AwsMetadata& metadata,
                              const Environment& environment) {
  for (const std::string_view variable : kRegionVariables) {
    const std::optional<std::string_view> region = environment.get(variable);
    if (!region) continue;
    if (is_aws_region(*region)) return std::string(*region);
    return Error::configuration(std::string(variable) + " is " + in_quotes(*region) +
                                ", which is no AWS region");
  }
  if (!source.region_url.empty()) return metadata.region();
  return Error::configuration("no AWS region is known", "set AWS_REGION");
}

Result<AwsCredentials> credentials_of(const AwsSource& source, AwsMetadata& metadata,
                                      const Environment& environment) {
  std::optional<AwsCredentials> set = TRY(aws_credentials_of_environment(environment));
  if (set) return *std::move(set);
  if (!source.credentials_url.empty()) return metadata.credentials();
  return Error::configuration(
      "there are no AWS credentials",
      "set AWS_ACCESS_KEY_ID, or credential_source.url in the credentials file");
}

json::Value header(std::string_view name, std::string_view value) {
  json::Value pair;
  pair.add("key", json::Value(name));
  pair.add("value", json::Value(value));
  return pair;
}

// The request in Google's format, with sorted keys.
SecretString serialized(const std::string& url, const AwsRequest& request,
                        const std::vector<HttpHeader>& headers, const std::string& audience) {
  constexpr std::array<std::string_view, 3> kOrder = {"Authorization", "x-amz-date",
                                                      "x-amz-security-token"};
  json::Array list;
  for (const std::string_view name : kOrder) {
    for (const HttpHeader& signed_header : headers) {
      if (ascii_lower(signed_header.name) != ascii_lower(name)) continue;
      list.push_back(header(name, signed_header.value.reveal()));
    }
    if (list.size() == 1) list.push_back(header("host", request.host));
  }
  list.push_back(header(kTarget, audience));
  json::Value document;
  document.add("headers", json::Value(std::move(list)));
  document.add("method", json::Value(request.method));
  document.add("url", json::Value(url));
  std::string text = json::to_text(document);
  // As Python's urllib.parse.quote does, '/' is not encoded.
  SecretString out = percent_encode_secret(text, "/");
  wipe(text);
  json::wipe(document);
  return out;
}

}  // namespace

void plan_aws(Inputs& inputs) {
  for (const std::string_view variable : kRegionVariables) inputs.environment().get(variable);
  if (!inputs.environment().get("AWS_ACCESS_KEY_ID")) inputs.add_machine();
}

Result<SecretString> sign_for_aws(const AwsSource& source, const std::string& audience,
                                  CallContext& call) {
  const AwsMetadataUrls urls = TRY(metadata_urls(source));
  AwsMetadata metadata(urls, call);
  const std::string region = TRY(region_of(source, metadata, call.environment));
  const AwsCredentials credentials = TRY(credentials_of(source, metadata, call.environment));
  std::string url = source.verification_url;
  constexpr std::string_view kRegion = "{region}";
  for (std::size_t at = url.find(kRegion); at != std::string::npos; at = url.find(kRegion)) {
    url.replace(at, kRegion.size(), region);
  }
  const AwsRequest request = TRY(aws_request("POST", url));
  const std::vector<HttpHeader> headers =
      sign_aws_request(request, credentials, {.region = region}, call.clock.now());
  return serialized(url, request, headers, audience);
}

}  // namespace execcred::google
