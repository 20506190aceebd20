// SPDX-License-Identifier: Apache-2.0
// From the agent's reply to the SVID that a plugin gets.
#include "frame_server.hpp"
#include "unit/expect.hpp"
#include "unit/temp_dir.hpp"
#include "workload_agent.hpp"

#include <doctest/doctest.h>
#include <execcred/spiffe/jwt_svid.hpp>
#include <execcred/spiffe/x509_svid.hpp>

#include <chrono>
#include <string>

namespace execcred {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using namespace std::chrono_literals;

const std::string kOne = "spiffe://example.org/one";
const std::string kTwo = "spiffe://example.org/two";

struct Api {
  explicit Api(const FrameServer& server, bool is_needed = true)
      : endpoint(parse_workload_endpoint(server.uri())),
        api(*endpoint,
            {.deadline = std::chrono::steady_clock::now() + 10s, .is_needed = is_needed}) {}

  Result<WorkloadEndpoint> endpoint;
  WorkloadApi api;
  SystemClock clock = {};
};

TEST_CASE("fetch_jwt_svid: asks, chooses and checks") {
  const TempDir folder;
  WorkloadAgent agent({{.spiffe_id = kTwo}, {.spiffe_id = kOne, .hint = "internal"}});
  const FrameServer server(agent.handler(), {.path = (folder / "agent.sock").native()});
  const Api api(server);

  Result<JwtSvid> svid = fetch_jwt_svid(api.api, {"a", "b"}, {.hint = "internal"}, api.clock);
  if (!svid) FAIL(full_text(svid.error()));
  CHECK(svid->spiffe_id == kOne);
  CHECK((svid->expires_at > api.clock.now()));
  svid = fetch_jwt_svid(api.api, {"a"}, {.spiffe_id = kTwo}, api.clock);
  if (!svid) FAIL(full_text(svid.error()));
  CHECK(svid->spiffe_id == kTwo);
  check_fails(fetch_jwt_svid(api.api, {"a"}, {}, api.clock), Error::Kind::no_credential,
              "the agent has 2 identities");
}

TEST_CASE("fetch_jwt_svid: one attempt if the credential is not needed") {
  const TempDir folder;
  const FrameServer server(grpc::says(grpc::failure(grpc::kPermissionDenied, "no identity issued")),
                           {.path = (folder / "agent.sock").native()});
  const Api api(server, false);
  check_fails(fetch_jwt_svid(api.api, {"a"}, {}, api.clock), Error::Kind::no_credential,
              "no identity issued");
  CHECK(server.connections() == 1);
}

TEST_CASE("fetch_x509_svid: asks, chooses and checks") {
  const TempDir folder;
  WorkloadAgent agent({{.spiffe_id = kOne, .hint = "internal", .common_name = "one"},
                       {.spiffe_id = kTwo, .common_name = ""}});
  const FrameServer server(agent.handler(), {.path = (folder / "agent.sock").native()});
  const Api api(server);

  Result<X509Svid> svid = fetch_x509_svid(api.api, {.spiffe_id = kOne}, api.clock);
  if (!svid) FAIL(full_text(svid.error()));
  CHECK(svid->spiffe_id == kOne);
  CHECK(svid->common_name == "one");
  CHECK(check_client_certificate(svid->pair.chain, svid->pair.private_key, api.clock.now()));
  svid = fetch_x509_svid(api.api, {.spiffe_id = kTwo}, api.clock);
  if (!svid) FAIL(full_text(svid.error()));
  CHECK(svid->spiffe_id == kTwo);
  CHECK(svid->common_name.empty());
  svid = fetch_x509_svid(api.api, {.hint = "internal"}, api.clock);
  if (!svid) FAIL(full_text(svid.error()));
  CHECK(svid->spiffe_id == kOne);
  check_fails(fetch_x509_svid(api.api, {}, api.clock), Error::Kind::no_credential,
              "the agent has 2 identities");
  check_fails(fetch_x509_svid(api.api, {.spiffe_id = "spiffe://example.org/x"}, api.clock),
              Error::Kind::no_credential, "the agent has no identity with");
}

TEST_CASE("fetch_x509_svid: two certificates of one ID are one identity if user and groups agree") {
  const TempDir folder;
  const auto fetched_from = [&](const std::string& name,
                                std::vector<WorkloadAgent::Identity> identities) {
    WorkloadAgent agent(std::move(identities));
    const FrameServer server(agent.handler(), {.path = (folder / name).native()});
    const Api api(server);
    return fetch_x509_svid(api.api, {.spiffe_id = kOne}, api.clock);
  };
  const Result<X509Svid> same =
      fetched_from("same", {{.spiffe_id = kTwo}, {.spiffe_id = kOne}, {.spiffe_id = kOne}});
  if (!same) FAIL(full_text(same.error()));
  CHECK(same->common_name == "workload");
  check_fails(
      fetched_from("cn", {{.spiffe_id = kOne, .common_name = "admin"}, {.spiffe_id = kOne}}),
      Error::Kind::no_credential,
      "the agent has 2 identities with the SPIFFE ID 'spiffe://example.org/one' for this process: "
      "'spiffe://example.org/one' (no hint, CN 'admin', O 'SPIRE'), 'spiffe://example.org/one' (no "
      "hint, CN 'workload', O 'SPIRE')\nhint: they have no hint: give each registration entry its "
      "own (-hint), and choose one with --hint");
  check_fails(fetched_from("o", {{.spiffe_id = kOne, .organization = "system:masters"},
                                 {.spiffe_id = kOne, .hint = "narrow"}}),
              Error::Kind::no_credential,
              "(no hint, CN 'workload', O 'system:masters'), 'spiffe://example.org/one' (hint "
              "'narrow', CN 'workload', O 'SPIRE')\nhint: choose one with --hint");
}

class LateClock final : public Clock {
 public:
  TimePoint now() const override { return SystemClock().now() + 24h; }
};

TEST_CASE("fetch: the expiry is checked by the given clock") {
  const TempDir folder;
  WorkloadAgent agent({{.spiffe_id = kOne}});
  const FrameServer server(agent.handler(), {.path = (folder / "agent.sock").native()});
  const Api api(server);
  check_fails(fetch_jwt_svid(api.api, {"a"}, {}, LateClock()), Error::Kind::no_credential,
              "has expired");
  check_fails(fetch_x509_svid(api.api, {}, LateClock()), Error::Kind::no_credential, "has expired");
}

}  // namespace
}  // namespace execcred
