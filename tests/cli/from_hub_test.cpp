// SPDX-License-Identifier: Apache-2.0
// --from-hub: the commands read ClusterProfiles from the hub's API, page by page, instead of from
// files.
#include "build_kind.hpp"
#include "documents.hpp"
#include "hub.hpp"
#include "inventory.hpp"
#include "plugin_under_test.hpp"
#include "support/memory_limit.hpp"
#include "support/syscall_stops.hpp"

#include <doctest/doctest.h>
#include <sched.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>

using namespace blackbox;
using execcred::test::bounded;
using execcred::test::HttpRequest;
using execcred::test::HttpResponse;
using execcred::test::ObjectApi;

namespace {

constexpr const char* kDiscovery = "GET /apis/multicluster.x-k8s.io";
constexpr const char* kAll = "GET /apis/multicluster.x-k8s.io/v1alpha1/clusterprofiles?limit=500";

// The hub's objects as one file.
std::string as_list(const ObjectApi& api) {
  return api.answer({.method = "GET", .target = kProfiles.path + "/clusterprofiles"}).body;
}

bool is_discovery(const HttpRequest& request) { return "GET " + request.target == kDiscovery; }

// The resource in v1alpha2, for a server that has no older version of it.
ObjectApi::Resource newer() {
  ObjectApi::Resource resource = kProfiles;
  resource.path = "/apis/multicluster.x-k8s.io/v1alpha2";
  return resource;
}

std::string in_v1alpha2(std::string profile) {
  return profile.replace(profile.find("v1alpha1"), 8, "v1alpha2");
}

ObjectApi two_namespaces() {
  ObjectApi api = empty_hub();
  api.add(kProfiles, hub_profile("a", "fleet", R"({"tier":"gold"})"));
  api.add(kProfiles, hub_profile("b", "fleet", R"({"tier":"iron"})"));
  api.add(kProfiles, hub_profile("a", "other", R"({"tier":"gold"})"));
  return api;
}

// The profile with a cluster's extension that is nested this deep.
std::string nested(std::string profile, std::size_t depth) {
  const std::string deep = std::string(depth, '[') + std::string(depth, ']');
  const std::size_t at = profile.find(R"("server")");
  return profile.insert(at, R"("extensions":[{"name":"x","extension":)" + deep + "}],");
}

// The profile with an annotation of this size.
std::string large(std::string profile, std::size_t size) {
  const std::size_t at = profile.find(R"("labels")");
  return profile.insert(at, R"("annotations":{"a":")" + std::string(size, 'x') + "\"},");
}

struct FleetCommand {
  std::string name;
  std::vector<std::string> arguments;
};

const std::vector<FleetCommand> kFleetCommands = {
    {"get", {"--all"}}, {"kubeconfig", {}}, {"lint", {}}, {"resolve", {}}};

// lint takes no mapping option.
Outcome run_fleet_command(const Hub& hub, const FleetCommand& command) {
  if (command.name == "lint") return hub.run({"lint", "--from-hub"});
  return hub.from_hub(command.name, command.arguments);
}

// The names of the contexts, in their order; or the failure.
std::string contexts(const Outcome& outcome) {
  if (outcome.exit_code != 0) return describe(outcome);
  const std::string from = outcome.output.substr(outcome.output.find("\ncontexts:"));
  std::string names;
  for (std::size_t at = from.find("- name: "); at != std::string::npos;
       at = from.find("- name: ", at + 1)) {
    const std::string name = from.substr(at + 8, from.find('\n', at) - at - 8);
    if (name.find('/') != std::string::npos) names += (names.empty() ? "" : " ") + name;
  }
  return names;
}

std::vector<std::string> files_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

TEST_SUITE_BEGIN("cli");

TEST_CASE("from-hub: pages of 500 give the same kubeconfig as one file with all ClusterProfiles") {
  const ObjectApi api = hub_of(1100);
  const Hub hub(api);
  const Outcome outcome = hub.from_hub("kubeconfig");
  REQUIRE_MESSAGE(outcome.exit_code == 0, describe(outcome));
  CHECK(outcome.error_output == "");
  const Inventory inventory(mapping({mapped("p", hub.sandbox().at("plugin"))}), as_list(api));
  CHECK(outcome.output == inventory.run("kubeconfig").output);

  const std::vector<std::string> requests = hub.requests();
  REQUIRE(requests.size() == 4);
  CHECK(requests[0] == kDiscovery);
  CHECK(requests[1] == kAll);
  CHECK(requests[2].starts_with(std::string(kAll) + "&continue="));
  CHECK(requests[3].starts_with(std::string(kAll) + "&continue="));
  for (const HttpRequest& request : hub.server().requests()) {
    CHECK(request.header("Authorization") == "Bearer HubTokenCanary");
  }
}

TEST_CASE("from-hub: --namespace and --selector choose ClusterProfiles, alone and together") {
  const ObjectApi api = two_namespaces();
  const Hub hub(api);
  CHECK(contexts(hub.from_hub("kubeconfig")) == "fleet/a fleet/b other/a");
  CHECK(contexts(hub.from_hub("kubeconfig", {"-n", "fleet"})) == "fleet/a fleet/b");
  CHECK(contexts(hub.from_hub("kubeconfig", {"-l", "tier=gold"})) == "fleet/a other/a");
  CHECK(contexts(hub.from_hub("kubeconfig", {"--namespace=fleet", "--selector=tier=gold"})) ==
        "fleet/a");
  CHECK_REFUSAL(hub.from_hub("kubeconfig", {"-n", "none"}), 2,
                "namespace 'none' of the hub holds no ClusterProfile");
  CHECK(hub.requests()[7] ==
        "GET /apis/multicluster.x-k8s.io/v1alpha1/namespaces/fleet/clusterprofiles"
        "?limit=500&labelSelector=tier%3Dgold");
}

TEST_CASE("from-hub: the selector applies even if the server ignores it") {
  const ObjectApi api = two_namespaces();
  const Hub hub([&api](const HttpRequest& request) {
    HttpRequest without_selector = request;
    without_selector.target = std::string(request.path());
    return api.answer(without_selector);
  });
  CHECK(contexts(hub.from_hub("kubeconfig", {"-l", "tier=gold"})) == "fleet/a other/a");
}

TEST_CASE("from-hub: --name with a namespace is one GET, without a namespace a list") {
  const Hub hub(two_namespaces());
  const std::string get =
      "GET /apis/multicluster.x-k8s.io/v1alpha1/namespaces/fleet/clusterprofiles/a";
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"--name=fleet/a"}, {"-n", "fleet", "--name=a"}, {"-n", "fleet", "--name=fleet/a"}}) {
    const Outcome outcome = hub.from_hub("resolve", arguments);
    REQUIRE_MESSAGE(outcome.exit_code == 0, describe(outcome));
    CHECK(outcome.output.find("https://a.example.com:6443") != std::string::npos);
    CHECK(hub.requests().back() == get);
  }
  CHECK(hub.from_hub("resolve", {"--name=b"}).exit_code == 0);
  CHECK(hub.requests().back() == kAll);
  CHECK_REFUSAL(hub.from_hub("get", {"--name=a"}), 2, "the hub holds 2 ClusterProfiles");
  CHECK_REFUSAL(hub.from_hub("get", {"--name=fleet/none"}), 2,
                "the hub holds no ClusterProfile named 'fleet/none'");
  CHECK_REFUSAL(hub.from_hub("get", {"--name=fleet/a", "-l", "tier=iron"}), 2, "no ClusterProfile");
  CHECK_REFUSAL(hub.from_hub("get", {"--name=fleet/a", "-n", "other"}), 2, "--namespace");
  CHECK_REFUSAL(hub.from_hub("get", {"--name=fleet/../../x"}), 2, "--name");
  CHECK_REFUSAL(hub.from_hub("get", {"--name=fleet?/a"}), 2, "--name");
}

TEST_CASE("from-hub: get runs the plugin of the hub's ClusterProfile") {
  const Hub hub(two_namespaces());
  const Outcome outcome = hub.from_hub("get", {"--name=fleet/a", "-o", "token"});
  CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
  CHECK(outcome.output == "TokenOfThePlugin\n");
}

TEST_CASE("from-hub: the time limit for reading the hub does not apply to the plugin of get") {
  const Hub hub(two_namespaces());
  int timer_calls = 0;  // the first one starts the timer, the second one stops it
  const auto starts_plugin_under_timer = [&timer_calls](long call, long argument) {
    if (call == SYS_setitimer) ++timer_calls;
#ifdef SYS_vfork
    const bool is_start = call == SYS_vfork;
#else
    const bool is_start = call == SYS_clone && (argument & CLONE_VFORK) != 0;
#endif
    static_cast<void>(argument);
    return is_start && timer_calls != 2;
  };
  const Outcome outcome =
      run_and_lose_parent(hub.command({"get", "-m", hub.sandbox().at("mapping.json"), "--from-hub",
                                       "--name=fleet/a", "-o", "token"}),
                          starts_plugin_under_timer);
  constexpr int kNoSuchMoment = 203;
  CHECK_MESSAGE(outcome.exit_code == kNoSuchMoment, describe(outcome));
  CHECK(outcome.output == "TokenOfThePlugin\n");
}

TEST_CASE("from-hub: an object other than the requested one is refused") {
  for (const std::string& answer :
       {hub_profile("b"), hub_profile("a", "other"),
        std::string(R"({"kind":"Secret","metadata":{"name":"a","namespace":"fleet"}})")}) {
    const Hub hub([&answer](const HttpRequest& request) {
      return is_discovery(request) ? empty_hub().answer(request) : HttpResponse{.body = answer};
    });
    CHECK_REFUSAL(hub.from_hub("get", {"--name=fleet/a"}), 1, "another object");
  }
}

TEST_CASE("from-hub: there is exactly one source, and options of the hub need --from-hub") {
  const Hub hub(two_namespaces());
  const std::string mapping_path = hub.sandbox().at("mapping.json");
  for (const std::string subcommand : {"get", "resolve", "kubeconfig"}) {
    CHECK_REFUSAL(run({.arguments = {kCli, subcommand, "-m", mapping_path}}), 2,
                  "neither --clusterprofile nor --from-hub");
    CHECK_REFUSAL(hub.from_hub(subcommand, {"-f", mapping_path}), 2, "both given");
    for (const std::string option : {"--kubeconfig=/x", "--context=x"}) {
      CHECK_REFUSAL(run({.arguments = {kCli, subcommand, "-m", mapping_path, "-f", "x", option}}),
                    2, option.substr(0, option.find('=')) + " is given without --from-hub");
    }
    CHECK_REFUSAL(hub.from_hub(subcommand, {"-n", "Fleet/.."}), 2, "--namespace");
    CHECK_REFUSAL(hub.from_hub(subcommand, {"-l", "a=b=c"}), 2, "--selector");
  }
  CHECK(hub.requests().empty());
}

TEST_CASE("from-hub: --kubeconfig names the hub, or else KUBECONFIG does") {
  const Hub hub(two_namespaces());
  const Hub other(empty_hub());
  Command command =
      hub.command({"kubeconfig", "-m", hub.sandbox().at("mapping.json"), "--from-hub"});
  command.environment.push_back("KUBECONFIG=" + other.sandbox().at("hub.json"));
  CHECK(contexts(run(command)) == "fleet/a fleet/b other/a");
  command.arguments.resize(command.arguments.size() - 2);  // --kubeconfig
  CHECK_REFUSAL(run(command), 2, "the hub holds no ClusterProfile");
  command.environment.pop_back();
  CHECK_REFUSAL(run(command), 2, "no hub is known");
}

TEST_CASE("from-hub: a refusal of the hub is reported with the missing RBAC rule") {
  ObjectApi api = two_namespaces();
  api.forbid("clusterprofiles");
  const Hub hub(std::move(api));
  const std::string file = hub.sandbox().at("fleet.kubeconfig");
  const Outcome listed = hub.from_hub("kubeconfig", {"-o", file});
  CHECK_REFUSAL(listed, 1, "403 Forbidden");
  for (const char* word :
       {"[list]", "[clusterprofiles]", "[multicluster.x-k8s.io]", "ClusterRole"}) {
    CHECK_MESSAGE(listed.error_output.find(word) != std::string::npos, describe(listed));
  }
  CHECK(listed.error_output.find("HubTokenCanary") == std::string::npos);
  CHECK_FALSE(std::filesystem::exists(file));
  const Outcome got = hub.from_hub("get", {"--name=fleet/a"});
  CHECK_REFUSAL(got, 1, "403 Forbidden");
  CHECK(got.error_output.find("[get]") != std::string::npos);
  CHECK(got.error_output.find("namespace 'fleet'") != std::string::npos);
}

TEST_CASE("from-hub: the newest API version that both sides know is used") {
  ObjectApi api = two_namespaces();
  api.add(newer(), in_v1alpha2(hub_profile("new", "fleet", R"({"tier":"gold"})")));
  api.add_version("/apis/multicluster.x-k8s.io/v1beta7");
  const Hub both(std::move(api));
  CHECK(contexts(both.from_hub("kubeconfig")) == "fleet/new");
  CHECK(both.requests() ==
        std::vector<std::string>{
            kDiscovery, "GET /apis/multicluster.x-k8s.io/v1alpha2/clusterprofiles?limit=500"});
  const Outcome one = both.from_hub("resolve", {"--name=fleet/new"});
  CHECK_MESSAGE(one.exit_code == 0, describe(one));
  CHECK(both.requests().back() ==
        "GET /apis/multicluster.x-k8s.io/v1alpha2/namespaces/fleet/clusterprofiles/new");
  CHECK(both.run({"lint", "--from-hub"}).output == "0 errors, 0 warnings in 1 object of the hub\n");
}

TEST_CASE("from-hub: an object without apiVersion is read as one of its list's version") {
  ObjectApi api;
  std::string item = hub_profile("a");
  item = "{" + item.substr(item.find("\"metadata\""));
  item.replace(item.find("accessProviders"), 15, "credentialProviders");
  api.add(newer(), item);
  const Hub hub(std::move(api));
  const Outcome outcome = hub.from_hub("kubeconfig");
  CHECK(outcome.error_output.find("status.credentialProviders is no field of v1alpha2") !=
        std::string::npos);
}

// The kinds of MCS-API are in the same API group.
TEST_CASE("from-hub: an API version that has only other kinds is skipped") {
  ObjectApi api = two_namespaces();
  api.add_version("/apis/multicluster.x-k8s.io/v1alpha2");
  const Hub hub(std::move(api));
  CHECK(contexts(hub.from_hub("kubeconfig")) == "fleet/a fleet/b other/a");
  CHECK(hub.requests() == std::vector<std::string>{
                              kDiscovery,
                              "GET /apis/multicluster.x-k8s.io/v1alpha2/clusterprofiles?limit=500",
                              "GET /apis/multicluster.x-k8s.io/v1alpha2", kAll});
  CHECK(hub.from_hub("resolve", {"--name=fleet/b"}).exit_code == 0);
}

TEST_CASE("from-hub: a missing API group, unknown versions and forbidden discovery are errors") {
  const Hub bare{ObjectApi()};
  const Outcome no_group = bare.from_hub("kubeconfig");
  CHECK_REFUSAL(no_group, 2, "the hub does not serve the API group multicluster.x-k8s.io");
  CHECK(no_group.error_output.find("hint: install the CRD of ClusterProfile") != std::string::npos);
  ObjectApi api;
  api.add_version("/apis/multicluster.x-k8s.io/v1");
  api.add_version("/apis/multicluster.x-k8s.io/v1beta1");
  CHECK_REFUSAL(Hub(api).from_hub("get"), 2,
                "the hub serves multicluster.x-k8s.io as 'v1', 'v1beta1', not as "
                "multicluster.x-k8s.io/v1alpha1 or v1alpha2");
  CHECK_REFUSAL(Hub(std::move(api)).run({"lint", "--from-hub"}), 2, "not as");
  ObjectApi closed = two_namespaces();
  closed.forbid_discovery();
  const Outcome forbidden = Hub(std::move(closed)).from_hub("resolve");
  CHECK_REFUSAL(forbidden, 1, "403 Forbidden");
  CHECK(forbidden.error_output.find("system:discovery") != std::string::npos);
  CHECK(forbidden.error_output.find("what it serves under /apis/multicluster.x-k8s.io") !=
        std::string::npos);
  const Hub other([](const HttpRequest&) { return HttpResponse{.body = R"({"kind":"Pod"})"}; });
  CHECK_REFUSAL(other.from_hub("resolve"), 1, "the hub's reply is no APIGroup");
}

TEST_CASE("from-hub: an invalid ClusterProfile is reported and left out") {
  ObjectApi api = two_namespaces();
  std::string bad = hub_profile("bad");
  bad.replace(bad.find("https://"), 8, "http://");
  api.add(kProfiles, bad);
  std::string malformed = hub_profile("malformed");
  malformed.replace(malformed.find("[{"), malformed.rfind("}]") + 2 - malformed.find("[{"), "7");
  api.add(kProfiles, malformed);
  const Hub hub(std::move(api));
  const Outcome outcome = hub.from_hub("kubeconfig");
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.output.find("fleet/b") != std::string::npos);
  CHECK(outcome.output.find("bad") == std::string::npos);
  CHECK(outcome.error_output.find("fleet/bad") != std::string::npos);
  CHECK(outcome.error_output.find("ClusterProfile 'fleet/malformed' of the hub") !=
        std::string::npos);
  const Outcome resolved = hub.from_hub("resolve");
  CHECK(resolved.exit_code == 1);
  CHECK(resolved.error_output == outcome.error_output);
  CHECK(resolved.output.find("fleet/b") != std::string::npos);
  // Only the named one is read from the hub.
  const Outcome named = hub.from_hub("resolve", {"--name=fleet/b"});
  CHECK_MESSAGE(named.exit_code == 0, describe(named));
  CHECK(named.error_output == "");
}

TEST_CASE("from-hub: an object beyond the limits is a problem of its own in every command") {
  constexpr std::size_t kMib = std::size_t{1024} * 1024;
  const std::string bad = hub_profile("bad", "tenant");
  for (const std::string& object : {nested(bad, 40), nested(bad, 9'990), large(bad, 5 * kMib)}) {
    const Hub hub([&](const HttpRequest& request) {
      ObjectApi api = empty_hub();
      api.add(kProfiles, hub_profile("good", "fleet"));
      HttpResponse response = api.answer(request);
      const std::size_t items = response.body.find(R"("items":[)");
      if (items != std::string::npos) response.body.insert(items + 9, object + ",");
      return response;
    });
    std::vector<FleetCommand> commands = kFleetCommands;
    commands.push_back({"doctor", {"--no-request", "--timeout=1s", "-o", "json"}});
    commands.push_back({"grant", {"--can=get/pods"}});
    for (const FleetCommand& command : commands) {
      CAPTURE(command.name);
      const Outcome outcome = run_fleet_command(hub, command);
      const std::string text = outcome.output + outcome.error_output;
      CHECK_MESSAGE(outcome.exit_code != 0, describe(outcome));
      const bool is_named = text.find("tenant/bad") != std::string::npos ||
                            text.find(R"("name": "bad")") != std::string::npos;
      CHECK_MESSAGE(is_named, describe(outcome));
      const bool says_why = text.find("nested deeper than 32 levels") != std::string::npos ||
                            text.find("larger than 4096 KiB") != std::string::npos;
      CHECK_MESSAGE(says_why, describe(outcome));
      const bool is_used = command.name == "lint" || text.find("good") != std::string::npos;
      CHECK_MESSAGE(is_used, describe(outcome));
    }
  }
}

// One command, because all read pages by the same function, and 70 MB take seconds.
TEST_CASE("from-hub: more large objects than fit in a page are read") {
  if (kWithTsan) {
    MESSAGE("skipped: it takes the sanitizer longer than a run may");
    return;
  }
  ObjectApi api = empty_hub();
  for (int i = 0; i < 15; ++i) {
    api.add(kProfiles, large(hub_profile("c" + std::to_string(i)), 1'400'000));
  }
  const Hub hub(api);
  const Outcome outcome = hub.from_hub("resolve");
  CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
  CHECK(outcome.output.find("c14") != std::string::npos);
}

TEST_CASE("from-hub: a list that expires between two pages is read again by every command") {
  const ObjectApi api = hub_of(600);
  std::atomic<int> pages = 0;
  const Hub hub([&](const HttpRequest& request) {
    if (request.target.find("continue=") == std::string::npos || pages++ > 0) {
      return api.answer(request);
    }
    return HttpResponse{.status = 410,
                        .body = R"({"kind":"Status","status":"Failure","reason":"Expired",)"
                                R"("message":"too old","code":410})"};
  });
  for (const FleetCommand& command : kFleetCommands) {
    CAPTURE(command.name);
    pages = 0;
    const Outcome outcome = run_fleet_command(hub, command);
    // lint finds fault with the CA of each ClusterProfile.
    CHECK_MESSAGE(outcome.exit_code == (command.name == "lint" ? 1 : 0), describe(outcome));
    CHECK(pages == 1);
    CHECK_MESSAGE(outcome.output.find("c599") != std::string::npos, describe(outcome));
  }
}

TEST_CASE("from-hub: --context chooses a context of the kubeconfig, and errors name the context") {
  const Hub hub(two_namespaces());
  std::string text = read_text(hub.sandbox().at("hub.json"));
  const std::size_t current = text.find("\"current-context\"");
  REQUIRE(current != std::string::npos);
  const std::size_t value = text.find('"', text.find(':', current)) + 1;
  const std::string name = text.substr(value, text.find('"', value) - value);
  text.replace(value, name.size(), "elsewhere");
  const std::string kubeconfig = hub.sandbox().write("other.json", text);
  const auto resolve = [&](std::vector<std::string> arguments) {
    std::vector<std::string> all = {
        kCli,         "resolve",      "-m",      hub.sandbox().at("mapping.json"),
        "--from-hub", "--kubeconfig", kubeconfig};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return run({.arguments = std::move(all)});
  };
  const Outcome wrong = resolve({});
  CHECK_REFUSAL(wrong, 2, "current-context 'elsewhere' is not among the kubeconfig's contexts");
  CHECK(says(wrong, "hint: choose one with --context=NAME; there is only '" + name + "'"));
  const Outcome chosen = resolve({"--context", name});
  CHECK_MESSAGE(chosen.exit_code == 0, describe(chosen));
  CHECK_REFUSAL(resolve({"--context=nobody"}), 2,
                "the context 'nobody' is not among the kubeconfig's contexts");
  const Outcome nowhere =
      run({.arguments = {kCli, "resolve", "-m", hub.sandbox().at("mapping.json"), "--from-hub",
                         "--context", "x"}});
  CHECK_REFUSAL(nowhere, 2, "--context is given, but no kubeconfig");
}

TEST_CASE("from-hub: if the hub fails at the second page, the output file stays as it was") {
  const ObjectApi api = hub_of(600);
  const Hub hub([&api](const HttpRequest& request) {
    const bool is_first = request.target.find("continue") == std::string::npos;
    return is_first ? api.answer(request) : HttpResponse{.status = 503, .body = "overloaded"};
  });
  const std::string file = hub.sandbox().write("out/fleet.kubeconfig", "as before\n");
  const Outcome outcome = hub.from_hub("kubeconfig", {"-o", file});
  CHECK_REFUSAL(outcome, 3, "503 Service Unavailable");
  CHECK(read_text(file) == "as before\n");
  CHECK(files_in(hub.sandbox().at("out")) == std::vector<std::string>{"fleet.kubeconfig"});
}

TEST_CASE("from-hub: Ctrl-C ends the command while the hub does not answer, and leaves no file") {
  std::atomic<bool> is_asked = false;
  std::atomic<bool> is_over = false;
  const Hub hub([&](const HttpRequest&) {
    is_asked = true;
    wait_until([&] { return is_over.load(); });
    return HttpResponse{.status = 500};
  });
  std::filesystem::create_directory(hub.sandbox().at("out"));
  Child child(hub.command({"kubeconfig", "-m", hub.sandbox().at("mapping.json"), "--from-hub", "-o",
                           hub.sandbox().at("out/fleet.kubeconfig")}));
  const bool was_asked = wait_until([&] { return is_asked.load(); });
  child.send(SIGINT);
  const Outcome outcome = child.wait();
  is_over = true;
  CHECK(was_asked);
  CHECK_MESSAGE(outcome.signal == SIGINT, describe(outcome));
  CHECK(files_in(hub.sandbox().at("out")).empty());
}

// ClusterProfiles of 2 KB each are 20 MB of JSON, and about as much kubeconfig.
TEST_CASE("from-hub: 10,000 ClusterProfiles fit in little memory" *
          doctest::description("promise 21")) {
  if (kIsSanitized) {
    MESSAGE("skipped: the sanitizer needs more memory than the program may have here");
    return;
  }
  // A program with counters may need more than the minute that a read of the hub may take.
  const std::size_t count = blackbox::kWithCoverage ? 2'000 : 10'000;
  const Hub hub(hub_of(count));
  const std::string file = hub.sandbox().at("fleet.kubeconfig");
  const Outcome outcome = run(bounded(
      hub.command({"kubeconfig", "-m", hub.sandbox().at("mapping.json"), "--from-hub", "-o", file}),
      100U << 20U));
  CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
  CHECK(outcome.output.find(std::to_string(count) + " clusters") != std::string::npos);
  CHECK(hub.requests().size() == count / 500 + 1);
  CHECK(std::filesystem::file_size(file) > count * 1600);
}

TEST_SUITE_END();
