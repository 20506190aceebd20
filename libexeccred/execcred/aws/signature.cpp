// SPDX-License-Identifier: Apache-2.0
#include <execcred/aws/signature.hpp>

#include <execcred/base/digest.hpp>
#include <execcred/base/encoding.hpp>
#include <execcred/base/rfc3339.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/url.hpp>

#include <algorithm>

namespace execcred {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";
constexpr std::string_view kLastPart = "aws4_request";

struct Field {
  SecretString name;
  SecretString value;
};

void sort(std::vector<Field>& fields) {
  std::sort(fields.begin(), fields.end(), [](const Field& a, const Field& b) {
    const int order = a.name.reveal().compare(b.name.reveal());
    return order != 0 ? order < 0 : a.value.reveal() < b.value.reveal();
  });
}

void add_parameter(std::string_view name, std::string_view value, std::vector<Field>& fields) {
  fields.push_back({.name = percent_encode_secret(name), .value = percent_encode_secret(value)});
}

SecretString query_of(const std::vector<Field>& fields) {
  SecretString query;
  for (const Field& field : fields) {
    if (!query.empty()) query.append("&");
    query.append(field.name.reveal());
    query.append("=");
    query.append(field.value.reveal());
  }
  return query;
}

// Trims white space, and replaces each run of white space by one space.
SecretString canonical_value(std::string_view text) {
  SecretString value;
  bool is_gap = false;
  for (const char c : trim(text)) {
    if (is_space(c)) {
      is_gap = true;
      continue;
    }
    if (is_gap) value.append(" ");
    is_gap = false;
    value.append(std::string_view(&c, 1));
  }
  return value;
}

void add_header(std::string_view name, std::string_view value, std::vector<Field>& fields) {
  fields.push_back({.name = SecretString(ascii_lower(name)), .value = canonical_value(value)});
}

std::vector<Field> canonical_headers(const AwsRequest& request) {
  std::vector<Field> fields;
  add_header("host", request.host, fields);
  for (const auto& [name, value] : request.headers) add_header(name, value, fields);
  return fields;
}

std::string names_of(const std::vector<Field>& headers) {
  std::string names;
  for (const Field& header : headers) {
    if (!names.empty()) names.push_back(';');
    names += header.name.reveal();
  }
  return names;
}

// "20150830T123600Z".
std::string basic_time(TimePoint now) {
  std::string text = format_rfc3339(std::chrono::floor<std::chrono::seconds>(now));
  std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
  return text;
}

class Signer {
 public:
  Signer(const AwsCredentials& credentials, const AwsScope& scope, TimePoint now)
      : credentials_(credentials), scope_(scope), time_(basic_time(now)) {}

  const std::string& time() const { return time_; }

  std::string credential_scope() const {
    return date() + "/" + scope_.region + "/" + scope_.service + "/" + std::string(kLastPart);
  }
  std::string credential() const { return credentials_.access_key_id + "/" + credential_scope(); }

  // `query` and `headers` are canonical.
  std::string signature(const AwsRequest& request, const SecretString& query,
                        const std::vector<Field>& headers) const {
    SecretString text(request.method);
    text.append("\n");
    text.append(percent_encode_secret(request.path, "/").reveal());
    text.append("\n");
    text.append(query.reveal());
    text.append("\n");
    for (const Field& header : headers) {
      text.append(header.name.reveal());
      text.append(":");
      text.append(header.value.reveal());
      text.append("\n");
    }
    text.append("\n" + names_of(headers) + "\n" + to_hex(sha256(request.body)));
    const std::string to_sign = std::string(kAlgorithm) + "\n" + time_ + "\n" + credential_scope() +
                                "\n" + to_hex(sha256(text.reveal()));
    return to_hex(sign(to_sign));
  }

 private:
  std::string date() const { return time_.substr(0, time_.find('T')); }

  Sha256Digest sign(std::string_view text) const {
    SecretString first("AWS4");
    first.append(credentials_.secret_access_key.reveal());
    Sha256Digest key = hmac_sha256(first.reveal(), date());
    for (const std::string_view part :
         {std::string_view(scope_.region), std::string_view(scope_.service), kLastPart}) {
      key = hmac_sha256(text_of(key), part);
    }
    const Sha256Digest digest = hmac_sha256(text_of(key), text);
    explicit_bzero(key.data(), key.size());
    return digest;
  }

  static std::string_view text_of(const Sha256Digest& digest) {
    return {reinterpret_cast<const char*>(digest.data()), digest.size()};
  }

  const AwsCredentials& credentials_;
  const AwsScope& scope_;
  std::string time_;
};

}  // namespace

Result<AwsRequest> aws_request(std::string_view method, std::string_view text) {
  const auto wrong = [text](const std::string& problem) {
    return Error::configuration(redacted_url(text) + " " + problem);
  };
  const Result<Url> url = parse_url(text);
  if (!url) return wrong(url.error().message);
  if (url->scheme != "https") return wrong("is no https URL");
  AwsRequest request = {.method = std::string(method)};
  request.host = authority_of(url->host, url->port);
  if (url->port == default_port(url->scheme)) request.host.resize(request.host.rfind(':'));
  if (!url->path.empty()) request.path = url->path;
  if (url->query.empty()) return request;
  for (const std::string_view pair : split(url->query, '&')) {
    const std::size_t equals = pair.find('=');
    const bool has_value = equals != std::string_view::npos;
    auto name = form_urldecode(pair.substr(0, equals));
    auto value = form_urldecode(has_value ? pair.substr(equals + 1) : std::string_view());
    if (!name || !value || name->empty()) return wrong("has a query that is not form-encoded");
    request.parameters.emplace_back(name->reveal(), value->reveal());
  }
  return request;
}

std::vector<HttpHeader> sign_aws_request(const AwsRequest& request,
                                         const AwsCredentials& credentials, const AwsScope& scope,
                                         TimePoint now) {
  const Signer signer(credentials, scope, now);
  std::vector<Field> query;
  for (const auto& [name, value] : request.parameters) add_parameter(name, value, query);
  sort(query);
  std::vector<Field> headers = canonical_headers(request);
  add_header("x-amz-date", signer.time(), headers);
  const std::string_view token = credentials.session_token.reveal();
  if (!token.empty()) add_header("x-amz-security-token", token, headers);
  sort(headers);
  const std::string authorization = std::string(kAlgorithm) + " Credential=" + signer.credential() +
                                    ", SignedHeaders=" + names_of(headers) + ", Signature=" +
                                    signer.signature(request, query_of(query), headers);

  std::vector<HttpHeader> added;
  added.push_back({.name = "X-Amz-Date", .value = SecretString(signer.time()), .is_secret = false});
  if (!token.empty()) {
    added.push_back({.name = "X-Amz-Security-Token", .value = SecretString(token)});
  }
  // A signature is good for this request alone.
  added.push_back(
      {.name = "Authorization", .value = SecretString(authorization), .is_secret = false});
  return added;
}

SecretString presign_aws_request(const AwsRequest& request, const AwsCredentials& credentials,
                                 const AwsScope& scope, TimePoint now,
                                 std::chrono::seconds lifetime) {
  const Signer signer(credentials, scope, now);
  std::vector<Field> headers = canonical_headers(request);
  sort(headers);
  std::vector<Field> query;
  for (const auto& [name, value] : request.parameters) add_parameter(name, value, query);
  add_parameter("X-Amz-Algorithm", kAlgorithm, query);
  add_parameter("X-Amz-Credential", signer.credential(), query);
  add_parameter("X-Amz-Date", signer.time(), query);
  add_parameter("X-Amz-Expires", std::to_string(lifetime.count()), query);
  add_parameter("X-Amz-SignedHeaders", names_of(headers), query);
  const std::string_view token = credentials.session_token.reveal();
  if (!token.empty()) add_parameter("X-Amz-Security-Token", token, query);
  sort(query);
  const SecretString canonical = query_of(query);
  SecretString url("https://" + request.host);
  url.append(request.path + "?");
  url.append(canonical.reveal());
  url.append("&X-Amz-Signature=" + signer.signature(request, canonical, headers));
  return url;
}

}  // namespace execcred
