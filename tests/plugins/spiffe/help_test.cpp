// SPDX-License-Identifier: Apache-2.0
// The examples of execcred-spiffe --help.
#include "peer.hpp"

#include <doctest/doctest.h>

namespace execcred::test {

TEST_CASE("help: the examples work") {
  const AgentPeer agent;
  check_examples("execcred-spiffe", agent.peer.sandbox,
                 {"SPIFFE_ENDPOINT_SOCKET=" + agent.peer.server.uri()});
}

}  // namespace execcred::test
