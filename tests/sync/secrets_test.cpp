// SPDX-License-Identifier: Apache-2.0
// How execcred sync writes Secrets to a hub that loses replies, refuses requests, and serves other
// writers in between. tests/e2e has the real API server.
#include "hub_run.hpp"

#include "library/hub/live_api.hpp"
#include "sync/secret_target.hpp"
#include "unit/expect.hpp"

#include <doctest/doctest.h>
#include <execcred/base/encoding.hpp>
#include <execcred/base/rfc3339.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace execcred;
using namespace execcred::sync;
using execcred::test::check_fails;
using execcred::test::Json;
using execcred::test::LiveApi;
using execcred::test::Process;
using execcred::test::profile_object;
using execcred::test::Received;
using execcred::test::status_reply;
using execcred::test::Stream;
using execcred::test::written;
using namespace std::chrono_literals;

const std::chrono::sys_seconds kStart{std::chrono::seconds(1'800'000'000)};
const MayWrite kAlways = [] { return true; };

class Setting {
 public:
  Setting() {
    access_.cluster.server = "https://a.example:6443";
    mark_ = {.instance = "default",
             .name_space = "fleet",
             .name = "a",
             .uid = "u-1",
             .issued = kStart,
             .expires = kStart + 1h,
             .digest = "sha256:00"};
  }

  LiveApi api;
  Mark& mark() { return mark_; }

  Result<Wrote> write(const std::string& token, const MayWrite& may_write = kAlways,
                      SecretFormat format = SecretFormat::token) {
    const Result<SecretNames> names = SecretNames::parse("{name}-secret", {format});
    SecretTarget target(store_, *names, format);
    Credential credential;
    credential.token = SecretString(token);
    const Held held = target.place_of(mark_).value();
    return target.write(held,
                        {.access = access_,
                         .name_space = "fleet",
                         .name = "a",
                         .credential = credential,
                         .issued = mark_.issued,
                         .expires = mark_.expires},
                        may_write);
  }
  Held held() { return store_.place_of("a-secret", mark_); }
  SecretStore& store() { return store_; }
  std::optional<Json> stored() const { return api.find("secrets", "to", "a-secret"); }
  std::string token() const {
    const std::optional<Json> object = stored();
    if (!object) return "(absent)";
    return decode_base64((*object)["data"]["token"].get<std::string>()).value_or("(no base64)");
  }
  std::string annotation(const std::string& name) const {
    return (*stored())["metadata"]["annotations"].value(name, "(absent)");
  }
  // The first request of this method is served, but its reply is lost.
  void lose_first_reply(const std::string& method) {
    auto is_lost = std::make_shared<std::atomic<bool>>(false);
    api.after([=](Stream& stream, const Received& request) {
      if (request.method != method || is_lost->exchange(true)) return false;
      stream.reset();
      return true;
    });
  }

 private:
  Access access_;
  Mark mark_;
  HubClients clients_{[this]() -> Result<HubClient> { return api.client(); }};
  SecretStore store_{{.instance = "default", .name_space = "to", .scanned = "to"}, clients_};
};

// Stops the watch at the end, because the store waits for it.
struct StopAtEnd {
  const StopEvent& stop;
  ~StopAtEnd() { stop.request(); }
};

// Changes a Secret as if it had been written with these times, in seconds from now.
void set_times(LiveApi& api, const std::string& name, int issued, int expires) {
  const auto text = [](int seconds) {
    return format_rfc3339(std::chrono::floor<std::chrono::seconds>(
        std::chrono::system_clock::now() + std::chrono::seconds(seconds)));
  };
  Json secret = api.find("secrets", "to", name).value();
  secret["metadata"]["annotations"][std::string(kIssued)] = text(issued);
  secret["metadata"]["annotations"][std::string(kExpires)] = text(expires);
  api.put("secrets", secret);
}

// Another program changed the data of the Secret.
void set_data(LiveApi& api, const std::string& name, const std::string& key,
              const std::string& text) {
  Json secret = api.find("secrets", "to", name).value();
  secret["data"][key] = encode_base64(text);
  api.put("secrets", secret);
}

}  // namespace

TEST_SUITE_BEGIN("sync");

TEST_CASE("a Secret is created, and then replaced, which keeps what others wrote to it") {
  Setting s;
  CHECK(s.write("one").value() == Wrote::written);
  CHECK(s.token() == "one");
  CHECK(s.annotation("execcred.io/expires") == "2027-01-15T09:00:00Z");
  CHECK(s.annotation("execcred.io/clusterprofile-uid") == "u-1");
  Json object = *s.stored();
  object["metadata"]["annotations"]["theirs"] = "kept";
  object["metadata"]["labels"]["theirs"] = "kept";
  object["field-of-a-later-version"] = "kept";
  s.api.put("secrets", object);
  s.mark().expires = kStart + 2h;
  CHECK(s.write("two").value() == Wrote::written);
  CHECK(s.token() == "two");
  CHECK(s.annotation("theirs") == "kept");
  CHECK((*s.stored())["field-of-a-later-version"] == "kept");
  CHECK((*s.stored())["metadata"]["labels"]["theirs"] == "kept");
  CHECK(s.annotation("execcred.io/expires") == "2027-01-15T10:00:00Z");
  // The hub refuses the first PUT: the Secret has changed since it was written.
  CHECK(s.api.requests("PUT", "fieldManager=execcred-sync").size() == 2);
}

TEST_CASE("a renewal is one request, without reading the Secret first") {
  Setting s;
  s.write("one").value();
  for (const std::string token : {"two", "three"}) {
    s.mark().expires = *s.mark().expires + 1h;
    CHECK(s.write(token).value() == Wrote::written);
    CHECK(s.token() == token);
  }
  CHECK(s.api.requests("POST", "").size() == 1);
  CHECK(s.api.requests("PUT", "").size() == 2);
  CHECK(s.api.requests().size() == 3);
}

TEST_CASE("a Secret that a scan found is read once before it is written") {
  Setting s;
  s.write("one").value();
  REQUIRE(s.store().scan().has_value());
  s.mark().expires = kStart + 2h;
  CHECK(s.write("two").value() == Wrote::written);
  CHECK(s.api.requests("GET", "a-secret").size() == 1);
  CHECK(s.api.requests("POST", "").size() == 1);
  s.mark().expires = kStart + 3h;
  CHECK(s.write("three").value() == Wrote::written);
  CHECK(s.api.requests("GET", "a-secret").size() == 1);
}

TEST_CASE("an unchanged credential needs no request while the watch shows what was written") {
  const StopEvent stop = StopEvent::make().value();
  Setting s;
  const StopAtEnd end{stop};
  REQUIRE(s.store().watch(s.api.client(), stop));
  CHECK(s.write("one").value() == Wrote::written);
  const auto is_unread = [&] {
    const std::size_t before = s.api.requests("GET", "a-secret").size();
    CHECK(s.write("one").value() == Wrote::unchanged);
    return s.api.requests("GET", "a-secret").size() == before;
  };
  CHECK(execcred::test::comes_true(is_unread));
  // Somebody changes only the data.
  Json object = *s.stored();
  object["data"]["token"] = encode_base64("theirs");
  s.api.put("secrets", object);
  CHECK(execcred::test::comes_true([&] {
    REQUIRE(s.write("one").has_value());
    return s.token() == "one";
  }));
}

TEST_CASE("a Secret that already has the credential is not written") {
  Setting s;
  s.write("one").value();
  CHECK(s.write("one").value() == Wrote::unchanged);
  CHECK(s.api.requests("PUT", "").empty());
  // A later end is no other credential. It is written when readers would see one that is over.
  s.mark().expires = kStart + 2h;
  CHECK(s.write("one").value() == Wrote::unchanged);
  CHECK(s.api.requests("PUT", "").empty());
  s.mark().expires = kStart + 30min;
  CHECK(s.write("one").value() == Wrote::written);
  s.mark().expires =
      std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()) + 10s;
  CHECK(s.write("one").value() == Wrote::written);
  s.mark().expires = kStart + 3h;
  CHECK(s.write("one").value() == Wrote::written);
}

TEST_CASE("after a lost reply, the marks show that the Secret was written") {
  Setting s;
  s.lose_first_reply("POST");
  CHECK(s.write("one").value() == Wrote::written);
  CHECK(s.token() == "one");
  CHECK(s.api.requests("POST", "/secrets").size() == 1);
  s.lose_first_reply("PUT");
  CHECK(s.write("two").value() == Wrote::written);
  CHECK(s.token() == "two");
  // It is sent again, because a kept connection was closed. Its version makes that a conflict.
  CHECK(s.api.requests("PUT", "/secrets").size() == 2);
}

TEST_CASE("a write that the hub fails is repeated after pauses, and its error is the hub's") {
  Setting s;
  s.api.before([](Stream& stream, const Received& request) {
    return request.method == "POST" &&
           stream.write(status_reply(500, "InternalError", "etcdserver: request timed out"));
  });
  const Result<Wrote> failed = s.write("one");
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message.find("etcdserver: request timed out") != std::string::npos);
  CHECK(failed.error().cause == cause::kTargetUnavailable);
  CHECK(s.api.requests("POST", "").size() == 4);
  s.api.before({});
  CHECK(s.write("one").value() == Wrote::written);
}

TEST_CASE("a Retry-After that is longer than the limit of a write is kept for the next attempt") {
  Setting s;
  CHECK(s.store().retry_after() == 0s);
  s.api.before([](Stream& stream, const Received&) {
    return stream.write(
        status_reply(429, "TooManyRequests", "later", Json::object(), "Retry-After: 60\r\n"));
  });
  CHECK_FALSE(s.write("one"));
  CHECK(s.api.requests().size() == 1);
  CHECK(s.store().retry_after() > 30s);
  CHECK(s.store().retry_after() <= 60s);
}

TEST_CASE("if another writer was faster, the Secret is read again before it is written") {
  Setting s;
  s.write("one").value();
  std::atomic<int> changes = 0;
  s.api.before([&](Stream&, const Received& request) {
    if (request.method != "PUT" || changes++ > 0) return false;
    Json object = *s.stored();
    object["metadata"]["annotations"]["theirs"] = "kept";
    s.api.put("secrets", object);
    return false;
  });
  CHECK(s.write("two").value() == Wrote::written);
  CHECK(s.token() == "two");
  CHECK(s.annotation("theirs") == "kept");
  CHECK(s.api.requests("PUT", "").size() == 2);
}

TEST_CASE("a Secret that keeps changing during a write is an error, and is not overwritten") {
  Setting s;
  s.write("one").value();
  s.api.before([&](Stream&, const Received& request) {
    if (request.method == "PUT") s.api.put("secrets", *s.stored());
    return false;
  });
  check_fails(s.write("two"), Error::Kind::unavailable, "kept changing while it was written");
  CHECK(s.token() == "one");
}

TEST_CASE("a Secret of somebody else is never changed, even if it has a part of the mark") {
  Setting s;
  s.write("one").value();
  const Json ours = *s.stored();
  const auto check_left_alone = [&](const Json& object) {
    s.api.put("secrets", object);
    const Json before = *s.stored();
    const Result<Wrote> wrote = s.write("two");
    check_fails(wrote, Error::Kind::no_credential, "the Secret ");
    CHECK(wrote.error().cause == "target-foreign");
    CHECK(s.store().remove(s.held(), kAlways).value() == Wrote::unchanged);
    CHECK(s.store().mark_expired(s.held(), kAlways).value() == Wrote::unchanged);
    CHECK(*s.stored() == before);
  };
  Json theirs = ours;
  theirs["metadata"].erase("labels");
  check_left_alone(theirs);
  theirs = ours;
  theirs["metadata"]["labels"]["app.kubernetes.io/managed-by"] = "Helm";
  check_left_alone(theirs);
  theirs = ours;
  theirs["metadata"]["labels"]["execcred.io/instance"] = "blue";
  check_left_alone(theirs);
  theirs = ours;
  theirs["metadata"]["annotations"]["execcred.io/clusterprofile-name"] = "b";
  check_left_alone(theirs);
  theirs = ours;
  theirs["metadata"]["annotations"]["execcred.io/clusterprofile-namespace"] = "other";
  check_left_alone(theirs);
  theirs = ours;
  theirs["metadata"]["annotations"].erase("execcred.io/clusterprofile-name");
  check_left_alone(theirs);
}

TEST_CASE("a Secret that another owner takes over during a write is not changed") {
  Setting s;
  s.write("one").value();
  s.api.before([&](Stream&, const Received& request) {
    if (request.method != "PUT") return false;
    Json object = *s.stored();
    object["metadata"]["labels"] = {{"app.kubernetes.io/managed-by", "Helm"}};
    s.api.put("secrets", object);
    return false;
  });
  check_fails(s.write("two"), Error::Kind::no_credential, "the Secret is not of execcred");
  CHECK(s.token() == "one");
}

TEST_CASE("a ClusterProfile that was deleted and created again gets a new Secret") {
  Setting s;
  s.write("one").value();
  const std::string uid = (*s.stored())["metadata"]["uid"];
  s.mark().uid = "u-2";
  CHECK(s.write("two").value() == Wrote::written);
  CHECK(s.token() == "two");
  CHECK((*s.stored())["metadata"]["uid"] != uid);
  CHECK(s.annotation("execcred.io/clusterprofile-uid") == "u-2");
  const std::vector<Received> removals = s.api.requests("DELETE", "a-secret");
  REQUIRE(removals.size() == 1);
  CHECK(removals.front().body.find(uid) != std::string::npos);
  CHECK(removals.front().body.find("resourceVersion") != std::string::npos);
}

TEST_CASE("an expired credential is marked as expired until it is renewed") {
  Setting s;
  s.write("one").value();
  CHECK(s.store().mark_expired(s.held(), kAlways).value() == Wrote::written);
  CHECK(s.annotation("execcred.io/expired") == "true");
  CHECK(s.token() == "one");
  CHECK(s.store().mark_expired(s.held(), kAlways).value() == Wrote::unchanged);
  CHECK(s.write("two").value() == Wrote::written);
  CHECK(s.annotation("execcred.io/expired") == "(absent)");
}

TEST_CASE("execcred's Secrets are found by their labels, and can be removed") {
  Setting s;
  s.write("one").value();
  s.api.put("secrets", {{"apiVersion", "v1"},
                        {"kind", "Secret"},
                        {"metadata", {{"name", "theirs"}, {"namespace", "to"}}}});
  const std::vector<Held> held = s.store().scan().value();
  REQUIRE(held.size() == 1);
  CHECK(held.front().place == "Secret to/a-secret");
  CHECK(held.front().mark.cluster() == "fleet/a");
  CHECK(held.front().mark.expires == kStart + 1h);
  CHECK(s.store().remove(held.front(), kAlways).value() == Wrote::written);
  CHECK_FALSE(s.stored().has_value());
  CHECK(s.store().remove(held.front(), kAlways).value() == Wrote::unchanged);
}

TEST_CASE("nothing is changed while writing is not allowed") {
  Setting s;
  const MayWrite never = [] { return false; };
  CHECK(s.write("one", never).value() == Wrote::not_now);
  CHECK_FALSE(s.stored().has_value());
  s.write("one").value();
  CHECK(s.write("two", never).value() == Wrote::not_now);
  CHECK(s.store().remove(s.held(), never).value() == Wrote::not_now);
  CHECK(s.store().mark_expired(s.held(), never).value() == Wrote::not_now);
  CHECK(s.token() == "one");
}

TEST_CASE("a refusal of the hub is reported, without the credential") {
  Setting s;
  const auto refuse = [&](int code, const std::string& reason, const std::string& message) {
    s.api.before([=](Stream& stream, const Received& request) {
      return request.method == "POST" && stream.write(status_reply(code, reason, message));
    });
    const Result<Wrote> wrote = s.write("s3cret");
    REQUIRE_FALSE(wrote.has_value());
    CHECK(execcred::test::full_text(wrote.error()).find("s3cret") == std::string::npos);
    return wrote.error();
  };
  const Error quota = refuse(403, "Forbidden", "secrets \"a\" is forbidden: exceeded quota: q");
  CHECK(quota.kind == Error::Kind::no_credential);
  CHECK(quota.cause == "target-refused");
  CHECK(quota.hint.find("raise the quota") != std::string::npos);
  CHECK(refuse(422, "Invalid", "data: Too long: may not be more than 1048576 bytes").cause ==
        "target-refused");
  CHECK(refuse(403, "Forbidden",
               "unable to create new content in namespace to because it is being "
               "terminated")
            .message.find("being terminated") != std::string::npos);
}

TEST_CASE("sync --to-secret: recovers from a hub that compacts its history, throttles and fails") {
  LiveApi api;
  api.put("clusterprofiles", profile_object("a", "https://a.example"));
  const Process process(api);
  blackbox::Child child(process.command({}));
  CHECK(blackbox::wait_until([&] { return written(api, "a").first == "for-https://a.example"; }));
  std::atomic<int> failures = 0;
  api.before([&](Stream& stream, const Received& request) {
    if (request.method == "GET" && request.target.find("watch=") != std::string::npos) return false;
    if (failures++ >= 6) return false;
    const int code = failures % 2 == 0 ? 429 : 503;
    return stream.write(status_reply(code, code == 429 ? "TooManyRequests" : "ServiceUnavailable",
                                     "later", Json::object(), "Retry-After: 1\r\n"));
  });
  api.compact();
  api.cut_watches();
  api.put("clusterprofiles", profile_object("b", "https://b.example"));
  CHECK(blackbox::wait_until([&] { return written(api, "b").first == "for-https://b.example"; }));
  api.before({});
  api.erase("secrets", "to", "a-token");
  CHECK(blackbox::wait_until([&] { return written(api, "a").first == "for-https://a.example"; }));
  api.erase("clusterprofiles", "fleet", "b");
  CHECK(blackbox::wait_until([&] { return !api.find("secrets", "to", "b-token"); }));
  child.send(SIGTERM);
  CHECK(child.wait().exit_code == 0);
}

TEST_CASE("sync --to-secret: a hub that cannot be reached is exit code 3, nothing is removed" *
          doctest::description("promise 23")) {
  LiveApi api;
  api.put("clusterprofiles", profile_object("a", "https://a.example"));
  const Process process(api);
  CHECK(blackbox::run(process.command({"--once"})).exit_code == 0);
  api.before([](Stream& stream, const Received& request) {
    if (request.target.find("clusterprofiles") == std::string::npos) return false;
    stream.reset();
    return true;
  });
  const blackbox::Outcome outcome = blackbox::run(process.command({"--once"}));
  CHECK_MESSAGE(outcome.exit_code == 3, blackbox::describe(outcome));
  CHECK(outcome.error_output.find("closed the connection") != std::string::npos);
  CHECK(written(api, "a").first == "for-https://a.example");
}

TEST_CASE("sync --once: a Secret of a format that is not requested makes no cluster due") {
  LiveApi api;
  api.put("clusterprofiles", profile_object("a", "https://a.example"));
  const Process process(api);
  blackbox::Command with_both = process.command({"--once"});
  with_both.arguments.at(6) = "--to-secret=token,argocd";
  CHECK(blackbox::run(with_both).exit_code == 0);
  set_times(api, "a-argocd", -3500, 100);
  const std::size_t before = api.requests("PUT", "/secrets/").size();
  const blackbox::Outcome outcome = blackbox::run(process.command({"--once"}));
  CHECK_MESSAGE(outcome.exit_code == 0, blackbox::describe(outcome));
  CHECK(api.requests("PUT", "/secrets/").size() == before);
  // If the format is requested, its Secret is due. A new credential is written.
  set_data(api, "a-argocd", "config", "{}");
  CHECK(blackbox::run(with_both).exit_code == 0);
  CHECK(api.requests("PUT", "/secrets/a-argocd").size() == before + 1);
}

TEST_CASE("sync --once: if one target is refused, the valid other one is not written again") {
  LiveApi api;
  api.put("clusterprofiles", profile_object("a", "https://a.example"));
  const Process process(api);
  blackbox::Command command = process.command({"--once"});
  // The format istio refuses credentials of an hour.
  command.arguments.at(6) = "--to-secret=token,istio";
  const auto check_refused = [&command] {
    const blackbox::Outcome outcome = blackbox::run(command);
    CHECK_MESSAGE(outcome.exit_code == 1, blackbox::describe(outcome));
    CHECK_MESSAGE(outcome.error_output.find("cause=target-unusable") != std::string::npos,
                  blackbox::describe(outcome));
  };
  check_refused();
  REQUIRE(api.find("secrets", "to", "a-token").has_value());
  set_times(api, "a-token", -300, 3300);
  check_refused();
  CHECK(api.requests("PUT", "/secrets/a-token").empty());
  // When its renewal is due, a new credential is written.
  set_times(api, "a-token", -3000, 600);
  check_refused();
  CHECK(api.requests("PUT", "/secrets/a-token").empty());
  set_data(api, "a-token", "token", "of-before");
  check_refused();
  CHECK(api.requests("PUT", "/secrets/a-token").size() == 1);
}

TEST_CASE("sync --dry-run: a hub is only read") {
  LiveApi api;
  api.put("clusterprofiles", profile_object("a", "https://a.example"));
  const Process process(api);
  const blackbox::Outcome outcome = blackbox::run(process.command({"--dry-run"}));
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.output == "create Secret to/a-token: missing\n");
  for (const Received& request : api.requests()) CHECK(request.method == "GET");
  CHECK(blackbox::run(process.command({"--dry-run", "--log-format=json"})).output ==
        R"({"action":"create","place":"Secret to/a-token","why":"missing"})"
        "\n");
}

TEST_CASE("sync --dry-run: a Secret of another owner is not named as written") {
  LiveApi api;
  api.put("clusterprofiles", profile_object("a", "https://a.example"));
  api.put("secrets", {{"apiVersion", "v1"},
                      {"kind", "Secret"},
                      {"metadata", {{"name", "a-token"}, {"namespace", "to"}}}});
  const Process process(api);
  const blackbox::Outcome outcome = blackbox::run(process.command({"--dry-run"}));
  CHECK(outcome.output == "skip Secret to/a-token: it is not this instance's\n");
  CHECK(blackbox::run(process.command({"--once"})).exit_code == 1);
}

TEST_CASE("sync --dry-run: a target that is good is not named") {
  LiveApi api;
  api.put("clusterprofiles", profile_object("a", "https://a.example"));
  const Process process(api);
  CHECK(blackbox::run(process.command({"--once"})).exit_code == 0);
  blackbox::Command with_both = process.command({"--dry-run"});
  with_both.arguments.at(6) = "--to-secret=token,argocd";
  CHECK(blackbox::run(with_both).output == "create Secret to/a-argocd: missing\n");
  // When the renewal is due, both are written.
  set_times(api, "a-token", -3000, 600);
  CHECK(blackbox::run(with_both).output ==
        "renew Secret to/a-token: due\ncreate Secret to/a-argocd: missing\n");
}

TEST_CASE("sync --secret-namespace=same: a warning at the start") {
  LiveApi api;
  api.put("clusterprofiles", profile_object("a", "https://a.example"));
  const Process process(api);
  blackbox::Command command = process.command({"--once", "--log-format=json"});
  command.arguments.at(7) = "--secret-namespace=same";
  const blackbox::Outcome outcome = blackbox::run(command);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.error_output.find("\"level\":\"warning\"") != std::string::npos);
  CHECK(api.find("secrets", "fleet", "a-token").has_value());
}

TEST_CASE("sync: two formats of a ClusterProfile with one Secret name clash, neither is written") {
  LiveApi api;
  // Its Secrets would both be named fleet-kubeconfig.
  api.put("clusterprofiles", profile_object("fleet", "https://fleet.example"));
  Json other = profile_object("a", "https://a.example");
  other["metadata"]["namespace"] = "other";
  api.put("clusterprofiles", other);
  const Process process(api);
  blackbox::Command command = process.command({"--once", "--secret-name={namespace}-{format}"});
  command.arguments.at(6) = "--to-secret=kubeconfig,cluster-api";
  for (int run = 0; run < 2; ++run) {
    const blackbox::Outcome outcome = blackbox::run(command);
    CHECK_MESSAGE(outcome.exit_code == 1, blackbox::describe(outcome));
    CHECK(outcome.error_output.find("cause=target-clash") != std::string::npos);
    CHECK_MESSAGE(outcome.error_output.find("two formats would be written to the same target") !=
                      std::string::npos,
                  outcome.error_output);
    CHECK_FALSE(api.find("secrets", "to", "fleet-kubeconfig").has_value());
    CHECK(api.find("secrets", "to", "other-kubeconfig").has_value());
    CHECK(api.find("secrets", "to", "a-kubeconfig").has_value());
  }
}

TEST_CASE("sync: two ClusterProfiles with one Secret clash there, but both get a folder") {
  LiveApi api;
  Json first = profile_object("a", "https://a.example");
  Json second = profile_object("a", "https://other.example");
  second["metadata"]["namespace"] = "other";
  api.put("clusterprofiles", first);
  const Process process(api);
  CHECK(blackbox::run(process.command({"--once"})).exit_code == 0);
  api.put("clusterprofiles", second);
  const std::string plan = blackbox::run(process.command({"--dry-run"})).output;
  CHECK_MESSAGE(plan.find("skip Secret to/a-token: another ClusterProfile") == 0, plan);
  const blackbox::Sandbox sandbox;
  std::filesystem::permissions(sandbox.path(), std::filesystem::perms::owner_all);
  const blackbox::Outcome outcome =
      blackbox::run(process.command({"--once", "--to-dir=" + sandbox.path().native()}));
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.error_output.find("cluster=fleet/a provider=p target=\"Secret to/a-token\" "
                                  "cause=target-clash") != std::string::npos);
  CHECK(outcome.error_output.find("cluster=other/a ") != std::string::npos);
  CHECK(outcome.error_output.find("the same target: other/a cluster=fleet/a") != std::string::npos);
  // Where no other place is left, the line names the target too.
  const blackbox::Outcome alone = blackbox::run(process.command({"--once"}));
  CHECK_MESSAGE(alone.error_output.find("cluster=fleet/a provider=p target=\"Secret to/a-token\" "
                                        "cause=target-clash") != std::string::npos,
                blackbox::describe(alone));
  CHECK(written(api, "a").first == "for-https://a.example");
  CHECK(blackbox::read_text(sandbox.path() / "other/a/token") == "for-https://other.example");
  CHECK(blackbox::read_text(sandbox.path() / "fleet/a/token") == "for-https://a.example");
}
