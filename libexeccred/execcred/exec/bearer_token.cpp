// SPDX-License-Identifier: Apache-2.0
#include <execcred/exec/bearer_token.hpp>

#include <execcred/base/cause.hpp>
#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/os/file.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace execcred {
namespace {

struct Mistake {
  std::string_view start;
  std::string_view what;
};

constexpr std::array<Mistake, 4> kMistakes = {{{"-----BEGIN", "a PEM file"},
                                               {"apiVersion:", "a kubeconfig"},
                                               {"{", "a JSON document"},
                                               {"[", "a JSON document"}}};

constexpr std::string_view kJwtStart = "eyJ";  // the base64url of {"

constexpr const char* kHalfWritten =
    "it may have been read half written: try again; a program that renews a token file must write "
    "a new file and rename it";

// Decodes base64 of either alphabet, up to the padding and without an incomplete last group.
// nullopt if the text is not base64.
std::optional<std::string> decode_whole_groups(std::string_view text) {
  std::string digits(text.substr(0, text.find('=')));
  digits.resize(digits.size() / 4 * 4);
  std::replace(digits.begin(), digits.end(), '-', '+');
  std::replace(digits.begin(), digits.end(), '_', '/');
  std::optional<std::string> bytes = decode_base64(digits);
  wipe(digits);
  return bytes;
}

// Whether the bytes are a DER SEQUENCE that fills the whole text, with a length of two bytes as in
// keys and certificates. The last two bytes may be missing, because an incomplete group of base64
// was not decoded.
bool is_der(std::string_view bytes) {
  constexpr std::size_t kHead = 4;
  if (!bytes.starts_with("\x30\x82") || bytes.size() < kHead) return false;
  const auto length = static_cast<std::size_t>(static_cast<unsigned char>(bytes[2])) << 8U |
                      static_cast<unsigned char>(bytes[3]);
  const std::size_t there = bytes.size() - kHead;
  return length >= there && length - there <= 2;
}

// The kind of file that the text holds in base64; empty if it may be a token.
std::string_view encoded_file(std::string_view text) {
  if (text.find('.') != std::string_view::npos) return {};  // as in each JWT
  std::optional<std::string> bytes = decode_whole_groups(text);
  if (!bytes) return {};
  std::string_view what;
  if (is_der(*bytes)) what = "a key or a certificate";
  if (bytes->find("apiVersion") != std::string::npos) what = "a kubeconfig";
  if (bytes->find("-----BEGIN") != std::string::npos) what = "a PEM file";
  wipe(*bytes);
  return what;
}

// RFC 7516, section 7.1: the compact form of a JWE has five parts, which may be empty.
bool is_jwe(const json::Value& header, const std::vector<std::string_view>& parts) {
  return parts.size() == 5 && header.find("enc") != nullptr &&
         std::all_of(parts.begin(), parts.end(),
                     [](std::string_view part) { return decode_base64url(part).has_value(); });
}

// Checks a token that begins as a JWT does.
Status check_parts(std::string_view token, const Result<std::optional<Jwt>>& jwt) {
  const std::vector<std::string_view> parts = split(token, '.');
  if (jwt && *jwt) {
    const bool is_signed = json::text_or_empty((*jwt)->header, "alg") != "none";
    if (decode_base64url(parts[2]) && !(is_signed && parts[2].empty())) return {};
    return Error::no_credential("its signature is cut or damaged");
  }
  const Result<json::Value> header = json::parse(decode_base64url(parts.front()).value_or(""));
  if (!header || header->object() == nullptr)
    return Error::no_credential("its header is no JSON object");
  if (is_jwe(*header, parts)) return {};
  if (jwt) return Error::no_credential("it does not have three parts");
  return jwt.error();
}

Status check_whole(const SecretString& token, const Result<std::optional<Jwt>>& jwt) {
  if (!token.reveal().starts_with(kJwtStart)) return {};
  Status whole = check_parts(token.reveal(), jwt);
  if (whole) return {};
  return Error::no_credential("the token begins as a JWT does, but is none: " +
                              whole.error().message);
}

}  // namespace

Status check_whole(const SecretString& token) {
  return check_whole(token, parse_jwt(token)).hint(kHalfWritten);
}

Result<BearerToken> bearer_token(const SecretString& content) {
  SecretString trimmed = content.trimmed();
  const std::string_view text = trimmed.reveal();
  if (text.empty()) return Error::no_credential("the token is empty");
  if (text.size() > kMaxSecretFile) return Error::no_credential("the token has more than 128 KiB");
  for (const Mistake& mistake : kMistakes) {
    if (text.starts_with(mistake.start)) {
      return Error::no_credential("this is " + std::string(mistake.what) + ", not a token");
    }
  }
  if (is_visible_ascii(text)) {
    const std::string_view encoded = encoded_file(text);
    if (encoded.empty()) {
      BearerToken token(std::move(trimmed));
      TRY(check_whole(token.text(), token.jwt()));
      return token;
    }
    return Error::no_credential("this is " + std::string(encoded) + " in base64, not a token");
  }
  if (std::any_of(text.begin(), text.end(), is_space)) {
    return Error::no_credential("this is more than one word, so it is no token");
  }
  return Error::no_credential("the token has a byte that no HTTP header may hold");
}

Result<BearerToken> bearer_token_of_source(const SecretString& content) {
  Result<BearerToken> token = bearer_token(content);
  if (token) return token;
  const SecretString trimmed = content.trimmed();
  const bool may_be_cut =
      trimmed.reveal().starts_with(kJwtStart) && is_visible_ascii(trimmed.reveal());
  return std::move(token)
      .hint(may_be_cut ? kHalfWritten : "it must hold one bearer token and nothing else")
      .cause(trimmed.empty() ? cause::kSourceMissing : std::string_view());
}

Result<BearerToken> read_bearer_token(const std::filesystem::path& path) {
  return bearer_token_of_source(TRY(read_secret_file(path)));
}

}  // namespace execcred
