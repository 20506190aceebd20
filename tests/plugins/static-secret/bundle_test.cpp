// SPDX-License-Identifier: Apache-2.0
// --credential-bundle-file: private key and certificates in one file, as Pod Certificates project
// them (KEP-4317).
#include "material.hpp"
#include "plugin.hpp"
#include "volume.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace execcred::test {
namespace {

using blackbox::Sandbox;

Outcome of_bundle(const std::string& path, const Texts& more = {}, const Texts& variables = {}) {
  return blackbox::run(
      plugin_of(Texts{"--credential-bundle-file=" + path} + more, variables + asked_for(kSpoke)));
}

}  // namespace

TEST_CASE("bundle: the key and the whole chain are given, in either order") {
  const Sandbox sandbox;
  const Pair pair = make_pair({.ends = 400});
  const Pair authority = make_pair({.usage = "", .is_ca = true});
  const std::string chain = pair.certificate + authority.certificate;
  for (const std::string& bundle : {pair.key + chain, chain + pair.key}) {
    const Outcome outcome = of_bundle(sandbox.write("bundle.pem", bundle, 0600));
    CHECK_SUCCESS(outcome);
    CHECK(blackbox::read_answer(outcome.output).certificate == chain);
    CHECK((blackbox::read_answer(outcome.output).key == pair.key));
    CHECK(is_about(claimed_seconds(outcome), claim_for(400)));
  }
  CHECK_SUCCESS(of_bundle(sandbox.at("bundle.pem"), {}, {"KUBECONFIG=/nowhere"}));
}

TEST_CASE("bundle: it must have exactly one private key, which matches a valid certificate") {
  const Sandbox sandbox;
  const Pair pair = make_pair();
  const Pair other = make_pair();
  const Pair old = make_pair({.begins = -7200, .ends = -3600});
  const Pair server = make_pair({.usage = "serverAuth"});
  struct Case {
    std::string bundle, text;
  };
  for (const Case& c :
       {Case{pair.certificate, "the private key is missing"}, Case{pair.key, "certificate"},
        Case{pair.key + other.key + pair.certificate, "several PRIVATE KEY blocks"},
        Case{pair.key + pair.certificate + pair.key, "several PRIVATE KEY blocks"},
        Case{other.key + pair.certificate, "does not belong to the certificate"},
        Case{pair.encrypted_key + pair.certificate, "is encrypted"},
        Case{old.key + old.certificate, "expired"},
        Case{server.key + server.certificate, "clientAuth"},
        Case{pair.key + pair.certificate.substr(0, 200), "reading --credential-bundle-file"},
        Case{"", "reading --credential-bundle-file"},
        Case{"words", "reading --credential-bundle-file"}}) {
    CAPTURE(c.text);
    const Outcome outcome = of_bundle(sandbox.write("bundle.pem", c.bundle, 0600));
    CHECK_FAILURE(outcome, 1, c.text);
    CHECK(says(outcome, "bundle.pem"));
    // The kubelet replaces the file as a whole, so the run does not wait for another state.
    CHECK(outcome.elapsed < blackbox::kNoWait);
  }
}

TEST_CASE("bundle: a path that cannot be read is a configuration error") {
  const Sandbox sandbox;
  const Pair pair = make_pair();
  CHECK_REFUSAL(of_bundle(sandbox.at("none")), 2, "No such file");
  CHECK_FAILURE(of_bundle(sandbox.path().native()), 2, "it is a directory");
  CHECK_FAILURE(of_bundle(sandbox.write("open", pair.key + pair.certificate, 0666)), 2,
                "writable by other users");
  CHECK_REFUSAL(of_bundle(sandbox.write("large", std::string(200UL * 1024, ' ') + pair.key, 0600)),
                2, "larger than 128 KiB");
}

TEST_CASE("bundle: it excludes other sources, and allows neither a ClusterProfile nor a template") {
  const Sandbox sandbox;
  const Pair pair = make_pair();
  const std::string path = sandbox.write("spoke-1", pair.key + pair.certificate, 0600);
  for (const Texts& other :
       {Texts{"--secret-dir=/etc"}, Texts{"--kubeconfig-file=/etc/x"}, Texts{"--kubeconfig=/etc/x"},
        Texts{"--client-certificate=/a", "--client-key=/b"},
        Texts{"--convention=mounted-certificate"}}) {
    CAPTURE(other[0]);
    CHECK_REFUSAL(of_bundle(path, other), 2, "--credential-bundle-file");
  }
  CHECK_REFUSAL(of_bundle(path, {"--require-label=a=b"}), 2, "Secret of the hub's API");
  const Texts asked = asked_for(kSpoke, R"({"clusterName":"spoke-1"})");
  CHECK_REFUSAL(
      blackbox::run(plugin_of({"--from-profile", "--credential-bundle-file=" + path}, asked)), 2,
      "--credential-bundle-file stands behind --from-profile");
  CHECK_REFUSAL(blackbox::run(plugin_of(
                    {}, asked_for(kSpoke, R"({"credentialBundleFile":")" + path + "\"}"))),
                2, "credentialBundleFile");
  CHECK_REFUSAL(
      blackbox::run(plugin_of(
          {"--credential-bundle-file=" + sandbox.path().native() + "/{clusterName}"}, asked)),
      2, "{clusterName}");
}

TEST_CASE("bundle: key and certificate always match while the kubelet replaces the file") {
  const Sandbox sandbox;
  Volume volume(sandbox.at("volume"));
  const std::vector<Pair> pairs = {make_pair(), make_pair(), make_pair()};
  std::size_t turn = 0;
  const auto swap = [&] {
    const Pair& pair = pairs[++turn % pairs.size()];
    volume.set({{"credentialbundle.pem", pair.key + pair.certificate}});
  };
  swap();
  std::atomic<bool> is_over = false;
  std::atomic<int> swaps = 0;
  std::thread swapping([&] {
    for (; !is_over; ++swaps) swap();
  });
  for (int i = 0; i < 60; ++i) {
    CHECK_SUCCESS(of_bundle(volume.path() + "/credentialbundle.pem"));
  }
  is_over = true;
  swapping.join();
  CHECK(swaps > 60);
}

}  // namespace execcred::test
