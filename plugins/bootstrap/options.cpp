// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/cache_options.hpp>
#include <execcred/hub/service_account_token.hpp>

#include <array>
#include <string_view>

namespace execcred::bootstrap {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr std::array<Named<Via>, 2> kVias = {
    {{"token-request", Via::token_request}, {"csr", Via::csr}}};
constexpr std::array<std::string_view, 3> kKeyTypeNames = {"ecdsa-p256", "rsa-2048", "ed25519"};
// A missing --via is an error of its own.
constexpr std::array<std::string_view, 2> kTokenRequest = {"token-request", ""};
constexpr std::array<std::string_view, 2> kCsr = {"csr", ""};

// The API's minimum, and the longest lifetime that a certificate or token here needs.
constexpr Duration kShortest = minutes(10);
constexpr Duration kLongest = hours(24);
constexpr std::size_t kMaxName = 256;    // of a user or group
constexpr std::size_t kMaxSigner = 571;  // as the API bounds it

Result<Duration> parse_lifetime(const std::string& text) {
  const Duration lifetime = TRY(parse_duration(text));
  if (lifetime >= kShortest && lifetime <= kLongest) return lifetime;
  return Error::configuration(in_quotes(text) + " is not between " + format_duration(kShortest) +
                              " and " + format_duration(kLongest));
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = decode_utf8(text).length;
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

// A part of a certificate's subject.
Result<std::string> parse_subject_name(const std::string& text) {
  if (text.size() > kMaxName) {
    return Error::configuration(in_quotes(text) + " is longer than " + std::to_string(kMaxName) +
                                " bytes");
  }
  if (is_utf8(text)) return text;
  return Error::configuration(in_quotes(text) + " is no UTF-8");
}

Result<std::string> parse_signer(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash != std::string::npos && slash + 1 < text.size() && text.size() <= kMaxSigner &&
      is_dns1123_subdomain(text.substr(0, slash)) && is_visible_ascii(text)) {
    return text;
  }
  return Error::configuration(
      in_quotes(text) + " is no signer's name, DOMAIN/NAME",
      "Kubernetes' own for clients of its API is kubernetes.io/kube-apiserver-client");
}

bool is_set(const Settings& settings, std::string_view option) {
  return settings.get(option).origin != Setting::Origin::unset;
}

Status check_required(const Settings& settings, std::string_view option, std::string_view value,
                      const std::string& needed_by) {
  if (is_set(settings, option)) return {};
  const std::string flag = "--" + std::string(option);
  return Error::configuration(needed_by + " needs " + flag,
                              "pass " + flag + "=" + std::string(value));
}

}  // namespace

void add_options(OptionSet& set, Options& options) {
  // The ClusterProfile's settings are for the inner plugin.
  set.ignore_profile();
  set.group("Credential source");
  set.add_parsed("credential", options.credential, "JSON_ARRAY",
                 "Plugin that gives the bootstrap credential, and its arguments",
                 parse_inner_command)
      .command()
      .secret()
      .required()
      .example(R"(["/plugins/execcred-static-secret","--convention=cluster-api"])");
  set.group("Request");
  set.add_choice<kVias>("via", options.via, "token-request|csr",
                        "Ask for a service account's token, or for a client certificate")
      .required();
  set.add_parsed("lifetime", options.lifetime, "DURATION",
                 "How long the credential is to live, from 10m to 24h", parse_lifetime)
      .default_text(format_duration(options.lifetime));
  set.group("Request", {"via", kTokenRequest, "leave it out"});
  set.add_parsed("service-account", options.service_account, "NAMESPACE/NAME",
                 "With --via=token-request: service account whose token it is",
                 parse_service_account)
      .example("fleet/controller");
  set.add("audience", options.audiences, "AUDIENCE",
          "With --via=token-request: audience of the token")
      .default_text("the API server's");
  set.group("Request", {"via", kCsr, "leave it out"});
  set.add_parsed("user", options.user, "NAME",
                 "With --via=csr: user of the certificate, its common name", parse_subject_name)
      .example("fleet-controller");
  set.add_parsed("group", options.groups, "NAME",
                 "With --via=csr: group of the user, an organization", parse_subject_name);
  set.add_parsed("signer", options.signer, "DOMAIN/NAME",
                 "With --via=csr: signer that is to issue the certificate", parse_signer)
      .default_text(options.signer);
  set.add("key-type", options.key_type, "ecdsa-p256|rsa-2048|ed25519",
          "With --via=csr: type of the private key")
      .choices(kKeyTypeNames, "type of key")
      .default_text(options.key_type);
  add_cache_options(set, options.cache);
}

Status check_options(const Options& options, const Settings& settings) {
  if (!is_set(settings, "via")) return {};  // it is required
  if (options.via == Via::token_request) {
    TRY(check_required(settings, "service-account", "NAMESPACE/NAME", "--via=token-request"));
  } else {
    TRY(check_required(settings, "user", "NAME", "--via=csr"));
  }
  if (is_set(settings, "allow-server")) return {};
  return Error::configuration(
      "the bootstrap credential would go to whichever server a ClusterProfile names",
      "set --allow-server=PATTERN for the clusters that may have it");
}

}  // namespace execcred::bootstrap
