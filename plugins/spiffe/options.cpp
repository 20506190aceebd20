// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/spiffe/spiffe_id.hpp>
#include <execcred/spiffe/workload_endpoint.hpp>

#include <utility>

namespace execcred::spiffe {
namespace {

Error wrong(std::string message, std::string hint = {}) {
  return Error{
      .kind = Error::Kind::configuration, .message = std::move(message), .hint = std::move(hint)};
}

Result<SvidType> parse_type(const std::string& text) {
  if (text == "jwt") return SvidType::jwt;
  if (text == "x509") return SvidType::x509;
  return wrong(in_quotes(text) + " is neither jwt nor x509");
}

Result<std::string> parse_socket(const std::string& text) {
  TRY(parse_workload_endpoint(text));
  return text;
}

Result<std::string> parse_id(const std::string& text) {
  TRY(SpiffeId::parse(text));
  return text;
}

// An agent would say Unavailable to an empty one, as if trying again helped.
Result<std::string> parse_audience(const std::string& text) {
  if (!trim(text).empty()) return text;
  return wrong("an audience is empty");
}

}  // namespace

void add_options(OptionSet& set, Options& options) {
  set.add_parsed("type", options.type, "jwt|x509", "A JWT-SVID or an X.509-SVID", parse_type)
      .required();
  set.add_parsed("socket", options.socket, "URI", "The Workload API: unix:///PATH or tcp://IP:PORT",
                 parse_socket)
      .variable("SPIFFE_ENDPOINT_SOCKET");
  set.add_parsed("audience", options.audiences, "AUDIENCE",
                 "For whom the JWT-SVID is: what the cluster's API server accepts", parse_audience)
      .from_profile();
  set.add_parsed("spiffe-id", options.choice.spiffe_id, "ID",
                 "Which identity, where the agent has several for this process", parse_id);
  set.add("hint", options.choice.hint, "HINT", "The same by the entry's hint");
  set.add_parsed("trust-domain", options.choice.trust_domain, "TRUST_DOMAIN",
                 "Refuse an SVID of another one",
                 [](const std::string& text) { return parse_trust_domain(text); });
  set.add("allow-empty-cn", options.allow_empty_cn,
          "Give an X.509-SVID whose subject has no common name, which the API server takes for "
          "nobody's")
      .no_environment()
      .weakens("gives certificates that name nobody");
}

Status check_options(const Options& options, const Settings& settings) {
  // A variable may be meant for other plugins of the same controller.
  const bool has_audience_flag = settings.get("audience").origin == Setting::Origin::flag;
  if (options.type == SvidType::x509 && has_audience_flag) {
    return wrong("--audience has no use with --type=x509", "only a JWT-SVID has one");
  }
  if (options.type == SvidType::jwt && options.allow_empty_cn) {
    return wrong("--allow-empty-cn has no use with --type=jwt",
                 "only an X.509-SVID has a common name");
  }
  return {};
}

}  // namespace execcred::spiffe
