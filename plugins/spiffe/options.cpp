// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <execcred/base/text.hpp>
#include <execcred/spiffe/spiffe_id.hpp>
#include <execcred/spiffe/workload_endpoint.hpp>

#include <array>

namespace execcred::spiffe {
namespace {

constexpr std::array<Named<SvidType>, 2> kTypes = {
    {{"jwt", SvidType::jwt}, {"x509", SvidType::x509}}};
// A missing --type is an error of its own.
constexpr std::array<std::string_view, 2> kJwt = {"jwt", ""};
constexpr std::array<std::string_view, 2> kX509 = {"x509", ""};

// For an empty audience, an agent answers Unavailable, as if a retry would help.
Result<std::string> parse_audience(const std::string& text) {
  if (!trim(text).empty()) return text;
  return Error::configuration("an audience is empty");
}

}  // namespace

void add_options(OptionSet& set, Options& options) {
  set.group("Credential source");
  set.add_choice<kTypes>("type", options.type, "jwt|x509",
                         "Kind of the SVID: a token or a certificate")
      .required();
  set.add_parsed("socket", options.socket, "URI",
                 "Workload API of the agent, unix:///PATH or tcp://IP:PORT",
                 checked_workload_endpoint)
      .example("unix:///run/spire/agent.sock")
      .variable("SPIFFE_ENDPOINT_SOCKET");
  set.group("Request");
  set.add_parsed("audience", options.audiences, "AUDIENCE",
                 "Audience of the JWT-SVID, which the API server accepts", parse_audience)
      .from_profile()
      .allowed_by("allow-audience")
      .requested()
      .only_for("type", kJwt, "only a JWT-SVID has one");
  set.add_parsed("spiffe-id", options.choice.spiffe_id, "ID",
                 "SPIFFE ID to use, where the agent has several", checked_spiffe_id)
      .example("spiffe://example.org/controller");
  set.add("hint", options.choice.hint, "HINT", "Hint of the entry to use, where there are several");
  set.group("Access rules");
  set.add_parsed("trust-domain", options.choice.trust_domain, "TRUST_DOMAIN",
                 "Refuse an SVID of another trust domain",
                 [](const std::string& text) { return parse_trust_domain(text); });
  set.add("allow-empty-cn", options.allow_empty_cn, "Give an X.509-SVID that has no common name")
      .no_environment()
      .only_for("type", kX509, "only an X.509-SVID has a common name")
      .weakens("gives certificates without a user name");
}

}  // namespace execcred::spiffe
