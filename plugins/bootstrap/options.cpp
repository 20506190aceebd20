// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/cache_options.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace execcred::bootstrap {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr std::array<std::string_view, 2> kViaNames = {"token-request", "csr"};
constexpr std::array<std::string_view, 3> kKeyTypeNames = {"ecdsa-p256", "rsa-2048", "ed25519"};
// A missing --via is an error of its own.
constexpr std::array<std::string_view, 2> kTokenRequest = {"token-request", ""};
constexpr std::array<std::string_view, 2> kCsr = {"csr", ""};

// The API's minimum, and the longest lifetime that a certificate or token here needs.
constexpr Duration kShortest = minutes(10);
constexpr Duration kLongest = hours(24);
constexpr std::size_t kMaxName = 256;    // of a user or group
constexpr std::size_t kMaxSigner = 571;  // as the API bounds it

Error wrong(std::string message, std::string hint = {}) {
  return Error{
      .kind = Error::Kind::configuration, .message = std::move(message), .hint = std::move(hint)};
}

Result<Via> parse_via(const std::string& text) {
  if (text == "token-request") return Via::token_request;
  if (text == "csr") return Via::csr;
  return wrong(in_quotes(text) + " is neither token-request nor csr");
}

Result<Duration> parse_lifetime(const std::string& text) {
  const Duration lifetime = TRY(parse_duration(text));
  if (lifetime >= kShortest && lifetime <= kLongest) return lifetime;
  return wrong(in_quotes(text) + " is not between " + format_duration(kShortest) + " and " +
               format_duration(kLongest));
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = decode_utf8(text).length;
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

Status check_service_account(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash != std::string::npos && is_dns1123_label(text.substr(0, slash)) &&
      is_dns1123_subdomain(text.substr(slash + 1))) {
    return {};
  }
  return wrong(in_quotes(text) + " is no NAMESPACE/NAME of a service account");
}

// Checks a part of a certificate's subject.
Status check_name(const std::string& text) {
  if (text.size() > kMaxName) {
    return wrong(in_quotes(text) + " is longer than " + std::to_string(kMaxName) + " bytes");
  }
  if (is_utf8(text)) return {};
  return wrong(in_quotes(text) + " is no UTF-8");
}

Status check_signer(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash != std::string::npos && slash + 1 < text.size() && text.size() <= kMaxSigner &&
      is_dns1123_subdomain(text.substr(0, slash)) && is_visible_ascii(text)) {
    return {};
  }
  return wrong(in_quotes(text) + " is no signer's name, DOMAIN/NAME",
               "Kubernetes' own for clients of its API is kubernetes.io/kube-apiserver-client");
}

Status check_key_type(const std::string& text) {
  if (std::find(kKeyTypeNames.begin(), kKeyTypeNames.end(), text) != kKeyTypeNames.end()) return {};
  return wrong(in_quotes(text) + " is no type of key",
               "there are: " + join({kKeyTypeNames.begin(), kKeyTypeNames.end()}, ", "));
}

// Makes the error of a check look like one of reading the option.
Status of_option(Status status, std::string_view option, const Settings& settings) {
  if (status) return status;
  std::string& message = status.error().message;
  message = settings.where_from(option) + ": " + message;
  return status;
}

Status check_used(const Options& options, const Settings& settings) {
  if (options.via == Via::token_request) {
    return of_option(check_service_account(options.service_account), "service-account", settings);
  }
  TRY(of_option(check_name(options.user), "user", settings));
  for (const std::string& group : options.groups) {
    TRY(of_option(check_name(group), "group", settings));
  }
  TRY(of_option(check_signer(options.signer), "signer", settings));
  return of_option(check_key_type(options.key_type), "key-type", settings);
}

bool is_set(const Settings& settings, std::string_view option) {
  return settings.get(option).origin != Setting::Origin::unset;
}

Status check_required(const Settings& settings, std::string_view option, std::string_view value,
                      const std::string& needed_by) {
  if (is_set(settings, option)) return {};
  const std::string flag = "--" + std::string(option);
  return wrong(needed_by + " needs " + flag, "pass " + flag + "=" + std::string(value));
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
  set.add_parsed("via", options.via, "token-request|csr",
                 "Ask for a service account's token, or for a client certificate", parse_via)
      .choices(kViaNames)
      .required();
  set.add_parsed("lifetime", options.lifetime, "DURATION",
                 "How long the credential is to live, from 10m to 24h", parse_lifetime)
      .default_text(format_duration(options.lifetime));
  set.add("service-account", options.service_account, "NAMESPACE/NAME",
          "With --via=token-request: service account whose token it is")
      .example("fleet/controller")
      .only_for("via", kTokenRequest, "leave it out");
  set.add("audience", options.audiences, "AUDIENCE",
          "With --via=token-request: audience of the token")
      .default_text("the API server's")
      .only_for("via", kTokenRequest, "leave it out");
  set.add("user", options.user, "NAME", "With --via=csr: user of the certificate, its common name")
      .example("fleet-controller")
      .only_for("via", kCsr, "leave it out");
  set.add("group", options.groups, "NAME", "With --via=csr: group of the user, an organization")
      .only_for("via", kCsr, "leave it out");
  set.add("signer", options.signer, "DOMAIN/NAME",
          "With --via=csr: signer that is to issue the certificate")
      .default_text(options.signer)
      .only_for("via", kCsr, "leave it out");
  set.add("key-type", options.key_type, "ecdsa-p256|rsa-2048|ed25519",
          "With --via=csr: type of the private key")
      .choices_besides_others(kKeyTypeNames)  // refused by check_options()
      .default_text(options.key_type)
      .only_for("via", kCsr, "leave it out");
  add_cache_options(set, options.cache);
}

Status check_options(const Options& options, const Settings& settings) {
  if (!is_set(settings, "via")) return {};  // it is required
  if (options.via == Via::token_request) {
    TRY(check_required(settings, "service-account", "NAMESPACE/NAME", "--via=token-request"));
  } else {
    TRY(check_required(settings, "user", "NAME", "--via=csr"));
  }
  TRY(check_used(options, settings));
  if (is_set(settings, "allow-server")) return {};
  return wrong("the bootstrap credential would go to whichever server a ClusterProfile names",
               "set --allow-server=PATTERN for the clusters that may have it");
}

}  // namespace execcred::bootstrap
