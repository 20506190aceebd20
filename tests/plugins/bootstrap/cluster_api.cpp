// SPDX-License-Identifier: Apache-2.0
#include "cluster_api.hpp"

#include "documents.hpp"

#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <utility>

namespace execcred::test {
namespace {

using nlohmann::json;
using RequestPtr = std::unique_ptr<X509_REQ, OpensslDeleter<X509_REQ_free>>;

std::string decoded(const std::string& text) {
  std::string bytes(text.size(), '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  require_openssl(size >= 0, "decode base64");
  bytes.resize(static_cast<std::size_t>(size) -
               static_cast<std::size_t>(std::count(text.begin(), text.end(), '=')));
  return bytes;
}

RequestPtr request_of(const std::string& spec) {
  const std::string pem = decoded(json::parse(spec).at("request").get<std::string>());
  const std::unique_ptr<BIO, OpensslDeleter<BIO_free_all>> bio(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  RequestPtr request(PEM_read_bio_X509_REQ(bio.get(), nullptr, nullptr, nullptr));
  require_openssl(request != nullptr, "read a certificate request");
  return request;
}

void add_name(X509_NAME& name, int nid, const std::string& text) {
  require_openssl(X509_NAME_add_entry_by_NID(&name, nid, V_ASN1_UTF8STRING,
                                             reinterpret_cast<const unsigned char*>(text.data()),
                                             static_cast<int>(text.size()), -1, 0) == 1,
                  "name a certificate");
}

std::vector<std::string> entries_of(const X509_NAME& name, int nid) {
  std::vector<std::string> texts;
  for (int i = 0; i < X509_NAME_entry_count(&name); ++i) {
    const X509_NAME_ENTRY* const entry = X509_NAME_get_entry(&name, i);
    if (OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry)) != nid) continue;
    const ASN1_STRING* const text = X509_NAME_ENTRY_get_data(entry);
    texts.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                       static_cast<std::size_t>(ASN1_STRING_length(text)));
  }
  return texts;
}

void add_extension(X509& certificate, int nid, const std::string& value) {
  const ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, nullptr, nid, value.c_str()));
  require_openssl(extension && X509_add_ext(&certificate, extension.get(), -1) == 1,
                  "add an extension");
}

// A certificate for `key`, signed by `signer`.
std::string certificate_of(const X509_NAME& subject, EVP_PKEY& key, EVP_PKEY& signer,
                           const IssueWish& wish) {
  const CertificatePtr certificate(X509_new());
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 7);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), wish.begins);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), wish.ends);
  require_openssl(X509_set_subject_name(certificate.get(), &subject) == 1 &&
                      X509_set_pubkey(certificate.get(), &key) == 1,
                  "fill in a certificate");
  if (!wish.usage.empty()) add_extension(*certificate, NID_ext_key_usage, wish.usage);
  add_extension(*certificate, NID_basic_constraints, wish.is_ca ? "CA:TRUE" : "CA:FALSE");
  require_openssl(X509_sign(certificate.get(), &signer, EVP_sha256()) != 0, "sign a certificate");
  return pem_of(*certificate);
}

std::string chain_for(const X509_REQ& request, const IssueWish& wish) {
  if (!wish.instead.empty()) return wish.instead;
  const X509_NAME& asked = *X509_REQ_get_subject_name(&request);
  const std::unique_ptr<X509_NAME, OpensslDeleter<X509_NAME_free>> subject(X509_NAME_new());
  for (const std::string& group : wish.groups.value_or(entries_of(asked, NID_organizationName))) {
    add_name(*subject, NID_organizationName, group);
  }
  if (!wish.unit.empty()) add_name(*subject, NID_organizationalUnitName, wish.unit);
  for (const std::string& user :
       wish.user ? std::vector<std::string>{*wish.user} : entries_of(asked, NID_commonName)) {
    add_name(*subject, NID_commonName, user);
  }
  const KeyPtr key(X509_REQ_get_pubkey(const_cast<X509_REQ*>(&request)));
  const KeyPtr other = make_ec_key();
  KeyPtr signer = make_ec_key();
  std::string chain = certificate_of(*subject, wish.has_other_key ? *other : *key,
                                     wish.is_chain_broken ? *other : *signer, wish);
  const IssueWish authority{.usage = "", .is_ca = true};
  for (int i = 1; i < wish.chain; ++i) {
    const std::unique_ptr<X509_NAME, OpensslDeleter<X509_NAME_free>> name(X509_NAME_new());
    add_name(*name, NID_commonName, "authority " + std::to_string(i));
    KeyPtr above = make_ec_key();
    chain += certificate_of(*name, *signer, *above, authority);
    signer = std::move(above);
  }
  return chain;
}

std::string key_type_of(const EVP_PKEY& key) {
  const char* const name = EVP_PKEY_get0_type_name(&key);
  return std::string(name == nullptr ? "?" : name) + " " + std::to_string(EVP_PKEY_get_bits(&key));
}

}  // namespace

std::string status_reply(int code, const std::string& reason, const std::string& message,
                         const std::string& name) {
  json status = {{"kind", "Status"}, {"apiVersion", "v1"}, {"status", "Failure"},
                 {"reason", reason}, {"message", message}, {"code", code}};
  if (!name.empty()) status["details"] = {{"name", name}};
  return reply(code, status.dump());
}

RequestFacts facts_of_request(const std::string& spec) {
  const RequestPtr request = request_of(spec);
  const X509_NAME& name = *X509_REQ_get_subject_name(request.get());
  RequestFacts facts;
  std::vector<std::string> groups = entries_of(name, NID_organizationName);
  std::sort(groups.begin(), groups.end());
  for (const std::string& group : groups) facts.subject += "O=" + group + ", ";
  for (const std::string& user : entries_of(name, NID_commonName)) facts.subject += "CN=" + user;
  EVP_PKEY* const key = X509_REQ_get0_pubkey(request.get());
  facts.key_type = key_type_of(*key);
  facts.public_key =
      blackbox::base64(written_by([&](BIO* bio) { return i2d_PUBKEY_bio(bio, key); }));
  facts.is_self_signed = X509_REQ_verify(request.get(), key) == 1;
  auto* const extensions = X509_REQ_get_extensions(request.get());
  facts.extensions = extensions == nullptr ? 0 : sk_X509_EXTENSION_num(extensions);
  sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
  return facts;
}

bool is_pair(const std::string& certificate, const std::string& key) {
  const std::unique_ptr<BIO, OpensslDeleter<BIO_free_all>> bio(
      BIO_new_mem_buf(certificate.data(), static_cast<int>(certificate.size())));
  const std::unique_ptr<BIO, OpensslDeleter<BIO_free_all>> key_bio(
      BIO_new_mem_buf(key.data(), static_cast<int>(key.size())));
  const CertificatePtr x509(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  const KeyPtr private_key(PEM_read_bio_PrivateKey(key_bio.get(), nullptr, nullptr, nullptr));
  return x509 && private_key && X509_check_private_key(x509.get(), private_key.get()) == 1;
}

ClusterApi::ClusterApi(const Identity* client_ca)
    : server(ScriptedServer::Transport::tls, client_ca) {
  server.otherwise([this](Stream& stream, const Received& request) { answer(stream, request); });
}

void ClusterApi::answer(Stream& stream, const Received& request) {
  std::unique_lock lock(mutex_);
  const std::string path = request.path();
  if (forbidden_.contains(request.method)) {
    stream.write(status_reply(403, "Forbidden", "the user cannot do this to " + path));
  } else if (path == kTokenPath && request.method == "POST") {
    stream.write(give_token(request));
  } else if (path.starts_with(kSigningPath) && request.method == "GET" && looks_ == 0) {
    lock.unlock();
    stream.wait_for_close();
  } else if (path.starts_with(kSigningPath)) {
    if (request.method == "GET") --looks_;
    const std::string said = request.method == "POST"
                                 ? create(request)
                                 : get(path.substr(std::string(kSigningPath).size() + 1));
    if (lost_ > 0) {
      --lost_;
      stream.cut();
    } else {
      stream.write(said);
    }
  } else {
    stream.write(status_reply(404, "NotFound", "the server could not find the requested resource"));
  }
}

std::string ClusterApi::give_token(const Received& request) const {
  const json spec = json::parse(request.body).at("spec");
  const auto asked = spec.at("expirationSeconds").get<std::int64_t>();
  const std::string audiences =
      token.audiences.value_or(spec.value("audiences", json::array({"https://kubernetes"})).dump());
  const std::int64_t end =
      blackbox::seconds_since_epoch() + token.exp_seconds.value_or(token.seconds.value_or(asked));
  std::string text =
      token.is_opaque
          ? std::string("opaque-token")
          : blackbox::make_jwt(R"({"iss":"https://kubernetes","sub":")" + token.subject +
                               R"(","aud":)" + audiences + R"(,"exp":)" + std::to_string(end) +
                               token.more_claims + "}");
  const json answer = {
      {"kind", "TokenRequest"},
      {"apiVersion", "authentication.k8s.io/v1"},
      {"spec", spec},
      {"status",
       {{"token", text}, {"expirationTimestamp", timestamp(token.seconds.value_or(asked))}}}};
  return reply(201, answer.dump());
}

std::string ClusterApi::create(const Received& request) {
  const json body = json::parse(request.body);
  const auto name = body.at("metadata").at("name").get<std::string>();
  if (taken_ > 0 && !requests_.contains(name)) {
    --taken_;
    requests_[name] = {.body = R"({"spec":{"request":"YW5vdGhlcidz"}})"};
  }
  if (requests_.contains(name)) {
    return status_reply(
        409, "AlreadyExists",
        "certificatesigningrequests.certificates.k8s.io \"" + name + "\" already exists", name);
  }
  ++made_;
  last_ = name;
  requests_[name] = {.body = request.body, .status = status_for(request.body)};
  const std::string made = reply(201, request.body);
  if (is_vanishing_) requests_.erase(name);
  return made;
}

std::string ClusterApi::get(const std::string& name) {
  const auto found = requests_.find(name);
  const bool is_lagging = lag_ > 0;
  if (is_lagging) --lag_;
  if (found == requests_.end() || is_lagging) {
    return status_reply(404, "NotFound",
                        "certificatesigningrequests.certificates.k8s.io \"" + name + "\" not found",
                        name);
  }
  json object = json::parse(found->second.body);
  object["status"] = json::parse(found->second.status);
  return reply(200, object.dump());
}

std::string ClusterApi::status_for(const std::string& body) const {
  const auto condition = [](const char* type, const char* reason, const char* message) {
    return json{{"type", type}, {"status", "True"}, {"reason", reason}, {"message", message}};
  };
  json status = json::object();
  switch (approver_) {
    case Approver::waits:
      break;
    case Approver::denies:
      status["conditions"] = {condition("Denied", "WrongFleet", "not on my watch\n\x1b[1m")};
      break;
    case Approver::fails:
      status["conditions"] = {condition("Approved", "AutoApproved", "ok"),
                              condition("Failed", "SignerValidationFailure", "usages: invalid")};
      break;
    case Approver::approves:
      status["certificate"] =
          blackbox::base64(chain_for(*request_of(json::parse(body).at("spec").dump()), issue));
      [[fallthrough]];
    case Approver::only_approves:
      status["conditions"] = {condition("Approved", "AutoApproved", "ok")};
  }
  if (!conditions_.empty()) status["conditions"] = json::parse(conditions_);
  return status.dump();
}

void ClusterApi::decide(Approver approver) {
  const std::scoped_lock lock(mutex_);
  approver_ = approver;
  for (auto& [name, request] : requests_) request.status = status_for(request.body);
}

void ClusterApi::set_conditions(const std::string& conditions) {
  const std::scoped_lock lock(mutex_);
  conditions_ = conditions;
  for (auto& [name, request] : requests_) request.status = status_for(request.body);
}

void ClusterApi::vanish() {
  const std::scoped_lock lock(mutex_);
  requests_.clear();
}

void ClusterApi::set_vanishing(bool is_vanishing) {
  const std::scoped_lock lock(mutex_);
  is_vanishing_ = is_vanishing;
}

void ClusterApi::set_taken(int count) {
  const std::scoped_lock lock(mutex_);
  taken_ = count;
}

void ClusterApi::lag_for(int looks) {
  const std::scoped_lock lock(mutex_);
  lag_ = looks;
}

void ClusterApi::stall_after(int looks) {
  const std::scoped_lock lock(mutex_);
  looks_ = looks;
}

void ClusterApi::lose_answers(int count) {
  const std::scoped_lock lock(mutex_);
  lost_ = count;
}

void ClusterApi::forbid(const std::string& method) {
  const std::scoped_lock lock(mutex_);
  forbidden_.insert(method);
}

void ClusterApi::allow_all() {
  const std::scoped_lock lock(mutex_);
  forbidden_.clear();
}

int ClusterApi::made() const {
  const std::scoped_lock lock(mutex_);
  return made_;
}

std::vector<std::string> ClusterApi::names() const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, request] : requests_) names.push_back(name);
  return names;
}

std::string ClusterApi::last_spec() const {
  const std::scoped_lock lock(mutex_);
  const auto found = requests_.find(last_);
  if (found == requests_.end()) throw std::runtime_error("no request is there");
  return json::parse(found->second.body).at("spec").dump();
}

}  // namespace execcred::test
