// SPDX-License-Identifier: Apache-2.0
#include "endpoints.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/url.hpp>
#include <execcred/oauth/local_url.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace execcred::google {
namespace {

// us-east1 and the like.
bool is_region(std::string_view label) {
  return label.find('-') != std::string_view::npos && label.back() >= '0' && label.back() <= '9';
}

// Whether the host is one of the service, as google-auth accepts them: sts, us-east1-sts,
// us-east1.sts, sts.mtls, sts.us-east1, sts-psc.p, sts.us-east1.rep. Other names below a service
// may be its users', such as the buckets of storage.googleapis.com.
bool is_google_service(std::string_view host, const std::string& name) {
  const std::string ending = "." + std::string(kDefaultUniverse);
  if (!host.ends_with(ending)) return false;
  const auto labels = split(host.substr(0, host.size() - ending.size()), '.');
  const std::string_view first = labels.front();
  const std::string_view last = labels.back();
  switch (labels.size()) {
    case 1:
      return first == name || first.ends_with("-" + name);
    case 2:
      return last == name || (first == name && (last == "mtls" || is_region(last))) ||
             (first.starts_with(name + "-") && last == "p");
    case 3:
      return first == name && last == "rep";
    default:
      return false;
  }
}

// Whether the host is one of a token URL; older keys have other hosts.
bool is_oauth_host(std::string_view host) {
  constexpr std::array<std::string_view, 2> kEarlier = {"accounts.google.com",
                                                        "www.googleapis.com"};
  return is_google_service(host, "oauth2") ||
         std::find(kEarlier.begin(), kEarlier.end(), host) != kEarlier.end();
}

// google-github-actions/auth writes credentials with such hosts.
bool is_github_actions(std::string_view host) {
  return host.ends_with(".actions.githubusercontent.com");
}

bool is_known(Service service, const Url& url) {
  if (service == Service::subject && url.scheme == "http") return is_local_host(url.host);
  if (url.host.kind != Host::Kind::name || url.port != default_port("https")) return false;
  switch (service) {
    case Service::sts:
      return is_google_service(url.host.name, "sts");
    case Service::iam_credentials:
      return is_google_service(url.host.name, "iamcredentials");
    case Service::oauth:
      return is_oauth_host(url.host.name);
    case Service::subject:
      return is_github_actions(url.host.name);
  }
  return false;
}

}  // namespace

Status Endpoints::check(Service service, const std::string& url, std::string_view field) const {
  const auto wrong = [&](const std::string& problem, std::string hint = {}) {
    return Error::configuration(std::string(field) + " " + redacted_url(url) + " " + problem,
                                std::move(hint));
  };
  Result<Url> parsed = parse_url(url);
  if (!parsed) return wrong(parsed.error().message);
  const bool is_https = parsed->scheme == "https";
  if (!is_https && service != Service::subject) return wrong("is no https URL");
  if (is_known(service, *parsed)) return {};
  if (!is_https) {
    return wrong("is plain http to another machine",
                 "http is for this machine, link-local addresses and metadata servers; use https");
  }
  parsed->query.clear();
  const bool is_allowed =
      std::any_of(allowed_.begin(), allowed_.end(),
                  [&](const UrlPattern& pattern) { return pattern.matches(*parsed); });
  if (is_allowed) return {};
  return Error::no_credential(std::string(field) + " is at " + origin_of(*parsed) +
                                  ", which is not a server of Google's for this",
                              "if that is meant: --allow-endpoint='" + origin_of(*parsed) + "/*'");
}

}  // namespace execcred::google
