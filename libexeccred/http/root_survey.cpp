// SPDX-License-Identifier: Apache-2.0
#include <execcred/http/root_survey.hpp>

#include <execcred/base/text.hpp>
#include <execcred/os/file.hpp>
#include <execcred/x509/openssl_owner.hpp>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

namespace execcred {
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
  constexpr std::string_view kBegin = "-----BEGIN ";
  constexpr std::string_view kCertificate = "CERTIFICATE-----";
  Contents contents;
  for (std::size_t at = pem.find(kBegin); at != std::string_view::npos;) {
    const std::size_t next = pem.find(kBegin, at + kBegin.size());
    const std::string_view block = pem.substr(at, next - at);
    const bool starts_a_line = at == 0 || pem[at - 1] == '\n';
    const std::string_view line = block.substr(0, block.find('\n'));
    if (starts_a_line && line.find(kCertificate) != std::string_view::npos) {
      ++(is_certificate(block) ? contents.good : contents.malformed);
    }
    at = next;
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

// Up to the first that can be read, as the lookup does.
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
