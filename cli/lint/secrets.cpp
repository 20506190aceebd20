// SPDX-License-Identifier: Apache-2.0
#include "secrets.hpp"

#include "options.hpp"

#include <aws/eks_token.hpp>
#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/json/json.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace execcred::lint {
namespace {

constexpr std::string_view kRemedy =
    "remove it, and let the program read it from a file or a Secret; then replace it, because "
    "others may have read it here";

bool is_token_character(char c) { return is_alphanumeric(c) || c == '-' || c == '_'; }

// The longest part at the front whose characters all satisfy `is_part`.
template <class Predicate>
std::string_view run_of(std::string_view text, Predicate is_part) {
  return text.substr(0, static_cast<std::size_t>(
                            std::find_if_not(text.begin(), text.end(), is_part) - text.begin()));
}

// Whether the text begins with a JSON Web Token. Reads only header and payload: the rest may be the
// next token's header.
bool is_jwt(std::string_view text) {
  const std::string_view header = run_of(text, is_token_character);
  if (!text.substr(header.size()).starts_with('.')) return false;
  text.remove_prefix(header.size() + 1);
  const std::string_view payload = run_of(text, is_token_character);
  if (payload.empty() || !text.substr(payload.size()).starts_with('.')) return false;
  const std::optional<std::string> decoded = decode_base64url(header);
  return decoded && decoded->starts_with('{') && decode_base64url(payload);
}

bool has_jwt(std::string_view text) {
  constexpr std::string_view kStart = "eyJ";  // {" in base64
  for (std::size_t at = text.find(kStart); at != std::string_view::npos;
       at = text.find(kStart, at + 1)) {
    const bool is_start = at == 0 || !is_token_character(text[at - 1]);
    if (is_start && is_jwt(text.substr(at))) return true;
  }
  return false;
}

struct KnownToken {
  std::string_view start;
  std::string_view name;
};
constexpr std::array<KnownToken, 5> kKnownTokens = {{{aws::kEksTokenStart, "a token for EKS"},
                                                     {kGoogleTokenStart, "a Google access token"},
                                                     {"sha256~", "an OpenShift token"},
                                                     {"ghp_", "a GitHub token"},
                                                     {"github_pat_", "a GitHub token"}}};

std::string_view known_token_in(std::string_view text) {
  constexpr std::size_t kShortest = 20;
  for (const KnownToken& known : kKnownTokens) {
    for (std::size_t at = text.find(known.start); at != std::string_view::npos;
         at = text.find(known.start, at + 1)) {
      const bool is_start = at == 0 || !is_token_character(text[at - 1]);
      const std::string_view rest = text.substr(at + known.start.size());
      if (is_start && run_of(rest, is_token_character).size() >= kShortest) return known.name;
    }
  }
  return {};
}

bool has_url_password(std::string_view text) {
  constexpr std::string_view kMark = "://";
  for (std::size_t at = text.find(kMark); at != std::string_view::npos;
       at = text.find(kMark, at + 1)) {
    const std::string_view authority = run_of(text.substr(at + kMark.size()), [](char c) {
      return !is_space(c) && c != '/' && c != '?' && c != '#' && c != '"' && c != '\'';
    });
    const std::string_view user_info = authority.substr(0, authority.rfind('@'));
    const std::size_t colon = user_info.find(':');
    const bool has_user_info = user_info.size() < authority.size();
    if (has_user_info && colon < user_info.size() - 1) return true;
  }
  return false;
}

// Whether the text is long enough for a token, and does not look like the words of a sentence.
bool may_be_token(std::string_view text) {
  constexpr std::size_t kShortest = 12;
  if (text.size() < kShortest) return false;
  const bool has_digit = std::any_of(text.begin(), text.end(), is_digit);
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  return has_digit || (std::any_of(text.begin() + 1, text.end(), is_upper) &&
                       std::any_of(text.begin() + 1, text.end(), is_lower));
}

// Whether the text contains a bearer token, as in an Authorization header.
bool has_bearer_token(std::string_view text) {
  constexpr std::string_view kScheme = "Bearer ";
  for (std::size_t at = text.find(kScheme); at != std::string_view::npos;
       at = text.find(kScheme, at + 1)) {
    const std::string_view token = run_of(text.substr(at + kScheme.size()), [](char c) {
      return is_token_character(c) || c == '.' || c == '~' || c == '+' || c == '/' || c == '=';
    });
    if (may_be_token(token)) return true;
  }
  return false;
}

std::string_view find_secret(std::string_view text, int levels_of_base64);

bool is_base64_digit(char c) { return is_alphanumeric(c) || c == '+' || c == '/'; }

// Finds a secret in PEM in a run of base64 digits. The PEM may begin at each of four offsets in a
// group of digits. One decoding for each offset is enough: the text from the first match on
// contains the later matches at the same offset.
std::string_view secret_in_pem_base64(std::string_view digits, int levels) {
  constexpr std::string_view kPem = "LS0tLS1CRUdJTi";  // -----BEGIN
  std::array<bool, 4> is_decoded = {};
  for (std::size_t at = digits.find(kPem); at != std::string_view::npos;
       at = digits.find(kPem, at + 1)) {
    if (std::exchange(is_decoded[at % 4], true)) continue;
    // Only whole groups of four digits are decoded, because incomplete ones at the end would be an
    // error.
    const std::string_view groups = digits.substr(at, (digits.size() - at) / 4 * 4);
    const std::optional<std::string> decoded = decode_base64(groups);
    if (!decoded) continue;
    if (const std::string_view secret = find_secret(*decoded, levels); !secret.empty()) {
      return secret;
    }
  }
  return {};
}

std::string_view secret_in_base64(std::string_view text, int levels) {
  constexpr std::size_t kShortest = 24;
  if (levels == 0) return {};
  const std::string_view whole = trim(text);
  if (whole.size() < kShortest) return {};
  if (const std::optional<std::string> decoded = decode_base64(whole)) {
    return find_secret(*decoded, levels - 1);
  }
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view digits = run_of(rest, is_base64_digit);
    const std::string_view secret = secret_in_pem_base64(digits, levels - 1);
    if (!secret.empty()) return secret;
    rest.remove_prefix(std::min(digits.size() + 1, rest.size()));
  }
  return {};
}

std::string_view find_secret(std::string_view text, int levels_of_base64) {
  if (text.find("PRIVATE KEY-----") != std::string_view::npos) return "a private key";
  if (has_jwt(text)) return "a JSON Web Token";
  if (const std::string_view token = known_token_in(text); !token.empty()) return token;
  if (has_url_password(text)) return "a URL with a password";
  if (has_bearer_token(text)) return "a bearer token";
  return secret_in_base64(text, levels_of_base64);
}

// The name in lower case and without punctuation: "clientKeyData", "client-key-data" and
// "CLIENT_KEY_DATA" are one name.
std::string plain_name(std::string_view name) {
  std::string plain = ascii_lower(name);
  std::erase_if(plain, [](char c) { return !is_alphanumeric(c); });
  return plain;
}

// Whether a value may be the secret that its name promises: not a file's name, a placeholder, a
// short word, or one of a few known words.
bool is_long_word(std::string_view value) {
  constexpr std::size_t kShortest = 8;
  return value.size() >= kShortest && value.find('/') != 0 && !value.starts_with("./") &&
         !value.starts_with("file:") && !value.starts_with("env:") &&
         value.find('{') == std::string_view::npos && value != "access_token" &&
         value != "id_token";
}

// Whether the variable contains a secret in any form: an AWS secret may begin with a slash.
bool is_variable_of_secret(std::string_view name) {
  constexpr std::array<std::string_view, 6> kVariables = {
      "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_SECURITY_TOKEN",
      "AZURE_CLIENT_SECRET",   "IDENTITY_HEADER",   "AWS_CONTAINER_AUTHORIZATION_TOKEN"};
  return std::find(kVariables.begin(), kVariables.end(), name) != kVariables.end();
}

// Whether this is the name of a secret in Google's credentials files.
bool is_credential_member(std::string_view name) {
  constexpr std::array<std::string_view, 3> kMembers = {"private_key", "refresh_token",
                                                        "client_secret"};
  return std::find(kMembers.begin(), kMembers.end(), name) != kMembers.end();
}

}  // namespace

std::string_view secret_in(std::string_view text) { return find_secret(text, 2); }

bool is_name_of_secret(std::string_view name) {
  constexpr std::array<std::string_view, 16> kEnds = {
      "token",      "password",    "passwd",          "passphrase",    "secret",     "apikey",
      "privatekey", "secretkey",   "secretaccesskey", "clientkeydata", "signingkey", "sharedkey",
      "accountkey", "credentials", "authorization",   "cookie"};
  const std::string plain = plain_name(name);
  return std::any_of(kEnds.begin(), kEnds.end(),
                     [&plain](std::string_view end) { return plain.ends_with(end); });
}

// Whether this is the name of a password, which may be short.
bool is_name_of_password(std::string_view name) {
  constexpr std::array<std::string_view, 4> kEnds = {"password", "passwd", "passphrase", "pwd"};
  const std::string plain = plain_name(name);
  return plain == "pass" || std::any_of(kEnds.begin(), kEnds.end(), [&plain](std::string_view end) {
           return plain.ends_with(end);
         });
}

bool has_named_secret(std::string_view text) {
  constexpr std::size_t kMostJudged = 256;  // of a value, so that the time is linear
  constexpr std::string_view kMarks = "=:";
  const auto is_part = [](char c) { return is_alphanumeric(c) || c == '-' || c == '_'; };
  for (std::size_t at = text.find_first_of(kMarks); at != std::string_view::npos;
       at = text.find_first_of(kMarks, at + 1)) {
    const std::size_t end = at > 0 && text[at - 1] == '"' ? at - 1 : at;  // a name in JSON
    std::size_t begin = end;
    while (begin > 0 && is_part(text[begin - 1])) --begin;
    if (!is_name_of_secret(text.substr(begin, end - begin))) continue;
    std::string_view value = text.substr(at + 1, kMostJudged);
    value.remove_prefix(std::min(value.find_first_not_of(" \"'"), value.size()));
    if (is_long_word(value.substr(0, value.find_first_of(" \t\r\n\"',}")))) return true;
  }
  return false;
}

bool may_be_secret(std::string_view name, std::string_view value) {
  if (!secret_in(value).empty()) return true;
  const bool is_password = is_name_of_password(name) && !value.empty() && value.find('/') != 0;
  return has_named_secret(value) || is_password || (is_name_of_secret(name) && is_long_word(value));
}

void check_named_secret(const Scope& scope, const std::string& path, std::string_view name,
                        std::string_view value) {
  if (!secret_in(value).empty() || !may_be_secret(name, value)) return;
  scope.warning(path, "holds a value that is named like a secret", kRemedy);
}

namespace {

void check_member(const Scope& scope, const std::string& path, const std::string& name,
                  const std::string& value, Severity severity) {
  if (!is_credential_member(name)) return check_named_secret(scope, path, name, value);
  if (value.empty() || !secret_in(value).empty()) return;  // the second is found by its form
  scope.add(severity, path, "holds a secret of a credentials file", kRemedy);
}

void check_items(const Scope& scope, const json::Array& items, const std::string& path,
                 Severity severity) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < items.size(); ++i) {
    check_no_secrets(scope, items[i], join_path(path, step(i)), severity);
    texts.push_back(items[i].string() == nullptr ? std::string() : *items[i].string());
  }
  // The items may be the arguments of a command.
  for (const Argument& argument : split_arguments(texts, nullptr)) {
    if (argument.name.empty()) continue;
    const std::size_t last = argument.index + argument.count - 1;
    check_named_secret(scope, path + step(last), argument.name, argument.value);
  }
}

// Checks an object {name: ..., value: ...}, as variables and properties are written.
void check_named_value(const Scope& scope, const json::Value& object, const std::string& path,
                       Severity severity) {
  const json::Value* const name = object.find("name");
  const json::Value* const value = object.find("value");
  if (name == nullptr || value == nullptr) return;
  if (name->string() == nullptr || value->string() == nullptr) return;
  check_member(scope, join_path(path, "value"), *name->string(), *value->string(), severity);
}

}  // namespace

void check_no_secrets(const Scope& scope, const json::Value& value, const std::string& path,
                      Severity severity) {
  if (const std::string* text = value.string()) {
    const std::string_view secret = secret_in(*text);
    if (!secret.empty()) {
      scope.add(severity, path, "holds " + std::string(secret), kRemedy);
    }
  } else if (const json::Array* items = value.array()) {
    check_items(scope, *items, path, severity);
  } else if (const json::Object* members = value.object()) {
    check_named_value(scope, value, path, severity);
    for (const json::Member& member : *members) {
      const std::string member_path = join_path(path, step(member.name));
      if (const std::string* named = member.value.string()) {
        check_member(scope, member_path, member.name, *named, severity);
      }
      check_no_secrets(scope, member.value, member_path, severity);
    }
  }
}

std::vector<std::string> texts_of_array(const std::string& text) {
  std::vector<std::string> texts;
  if (!text.starts_with('[')) return texts;
  const Result<json::Value> parsed = json::parse(text);
  if (!parsed || parsed->array() == nullptr) return texts;
  for (const json::Value& item : *parsed->array()) {
    if (item.string() != nullptr) texts.push_back(*item.string());
  }
  return texts;
}

namespace {

// Warns once of a value that is a secret only by its name, or that is a command with such an
// argument.
void check_value(const Scope& scope, const std::string& path, const std::string& name,
                 const std::string& value) {
  const std::vector<std::string> parts = texts_of_array(value);
  if (parts.empty()) return check_named_secret(scope, path, name, value);
  if (!secret_in(value).empty()) return;  // found by its form
  for (const Argument& argument : split_arguments(parts, nullptr)) {
    if (!may_be_secret(argument.name, argument.value)) continue;
    return check_named_secret(scope, path, argument.name, argument.value);
  }
}

}  // namespace

void check_no_secrets(const Scope& scope, const ExecConfig& exec, const std::string& path) {
  const std::string args = join_path(path, "args");
  for (std::size_t i = 0; i < exec.args.size(); ++i) {
    const std::string_view secret = secret_in(exec.args[i]);
    if (!secret.empty()) scope.warning(args + step(i), "holds " + std::string(secret), kRemedy);
  }
  for (const Argument& argument : split_arguments(exec.args, nullptr)) {
    const std::size_t last = argument.index + argument.count - 1;
    check_value(scope, args + step(last), argument.name, argument.value);
  }
  for (std::size_t i = 0; i < exec.env.size(); ++i) {
    const EnvironmentVariable& variable = exec.env[i];
    const std::string place = join_path(path, "env") + step(i) + ".value";
    const std::string_view secret = secret_in(variable.value);
    if (!secret.empty()) {
      scope.warning(place, "holds " + std::string(secret), kRemedy);
    } else if (is_variable_of_secret(variable.name) && !variable.value.empty()) {
      scope.warning(place, "holds the secret of " + variable.name, kRemedy);
    } else {
      check_value(scope, place, variable.name, variable.value);
    }
  }
}

}  // namespace execcred::lint
