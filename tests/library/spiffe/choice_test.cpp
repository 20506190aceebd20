// SPDX-License-Identifier: Apache-2.0
#include "unit/expect.hpp"

#include <doctest/doctest.h>
#include <execcred/spiffe/svid_choice.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace execcred {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const std::string kOne = "spiffe://example.org/one";
const std::string kTwo = "spiffe://example.org/two";
const std::string kOther = "spiffe://other.org/one";

std::vector<SvidCandidate> several() {
  return {{.spiffe_id = kOne, .hint = "internal"},
          {.spiffe_id = kTwo, .hint = "external"},
          {.spiffe_id = kOther},
          {.spiffe_id = kOne, .hint = "external"}};
}

void check_chosen(const std::vector<SvidCandidate>& candidates, const SvidChoice& choice,
                  std::size_t wanted) {
  CAPTURE(choice.spiffe_id);
  CAPTURE(choice.hint);
  CAPTURE(choice.trust_domain);
  const Result<std::size_t> chosen = choose_svid(candidates, choice);
  if (!chosen) FAIL(full_text(chosen.error()));
  CHECK(*chosen == wanted);
}

TEST_CASE("choose_svid: a single identity needs no choice, but must match a given one") {
  const std::vector<SvidCandidate> one = {{.spiffe_id = kOne, .hint = "internal"}};
  check_chosen(one, {}, 0);
  check_chosen(one, {.spiffe_id = kOne}, 0);
  check_chosen(one, {.hint = "internal"}, 0);
  check_chosen(one, {.spiffe_id = kOne, .hint = "internal", .trust_domain = "example.org"}, 0);
  check_fails(choose_svid(one, {.spiffe_id = kTwo}), Error::Kind::no_credential,
              "the agent has no identity with the SPIFFE ID 'spiffe://example.org/two' for this "
              "process\nhint: it has 'spiffe://example.org/one' (hint 'internal')");
  check_fails(choose_svid(one, {.hint = "Internal"}), Error::Kind::no_credential,
              "has no identity with the hint 'Internal' for this process");
}

TEST_CASE("choose_svid: by ID, by hint, by both, the first if several match") {
  check_chosen(several(), {.spiffe_id = kTwo}, 1);
  check_chosen(several(), {.spiffe_id = kOther}, 2);
  check_chosen(several(), {.spiffe_id = kOne}, 0);
  check_chosen(several(), {.hint = "internal"}, 0);
  check_chosen(several(), {.hint = "external"}, 1);
  check_chosen(several(), {.spiffe_id = kOne, .hint = "external"}, 3);
  check_fails(choose_svid(several(), {.spiffe_id = kTwo, .hint = "internal"}),
              Error::Kind::no_credential,
              "with the SPIFFE ID 'spiffe://example.org/two' and the hint 'internal' for");
  check_fails(choose_svid(several(), {.spiffe_id = "spiffe://example.org/o"}),
              Error::Kind::no_credential, "has no identity");
}

TEST_CASE("choose_svid: several identities without a choice are an error that lists them") {
  const Result<std::size_t> chosen = choose_svid(several(), {});
  check_fails(chosen, Error::Kind::no_credential,
              "the agent has 4 identities for this process: 'spiffe://example.org/one' (hint "
              "'internal'), 'spiffe://example.org/two' (hint 'external'), "
              "'spiffe://other.org/one', 'spiffe://example.org/one' (hint 'external')\nhint: "
              "choose one with --spiffe-id or --hint");
  // The trust domain is only a condition. It does not choose one of its identities.
  check_fails(choose_svid(several(), {.trust_domain = "example.org"}), Error::Kind::no_credential,
              "the agent has 4 identities");
  check_fails(choose_svid({{.spiffe_id = kOne}, {.spiffe_id = kOne}}, {}),
              Error::Kind::no_credential, "the agent has 2 identities");
}

// The user of each entry's certificate, in the order of the entries.
CertifiedUserOf users(std::vector<std::optional<CertifiedUser>> all) {
  return [all = std::move(all)](std::size_t place) { return all.at(place); };
}

TEST_CASE("choose_svid: one ID with certificates of different users needs a hint") {
  const std::vector<SvidCandidate> two = {{.spiffe_id = kOne, .hint = "internal"},
                                          {.spiffe_id = kOne}};
  const std::string list =
      "'spiffe://example.org/one' (hint 'internal', CN 'a', O 'SPIRE'), "
      "'spiffe://example.org/one' (no hint, CN 'b', no O)";
  const CertifiedUserOf differ = users(
      {CertifiedUser{.name = "a", .groups = {"SPIRE"}}, CertifiedUser{.name = "b", .groups = {}}});
  check_fails(choose_svid(two, {.spiffe_id = kOne}, differ), Error::Kind::no_credential,
              "the agent has 2 identities with the SPIFFE ID 'spiffe://example.org/one' for this "
              "process: " +
                  list + "\nhint: choose one with --hint");
  check_fails(
      choose_svid(two, {}, differ), Error::Kind::no_credential,
      "the agent has 2 identities for this process: " + list + "\nhint: choose one with --hint");
  const Result<std::size_t> chosen =
      choose_svid(two, {.spiffe_id = kOne, .hint = "internal"}, differ);
  REQUIRE(chosen.has_value());
  CHECK(*chosen == 0);
}

TEST_CASE("choose_svid: entries that are one identity are chosen by their ID") {
  const std::string remedy =
      "\nhint: they are one identity: choose it with --spiffe-id=spiffe://example.org/one";
  for (const std::string hint : {"", "internal"}) {
    const std::vector<SvidCandidate> two = {{.spiffe_id = kOne, .hint = hint}, {.spiffe_id = kOne}};
    const CertifiedUser user = {.name = "a", .groups = {}};
    for (const CertifiedUserOf& user_of : {CertifiedUserOf(), users({user, user})}) {
      check_fails(choose_svid(two, {}, user_of), Error::Kind::no_credential, remedy);
      CHECK(choose_svid(two, {.spiffe_id = kOne}, user_of));
    }
  }
}

TEST_CASE("choose_svid: without distinct hints the error says that the entries need them") {
  const CertifiedUserOf differ =
      users({CertifiedUser{.name = "a", .groups = {}}, CertifiedUser{.name = "b", .groups = {}}});
  const std::string remedy =
      ": give each registration entry its own (-hint), and choose one with --hint";
  check_fails(choose_svid({{.spiffe_id = kOne}, {.spiffe_id = kOne}}, {.spiffe_id = kOne}, differ),
              Error::Kind::no_credential, "\nhint: they have no hint" + remedy);
  check_fails(choose_svid({{.spiffe_id = kOne, .hint = "x"}, {.spiffe_id = kOne, .hint = "x"}},
                          {.hint = "x"}, differ),
              Error::Kind::no_credential, "\nhint: they have the same hint" + remedy);
  // The same hint, two IDs: the ID chooses.
  check_fails(choose_svid({{.spiffe_id = kOne, .hint = "x"}, {.spiffe_id = kTwo, .hint = "x"}},
                          {.hint = "x"}, differ),
              Error::Kind::no_credential,
              "2 identities with the hint 'x' for this process: 'spiffe://example.org/one' (hint "
              "'x', CN 'a', no O), 'spiffe://example.org/two' (hint 'x', CN 'b', no O)\nhint: "
              "choose one with --spiffe-id");
}

TEST_CASE("choose_svid: of certificates with one ID, user and groups the first is chosen") {
  const std::vector<SvidCandidate> two = {
      {.spiffe_id = kTwo}, {.spiffe_id = kOne}, {.spiffe_id = kOne, .hint = "x"}};
  const CertifiedUser user = {.name = "a", .groups = {"one", "two"}};
  const Result<std::size_t> chosen =
      choose_svid(two, {.spiffe_id = kOne}, users({std::nullopt, user, user}));
  REQUIRE(chosen.has_value());
  CHECK(*chosen == 1);
  for (const std::optional<CertifiedUser>& other :
       std::vector<std::optional<CertifiedUser>>{{},
                                                 {{.name = "a", .groups = {"one"}}},
                                                 {{.name = "A", .groups = {"one", "two"}}},
                                                 {{.name = "", .groups = {"one", "two"}}}}) {
    check_fails(choose_svid(two, {.spiffe_id = kOne}, users({{}, user, other})),
                Error::Kind::no_credential, "the agent has 2 identities with the SPIFFE ID");
    check_fails(choose_svid(two, {.spiffe_id = kOne}, users({{}, other, user})),
                Error::Kind::no_credential, "the agent has 2 identities with the SPIFFE ID");
  }
  // Without a readable certificate the user is unknown.
  check_fails(choose_svid(two, {.spiffe_id = kOne}, users({{}, {}, {}})),
              Error::Kind::no_credential, "(no hint, no readable certificate)");
}

TEST_CASE("choose_svid: names of users and groups are printable, and their list is short") {
  CertifiedUser user = {.name = "\x1b[2J\n" + std::string(3000, 'n'), .groups = {}};
  for (int i = 0; i < 1000; ++i) user.groups.push_back(std::to_string(i) + "\x1b");
  const std::vector<SvidCandidate> many(50, {.spiffe_id = kOne});
  std::size_t asked = 0;
  const Result<std::size_t> chosen = choose_svid(
      many, {.spiffe_id = kOne}, [&](std::size_t place) -> std::optional<CertifiedUser> {
        ++asked;
        CertifiedUser one = user;
        one.name += std::to_string(place);
        return one;
      });
  check_fails(chosen, Error::Kind::no_credential, " and 40 more");
  CHECK_FALSE(contains(chosen.error().message, "\x1b"));
  CHECK_FALSE(contains(chosen.error().message, "\n"));
  CHECK(chosen.error().message.size() < 10 * 500);
  CHECK(asked <= 12);  // two to find that they differ, ten for the list
}

TEST_CASE("choose_svid: the chosen identity must be in the trust domain") {
  check_chosen(several(), {.spiffe_id = kOther, .trust_domain = "other.org"}, 2);
  check_chosen(several(), {.hint = "external", .trust_domain = "example.org"}, 1);
  for (const std::string domain :
       {"example.or", "example.orgs", "org", "Example.org", "other.org"}) {
    check_fails(
        choose_svid(several(), {.spiffe_id = kTwo, .trust_domain = domain}),
        Error::Kind::no_credential,
        "the identity 'spiffe://example.org/two' is of another trust domain than '" + domain + "'");
  }
  check_fails(choose_svid({{.spiffe_id = kOther}}, {.trust_domain = "example.org"}),
              Error::Kind::no_credential, "is of another trust domain");
}

TEST_CASE("choose_svid: an invalid ID from the agent is an error of one line") {
  for (const std::string& id :
       {std::string("example.org/one"), std::string("a\nb"), std::string()}) {
    CAPTURE(id);
    const Result<std::size_t> chosen =
        choose_svid({{.spiffe_id = id}}, {.trust_domain = "example.org"});
    check_fails(chosen, Error::Kind::no_credential, "the agent's identity is none: ");
    CHECK_FALSE(contains(chosen.error().message, "\n"));
  }
}

TEST_CASE("choose_svid: a list of many long or unprintable names is short and printable") {
  std::vector<SvidCandidate> many(5000, {.spiffe_id = std::string(3000, 'x'), .hint = "\x1b[2J"});
  const Result<std::size_t> chosen = choose_svid(many, {});
  check_fails(chosen, Error::Kind::no_credential, " and 4990 more");
  CHECK(chosen.error().message.size() < 2500);
  CHECK_FALSE(contains(chosen.error().message, "\x1b"));

  many.resize(10);
  CHECK_FALSE(contains(full_text(choose_svid(many, {}).error()), "more"));
  many.resize(11);
  CHECK(contains(full_text(choose_svid(many, {.hint = "none"}).error()), " and 1 more"));
}

}  // namespace
}  // namespace execcred
