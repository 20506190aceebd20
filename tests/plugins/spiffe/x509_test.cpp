// SPDX-License-Identifier: Apache-2.0
// X.509-SVIDs: their selection, form and end, and those that are refused.
#include "peer.hpp"
#include "support/issuer.hpp"

#include <doctest/doctest.h>
#include <openssl/pem.h>

#include <vector>

namespace execcred::test {
namespace {

const SvidIssuer& issuer() {
  static const SvidIssuer made;
  return made;
}

Ask x509_ask(Texts arguments = {}) { return {.type = "x509", .arguments = std::move(arguments)}; }

Outcome run_with(const X509SvidWire& svid, const Ask& ask = x509_ask()) {
  blackbox::remember_secret(blackbox::base64(svid.private_key));
  return Peer(grpc::stream_answer(x509_svid_response({svid}))).run(ask);
}

X509SvidWire good() { return issuer().x509({.spiffe_id = kWorkload}); }

// The certificates of a PEM text, in DER.
std::vector<std::string> der_in(const std::string& pem) {
  const BioPtr memory(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  std::vector<std::string> found;
  while (const CertificatePtr certificate{
      PEM_read_bio_X509(memory.get(), nullptr, nullptr, nullptr)}) {
    found.push_back(der_of(*certificate));
  }
  return found;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += text;
  return all;
}

using Extensions = std::vector<std::pair<std::string, std::string>>;

Extensions leaf_extensions() {
  return {{"basicConstraints", "critical,CA:FALSE"},
          {"keyUsage", "critical,digitalSignature"},
          {"extendedKeyUsage", "serverAuth,clientAuth"},
          {"subjectAltName", "URI:" + std::string(kWorkload)}};
}

X509SvidWire with_extension(const std::string& name, const std::string& value) {
  Extensions extensions = leaf_extensions();
  std::erase_if(extensions, [&](const auto& extension) { return extension.first == name; });
  if (!value.empty()) extensions.emplace_back(name, value);
  return issuer().x509({.spiffe_id = kWorkload, .extensions = extensions});
}

}  // namespace

TEST_CASE("x509: the certificates are unchanged, the leaf first, and the key is PKCS#8") {
  const X509SvidWire svid = good();
  const Outcome outcome = run_with(svid);
  CHECK_SUCCESS(outcome);
  const blackbox::Answer answer = blackbox::read_answer(outcome.output);
  CHECK(answer.token == "");
  const std::vector<std::string> chain = der_in(answer.certificate);
  CHECK(chain.size() == 2);
  CHECK(joined(chain) == svid.certificates);
  CHECK(answer.key.starts_with("-----BEGIN PRIVATE KEY-----\n"));
  CHECK(answer.key.ends_with("-----END PRIVATE KEY-----\n"));
  const BioPtr memory(BIO_new_mem_buf(answer.key.data(), static_cast<int>(answer.key.size())));
  const KeyPtr key(PEM_read_bio_PrivateKey(memory.get(), nullptr, nullptr, nullptr));
  REQUIRE(key != nullptr);
  CHECK(pkcs8_der(*key) == svid.private_key);
}

TEST_CASE("x509: two runs give the same bytes while the SVID is the same") {
  const AgentPeer agent;
  const Outcome one = agent.run(x509_ask());
  CHECK_SUCCESS(one);
  CHECK(agent.run(x509_ask()).output == one.output);
}

TEST_CASE("x509: the claimed end is notAfter less thirty seconds, or a tenth of what remains") {
  for (const std::int64_t seconds : {60, 200, 3600, 100'000}) {
    CAPTURE(seconds);
    const std::int64_t claimed =
        claimed_seconds(run_with(issuer().x509({.spiffe_id = kWorkload, .seconds = seconds})));
    CHECK(claimed <= claim_for(seconds));
    CHECK(claimed >= claim_for(seconds) - 3);
  }
}

TEST_CASE("x509: a certificate without a common name is refused, unless --allow-empty-cn is set") {
  const X509SvidWire svid = issuer().x509({.spiffe_id = kWorkload, .common_name = ""});
  const Outcome outcome = run_with(svid);
  CHECK_REFUSAL(outcome, 1, "common name");
  CHECK(blackbox::says(outcome, "--allow-empty-cn"));
  CHECK(blackbox::says(outcome, "DNS"));
  CHECK_SUCCESS(run_with(svid, x509_ask({"--allow-empty-cn"})));
  Ask by_variable = x509_ask();
  by_variable.variables = {"EXECCRED_ALLOW_EMPTY_CN=true"};
  CHECK_REFUSAL(run_with(svid, by_variable), 1, "has no common name");
}

TEST_CASE("x509: options that belong to the other type are refused") {
  const AgentPeer agent;
  CHECK_FAILURE(agent.run(x509_ask({"--audience=a"})), 2, "--audience has no use with --type=x509");
  CHECK_FAILURE(agent.run({.arguments = {"--allow-empty-cn"}}), 2,
                "--allow-empty-cn has no use with --type=jwt");
  CHECK(agent.peer.server.connections() == 0);
}

TEST_CASE("x509: several SVIDs, chosen by ID, hint, or not at all") {
  const std::vector<WorkloadAgent::Identity> two = {
      {.spiffe_id = "spiffe://example.org/one", .hint = "internal", .common_name = "one"},
      {.spiffe_id = "spiffe://example.org/two", .hint = "external", .common_name = "two"}};
  const AgentPeer agent(two);
  const Outcome none = agent.run(x509_ask());
  CHECK_REFUSAL(none, 1, "--spiffe-id");
  CHECK(blackbox::says(none, "spiffe://example.org/one"));
  CHECK(blackbox::says(none, "spiffe://example.org/two"));
  const Outcome one = agent.run(x509_ask({"--spiffe-id=spiffe://example.org/one"}));
  const Outcome other = agent.run(x509_ask({"--hint=external"}));
  CHECK_SUCCESS(one);
  CHECK_SUCCESS(other);
  CHECK(blackbox::read_answer(one.output).certificate !=
        blackbox::read_answer(other.output).certificate);
  CHECK(agent.run(x509_ask({"--hint=internal"})).output == one.output);
  CHECK_FAILURE(agent.run(x509_ask({"--spiffe-id=spiffe://example.org/three"})), 1,
                "the agent has no identity with the SPIFFE ID");
  CHECK_FAILURE(agent.run(x509_ask({"--hint=external", "--trust-domain=example.com"})), 1,
                "the identity 'spiffe://example.org/two' is of another trust");
  CHECK_SUCCESS(agent.run(x509_ask({"--hint=external", "--trust-domain=example.org"})));
}

TEST_CASE("x509: the agent's order does not choose between two users of one SPIFFE ID") {
  const WorkloadAgent::Identity reader = {
      .spiffe_id = kWorkload, .hint = "reader", .common_name = "fleet-reader"};
  const WorkloadAgent::Identity admin = {
      .spiffe_id = kWorkload, .hint = "admin", .common_name = "fleet-admin"};
  const std::string id = "--spiffe-id=" + std::string(kWorkload);
  for (const auto& identities : {std::vector{reader, admin}, std::vector{admin, reader}}) {
    const AgentPeer agent(identities);
    const Outcome none = agent.run(x509_ask({id}));
    CHECK_REFUSAL(none, 1,
                  "the agent has 2 identities with the SPIFFE ID 'spiffe://example.org/workload'");
    CHECK(blackbox::says(none, "(hint 'reader', CN 'fleet-reader', O 'SPIRE')"));
    CHECK(blackbox::says(none, "(hint 'admin', CN 'fleet-admin', O 'SPIRE')"));
    CHECK(blackbox::says(none, "hint: choose one with --hint"));
    const Outcome chosen = agent.run(x509_ask({id, "--hint=reader"}));
    CHECK_SUCCESS(chosen);
    CHECK(agent.run(x509_ask({"--hint=reader"})).output == chosen.output);
  }
  // A token's only user is its SPIFFE ID.
  const AgentPeer agent({reader, admin});
  CHECK_SUCCESS(agent.run({.arguments = {id}}));
}

TEST_CASE("x509: entries of one SPIFFE ID without hints need hints, or one user and group") {
  const WorkloadAgent::Identity reader = {.spiffe_id = kWorkload, .common_name = "fleet-reader"};
  const std::string id = "--spiffe-id=" + std::string(kWorkload);
  const AgentPeer differ({reader, {.spiffe_id = kWorkload, .common_name = "fleet-admin"}});
  const Outcome outcome = differ.run(x509_ask({id}));
  CHECK_REFUSAL(outcome, 1, "(no hint, CN 'fleet-admin', O 'SPIRE')");
  CHECK(blackbox::says(outcome, "they have no hint: give each registration entry its own (-hint)"));
  const AgentPeer same({reader, reader});
  const Outcome one = same.run(x509_ask({id}));
  CHECK_SUCCESS(one);
  CHECK(same.run(x509_ask({id})).output == one.output);
}

TEST_CASE("x509: a leaf that violates the standard's rules is refused") {
  for (const X509SvidWire& svid :
       {with_extension("basicConstraints", "critical,CA:TRUE"),
        with_extension("subjectAltName", "URI:spiffe://example.org/other"),
        with_extension("subjectAltName",
                       "URI:" + std::string(kWorkload) + ",URI:spiffe://example.org/other"),
        with_extension("subjectAltName", "DNS:example.org"), with_extension("subjectAltName", ""),
        with_extension("keyUsage", "critical,keyEncipherment"), with_extension("keyUsage", ""),
        with_extension("keyUsage", "critical,digitalSignature,keyCertSign"),
        with_extension("keyUsage", "critical,digitalSignature,cRLSign"),
        with_extension("extendedKeyUsage", "serverAuth"),
        issuer().x509({.spiffe_id = kWorkload, .seconds = -1})}) {
    const Outcome outcome = run_with(svid);
    CHECK_FAILURE(outcome, 1, "the X.509-SVID");
    check_at_once(outcome);
  }
  CHECK_SUCCESS(run_with(with_extension("extendedKeyUsage", "")));
  CHECK_SUCCESS(run_with(
      with_extension("subjectAltName", "URI:" + std::string(kWorkload) + ",DNS:example.org")));
}

TEST_CASE("x509: parts that do not fit together, or are no DER, are refused") {
  const X509SvidWire svid = good();
  const X509SvidWire other = good();
  const std::size_t leaf_size =
      der_in(blackbox::read_answer(run_with(svid).output).certificate)[0].size();
  const auto changed = [&](auto change) {
    X509SvidWire copy = svid;
    change(copy);
    return copy;
  };
  for (const X509SvidWire& wrong :
       {changed([&](X509SvidWire& s) { s.private_key = other.private_key; }),
        changed([](X509SvidWire& s) { s.private_key += "x"; }),
        changed([](X509SvidWire& s) { s.private_key = "garbage"; }),
        changed([](X509SvidWire& s) { s.certificates += "x"; }),
        changed([](X509SvidWire& s) { s.certificates.pop_back(); }),
        changed([](X509SvidWire& s) { s.certificates = "garbage"; }),
        // A second leaf after the leaf, and the intermediate first.
        changed([&](X509SvidWire& s) { s.certificates += s.certificates.substr(0, leaf_size); }),
        changed([&](X509SvidWire& s) {
          s.certificates = s.certificates.substr(leaf_size) + s.certificates.substr(0, leaf_size);
        }),
        changed([](X509SvidWire& s) { s.bundle = "garbage"; }),
        changed([](X509SvidWire& s) { s.bundle += "x"; }),
        changed([](X509SvidWire& s) { s.spiffe_id = "spiffe://example.org/other"; })}) {
    const Outcome outcome = run_with(wrong);
    CHECK_FAILURE(outcome, 1, "the X.509-SVID");
    check_at_once(outcome);
  }
  CHECK_SUCCESS(run_with(
      changed([&](X509SvidWire& s) { s.certificates = s.certificates.substr(0, leaf_size); })));
}

TEST_CASE("x509: a ClusterProfile's audience is ignored") {
  const AgentPeer agent;
  Ask ask = x509_ask();
  ask.config = R"({"audience":"one","x":1})";
  CHECK_SUCCESS(agent.run(ask));
  // The variable may be for other plugins of the same controller.
  ask.variables = {"EXECCRED_ALLOW_AUDIENCE=https://other"};
  CHECK_SUCCESS(agent.run(ask));
  ask.arguments.emplace_back("--debug");
  CHECK(says(agent.run(ask), "--type=x509 does not use it"));
}

}  // namespace execcred::test
