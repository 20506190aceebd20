// SPDX-License-Identifier: Apache-2.0
#include "signature.hpp"

#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <set>
#include <vector>

namespace execcred::test {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

std::string hmac(const std::string& key, const std::string& text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &size);
  return {reinterpret_cast<const char*>(digest.data()), size};
}

std::string hash(const std::string& text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
  return {reinterpret_cast<const char*>(digest.data()), size};
}

std::string hex(const std::string& bytes) {
  std::string text;
  std::array<char, 3> two{};
  for (const char c : bytes) {
    std::snprintf(two.data(), two.size(), "%02x", static_cast<unsigned char>(c));
    text += two.data();
  }
  return text;
}

std::string encode(const std::string& text) {
  std::string encoded;
  std::array<char, 4> code{};
  for (const char c : text) {
    if (is_alphanumeric(c) || std::string_view("-_.~").find(c) != std::string_view::npos) {
      encoded.push_back(c);
      continue;
    }
    std::snprintf(code.data(), code.size(), "%%%02X", static_cast<unsigned char>(c));
    encoded += code.data();
  }
  return encoded;
}

std::string decode(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      decoded.push_back(
          static_cast<char>(std::strtol(std::string(text.substr(i + 1, 2)).c_str(), nullptr, 16)));
      i += 2;
    } else {
      decoded.push_back(text[i]);
    }
  }
  return decoded;
}

Pairs decoded_query(std::string_view query) {
  Pairs pairs;
  for (const std::string_view pair : split(query, '&')) {
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const std::string_view value = pair.substr(std::min(equals + 1, pair.size()));
    pairs.emplace_back(decode(pair.substr(0, equals)), decode(value));
  }
  return pairs;
}

std::string canonical_query(const Pairs& pairs) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : pairs) texts.push_back(encode(name) + "=" + encode(value));
  std::sort(texts.begin(), texts.end());
  return join(texts, "&");
}

std::string value_in(const Pairs& pairs, std::string_view name) {
  for (const auto& [known, value] : pairs) {
    if (known == name) return value;
  }
  return {};
}

std::string texts_joined(const std::vector<std::string_view>& parts, std::size_t begin) {
  std::string text(parts[begin]);
  for (std::size_t i = begin + 1; i < parts.size(); ++i) text += "/" + std::string(parts[i]);
  return text;
}

struct Signed {
  std::string method = {};
  std::string query = {};    // canonical
  std::string headers = {};  // likewise
  std::string names = {};    // of the signed headers
  std::string body = {};
  std::string credential = {};  // KEY/DATE/REGION/sts/aws4_request
  std::string date = {};
  std::string signature = {};
};

std::string problem_of(const Signed& text, const std::string& session_token, const KnownKeys& keys,
                       std::string& key_id, std::string& region) {
  const std::vector<std::string_view> scope = split(text.credential, '/');
  if (scope.size() != 5 || scope[3] != "sts" || scope[4] != "aws4_request") return "the scope";
  if (scope[1] != text.date.substr(0, 8)) return "the scope's date";
  key_id = scope[0];
  region = scope[2];
  const auto key = keys.find(key_id);
  if (key == keys.end()) return "InvalidClientTokenId";
  if (key->second.session_token != session_token) return "the session token";
  const std::string canonical = text.method + "\n/\n" + text.query + "\n" + text.headers + "\n" +
                                text.names + "\n" + hex(hash(text.body));
  const std::string to_sign = "AWS4-HMAC-SHA256\n" + text.date + "\n" + texts_joined(scope, 1) +
                              "\n" + hex(hash(canonical));
  std::string derived = "AWS4" + key->second.secret;
  for (std::size_t i = 1; i < scope.size(); ++i) derived = hmac(derived, std::string(scope[i]));
  return hex(hmac(derived, to_sign)) == text.signature ? "" : "SignatureDoesNotMatch";
}

std::string part_after(const std::string& text, const std::string& name) {
  const std::size_t begin = text.find(name);
  if (begin == std::string::npos) return {};
  const std::size_t from = begin + name.size();
  return text.substr(from, text.find_first_of(", ", from) - from);
}

// Whether a date like "20150830T123600Z" is within five minutes of now.
bool is_now(const std::string& date) {
  std::tm parts{};
  if (strptime(date.c_str(), "%Y%m%dT%H%M%SZ", &parts) == nullptr) return false;
  return std::abs(std::difftime(timegm(&parts), std::time(nullptr))) < 300;
}

}  // namespace

Verdict judge_signed_request(const Received& request, const KnownKeys& keys) {
  Verdict verdict;
  const std::string authorization = request.header("Authorization");
  if (!authorization.starts_with("AWS4-HMAC-SHA256 Credential=")) {
    return {.problem = "no authorization of version 4"};
  }
  Signed text = {.method = request.method,
                 .body = request.body,
                 .credential = part_after(authorization, "Credential="),
                 .date = request.header("X-Amz-Date"),
                 .signature = part_after(authorization, "Signature=")};
  text.names = part_after(authorization, "SignedHeaders=");
  const std::size_t mark = request.target.find('?');
  if (mark != std::string::npos) {
    text.query = canonical_query(decoded_query(std::string_view(request.target).substr(mark + 1)));
  }
  std::set<std::string> names;
  for (const std::string_view name : split(text.names, ';')) {
    names.emplace(name);
    text.headers += std::string(name) + ":" + request.header(name) + "\n";
  }
  const std::string session_token = request.header("X-Amz-Security-Token");
  for (const std::string needed : {"host", "x-amz-date"}) {
    if (!names.contains(needed)) return {.problem = needed + " is not signed"};
  }
  if (!session_token.empty() && !names.contains("x-amz-security-token")) {
    return {.problem = "the session token is not signed"};
  }
  if (!is_now(text.date)) return {.problem = "the date"};
  verdict.problem = problem_of(text, session_token, keys, verdict.key_id, verdict.region);
  return verdict;
}

TokenVerdict judge_token(const std::string& token, const std::string& cluster,
                         const KnownKeys& keys) {
  constexpr std::string_view kPrefix = "k8s-aws-v1.";
  TokenVerdict verdict;
  const auto bad = [&verdict](const std::string& problem) {
    verdict.problem = problem;
    return verdict;
  };
  if (token.size() > 4096) return bad("too long");
  if (!token.starts_with(kPrefix)) return bad("no prefix");
  const auto url = decode_base64url(std::string_view(token).substr(kPrefix.size()));
  if (!url || !url->starts_with("https://")) return bad("no https URL in base64url");
  const std::size_t slash = url->find('/', 8);
  verdict.host = url->substr(8, slash - 8);
  if (slash == std::string::npos || url->substr(slash, 2) != "/?") return bad("the path");
  Pairs query = decoded_query(std::string_view(*url).substr(slash + 2));
  const std::set<std::string> known = {
      "Action",         "Version",       "X-Amz-Algorithm",      "X-Amz-Credential",
      "X-Amz-Date",     "X-Amz-Expires", "X-Amz-Security-Token", "X-Amz-SignedHeaders",
      "X-Amz-Signature"};
  std::set<std::string> seen;
  for (const auto& [name, value] : query) {
    if (!known.contains(name)) return bad("the unknown parameter " + name);
    if (!seen.insert(name).second) return bad(name + " twice");
  }
  if (query.back().first != "X-Amz-Signature") return bad("the signature is not last");
  if (value_in(query, "Action") != "GetCallerIdentity") return bad("the action");
  if (value_in(query, "X-Amz-SignedHeaders") != "host;x-k8s-aws-id") return bad("signed headers");
  if (value_in(query, "X-Amz-Expires") != "60") return bad("expires");
  verdict.date = value_in(query, "X-Amz-Date");
  if (!is_now(verdict.date)) return bad("the date");
  Signed text = {.method = "GET",
                 .headers = "host:" + verdict.host + "\nx-k8s-aws-id:" + cluster + "\n",
                 .names = "host;x-k8s-aws-id",
                 .credential = value_in(query, "X-Amz-Credential"),
                 .date = verdict.date,
                 .signature = query.back().second};
  query.pop_back();
  text.query = canonical_query(query);
  // The query must be canonical as it was sent.
  if (url->find("?" + text.query + "&X-Amz-Signature=") == std::string::npos) {
    return bad("the query is not in canonical order or form");
  }
  verdict.problem = problem_of(text, value_in(query, "X-Amz-Security-Token"), keys, verdict.key_id,
                               verdict.region);
  return verdict;
}

}  // namespace execcred::test
