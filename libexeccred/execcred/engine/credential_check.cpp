// SPDX-License-Identifier: Apache-2.0
#include <execcred/engine/credential_check.hpp>

#include <execcred/base/cause.hpp>
#include <execcred/base/digest.hpp>
#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/exec/bearer_token.hpp>
#include <execcred/http/tls.hpp>
#include <execcred/x509/certificate_fields.hpp>
#include <execcred/x509/openssl.hpp>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace execcred::engine {
namespace {

constexpr std::chrono::seconds kLeeway(60);  // as API servers grant it

std::string fingerprint_of(const SecretString& token) {
  constexpr std::size_t kDigits = 16;
  return "sha256:" + to_hex(sha256(token.reveal())).substr(0, kDigits);
}

std::string in_list(const std::vector<std::string>& texts) {
  constexpr std::size_t kShown = 5;
  std::vector<std::string> shown;
  for (const std::string& text : texts) {
    if (shown.size() < kShown) shown.push_back(in_quotes(text));
  }
  return join(shown, ", ") + (texts.size() > kShown ? ", …" : "");
}

std::string described(const UnverifiedClaims& claims, const SecretString& token) {
  std::string text = "JWT of issuer " + in_quotes(claims.issuer) + ", subject " +
                     in_quotes(claims.subject) + ", audience " +
                     (claims.audiences.empty() ? "none" : in_list(claims.audiences));
  if (claims.not_before) text += ", from " + text_of(*claims.not_before);
  text += claims.expires_at ? ", until " + text_of(*claims.expires_at) : ", without an end";
  return text + ", " + fingerprint_of(token);
}

json::Value payload_of(const SecretString& token) {
  const std::vector<std::string_view> parts = split(token.reveal(), '.');
  const std::optional<std::string> payload =
      parts.size() == 3 ? decode_base64url(parts[1]) : std::nullopt;
  if (!payload) return {};
  Result<json::Value> document = json::parse(*payload);
  return document ? std::move(document).value() : json::Value();
}

class Check {
 public:
  Check(const Credential& credential, const CredentialRules& rules, Item& item)
      : credential_(credential), rules_(rules), item_(item) {}

  CredentialFacts run() {
    if (credential_.expires_at) take_end(*credential_.expires_at);
    if (!credential_.token.empty()) check_token();
    if (!credential_.client_certificate.empty() && !facts_.is_unusable) check_certificate();
    if (credential_.expires_at && *credential_.expires_at <= rules_.now) {
      provisional(cause::kCredentialExpired, "its status.expirationTimestamp, " +
                                                 text_of(*credential_.expires_at) + ", is over");
    }
    item_.ok(StepId::credential, join(details_, "; "));
    warn_of_end();
    return std::move(facts_);
  }

 private:
  void take_end(TimePoint end) {
    item_.expires = item_.expires ? std::min(*item_.expires, end) : end;
  }

  void take_own_end(TimePoint end) { facts_.own_end = std::min(facts_.own_end.value_or(end), end); }

  void unusable(std::string_view cause, const std::string& message) {
    item_.fail(StepId::credential, cause, message);
    facts_.is_unusable = true;
  }

  // Reports a failure that may be due to this machine's clock. Only the first one is reported.
  void provisional(std::string_view cause, const std::string& message) {
    if (item_.step(StepId::credential).verdict != Verdict::fail) {
      item_.fail(StepId::credential, cause, message,
                 "check whatever renews it, and this machine's clock");
    }
    facts_.is_provisional = true;
  }

  void check_token() {
    const Result<BearerToken> word = bearer_token(credential_.token);
    if (!word || word->text().size() != credential_.token.size()) {
      unusable(invalid(), "the token cannot be sent: " +
                              (word ? "white space stands around it" : word.error().message));
      return;
    }
    const Result<std::optional<UnverifiedClaims>> claims = word->claims();
    if (!claims) {
      // The server decides whether it is valid.
      details_.push_back("a token that looks like a JWT, and is malformed: " +
                         claims.error().message + ", " + fingerprint_of(credential_.token));
      return;
    }
    if (!*claims) {
      details_.push_back("an opaque token, " + fingerprint_of(credential_.token));
      return;
    }
    facts_.claims = **claims;
    facts_.payload = payload_of(credential_.token);
    details_.push_back(described(**claims, credential_.token));
    check_times(**claims);
  }

  void check_times(const UnverifiedClaims& claims) {
    // The token's own end is used, and not the expirationTimestamp, which may be earlier.
    if (claims.expires_at) item_.expires = *claims.expires_at;
    if (claims.expires_at) take_own_end(*claims.expires_at);
    if (claims.expires_at && *claims.expires_at <= rules_.now) {
      provisional(cause::kCredentialExpired, "the token ended at " + text_of(*claims.expires_at));
    } else if (claims.not_before && *claims.not_before > rules_.now + kLeeway) {
      provisional(cause::kCredentialNotYetValid,
                  "the token begins at " + text_of(*claims.not_before));
    }
  }

  void check_certificate() {
    const Result<ClientPair> pair =
        ClientPair::parse(credential_.client_certificate, credential_.client_key);
    if (!pair) {
      const Error& error = pair.error();
      return unusable(error.cause.empty() ? invalid() : error.cause, error.message);
    }
    const std::unique_ptr<SSL_CTX, OpensslFree<SSL_CTX_free>> context(
        SSL_CTX_new(TLS_client_method()));
    if (context != nullptr) SSL_CTX_set_security_level(context.get(), kSecurityLevel);
    const bool is_usable = context != nullptr && pair->use(*context);
    ERR_clear_error();
    if (!is_usable) {
      return unusable(invalid(),
                      "the client's certificate cannot be used: its key or its signature is too "
                      "weak");
    }
    take_facts(pair->chain);
  }

  void take_facts(const std::vector<X509Owner>& chain) {
    const X509& leaf = *chain.front();
    ClientCertificate times;
    // Only the two times are needed here. The checks below report an expired certificate.
    static_cast<void>(check_validity(leaf, rules_.now, times));
    CertificateFacts certificate{.subject = text_of_name(X509_get_subject_name(&leaf)),
                                 .user = certified_user(leaf),
                                 .issuer = text_of_name(X509_get_issuer_name(&leaf)),
                                 .not_before = times.not_before,
                                 .not_after = times.not_after};
    for (const X509Owner& one : chain) {
      certificate.issuers.push_back(der_of_name(X509_get_issuer_name(one.get())));
    }
    details_.push_back("certificate of " + in_quotes(certificate.subject) + ", issued by " +
                       in_quotes(certificate.issuer) + ", until " + text_of(certificate.not_after));
    if (credential_.token.empty()) item_.expires = certificate.not_after;
    take_own_end(certificate.not_after);
    if (certificate.not_after <= rules_.now) {
      provisional(cause::kCertificateExpired, "the certificate of " +
                                                  in_quotes(certificate.subject) + " ended at " +
                                                  text_of(certificate.not_after));
    } else if (certificate.not_before > rules_.now + kLeeway) {
      provisional(cause::kCredentialNotYetValid,
                  "the certificate begins at " + text_of(certificate.not_before));
    }
    const Status usage = check_is_for_clients(leaf);
    if (!usage) details_.push_back("the certificate " + usage.error().message);
    facts_.certificate = std::move(certificate);
  }

  void warn_of_end() {
    if (!rules_.is_written || rules_.is_renewed || !item_.expires) return;
    if (*item_.expires <= rules_.now || *item_.expires - rules_.now > rules_.warn_before) return;
    item_.warn(StepId::credential, cause::kCredentialExpiresSoon,
               "it ends at " + text_of(*item_.expires) + ", and nothing renews it",
               "replace it, or use a plugin that gets short-lived credentials");
  }

  // The cause for an unusable credential, by its origin.
  std::string_view invalid() const {
    return rules_.is_written ? cause::kProfileInvalid : cause::kProgramOutputInvalid;
  }

  const Credential& credential_;
  const CredentialRules& rules_;
  Item& item_;
  CredentialFacts facts_;
  std::vector<std::string> details_;
};

}  // namespace

CredentialFacts check_credential(const Credential& credential, const CredentialRules& rules,
                                 Item& item) {
  item.keep_secret(credential.token);
  item.keep_secret(credential.client_key);
  return Check(credential, rules, item).run();
}

}  // namespace execcred::engine
