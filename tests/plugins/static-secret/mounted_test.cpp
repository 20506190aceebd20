// SPDX-License-Identifier: Apache-2.0
// Credentials in files: mounted Secrets, kubeconfigs, and certificates that are being renewed.
#include "material.hpp"
#include "plugin.hpp"
#include "support/meanwhile.hpp"
#include "volume.hpp"

#include <execcred/base/pause.hpp>

#include <doctest/doctest.h>
#include <fcntl.h>

#include <filesystem>

namespace execcred::test {
namespace {

namespace fs = std::filesystem;
using blackbox::Sandbox;

Outcome of_files(Texts arguments, const std::string& server = std::string(kSpoke)) {
  return blackbox::run(
      plugin_of(std::move(arguments), asked_for(server, R"({"clusterName":"spoke-1"})")));
}

}  // namespace

TEST_CASE("mounted Secret: its keys are files, and --secret-dir is a template") {
  const Sandbox sandbox;
  const std::string token = new_token();
  Volume volume(sandbox.at("spoke-1"));
  volume.set({{"token", token + "\n"}, {"kubeconfig", stored_kubeconfig("token: " + token)}});
  const std::string folder = sandbox.path().native() + "/{clusterName}";
  CHECK(token_of(of_files({"--secret-dir=" + folder})) == token);
  CHECK(token_of(of_files({"--secret-dir=" + volume.path(), "--format=kubeconfig"})) == token);
  CHECK(token_of(of_files({"--secret-dir=" + volume.path(), "--convention=secretreader"})) ==
        token);
  CHECK_REFUSAL(of_files({"--secret-dir=" + volume.path(), "--format=kubeconfig"},
                         "https://evil.example.net"),
                1, "is stored for");
}

TEST_CASE("mounted Secret: {server.host} binds neither a token nor a certificate to a connection") {
  const Sandbox sandbox;
  const Pair pair = make_pair();
  Volume volume(sandbox.at("spoke-1.example.com"));
  volume.set({{"token", new_token()},
              {"kubeconfig", stored_kubeconfig("token: " + new_token())},
              {"tls.crt", pair.certificate},
              {"tls.key", pair.key}});
  const Texts proxy = asked_for(kSpoke, "", R"(,"proxy-url":"http://evil.example.net:3128")");
  const Texts insecure = asked_for(kSpoke, "", R"(,"insecure-skip-tls-verify":true)");
  for (const std::string format : {"token", "certificate", "kubeconfig"}) {
    CAPTURE(format);
    const Texts arguments = {"--secret-dir=" + sandbox.path().native() + "/{server.host}",
                             "--format=" + format};
    const auto run = [](const Texts& texts, const Texts& asked) {
      return blackbox::run(plugin_of(texts, asked));
    };
    CHECK_SUCCESS(run(arguments, asked_for(kSpoke)));
    CHECK_REFUSAL(run(arguments, proxy), 1, "matches no --allow-proxy");
    CHECK_SUCCESS(run(arguments + Texts{"--allow-proxy=http://evil.example.net:3128"}, proxy));
    CHECK_REFUSAL(run(arguments, insecure), 1, "spec.cluster.insecure-skip-tls-verify is set");
    // A stored server is bound by what is stored with it.
    const Outcome allowed = run(arguments + Texts{"--allow-insecure"}, insecure);
    if (format == "kubeconfig") CHECK_SUCCESS(allowed);
    if (format != "kubeconfig") CHECK_REFUSAL(allowed, 1, "{server.host} in --secret-dir needs");
  }
}

TEST_CASE("mounted Secret: missing and invalid parts are configuration or credential errors") {
  const Sandbox sandbox;
  Volume volume(sandbox.at("volume"));
  volume.set({{"token", ""}, {"large", std::string(200UL * 1024, 'x')}});
  fs::create_directory(sandbox.at("empty"));
  struct Case {
    Texts arguments;
    int exit_code;
    std::string text;
  };
  const std::string here = "--secret-dir=" + volume.path();
  for (const Case& c :
       {Case{{"--secret-dir=" + sandbox.at("none")}, 2, "No such file"},
        Case{{"--secret-dir=" + sandbox.at("empty")}, 1, "has no key 'token'"},
        Case{{here, "--key=other"}, 1, "has no key 'other'"}, Case{{here}, 1, "'token' of"},
        Case{{here, "--key=large"}, 2, "larger than 128 KiB"},
        Case{{here, "--key=../token"}, 2, "no key of a Secret"},
        Case{{here, "--key=..data"}, 1, "has no key"}}) {
    CAPTURE(c.text);
    const Outcome outcome = of_files(c.arguments);
    CHECK_FAILURE(outcome, c.exit_code, c.text);
  }
  CHECK_FALSE(says(of_files({here, "--key=other"}), "it is empty"));
}

TEST_CASE("mounted Secret: options that need the hub's API are errors") {
  const Sandbox sandbox;
  Volume volume(sandbox.at("volume"));
  volume.set({{"token", new_token()}});
  for (const std::string option :
       {"--selector=a=b", "--require-label=a=b", "--server-annotation=example.com/server",
        "--convention=cluster-profile", "--convention=cluster-api", "--convention=istio",
        "--convention=service-account-token"}) {
    CAPTURE(option);
    CHECK_REFUSAL(of_files({"--secret-dir=" + volume.path(), option}), 2,
                  "can only be checked on a Secret of the hub's API");
  }
  CHECK_FAILURE(of_files({"--convention=mounted-certificate", "--require-label=a=b"}), 2,
                "labels, type and annotations can only be checked on a");
}

TEST_CASE("sources: a flag that the named source has no use for is an error") {
  const std::string folder = "--secret-dir=/s";
  const std::string kubeconfig = "--kubeconfig-file=/k";
  const std::string pair = "--client-certificate=/c";
  const std::string bundle = "--credential-bundle-file=/b";
  struct Row {
    std::string option;
    std::vector<std::string> sources;
  };
  for (const Row& row :
       {Row{"--namespace=a", {folder, kubeconfig, pair, bundle}},
        Row{"--secret-name=a", {folder, kubeconfig, pair, bundle}},
        Row{"--key=a", {kubeconfig, pair, bundle}},
        Row{"--format=kubeconfig", {kubeconfig, pair, bundle}}, Row{"--context=a", {pair, bundle}},
        Row{"--both", {pair, bundle}}, Row{"--kubeconfig=/k", {bundle}}}) {
    for (const std::string& source : row.sources) {
      Texts arguments = {source, row.option};
      if (source == pair) arguments.emplace_back("--client-key=/k");
      CHECK_REFUSAL(of_files(arguments), 2,
                    row.option.substr(0, row.option.find('=')) + " has no use with " +
                        source.substr(0, source.find('=')));
    }
  }
  CHECK_REFUSAL(of_files({folder, "--context=a"}), 2, "the stored credential is no kubeconfig");
  // A variable or field may be meant for another entry.
  const Sandbox sandbox;
  sandbox.write("token", new_token(), 0600);
  Texts variables = asked_for(kSpoke, R"({"clusterName":"spoke-1","name":"A","namespace":"B"})");
  variables.insert(variables.end(),
                   {"EXECCRED_NAMESPACE=Bad", "EXECCRED_SECRET_NAME=a", "EXECCRED_CONTEXT=a"});
  CHECK_SUCCESS(blackbox::run(plugin_of({"--secret-dir=" + sandbox.path().native()}, variables)));
}

TEST_CASE("mounted Secret: ..data may not lead out of its folder") {
  const Sandbox sandbox;
  sandbox.write("token", new_token(), 0600);
  for (const std::string& target :
       {std::string(".."), std::string("../"), sandbox.path().native()}) {
    CAPTURE(target);
    const std::string folder = sandbox.at("volume");
    fs::create_directory(folder);
    fs::create_symlink(target, folder + "/..data");
    CHECK_FAILURE(of_files({"--secret-dir=" + folder}), 2,
                  "it is a symbolic link that leaves its directory");
    fs::remove_all(folder);
  }
}

TEST_CASE("mounted Secret: certificate and key always match while the volume is replaced") {
  const Sandbox sandbox;
  Volume volume(sandbox.at("volume"));
  const std::vector<Pair> pairs = {make_pair(), make_pair(), make_pair()};
  std::size_t turn = 0;
  // A volume is never replaced again before a plugin can read a file of it.
  constexpr Duration kStays = std::chrono::milliseconds(2);
  const auto swap = [&] {
    pause_for(kStays);
    const Pair& pair = pairs[++turn % pairs.size()];
    volume.set({{"tls.crt", pair.certificate}, {"tls.key", pair.key}});
  };
  swap();
  const Meanwhile swapping(swap);
  for (int i = 0; i < 60; ++i) {
    CHECK_SUCCESS(of_files({"--secret-dir=" + volume.path(), "--format=certificate"}));
  }
  CHECK(swapping.count() > 60);
}

TEST_CASE("kubeconfig file: it is read and checked like a stored kubeconfig") {
  const Sandbox sandbox;
  const std::string token = new_token();
  const std::string good = sandbox.write("good", stored_kubeconfig("token: " + token), 0600);
  const std::string bad = sandbox.write("bad", stored_kubeconfig("exec: {command: /bin/sh}"), 0600);
  CHECK(token_of(of_files({"--kubeconfig-file=" + good})) == token);
  CHECK(token_of(of_files({"--kubeconfig-file=" + good, "--convention=kubeconfig-secretreader"})) ==
        token);
  CHECK_REFUSAL(of_files({"--kubeconfig-file=" + good}, "https://evil.example.net"), 1,
                "is stored for");
  CHECK_REFUSAL(of_files({"--kubeconfig-file=" + bad}), 1, "an exec section");
  CHECK_REFUSAL(of_files({"--kubeconfig-file=" + good, "--context=none"}), 1, "'none'");
  CHECK_FAILURE(of_files({"--kubeconfig-file=" + sandbox.at("none")}), 2,
                "No such file or directory");
  CHECK_REFUSAL(of_files({"--kubeconfig-file=" + good, "--convention=mounted-certificate"}), 2,
                "--convention=mounted-certificate");
}

TEST_CASE("certificate files: both options, of any folders, and the same bytes each time") {
  const Sandbox sandbox;
  const Pair pair = make_pair({.ends = 400});
  const std::string certificate = sandbox.write("a/tls.crt", pair.certificate, 0600);
  const std::string key = sandbox.write("b/tls.key", pair.key, 0600);
  const Texts arguments = {"--client-certificate=" + certificate, "--client-key=" + key};
  const Outcome outcome = of_files(arguments);
  CHECK_SUCCESS(outcome);
  CHECK((blackbox::read_answer(outcome.output).certificate == pair.certificate));
  CHECK((of_files(arguments).output == outcome.output));
  CHECK_FAILURE(of_files({arguments[0]}), 2, "--client-certificate and --client-key go together");
  CHECK_FAILURE(of_files({arguments[1]}), 2, "--client-certificate and --client-key go together");
  CHECK_FAILURE(of_files({arguments[0], arguments[1], "--secret-dir=/etc"}), 2,
                "--secret-dir, --kubeconfig-file, --client-certificate");
}

TEST_CASE("certificate files: both of Istio's sets of names are found in a folder") {
  struct Names {
    std::string certificate, key;
  };
  for (const Names& names :
       {Names{"cert-chain.pem", "key.pem"}, Names{"certificates.pem", "private_key.pem"}}) {
    CAPTURE(names.key);
    const Sandbox sandbox;
    const Pair pair = make_pair();
    Volume volume(sandbox.at("volume"));
    const Texts arguments = {"--convention=mounted-certificate", "--secret-dir=" + volume.path()};
    CHECK_REFUSAL(of_files(arguments), 2, "cert-chain.pem");
    volume.set({{names.certificate, pair.certificate}, {names.key, pair.key}});
    CHECK_SUCCESS(of_files(arguments));
    volume.set({{names.certificate, pair.certificate}});
    const Outcome missing = of_files(arguments);
    CHECK_FAILURE(missing, 2, "No such file or directory");
    CHECK(says(missing, names.key));
    CHECK(missing.elapsed < blackbox::kNoWait);
  }
}

TEST_CASE("certificate files: both are read again until they match") {
  const Sandbox sandbox;
  const Pair before = make_pair();
  const Pair after = make_pair();
  const std::string certificate = sandbox.write("tls.crt", after.certificate, 0600);
  const std::string key = sandbox.write("tls.key", before.key, 0600);
  const Texts arguments = {"--client-certificate=" + certificate, "--client-key=" + key};
  Texts impatient = arguments;
  impatient.emplace_back("--timeout=700ms");
  const Outcome given_up = of_files(impatient);
  CHECK_REFUSAL(given_up, 1, "does not belong to the certificate");
  CHECK(given_up.elapsed < blackbox::kNoWait);

  const std::string log = sandbox.at("log");
  blackbox::Command command = plugin_of(arguments, {"EXECCRED_DEBUG=1"});
  command.before_exec = [&log] { blackbox::open_descriptor(2, log.c_str(), O_CREAT | O_WRONLY); };
  blackbox::Child child(command);
  // The key follows once the plugin has seen the mismatch.
  REQUIRE(blackbox::wait_until(
      [&log] { return blackbox::read_text(log).find("reading both again") != std::string::npos; }));
  write_atomically(key, after.key);
  const Outcome outcome = child.wait();
  CHECK(outcome.exit_code == 0);
  CHECK((blackbox::read_answer(outcome.output).key == after.key));
}

TEST_CASE("certificate files: those of a folder or kubeconfig are read until the deadline") {
  const Sandbox sandbox;
  const Pair before = make_pair();
  const Pair after = make_pair();
  sandbox.write("tls.crt", after.certificate, 0600);
  const std::string key = sandbox.write("tls.key", before.key, 0600);
  // Relative paths are of the kubeconfig's folder.
  const std::string kubeconfig = sandbox.write(
      "config", stored_kubeconfig("client-certificate: tls.crt, client-key: tls.key"), 0600);
  const Texts folder = {"--secret-dir=" + sandbox.path().native(), "--format=certificate"};
  const Texts named = {"--kubeconfig-file=" + kubeconfig, "--allow-field=clientKey",
                       "--allow-field=clientCertificate"};
  for (Texts arguments : {folder, named}) {
    CAPTURE(arguments[0]);
    write_atomically(key, before.key);
    arguments.emplace_back("--timeout=1500ms");
    const Outcome given_up = of_files(arguments);
    CHECK_REFUSAL(given_up, 1, "does not belong to the certificate");
    // Pauses double, and the last is what is left: 100, 200, 400, then 500.
    CHECK(given_up.elapsed >= blackbox::milliseconds(1100));
    write_atomically(key, after.key);
    CHECK_SUCCESS(of_files(arguments));
  }
}

TEST_CASE("certificate files: an error that does not pass by waiting is reported at once") {
  const Sandbox sandbox;
  const Pair pair = make_pair();
  const Pair expired = make_pair({.begins = -7200, .ends = -3600});
  const std::string certificate = sandbox.write("tls.crt", pair.certificate, 0600);
  struct Case {
    std::string certificate, key;
    int exit_code;
    std::string text;
  };
  for (const Case& c :
       {Case{certificate, sandbox.at("none"), 2, "No such file"},
        Case{sandbox.at("none"), certificate, 2, "No such file"},
        Case{certificate, sandbox.write("encrypted", pair.encrypted_key, 0600), 1,
             "the private key is encrypted"},
        Case{sandbox.write("old.crt", expired.certificate, 0600),
             sandbox.write("old.key", expired.key, 0600), 1, "has expired"},
        Case{certificate, sandbox.write("empty", "", 0600), 1, "missing or empty"}}) {
    CAPTURE(c.key);
    const Outcome outcome =
        of_files({"--client-certificate=" + c.certificate, "--client-key=" + c.key});
    CHECK_FAILURE(outcome, c.exit_code, c.text);
    CHECK(outcome.elapsed < blackbox::kNoWait);
  }
}

TEST_CASE("certificate files: parts without a final newline are joined correctly") {
  const Sandbox sandbox;
  const Pair authority = make_pair({.usage = "", .is_ca = true});
  const Pair pair = make_pair();
  const std::string leaf = pair.certificate.substr(0, pair.certificate.size() - 1);
  const std::string key = sandbox.write("tls.key", pair.key.substr(0, pair.key.size() - 1), 0600);
  const std::string certificate =
      sandbox.write("tls.crt", leaf + "\n" + authority.certificate, 0600);
  const Outcome outcome = of_files({"--client-certificate=" + certificate, "--client-key=" + key});
  CHECK((blackbox::read_answer(outcome.output).certificate ==
         pair.certificate + authority.certificate));
  const std::string glued = sandbox.write("glued.crt", leaf + authority.certificate, 0600);
  CHECK_REFUSAL(of_files({"--client-certificate=" + glued, "--client-key=" + key}), 1,
                "lines of their own");
}

}  // namespace execcred::test
