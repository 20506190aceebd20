// SPDX-License-Identifier: Apache-2.0
#include <execcred/http/tls.hpp>

#include <execcred/base/cause.hpp>
#include <execcred/base/pem.hpp>
#include <execcred/base/try.hpp>
#include <execcred/http/system_roots.hpp>
#include <execcred/x509/private_key.hpp>

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <array>
#include <string_view>
#include <utility>

namespace execcred {
namespace {

constexpr std::size_t kMaxPem = 1024 * 1024;
// The order that browsers and Go use: processors are fastest with AES-128 and SHA-256, and AES-128
// is as strong as the key exchange with P-256 or X25519.
constexpr const char* kTls13Suites =
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
// OpenSSL 3.5 sends a key for each group with an asterisk without being asked; older versions send
// one for the first group only. Every TLS 1.3 server has P-256 (RFC 8446 section 9.1), and a key
// for it costs a third of the time of one for X25519.
#if OPENSSL_VERSION_NUMBER >= 0x30500000L
constexpr const char* kGroups = "*X25519MLKEM768:*secp256r1:x25519:secp384r1:secp521r1";
#else
constexpr const char* kGroups = "P-256:X25519:P-384:P-521";
#endif

// Whether OpenSSL's error queue reports a lack of memory. Empties the queue.
bool has_lacked_memory() {
  bool has_lacked = false;
  while (const unsigned long code = ERR_get_error()) {
    has_lacked = has_lacked || ERR_GET_REASON(code) == ERR_R_MALLOC_FAILURE;
  }
  return has_lacked;
}

constexpr const char* kCaPem = "the PEM of the CA";

Result<std::vector<std::string>> parse_ca(std::string_view pem) {
  if (pem.size() > kMaxPem)
    return Error::configuration(std::string(kCaPem) + " is larger than 1 MiB");
  Result<std::vector<std::string>> ders = parse_pem_certificates(pem);
  if (!ders) return Error::configuration(std::string(kCaPem) + " " + ders.error().message);
  return ders;
}

Result<X509Owner> parse_certificate(const std::string& der, const std::string& what) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
  const unsigned char* const end = bytes + der.size();
  X509Owner certificate(d2i_X509(nullptr, &bytes, static_cast<long>(der.size())));
  if (certificate != nullptr && bytes == end) return certificate;
  if (has_lacked_memory()) return no_memory_for_tls();
  return Error::configuration(what + " holds a malformed certificate");
}

// Reads the client's certificates as Go does: blocks of another kind are skipped, because a file
// may also contain the key.
Result<std::vector<X509Owner>> parse_chain(std::string_view pem) {
  const std::string what = "the client's certificate";
  if (pem.size() > kMaxPem) return Error::configuration(what + " is larger than 1 MiB");
  const Result<std::vector<std::string>> ders = parse_go_client_certificates(pem);
  if (!ders) return Error::configuration(what + " " + ders.error().message);
  std::vector<X509Owner> chain;
  for (const std::string& der : *ders) chain.push_back(TRY(parse_certificate(der, what)));
  return chain;
}

Result<KeyOwner> parse_key(const SecretString& pem) {
  if (pem.size() > kMaxPem) return Error::configuration("the client's key is larger than 1 MiB");
  const Result<PemBlock> block = parse_go_private_key(pem.reveal());
  if (!block) return Error::configuration("the client's key " + block.error().message);
  // As in Go, the content decides and not the label.
  const auto* at = reinterpret_cast<const unsigned char*>(block->der.reveal().data());
  KeyOwner key(d2i_AutoPrivateKey(nullptr, &at, static_cast<long>(block->der.size())));
  if (has_lacked_memory() && key == nullptr) return no_memory_for_tls();
  if (key == nullptr) {
    const bool is_encrypted = block->is_encrypted || block->label == "ENCRYPTED PRIVATE KEY";
    return Error::configuration(std::string("the client's key is ") +
                                (is_encrypted ? "encrypted" : "malformed"));
  }
  Status usable = check_usable_by_clients(*key);
  if (usable) return key;
  usable.error().kind = Error::Kind::configuration;
  return std::move(usable).error();
}

std::string text_of(const ASN1_STRING& string) {
  const auto* data = reinterpret_cast<const char*>(ASN1_STRING_get0_data(&string));
  return {data, static_cast<std::size_t>(ASN1_STRING_length(&string))};
}

std::string address_text(const ASN1_STRING& bytes) {
  std::array<char, INET6_ADDRSTRLEN> text = {};
  const int size = ASN1_STRING_length(&bytes);
  if (size != 4 && size != 16) return "?";
  inet_ntop(size == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(&bytes), text.data(),
            text.size());
  return text.data();
}

std::vector<std::string> alternative_names(const X509& certificate) {
  std::vector<std::string> texts;
  auto* const names = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(names); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names, i);
    if (name->type == GEN_DNS) texts.push_back(text_of(*name->d.dNSName));
    if (name->type == GEN_IPADD) texts.push_back(address_text(*name->d.iPAddress));
  }
  GENERAL_NAMES_free(names);
  return texts;
}

template <class Print>
std::string printed(Print print) {
  const BioOwner memory(BIO_new(BIO_s_mem()));
  if (memory == nullptr) return {};
  print(memory.get());
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &text);
  return size > 0 ? std::string(text, static_cast<std::size_t>(size)) : std::string();
}

std::string name_text(const X509_NAME* name) {
  return printed([name](BIO* out) { X509_NAME_print_ex(out, name, 0, XN_FLAG_RFC2253); });
}

std::string time_text(const ASN1_TIME* time) {
  return printed([time](BIO* out) { ASN1_TIME_print_ex(out, time, ASN1_DTFLGS_ISO8601); });
}

// The text of an address without its zone, because certificates contain no zones; empty if the host
// is a name.
std::string address_of(const Host& host) {
  if (host.kind == Host::Kind::address) return host.name;
  if (!host.name.starts_with('[')) return {};
  return host.name.substr(1, host.name.find('%') - 1);
}

bool require_name(X509_VERIFY_PARAM& rules, const Host& host) {
  X509_VERIFY_PARAM_set_hostflags(
      &rules, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  const std::string address = address_of(host);
  if (!address.empty()) return X509_VERIFY_PARAM_set1_ip_asc(&rules, address.c_str()) == 1;
  std::string_view name = host.name;
  if (name.ends_with('.')) name.remove_suffix(1);
  return !name.empty() && X509_VERIFY_PARAM_set1_host(&rules, name.data(), name.size()) == 1;
}

// The index of an SSL_CTX's ex_data that points to its Tls.
int owner_index() {
  static const int kIndex = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return kIndex;
}

// The index of an SSL_CTX's ex_data that is set if its peer is the server and not a proxy.
int server_index() {
  static const int kIndex = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return kIndex;
}

}  // namespace

Error no_memory_for_tls() {
  return Error{
      .kind = Error::Kind::unavailable, .message = "there is no memory for TLS", .is_local = true};
}

std::string alert_text(int alert) {
  if (alert == kCertificateRequired) return "certificate required";  // unknown to OpenSSL 3.0
  const std::string name = SSL_alert_desc_string_long(alert);
  return name == "unknown" ? "alert " + std::to_string(alert) : name;
}

bool is_about_client_certificate(int alert) {
  return alert == kHandshakeFailure || (alert >= kBadCertificate && alert <= kAccessDenied) ||
         alert == kCertificateRequired;
}

Result<ClientPair> ClientPair::parse(std::string_view certificate, const SecretString& key) {
  TRY(start_openssl().cause(cause::kProgramFailed));
  ClientPair pair;
  pair.chain = TRY(parse_chain(certificate));
  pair.key = TRY(parse_key(key));
  if (X509_check_private_key(pair.chain.front().get(), pair.key.get()) == 1) return pair;
  ERR_clear_error();
  Error error = Error::configuration("the client's key does not belong to its certificate");
  error.cause = cause::kCredentialKeyMismatch;
  return error;
}

bool ClientPair::use(SSL_CTX& context) const {
  if (SSL_CTX_use_certificate(&context, chain.front().get()) != 1) return false;
  for (std::size_t i = 1; i < chain.size(); ++i) {
    if (SSL_CTX_add1_chain_cert(&context, chain[i].get()) != 1) return false;
  }
  return SSL_CTX_use_PrivateKey(&context, key.get()) == 1;
}

Result<std::unique_ptr<Tls>> Tls::make(const TlsSettings& settings) {
  std::unique_ptr<Tls> tls(new Tls);
  TRY(tls->set_roots(settings.ca_certificates));
  TRY(tls->load_client_certificate(settings));
  return tls;
}

Status Tls::set_roots(const std::string& pem) {
  store_.reset(X509_STORE_new());
  if (store_ == nullptr) return no_memory_for_tls();
  // As in Go, a CA certificate of the settings is trusted even if it is not a root.
  X509_STORE_set_flags(store_.get(), X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_TRUSTED_FIRST);
  uses_system_roots_ = pem.empty();
  if (pem.empty()) return add_roots(*store_, system_root_paths());
  roots_ = TRY(parse_ca(pem));
  return {};
}

Status Tls::load_roots() {
  for (const std::string& der : std::exchange(roots_, {})) {
    Result<X509Owner> root = parse_certificate(der, kCaPem);
    if (!root) {
      bad_root_ = std::move(root).error();
      break;
    }
    if (X509_STORE_add_cert(store_.get(), root->get()) != 1 && has_lacked_memory()) {
      bad_root_ = no_memory_for_tls();
      break;
    }
  }
  if (bad_root_) return *bad_root_;
  return {};
}

void Tls::use_waiting_time() {
  if (uses_system_roots_) {
    read_roots_ahead(*store_);
  } else {
    static_cast<void>(load_roots());  // on_verify and the client look at what came of it
  }
}

Status Tls::load_client_certificate(const TlsSettings& settings) {
  if (settings.client_certificate.empty() && settings.client_key.empty()) return {};
  if (settings.client_certificate.empty())
    return Error::configuration("a client key needs its certificate");
  if (settings.client_key.empty())
    return Error::configuration("a client certificate needs its key");
  pair_ = TRY(ClientPair::parse(settings.client_certificate, settings.client_key));
  return {};
}

void Tls::expect(std::vector<Host> peers) {
  peers_ = std::move(peers);
  handshakes_ = 0;
  events_ = {};
}

bool Tls::set_up_server(SSL_CTX& context) const {
  static char is_server = 1;
  if (SSL_CTX_set_ex_data(&context, server_index(), &is_server) != 1) return false;
  return pair_.key == nullptr || pair_.use(context);
}

bool Tls::set_up(SSL_CTX& context) {
  if (handshakes_ >= peers_.size()) return false;
  const bool is_server = handshakes_ + 1 == peers_.size();
  const Host& peer = peers_[handshakes_++];
  events_ = {};
  X509_VERIFY_PARAM* const rules = SSL_CTX_get0_param(&context);
  if (rules == nullptr || !require_name(*rules, peer)) return false;
  if (SSL_CTX_set_ex_data(&context, owner_index(), this) != 1) return false;
  if (SSL_CTX_set_min_proto_version(&context, TLS1_2_VERSION) != 1) return false;
  std::string groups = kGroups;  // a macro makes its text one that is not constant
  if (SSL_CTX_set1_groups_list(&context, groups.data()) != 1) return false;
  if (SSL_CTX_set_ciphersuites(&context, kTls13Suites) != 1) return false;
  SSL_CTX_set_security_level(&context, kSecurityLevel);
  // An end without close_notify may be an attack, so it does not count as an end.
  SSL_CTX_clear_options(&context, SSL_OP_IGNORE_UNEXPECTED_EOF);
  // libcurl's callback would write the keys to the file that SSLKEYLOGFILE names.
  SSL_CTX_set_keylog_callback(&context, nullptr);
  SSL_CTX_set1_cert_store(&context, store_.get());
  SSL_CTX_set_verify(&context, SSL_VERIFY_PEER, on_verify);
  SSL_CTX_set_cert_cb(&context, on_client_certificate, nullptr);
  SSL_CTX_set_info_callback(&context, on_info);
  return !is_server || set_up_server(context);
}

Tls& Tls::of(const SSL& ssl) {
  return *static_cast<Tls*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(&ssl), owner_index()));
}

int Tls::on_verify(int is_ok, X509_STORE_CTX* context) {
  const auto* const ssl = static_cast<const SSL*>(
      X509_STORE_CTX_get_ex_data(context, SSL_get_ex_data_X509_STORE_CTX_idx()));
  if (is_ok == 1) return of(*ssl).bad_root_ ? 0 : 1;
  TlsEvents& events = of(*ssl).events_;
  events.verify_error = X509_STORE_CTX_get_error(context);
  if (const X509* const certificate = X509_STORE_CTX_get_current_cert(context)) {
    events.subject = name_text(X509_get_subject_name(certificate));
    events.issuer = name_text(X509_get_issuer_name(certificate));
    events.not_before = time_text(X509_get0_notBefore(certificate));
    events.not_after = time_text(X509_get0_notAfter(certificate));
    events.names = alternative_names(*certificate);
  }
  return 0;
}

// OpenSSL calls this if the peer requests a client certificate.
int Tls::on_client_certificate(SSL* ssl, void* /*nothing*/) {
  of(*ssl).events_.asks_for_client_certificate = true;
  return 1;
}

void Tls::on_info(const SSL* ssl, int where, int value) {
  constexpr int kFatal = 2;
  constexpr int kCloseNotify = 0;
  // The ClientHello was just sent. Work that is done here overlaps with the server's.
  if (where == SSL_CB_CONNECT_LOOP && SSL_get_state(ssl) == TLS_ST_CW_CLNT_HELLO) {
    of(*ssl).use_waiting_time();
  }
  TlsEvents& events = of(*ssl).events_;
  const bool is_server = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), server_index()) != nullptr;
  if (where == SSL_CB_HANDSHAKE_DONE && is_server) {
    events.is_connected = true;
    if (of(*ssl).connected_) of(*ssl).connected_(*ssl);
  }
  if ((where & SSL_CB_READ_ALERT) != SSL_CB_READ_ALERT) return;
  const int alert = value & 0xff;
  if ((value >> 8) == kFatal) {
    events.alert = alert;
    events.is_agreed = SSL_get_pending_cipher(ssl) != nullptr;
  } else if (alert == kCloseNotify && is_server) {
    events.has_close_notify = true;
  }
}

}  // namespace execcred
