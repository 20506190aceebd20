// SPDX-License-Identifier: Apache-2.0
#include <execcred/json/json_reader.hpp>
#include <execcred/oauth/failure.hpp>

#include <execcred/base/cause.hpp>
#include <execcred/base/text.hpp>
#include <execcred/http/retry.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace execcred {
namespace {

constexpr std::size_t kMaxHeader = 8 * 1024;

// Whether the character may be in a token (RFC 9110, section 5.6.2).
bool is_token_char(char c) {
  return is_alphanumeric(c) ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

class ChallengeReader {
 public:
  explicit ChallengeReader(std::string_view header) : rest_(header) {}

  std::optional<ChallengeError> read() {
    for (bool is_first = true; take_separator(is_first); is_first = false) {
      if (!take_item()) return std::nullopt;
    }
    if (!rest_.empty()) return std::nullopt;
    finish_challenge();
    return found_;
  }

 private:
  void skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) {
      rest_.remove_prefix(1);
    }
  }

  // Skips the separators before an item; lists may have empty items. False if no item can follow.
  bool take_separator(bool is_first) {
    bool has_comma = is_first;
    for (skip_blanks(); rest_.starts_with(','); skip_blanks()) {
      has_comma = true;
      rest_.remove_prefix(1);
    }
    return has_comma && !rest_.empty();
  }

  std::string_view take_token() {
    const auto* const end = std::find_if_not(rest_.begin(), rest_.end(), is_token_char);
    const std::string_view token(rest_.begin(), static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(token.size());
    return token;
  }

  // Takes a parameter of the current challenge, or the scheme of a new one with the text that
  // follows it.
  bool take_item() {
    const std::string_view name = take_token();
    if (name.empty()) return false;
    const std::size_t blanks = blanks_ahead();
    if (has_scheme_ && rest_.substr(blanks).starts_with('=')) return take_value(name);
    finish_challenge();
    has_scheme_ = true;
    if (blanks == 0) return rest_.empty() || rest_.front() == ',';
    skip_blanks();
    return rest_.empty() || rest_.front() == ',' || take_token68() || take_first_parameter();
  }

  std::size_t blanks_ahead() const {
    return std::min(rest_.find_first_not_of(" \t"), rest_.size());
  }

  // Takes a token68 (RFC 9110, section 11.2): all text between a scheme and the next comma, in
  // base64 or a similar encoding, padded with '='.
  bool take_token68() {
    const std::size_t end = std::min(rest_.find(','), rest_.size());
    std::string_view text = trim(rest_.substr(0, end));
    while (text.ends_with('=')) text.remove_suffix(1);
    const bool is_token68 = !text.empty() && is_alphanumeric_or(text, "-._~+/");
    if (is_token68) rest_.remove_prefix(end);
    return is_token68;
  }

  bool take_first_parameter() {
    const std::string_view name = take_token();
    return !name.empty() && take_value(name);
  }

  bool take_value(std::string_view name) {
    skip_blanks();
    if (!rest_.starts_with('=')) return false;
    rest_.remove_prefix(1);
    skip_blanks();
    std::string value;
    if (rest_.starts_with('"')) {
      if (!take_quoted(value)) return false;
    } else {
      value = take_token();
      if (value.empty()) return false;
    }
    const std::string lower = ascii_lower(name);
    if (lower == "error") return set(error_, value);
    return lower != "error_description" || set(description_, value);
  }

  bool take_quoted(std::string& value) {
    for (rest_.remove_prefix(1); !rest_.empty(); rest_.remove_prefix(1)) {
      const bool is_escape = rest_.front() == '\\';
      if (is_escape) rest_.remove_prefix(1);
      if (rest_.empty()) return false;
      if (!is_escape && rest_.front() == '"') {
        rest_.remove_prefix(1);
        return true;
      }
      value.push_back(rest_.front());
    }
    return false;
  }

  // False if the parameter is set already: a challenge has each parameter at most once.
  static bool set(std::optional<std::string>& parameter, std::string& value) {
    if (parameter) return false;
    parameter = std::move(value);
    return true;
  }

  void finish_challenge() {
    if (!found_ && error_ && !error_->empty()) {
      found_ = {.error = *error_, .description = description_.value_or("")};
    }
    error_.reset();
    description_.reset();
  }

  std::string_view rest_;
  bool has_scheme_ = false;
  std::optional<std::string> error_;  // of the challenge that is being read
  std::optional<std::string> description_;
  std::optional<ChallengeError> found_;
};

}  // namespace

std::optional<ChallengeError> challenge_error(std::string_view header) {
  if (header.size() > kMaxHeader) return std::nullopt;
  return ChallengeReader(header).read();
}

namespace {

constexpr std::size_t kMaxReply = 1024 * 1024;
constexpr std::size_t kMaxDescription = 400;  // of it that is shown
constexpr std::size_t kMaxCode = 60;          // of a code

// The error codes of RFC 6749, 6750, 7523, 8628, 8693 and 8707, of OpenID Connect, and of Dex. Only
// three of them may pass; the others are final.
constexpr std::array<KnownFailure, 18> kErrors = {{
    {"invalid_request", false,
     "the server needs another field, or does not want one that was sent"},
    {"invalid_client", false,
     "check the client's id and secret, key or certificate, and that the server expects this way "
     "of client authentication"},
    {"invalid_grant", false,
     "check that the server trusts the issuer of the token that was sent, its audience, and its "
     "expiry; a refresh token may have been used or withdrawn"},
    {"unauthorized_client", false, "allow this flow for this client in the server's settings"},
    {"unsupported_grant_type", false, "the server does not offer this flow"},
    {"unsupported_token_type", false, "ask for, or send, another token type"},
    {"invalid_scope", false, "check the scope"},
    {"invalid_target", false, "the server does not know the audience or resource, or denies it"},
    {"invalid_token", false, "check the token that was sent"},
    {"insufficient_scope", false, "the token that was sent lacks a scope"},
    {"access_denied", false, "the server denies this identity, or does not trust its token"},
    {"request_not_supported", false, "check the token types"},
    {"expired_token", false, {}, cause::kSourceExpired},
    {"interaction_required", false,
     "the server requires an interactive login, which a plugin cannot do",
     cause::kInteractionNeeded},
    {"login_required", false, "the server requires an interactive login, which a plugin cannot do",
     cause::kInteractionNeeded},
    {"temporarily_unavailable", true, {}},
    {"slow_down", true, {}},
    {"server_error", true, {}},
}};

Error failure(bool may_pass, std::string message, std::string_view hint = {}) {
  return Error{.kind = may_pass ? Error::Kind::unavailable : Error::Kind::no_credential,
               .message = std::move(message),
               .hint = std::string(hint),
               .is_transient = may_pass};
}

Error described_failure(const HttpResponse& reply, const std::string& code,
                        const std::string& description, const std::string& server) {
  std::string message =
      server + " answered " + std::to_string(reply.status) + " with " +
      (code.empty() ? "an error without a code" : "the error '" + shown_text(code, kMaxCode) + "'");
  if (!description.empty()) {
    message += ": " + shown_text(description, kMaxDescription);
  }
  return known_failure(kErrors, code, reply.status, std::move(message));
}

Result<json::SecretValue> parse_body(const HttpResponse& reply) {
  return json::parse_secret(reply.body.reveal(), {.bytes = kMaxReply});
}

}  // namespace

const KnownFailure* find_failure(std::span<const KnownFailure> table, std::string_view code) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [code](const KnownFailure& known) { return known.code == code; });
  return found == table.end() ? nullptr : &*found;
}

Error known_failure(std::span<const KnownFailure> table, std::string_view code, int status,
                    std::string message) {
  const KnownFailure* const known = find_failure(table, code);
  if (known == nullptr) return failure(is_passing_status(status), std::move(message));
  Error error = failure(status == 429 || known->may_pass, std::move(message), known->hint);
  error.cause = known->cause;
  return error;
}

Error status_failure(const HttpResponse& reply, const std::string& server) {
  const std::string answer = server + " answered " + std::to_string(reply.status);
  if (is_passing_status(reply.status)) return failure(true, answer);
  if (reply.status >= 300 && reply.status < 400) {
    return failure(false, answer + ", a redirect, which is never followed",
                   "name the URL at which the server itself answers");
  }
  const bool has_nothing = reply.status == 404 || reply.status == 405 || reply.status == 410;
  Error error = failure(false, answer, has_nothing ? "check the URL" : "");
  constexpr int kForbidden = 403;
  if (reply.status == kForbidden) error.cause = cause::kSourceForbidden;
  return error;
}

Error challenge_failure(const HttpResponse& reply, const std::string& server) {
  for (const auto& [name, value] : reply.headers) {
    if (name != "www-authenticate") continue;
    if (const std::optional<ChallengeError> challenge = challenge_error(value)) {
      return described_failure(reply, challenge->error, challenge->description, server);
    }
  }
  return status_failure(reply, server);
}

Result<json::SecretValue> json_object_of(const HttpResponse& reply, const std::string& server) {
  Result<json::SecretValue> document = parse_body(reply);
  if (document && (*document)->object() != nullptr) return document;
  const std::string_view type = reply.header("content-type").value_or("");
  const std::string problem = document
                                  ? "is " + std::string((*document)->kind()) + ", not an object"
                                  : document.error().message;
  return failure(false, "the JSON that " + server + " answered " + problem,
                 type.empty() || type.starts_with("application/json") ? ""
                 : type.starts_with("text/html") ? "it is of the type 'text/html': check the URL"
                                                 : "it is no application/json: check the URL");
}

std::optional<Error> oauth_failure(const HttpResponse& reply, const std::string& server) {
  const bool is_success = reply.status == 200;
  // Whatever its body says, a redirect is not followed.
  if (reply.status >= 300 && reply.status < 400) return challenge_failure(reply, server);
  Result<json::SecretValue> read = is_success ? json_object_of(reply, server) : parse_body(reply);
  if (!read) return is_success ? std::move(read).error() : challenge_failure(reply, server);
  const json::Value& document = **read;
  const json::Value* const error = document.find("error");
  if (error != nullptr && !error->is_null()) {
    // In Google's APIs, `error` is an object (AIP-193).
    const bool is_object = error->object() != nullptr;
    const std::string code =
        is_object ? json::text_or_empty(*error, "status") : json::text_or_empty(document, "error");
    const std::string description = is_object ? json::text_or_empty(*error, "message")
                                              : json::text_or_empty(document, "error_description");
    return described_failure(reply, code, description, server);
  }
  if (is_success) return std::nullopt;
  return challenge_failure(reply, server);
}

}  // namespace execcred
