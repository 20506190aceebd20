// SPDX-License-Identifier: Apache-2.0
#include <execcred/aws/metadata.hpp>

#include <execcred/aws/region.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/http/retry.hpp>
#include <execcred/oauth/failure.hpp>
#include <execcred/oauth/local_url.hpp>
#include <execcred/os/deadline.hpp>

#include <utility>

namespace execcred {
namespace {

constexpr Duration kPatience = std::chrono::seconds(1);
constexpr int kAttempts = 2;
constexpr std::size_t kMaxReply = 64 * 1024;
constexpr std::size_t kMaxShown = 120;

// Whether the text is the name of a role by IAM's rules. The name becomes part of a path.
bool is_role_name(std::string_view text) {
  constexpr std::size_t kMaxName = 64;
  return !text.empty() && text.size() <= kMaxName && text != "." && text != ".." &&
         is_alphanumeric_or(text, "+=,.@-_");
}

Result<HttpResponse> ask(HttpRequest request, CallContext& call) {
  TRY(check_local_url(request.url));
  request.allow_plain_http = true;
  request.max_reply_bytes = kMaxReply;
  const auto client = make_http_client({.timeout = kPatience}, call);  // no proxy
  return send_with_retries(*client, std::move(request), call, {.attempts = kAttempts});
}

std::string server_of(const std::string& url) {
  const Result<Url> parsed = parse_url(url);
  return parsed ? origin_of(*parsed) : std::string("the metadata service");
}

Result<AwsCredentials> credentials_of(const json::Value& document) {
  const json::Value* const code = document.find("Code");
  if (code != nullptr && code->string() != nullptr && *code->string() != "Success") {
    return Error::no_credential(
        "its code is '" + shown_text(*code->string(), kMaxShown) + "', not 'Success'",
        "check the instance's profile and its role");
  }
  AwsCredentials credentials = TRY(aws_credentials_of_json(document, "Token"));
  // The access key of a role works only with its session token.
  if (credentials.session_token.empty())
    return Error::no_credential("its credentials lack a session token");
  return credentials;
}

}  // namespace

bool is_aws_metadata_disabled(const Environment& environment) {
  return ascii_lower(environment.get("AWS_EC2_METADATA_DISABLED").value_or("")) == "true";
}

Status AwsMetadata::get_token() {
  if (!token_.empty()) return {};
  HttpRequest request = {.method = "PUT", .url = urls_.token};
  request.add_header("X-aws-ec2-metadata-token-ttl-seconds",
                     std::to_string(urls_.token_lifetime.count()));
  call_.debug("asking " + server_of(urls_.token) + " for a metadata token");
  const HttpResponse reply =
      TRY(ask(std::move(request), call_)
              .context("asking for a token of the instance metadata service")
              .hint("where this is an instance, its http-put-response-hop-limit must be 2 or "
                    "more for containers"));
  if (reply.status != 200) return status_failure(reply, server_of(urls_.token));
  SecretString token = reply.body.trimmed();
  if (token.empty() || !is_visible_ascii(token.reveal())) {
    return Error::no_credential("what " + server_of(urls_.token) +
                                " answered is no metadata token");
  }
  token_ = std::move(token);
  return {};
}

Result<SecretString> AwsMetadata::get(const std::string& url, std::string_view if_missing) {
  deadline::enter_phase("asking the instance metadata service");
  TRY(get_token());
  HttpRequest request = {.url = url};
  request.headers.push_back({.name = "X-aws-ec2-metadata-token", .value = token_.copy()});
  HttpResponse reply = TRY(ask(std::move(request), call_));
  if (reply.status == 404 && !if_missing.empty()) {
    return Error::no_credential(server_of(url) + " answered 404: " + std::string(if_missing));
  }
  if (reply.status != 200) return status_failure(reply, server_of(url));
  return std::move(reply.body);
}

Result<AwsCredentials> AwsMetadata::credentials() {
  const std::string doing = "asking the instance metadata service for credentials";
  const SecretString listed =
      TRY(get(urls_.role, "no role is attached")
              .context(doing)
              .hint("an instance has credentials when its instance profile has a role"));
  const std::string_view role = trim(listed.reveal());
  if (!is_role_name(role)) {
    return Result<AwsCredentials>(Error::no_credential("what " + server_of(urls_.role) +
                                                       " answered is no name of a role"))
        .context(doing);
  }
  const std::string separator = urls_.role.ends_with('/') ? "" : "/";
  const SecretString body = TRY(get(urls_.role + separator + std::string(role)).context(doing));
  const Result<json::SecretValue> document = json::parse_secret(body.reveal());
  if (!document) {
    return Error::no_credential("the JSON that " + server_of(urls_.role) + " answered " +
                                document.error().message);
  }
  return credentials_of(**document)
      .context("reading what " + server_of(urls_.role) + " answered for the role '" +
               shown_text(role, kMaxShown) + "'");
}

Result<std::string> AwsMetadata::region() {
  const SecretString zone =
      TRY(get(urls_.zone).context("asking the instance metadata service for the region"));
  std::string region = aws_region_of_zone(trim(zone.reveal()));
  if (!region.empty()) return region;
  return Error::no_credential("what " + server_of(urls_.zone) +
                              " answered is no availability zone");
}

}  // namespace execcred
