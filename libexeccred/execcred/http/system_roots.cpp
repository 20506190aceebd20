// SPDX-License-Identifier: Apache-2.0
#include <execcred/http/system_roots.hpp>

#include <execcred/base/pem.hpp>
#include <execcred/base/text.hpp>
#include <execcred/http/root_bundle.hpp>
#include <execcred/os/file.hpp>
#include <execcred/x509/openssl.hpp>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace execcred {
namespace {

bool is_hash_link(std::string_view name) {
  const auto is_hex = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); };
  return name.size() > 9 && name[8] == '.' && std::all_of(name.begin(), name.begin() + 8, is_hex) &&
         std::all_of(name.begin() + 9, name.end(), is_digit);
}

bool can_read(const std::string& path) { return access(path.c_str(), R_OK) == 0; }

bool has_hash_links(const std::string& directory) { return count_hash_links(directory, 1) > 0; }

// The data that one X509_LOOKUP owns.
class LazyBundle {
 public:
  explicit LazyBundle(const RootPaths& paths) : paths_(paths) {}

  // Adds all certificates with this subject to the store, because OpenSSL tries each one that is
  // there. Returns one of them, which this object keeps alive, or nullptr if there is none.
  X509* give(X509_STORE& store, const X509_NAME& subject) {
    const std::size_t before = given_.size();
    for (X509Owner& certificate : bundle().find(subject)) {
      if (X509_STORE_add_cert(&store, certificate.get()) == 1) {
        given_.push_back(std::move(certificate));
      }
    }
    return given_.size() > before ? given_[before].get() : nullptr;
  }

  void read_ahead() {
    if (std::none_of(paths_.directories.begin(), paths_.directories.end(), has_hash_links))
      bundle();
  }

 private:
  const RootBundle& bundle() {
    for (auto path = paths_.bundles.begin(); !bundle_ && path != paths_.bundles.end(); ++path) {
      Result<std::string> pem = read_untrusted_file(*path, kMaxRootBundle);
      if (pem) bundle_.emplace(std::move(pem).value());
    }
    if (!bundle_) bundle_.emplace(std::string());
    return *bundle_;
  }

  const RootPaths& paths_;
  std::optional<RootBundle> bundle_;
  std::vector<X509Owner> given_;
};

int on_lookup(X509_LOOKUP* lookup, X509_LOOKUP_TYPE type, const X509_NAME* name,
              X509_OBJECT* found) {
  if (type != X509_LU_X509) return 0;
  auto& lazy = *static_cast<LazyBundle*>(X509_LOOKUP_get_method_data(lookup));
  X509* const certificate = lazy.give(*X509_LOOKUP_get_store(lookup), *name);
  if (certificate == nullptr || X509_OBJECT_set1_X509(found, certificate) != 1) return 0;
  X509_free(certificate);  // a lookup lends: OpenSSL takes a reference of its own
  return 1;
}

void on_free(X509_LOOKUP* lookup) {
  delete static_cast<LazyBundle*>(X509_LOOKUP_get_method_data(lookup));
}

// The index of a store's ex_data that points to the bundle of its lookup.
int bundle_index() {
  static const int kIndex = X509_STORE_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return kIndex;
}

X509_LOOKUP_METHOD* lookup_method() {
  static X509_LOOKUP_METHOD* const kMethod = [] {
    X509_LOOKUP_METHOD* const method = X509_LOOKUP_meth_new("bundle");
    if (method != nullptr) {
      X509_LOOKUP_meth_set_get_by_subject(method, on_lookup);
      X509_LOOKUP_meth_set_free(method, on_free);
    }
    return method;
  }();
  return kMethod;
}

}  // namespace

std::size_t count_hash_links(const std::string& directory, std::size_t at_most) {
  DIR* const stream = opendir(directory.c_str());
  if (stream == nullptr) return 0;
  std::size_t count = 0;
  while (count < at_most) {
    const dirent* const entry = readdir(stream);
    if (entry == nullptr) break;
    const std::string name = static_cast<const char*>(entry->d_name);
    if (is_hash_link(name) && can_read(std::string(directory).append("/").append(name))) ++count;
  }
  closedir(stream);
  return count;
}

const RootPaths& system_root_paths() {
  static const RootPaths kPaths = {
      .directories = {"/etc/ssl/certs", "/etc/pki/tls/certs"},
      .bundles = {"/etc/ssl/certs/ca-certificates.crt",                 // Debian, Alpine, Arch
                  "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // Fedora, RHEL
                  "/etc/pki/tls/certs/ca-bundle.crt",                   // older Fedora, RHEL
                  "/etc/pki/tls/cacert.pem",                            // OpenELEC
                  "/etc/ssl/ca-bundle.pem",                             // SUSE
                  "/var/lib/ca-certificates/ca-bundle.pem",             // SUSE
                  "/etc/ssl/cert.pem"}};                                // Alpine, BSD
  return kPaths;
}

Status add_roots(X509_STORE& store, const RootPaths& paths) {
  if (std::none_of(paths.bundles.begin(), paths.bundles.end(), can_read) &&
      std::none_of(paths.directories.begin(), paths.directories.end(), has_hash_links)) {
    return no_roots(paths);
  }
  X509_LOOKUP* const directories = X509_STORE_add_lookup(&store, X509_LOOKUP_hash_dir());
  X509_LOOKUP* const bundles = X509_STORE_add_lookup(&store, lookup_method());
  auto lazy = std::make_unique<LazyBundle>(paths);
  bool is_ready = directories != nullptr && bundles != nullptr &&
                  X509_STORE_set_ex_data(&store, bundle_index(), lazy.get()) == 1 &&
                  X509_LOOKUP_set_method_data(bundles, lazy.get()) == 1;
  // NOLINTNEXTLINE(bugprone-unused-return-value): on_free's now
  if (is_ready) static_cast<void>(lazy.release());
  for (const std::string& directory : paths.directories) {
    is_ready =
        is_ready && X509_LOOKUP_add_dir(directories, directory.c_str(), X509_FILETYPE_PEM) == 1;
  }
  if (is_ready) return {};
  return Error::internal("cannot set up the system's CA lookup");
}

void read_roots_ahead(const X509_STORE& store) {
  auto* const lazy = static_cast<LazyBundle*>(X509_STORE_get_ex_data(&store, bundle_index()));
  if (lazy != nullptr) lazy->read_ahead();
}

namespace {

struct Contents {
  std::size_t good = 0;
  std::size_t malformed = 0;
};

// Whether the PEM block at the front of `text`, which may end with another one, is a certificate.
bool is_certificate(std::string_view text) {
  const BioOwner bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  const X509Owner certificate(PEM_read_bio_X509_AUX(bio.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  return certificate != nullptr;
}

Contents count(std::string_view pem) {
  Contents contents;
  while (const std::optional<PemPart> part = next_pem_part(pem)) {
    if (part->is_indented || part->label.find("CERTIFICATE") == std::string_view::npos) continue;
    ++(is_certificate(part->text) ? contents.good : contents.malformed);
  }
  return contents;
}

std::string counted(std::size_t number, const std::string& what) {
  return (number == 0 ? "no" : std::to_string(number)) + " " + what + (number == 1 ? "" : "s");
}

std::string with_note(const std::string& path, const std::string& note) {
  return in_quotes(path) + " (" + note + ")";
}

struct Found {
  std::vector<std::string> texts = {};
  std::size_t certificates = 0;
};

void look_into_directories(const RootPaths& paths, Found& found) {
  for (const std::string& directory : paths.directories) {
    const std::size_t links = count_hash_links(directory);
    if (links == 0) continue;
    found.certificates += links;
    found.texts.push_back(with_note(directory, counted(links, "hash link")));
  }
}

// Looks into the bundles up to the first one that can be read, as the lookup does.
void look_into_bundles(const RootPaths& paths, Found& found) {
  for (const std::string& path : paths.bundles) {
    const Result<std::string> pem = read_untrusted_file(path, kMaxRootBundle);
    if (!pem) {
      if (access(path.c_str(), F_OK) == 0) found.texts.push_back(with_note(path, "not readable"));
      continue;
    }
    const Contents contents = count(*pem);
    found.certificates += contents.good;
    std::string note = counted(contents.good, "certificate");
    if (contents.malformed > 0) note += ", " + std::to_string(contents.malformed) + " malformed";
    found.texts.push_back(with_note(path, note));
    return;
  }
}

std::vector<std::string> quoted(const std::vector<std::string>& paths) {
  std::vector<std::string> texts;
  std::transform(paths.begin(), paths.end(), std::back_inserter(texts),
                 [](const std::string& path) { return in_quotes(path); });
  return texts;
}

}  // namespace

RootSurvey survey_roots(const RootPaths& paths) {
  Found found;
  look_into_directories(paths, found);
  look_into_bundles(paths, found);
  return {.certificates = found.certificates, .text = join(found.texts, ", ")};
}

Error no_roots(const RootPaths& paths) {
  const RootSurvey survey = survey_roots(paths);
  const std::string found =
      survey.text.empty() ? "there is no " + join(quoted(paths.bundles), ", ") +
                                ", nor a hash link in " + join(quoted(paths.directories), ", ")
                          : "looked into " + survey.text;
  return Error{
      .kind = Error::Kind::configuration,
      .message = "the system has no CA certificates to verify servers with",
      .hint =
          found +
          ": install the package ca-certificates, mount a bundle, or pass the CA's certificate"};
}

}  // namespace execcred
