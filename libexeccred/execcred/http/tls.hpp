// SPDX-License-Identifier: Apache-2.0
// TLS for libcurl. libcurl verifies less strictly than Go: it accepts a common name if a
// certificate has no alternative names. It also reports less about a failure. So OpenSSL verifies
// by execcred's rules; libcurl's own check stays enabled after it.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/base/url.hpp>
#include <execcred/http/http.hpp>
#include <execcred/x509/openssl.hpp>

#include <openssl/ssl.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace execcred {

// What OpenSSL's callbacks reported about the last handshake.
struct TlsEvents {
  int verify_error = 0;      // X509_V_ERR_…, the first
  std::string subject = {};  // of the certificate with that error, and so on
  std::string issuer = {};
  std::string not_before = {};
  std::string not_after = {};
  std::vector<std::string> names = {};  // alternative names: DNS names and addresses
  bool asks_for_client_certificate = false;
  int alert = -1;                 // fatal, from the peer (RFC 8446, section 6)
  bool is_agreed = false;         // on a version and a cipher, when the alert came
  bool is_connected = false;      // with the server: the handshake is complete
  bool has_close_notify = false;  // from the server: no more will come
};

Error no_memory_for_tls();

// Some of TLS's alerts (RFC 8446, section 6).
enum Alert {
  kHandshakeFailure = 40,
  kBadCertificate = 42,
  kAccessDenied = 49,
  kProtocolVersion = 70,
  kInsufficientSecurity = 71,
  kUnrecognizedName = 112,
  kCertificateRequired = 116,
};

// "unknown CA"; "alert 99" if it has no name.
std::string alert_text(int alert);
// Whether a server sends the alert because it judges the client's certificate, or because there is
// none.
bool is_about_client_certificate(int alert);

// A client's certificate with its chain, leaf first, and its key.
struct ClientPair {
  std::vector<X509Owner> chain = {};
  KeyOwner key = {};

  // Reads PEM as Go's clients do (tls.X509KeyPair). Fails (configuration), with
  // credential-key-mismatch as its cause if the key is that of another certificate; (unavailable,
  // is_local) if there is no memory; and as start_openssl() does.
  static Result<ClientPair> parse(std::string_view certificate, const SecretString& key);
  // Sets up a client's context. False if OpenSSL fails, such as for a key that is too weak.
  bool use(SSL_CTX& context) const;
};

inline constexpr int kSecurityLevel = 2;  // OpenSSL's, 112 bits: RSA of 2048 bits, no SHA-1

class Tls {
 public:
  // Fails (configuration) if a PEM text cannot be used, or if the system's CA certificates are
  // needed and there are none; (unavailable, is_local) if there is no memory; (internal) if OpenSSL
  // cannot set up the lookup of the system's certificates.
  static Result<std::unique_ptr<Tls>> make(const TlsSettings& settings);

  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;

  // Prepares for a request whose handshakes are with these peers, in this order. The last peer is
  // the server; only the server gets the client certificate.
  void expect(std::vector<Host> peers);

  // `connected` is called after each handshake with the server.
  void watch(std::function<void(const SSL&)> connected) { connected_ = std::move(connected); }

  // Sets up the SSL_CTX of the next handshake, which keeps a pointer to this object. False if
  // OpenSSL fails or if no further peer is expected.
  bool set_up(SSL_CTX& context);

  // Decodes the CA certificates of the settings, unless that is done already. Decoding takes a
  // tenth of the time of a request, so the first handshake does it while it waits for the server.
  // Fails (configuration) if a certificate is malformed; until then no server has been trusted.
  Status load_roots();

  const TlsEvents& events() const { return events_; }
  // The number of peers with which a handshake was started.
  std::size_t handshakes() const { return handshakes_; }
  // Whether the last handshake that was started is with the server.
  bool is_with_server() const { return handshakes_ == peers_.size(); }
  // Whether the peer has asked for a client certificate, and there is none for it.
  bool lacks_client_certificate() const {
    return events_.asks_for_client_certificate && !(is_with_server() && has_client_certificate());
  }
  bool has_client_certificate() const { return pair_.key != nullptr; }
  bool uses_system_roots() const { return uses_system_roots_; }

 private:
  Tls() = default;
  Status set_roots(const std::string& pem);
  void use_waiting_time();
  Status load_client_certificate(const TlsSettings& settings);
  bool set_up_server(SSL_CTX& context) const;

  static Tls& of(const SSL& ssl);
  static int on_verify(int is_ok, X509_STORE_CTX* context);
  static int on_client_certificate(SSL* ssl, void* nothing);
  static void on_info(const SSL* ssl, int where, int value);

  StoreOwner store_;
  bool uses_system_roots_ = false;
  std::vector<std::string> roots_;  // DER, not yet in the store
  std::optional<Error> bad_root_;
  ClientPair pair_;  // empty if there is none
  std::vector<Host> peers_;
  std::function<void(const SSL&)> connected_;
  std::size_t handshakes_ = 0;
  TlsEvents events_;
};

}  // namespace execcred
