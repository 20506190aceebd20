// SPDX-License-Identifier: Apache-2.0
// Parses external_account credentials (https://google.aip.dev/auth/4117).
#include "credential_reader.hpp"

#include <execcred/aws/region.hpp>
#include <execcred/base/shell_words.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/http/reply.hpp>
#include <execcred/json/json_reader.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace execcred::google {
namespace {

constexpr std::string_view kAwsTokenType = "urn:ietf:params:aws:token-type:aws4_request";

// The member of the JSON that contains the token; empty if the whole text is the token.
Result<std::string> parse_format(const json::ObjectReader& source) {
  const std::optional<json::ObjectReader> format = TRY(source.optional_object("format"));
  if (!format) return std::string();
  const std::string type = TRY(format->string_or_empty("type"));
  if (type.empty() || type == "text") return std::string();
  if (type == "json") return format->required_string("subject_token_field_name");
  return json::field_error(format->path_of("type"), "is neither text nor json");
}

Result<FileSource> parse_file(const json::ObjectReader& source) {
  FileSource file;
  const std::string path = TRY(source.required_string("file"));
  file.path = path;
  file.field = TRY(parse_format(source));
  return file;
}

Result<UrlSource> parse_url_source(const json::ObjectReader& source, const Endpoints& endpoints) {
  UrlSource url;
  url.url = TRY(source.required_string("url"));
  TRY(endpoints.check(Service::subject, url.url, source.path_of("url")));
  url.field = TRY(parse_format(source));
  const std::optional<json::ObjectReader> headers = TRY(source.optional_object("headers"));
  if (!headers) return url;
  for (const json::Member& member : *headers->value().object()) {
    if (!is_http_token(member.name)) {
      return json::field_error(headers->path(),
                               "has " + in_quotes(member.name) + ", which is no name of a header");
    }
    SecretString value;
    if (!member.value.is_null()) {
      value = TRY(read_secret_line(member.value, headers->path_of(member.name)));
    }
    url.headers.push_back({.name = member.name, .value = std::move(value)});
  }
  return url;
}

Result<ExecutableSource> parse_executable(const json::ObjectReader& source) {
  constexpr int kShortest = 5'000;
  constexpr int kLongest = 120'000;
  const json::ObjectReader reader = TRY(source.required_object("executable"));
  ExecutableSource executable;
  const SecretString command = TRY(required_secret(reader, "command"));
  Result<std::vector<std::string>> words = split_shell_words(command.reveal());
  const std::string path = reader.path_of("command");
  if (!words) return json::field_error(path, words.error().message);
  if (words->empty() || !words->front().starts_with('/')) {
    return Error::configuration(path + " begins with no absolute path",
                                "PATH is not searched: write where the program is");
  }
  executable.program = std::move(words->front());
  executable.arguments.assign(std::make_move_iterator(words->begin() + 1),
                              std::make_move_iterator(words->end()));
  const std::optional<int> timeout =
      TRY(optional_number(reader, "timeout_millis", kShortest, kLongest));
  if (timeout) executable.timeout = std::chrono::milliseconds(*timeout);
  const std::string output = TRY(reader.string_or_empty("output_file"));
  executable.output_file = output;
  return executable;
}

// Whether the host is sts.REGION.DOMAIN of one of AWS's partitions, also with FIPS or both IP
// families.
bool is_regional_sts(std::string_view host) {
  constexpr std::array<std::string_view, 8> kDomains = {
      ".amazonaws.com", ".amazonaws.com.cn", ".amazonaws.eu",   ".api.aws",
      ".c2s.ic.gov",    ".sc2s.sgov.gov",    ".cloud.adc-e.uk", ".csp.hci.ic.gov"};
  for (const std::string_view service : {"sts.", "sts-fips."}) {
    if (!host.starts_with(service)) continue;
    const std::string_view rest = host.substr(service.size());
    return std::any_of(kDomains.begin(), kDomains.end(), [rest](std::string_view domain) {
      return rest.ends_with(domain) && is_aws_region(rest.substr(0, rest.size() - domain.size()));
    });
  }
  return false;
}

bool is_identity_query(std::string_view query) {
  return query == "Action=GetCallerIdentity&Version=2011-06-15" ||
         query == "Version=2011-06-15&Action=GetCallerIdentity";
}

// The request is signed with this machine's AWS credentials, and Google's STS sends it to AWS, so
// it must be one that only returns the identity.
Status check_verification_url(const std::string& text, const std::string& field) {
  constexpr std::string_view kRegion = "{region}";
  constexpr std::string_view kForm =
      "it must be https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15";
  const auto wrong = [&](const std::string& problem) {
    return Error::configuration(field + " " + redacted_url(text) + " " + problem,
                                std::string(kForm));
  };
  std::string sample = text;
  const std::size_t at = sample.find(kRegion);
  if (at != std::string::npos) sample.replace(at, kRegion.size(), "us-east-1");
  const Result<Url> url = parse_url(sample);
  if (!url || url->scheme != "https" || url->port != default_port("https") ||
      !is_regional_sts(url->host.name)) {
    return wrong("is no https URL of AWS's STS in a region");
  }
  if (!url->path.empty() || !is_identity_query(url->query)) {
    return wrong("asks AWS for something else than GetCallerIdentity");
  }
  return {};
}

Result<AwsSource> parse_aws(const json::ObjectReader& source, const std::string& id,
                            const Endpoints& endpoints) {
  if (id != "aws1") {
    return json::field_error(source.path_of("environment_id"),
                             "is " + in_quotes(id) + "; only aws1 is supported");
  }
  AwsSource aws;
  const auto read = [&](std::string_view name, std::string& url) -> Status {
    url = TRY(source.string_or_empty(name));
    return url.empty() ? Status() : endpoints.check(Service::subject, url, source.path_of(name));
  };
  TRY(read("region_url", aws.region_url));
  TRY(read("url", aws.credentials_url));
  TRY(read("imdsv2_session_token_url", aws.session_token_url));
  constexpr std::string_view kVerification = "regional_cred_verification_url";
  aws.verification_url = TRY(source.required_string(kVerification));
  TRY(check_verification_url(aws.verification_url, source.path_of(kVerification)));
  return aws;
}

Status parse_source(const json::ObjectReader& source, const Endpoints& endpoints,
                    ExternalAccount& account) {
  const std::string id = TRY(source.string_or_empty("environment_id"));
  if (!id.empty() || account.subject_token_type == kAwsTokenType) {
    account.source = TRY(parse_aws(source, id, endpoints));
    return {};
  }
  int count = 0;
  for (const std::string_view name : {"file", "url", "executable", "certificate"}) {
    if (source.find(name) != nullptr) ++count;
  }
  if (count != 1) {
    return json::field_error(source.path(), std::string(count == 0 ? "has none" : "has several") +
                                                " of file, url, executable and environment_id");
  }
  if (source.find("file") != nullptr) {
    account.source = TRY(parse_file(source));
  } else if (source.find("url") != nullptr) {
    account.source = TRY(parse_url_source(source, endpoints));
  } else if (source.find("executable") != nullptr) {
    account.source = TRY(parse_executable(source));
  } else {
    return json::field_error(source.path_of("certificate"), "is not supported");
  }
  return {};
}

// Whether the audience is one of a workforce pool; workload identity pools have no user project.
bool is_workforce_pool(std::string_view audience, const std::string& universe) {
  const std::string start = "//iam." + universe + "/locations/";
  return audience.starts_with(start) &&
         audience.find("/workforcePools/", start.size()) != std::string_view::npos;
}

Status read_user_project(const json::ObjectReader& reader, const std::string& universe,
                         ExternalAccount& account) {
  constexpr std::string_view kField = "workforce_pool_user_project";
  account.user_project = TRY(reader.string_or_empty(kField));
  if (account.user_project.empty()) return {};
  if (!is_workforce_pool(account.audience, universe)) {
    return json::field_error(reader.path_of(kField),
                             "is for workforce pools, and the audience is of none");
  }
  if (is_alphanumeric_or(account.user_project, "-.:")) return {};
  return json::field_error(reader.path_of(kField), "is no project");
}

}  // namespace

Result<ExternalAccount> parse_external_account(const json::ObjectReader& reader,
                                               const std::string& universe_domain,
                                               const Endpoints& endpoints) {
  ExternalAccount account;
  account.audience = TRY(reader.required_string("audience"));
  account.subject_token_type = TRY(reader.required_string("subject_token_type"));
  account.token_url = TRY(reader.string_or_empty("token_url"));
  if (account.token_url.empty()) account.token_url = "https://sts." + universe_domain + "/v1/token";
  TRY(endpoints.check(Service::sts, account.token_url, reader.path_of("token_url")));
  account.client_id = TRY(reader.string_or_empty("client_id"));
  account.client_secret = TRY(optional_secret(reader, "client_secret"));
  TRY(read_user_project(reader, universe_domain, account));
  const json::ObjectReader source = TRY(reader.required_object("credential_source"));
  TRY(parse_source(source, endpoints, account));
  return account;
}

}  // namespace execcred::google
