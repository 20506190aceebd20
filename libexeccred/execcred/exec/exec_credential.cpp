// SPDX-License-Identifier: Apache-2.0
#include <execcred/exec/exec_credential.hpp>

#include <execcred/base/cause.hpp>
#include <execcred/base/rfc3339.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/bearer_token.hpp>
#include <execcred/json/json_reader.hpp>

#include <algorithm>
#include <array>
#include <cstdio>

namespace execcred {
namespace {

using json::ObjectReader;
using std::chrono::seconds;
using std::chrono::sys_seconds;

constexpr std::string_view kGroup = "client.authentication.k8s.io/";
constexpr std::size_t kMaxAnswer = 1024 * 1024;
constexpr Duration kMargin = seconds(30);

Result<ApiVersion> read_api_version(const ObjectReader& document, ApiVersion if_absent) {
  const std::optional<std::string> name = TRY(document.optional_string("apiVersion"));
  if (!name || name->empty()) return if_absent;
  if (!name->starts_with(kGroup)) {
    return json::field_error(
        "apiVersion", "is " + in_quotes(*name) + ", not " + std::string(kGroup) + "v1 or v1beta1");
  }
  Result<ApiVersion> version = parse_api_version(*name);
  if (!version) return json::field_error("apiVersion", version.error().message);
  return version;
}

// Removes and returns the first character of UTF-8 text; U+FFFD for a byte that begins no
// character.
char32_t take_character(std::string_view& text) {
  const auto byte = [&text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xc2 ? 0
                             : lead < 0xe0 ? 2
                             : lead < 0xf0 ? 3
                             : lead < 0xf5 ? 4
                                           : 0;
  char32_t character = length == 1 ? lead : lead & (0x7fU >> length);
  bool is_whole = length > 0 && length <= text.size();
  for (std::size_t i = 1; is_whole && i < length; ++i) {
    is_whole = (byte(i) & 0xc0U) == 0x80U;
    character = character << 6U | (byte(i) & 0x3fU);
  }
  text.remove_prefix(is_whole ? length : 1);
  return is_whole ? character : U'\ufffd';
}

void append_escape(SecretString& out, unsigned unit) {
  std::array<char, 8> escape = {};
  std::snprintf(escape.data(), escape.size(), "\\u%04x", unit & 0xffffU);
  out.append(escape.data());
}

// Appends JSON text with \uXXXX for each character outside ASCII, because some clients read it in
// the encoding of their locale.
void append_ascii(SecretString& out, std::string_view json) {
  while (!json.empty()) {
    const std::size_t size = ascii_length(json);
    out.append(json.substr(0, size));
    json.remove_prefix(size);
    if (json.empty()) return;
    const char32_t character = take_character(json);
    if (character >= 0x10000) append_escape(out, 0xd800U + ((character - 0x10000U) >> 10U));
    append_escape(out, character >= 0x10000 ? 0xdc00U + (character & 0x3ffU) : character);
  }
}

void append_json(SecretString& out, std::string_view name, std::string_view text) {
  if (text.empty()) return;
  std::string quoted_text;
  quoted_text.reserve(text.size() + text.size() / 8 + 2);
  json::write_string(text, quoted_text);
  out.append(out.reveal().ends_with('{') ? "\"" : ",\"");
  out.append(name);
  out.append("\":");
  append_ascii(out, quoted_text);
  wipe(quoted_text);
}

// Returns a member as a secret, and overwrites its text in the tree.
Result<SecretString> take_secret(json::Value& status, std::string_view name) {
  SecretString secret;
  for (json::Member& member : *status.object()) {
    if (member.name != name || member.value.is_null()) continue;
    std::string* text = member.value.string();
    if (text == nullptr)
      return Error::no_credential("status." + std::string(name) + " is no string");
    secret.append(*text);
    wipe(*text);
  }
  return secret;
}

bool is_version(std::string_view text) {
  return text == "v1" || text == "v1beta1" || text == "v1alpha1";
}

Status check_version(const ObjectReader& document, std::optional<ApiVersion> asked) {
  const std::string kind = TRY(document.required_string("kind"));
  const std::string version = TRY(document.required_string("apiVersion"));
  if (kind != "ExecCredential") return Error::no_credential("kind is " + in_quotes(kind));
  if (asked && version != full_name(*asked)) {
    return Error::no_credential("apiVersion is " + in_quotes(version) + ", asked was " +
                                std::string(full_name(*asked)));
  }
  const std::string_view name = version;
  if (asked || (name.starts_with(kGroup) && is_version(name.substr(kGroup.size())))) return {};
  return Error::no_credential("apiVersion is " + in_quotes(version) + ", not " +
                              std::string(kGroup) + "v1, v1beta1 or v1alpha1");
}

Status check_complete(const Credential& credential) {
  const bool has_certificate = !credential.client_certificate.empty();
  if (has_certificate == credential.client_key.empty()) {
    return Error::no_credential("status holds only one of clientCertificateData and clientKeyData");
  }
  if (!has_certificate && credential.token.empty()) {
    return Error::no_credential("status holds neither a token nor a certificate");
  }
  if (!credential.token.empty() && !is_visible_ascii(credential.token.reveal())) {
    return Error::no_credential("status.token has a character that no HTTP header may hold");
  }
  return check_whole(credential.token);
}

// The time as client-go reads it: Go wants a T and a Z in upper case, and its zero time is no end.
Result<std::optional<TimePoint>> read_expiration(const std::string& text) {
  const Result<TimePoint> time = parse_rfc3339(text);
  if (!time) {
    return Error::no_credential("status.expirationTimestamp: " + time.error().message,
                                time.error().hint);
  }
  if (text.find_first_of("tz") != std::string::npos) {
    return Error::no_credential("status.expirationTimestamp " + in_quotes(text) +
                                " has a 't' or 'z' in lower case, which client-go does not read");
  }
  if (text == "0001-01-01T00:00:00Z") return std::optional<TimePoint>();
  return std::optional(*time);
}

Result<Credential> read_status(json::Value& status) {
  if (status.object() == nullptr)
    return Error::no_credential("status is " + std::string(status.kind()));
  Credential credential;
  credential.token = TRY(take_secret(status, "token"));
  credential.client_key = TRY(take_secret(status, "clientKeyData"));
  const SecretString certificate = TRY(take_secret(status, "clientCertificateData"));
  credential.client_certificate = certificate.reveal();
  const ObjectReader reader = TRY(ObjectReader::open(status, "status"));
  const std::optional<std::string> expiration = TRY(reader.optional_string("expirationTimestamp"));
  if (expiration) credential.expires_at = TRY(read_expiration(*expiration));
  TRY(check_complete(credential));
  return credential;
}

Result<Credential> read_answer(json::Value& document, std::optional<ApiVersion> asked) {
  const ObjectReader reader = TRY(ObjectReader::open(document, ""));
  TRY(check_version(reader, asked));
  for (json::Member& member : *document.object()) {
    if (member.name == "status") return read_status(member.value);
  }
  return Error::no_credential("status is missing");
}

}  // namespace

std::string_view full_name(ApiVersion version) {
  return version == ApiVersion::v1 ? "client.authentication.k8s.io/v1"
                                   : "client.authentication.k8s.io/v1beta1";
}

Result<ApiVersion> parse_api_version(std::string_view text) {
  const std::string_view name = text.starts_with(kGroup) ? text.substr(kGroup.size()) : text;
  if (name == "v1") return ApiVersion::v1;
  if (name == "v1beta1") return ApiVersion::v1beta1;
  return Error::configuration(in_quotes(text) + " is no version of ours: v1 and v1beta1 are");
}

Result<ExecInfo> parse_exec_info(std::string_view text, ApiVersion version_if_absent) {
  const Result<json::Value> value = json::parse(text);
  if (!value) return json::field_error("", value.error().message);
  const ObjectReader document = TRY(ObjectReader::open(*value, ""));
  const std::optional<std::string> kind = TRY(document.optional_string("kind"));
  if (kind && !kind->empty() && *kind != "ExecCredential" && *kind != "ExecCredentials") {
    return json::field_error("kind", "is " + in_quotes(*kind) + ", not ExecCredential");
  }
  ExecInfo info;
  info.version = TRY(read_api_version(document, version_if_absent));
  const std::optional<ObjectReader> spec = TRY(document.optional_object("spec"));
  if (!spec) return info;
  info.interactive = TRY(spec->boolean_or_false("interactive"));
  const std::optional<ObjectReader> cluster = TRY(spec->optional_object("cluster"));
  if (cluster) {
    info.cluster = TRY(parse_exec_cluster(*cluster));
  }
  return info;
}

std::string write_exec_info(const ExecInfo& info) {
  std::string out = "{\"kind\":\"ExecCredential\",\"apiVersion\":\"";
  out.append(full_name(info.version)).append("\",\"spec\":{");
  if (info.cluster) {
    out += "\"cluster\":";
    json::write(to_json(*info.cluster), out, json::Escape::html);
    out.push_back(',');
  }
  out.append("\"interactive\":").append(info.interactive ? "true" : "false").append("}}\n");
  return out;
}

Result<sys_seconds> claimed_expiration(std::optional<TimePoint> ends_at, TimePoint now,
                                       Duration max_age, bool is_bounded) {
  // The value is now + max_age. A TimePoint may be too small to hold it, so it is counted in
  // seconds.
  const auto whole = std::chrono::floor<seconds>(max_age);
  const sys_seconds bound = std::chrono::floor<seconds>(now + (max_age - whole)) + whole;
  if (!ends_at) return bound;
  if (*ends_at <= now) {
    return Error{.kind = Error::Kind::no_credential,
                 .message = "the credential has expired: it ended at " +
                            format_rfc3339(std::chrono::floor<seconds>(*ends_at)),
                 .cause = cause::kSourceExpired};
  }
  const Duration margin = std::min(kMargin, (*ends_at - now) / 10);
  const sys_seconds earliest = std::chrono::ceil<seconds>(now);
  const sys_seconds claimed = std::max(std::chrono::floor<seconds>(*ends_at - margin), earliest);
  return is_bounded ? std::min(claimed, std::max(bound, earliest)) : claimed;
}

SecretString write_exec_credential(ApiVersion version, const Credential& credential,
                                   std::optional<sys_seconds> expiration) {
  SecretString out;
  out.reserve(256 + credential.token.size() + credential.client_certificate.size() +
              credential.client_key.size());
  out.append("{\"kind\":\"ExecCredential\",\"apiVersion\":\"");
  out.append(full_name(version));
  out.append("\",\"status\":{");
  if (expiration) append_json(out, "expirationTimestamp", format_rfc3339(*expiration));
  append_json(out, "token", credential.token.reveal());
  append_json(out, "clientCertificateData", credential.client_certificate);
  append_json(out, "clientKeyData", credential.client_key.reveal());
  out.append("}}\n");
  return out;
}

Result<Credential> parse_exec_credential(std::string_view text, std::optional<ApiVersion> asked) {
  Result<json::Value> document = json::parse(text, {.bytes = kMaxAnswer});
  if (!document) return Error::no_credential("it " + document.error().message);
  Result<Credential> credential = read_answer(*document, asked);
  if (!credential) credential.error().kind = Error::Kind::no_credential;
  return credential;
}

}  // namespace execcred
