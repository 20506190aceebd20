// SPDX-License-Identifier: Apache-2.0
#include <execcred/spiffe/svid_choice.hpp>

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/spiffe/spiffe_id.hpp>

#include <algorithm>

namespace execcred {
namespace {

constexpr std::size_t kMaxShown = 10;
constexpr std::size_t kMaxGroupsShown = 3;

using Places = std::vector<std::size_t>;

std::string shown(const std::optional<CertifiedUser>& user) {
  if (!user) return "no readable certificate";
  std::string text = user->name.empty() ? "no CN" : "CN " + in_quotes(user->name);
  if (user->groups.empty()) return text + ", no O";
  for (std::size_t i = 0; i < std::min(user->groups.size(), kMaxGroupsShown); ++i) {
    text += ", O " + in_quotes(user->groups[i]);
  }
  return user->groups.size() > kMaxGroupsShown ? text + ", …" : text;
}

class Candidates {
 public:
  Candidates(const std::vector<SvidCandidate>& all, const CertifiedUserOf& user_of)
      : all_(all), user_of_(user_of) {}

  Places matching(const SvidChoice& choice) const {
    Places places;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const bool matches = (choice.spiffe_id.empty() || all_[i].spiffe_id == choice.spiffe_id) &&
                           (choice.hint.empty() || all_[i].hint == choice.hint);
      if (matches) places.push_back(i);
    }
    return places;
  }

  std::string list(const Places& places) const {
    std::string text;
    for (std::size_t i = 0; i < std::min(places.size(), kMaxShown); ++i) {
      text += (i > 0 ? ", " : "") + describe(places[i]);
    }
    const std::size_t others = places.size() - std::min(places.size(), kMaxShown);
    return others == 0 ? text : text + " and " + std::to_string(others) + " more";
  }

  // The hint: with which option to choose among several candidates.
  std::string remedy(const Places& places, const SvidChoice& choice) const {
    if (!all_same(places, &SvidCandidate::spiffe_id)) {
      return choice.hint.empty() ? "choose one with --spiffe-id or --hint"
                                 : "choose one with --spiffe-id";
    }
    const bool has_choice = !choice.spiffe_id.empty() || !choice.hint.empty();
    if (!has_choice && are_one_identity(places)) {
      return "they are one identity: choose it with --spiffe-id=" +
             printable(all_[places.front()].spiffe_id);
    }
    if (!all_same(places, &SvidCandidate::hint)) return "choose one with --hint";
    return std::string(all_[places.front()].hint.empty() ? "they have no hint"
                                                         : "they have the same hint") +
           ": give each registration entry its own (-hint), and choose one with --hint";
  }

  // JWT-SVIDs have no user besides the SPIFFE ID.
  bool are_one_identity(const Places& places) const {
    if (!all_same(places, &SvidCandidate::spiffe_id)) return false;
    if (!user_of_) return true;
    const std::optional<CertifiedUser> first = user_of_(places.front());
    return first && std::all_of(places.begin() + 1, places.end(),
                                [&](std::size_t place) { return user_of_(place) == first; });
  }

 private:
  bool all_same(const Places& places, std::string SvidCandidate::*part) const {
    return std::all_of(places.begin(), places.end(), [&](std::size_t place) {
      return all_[place].*part == all_[places.front()].*part;
    });
  }

  std::string describe(std::size_t place) const {
    const SvidCandidate& candidate = all_[place];
    const std::string hint = candidate.hint.empty() ? "" : "hint " + in_quotes(candidate.hint);
    if (user_of_) {
      return in_quotes(candidate.spiffe_id) + " (" + (hint.empty() ? "no hint" : hint) + ", " +
             shown(user_of_(place)) + ")";
    }
    return in_quotes(candidate.spiffe_id) + (hint.empty() ? "" : " (" + hint + ")");
  }

  const std::vector<SvidCandidate>& all_;
  const CertifiedUserOf& user_of_;
};

std::string wanted(const SvidChoice& choice) {
  std::string text;
  if (!choice.spiffe_id.empty()) text = "the SPIFFE ID " + in_quotes(choice.spiffe_id);
  if (choice.hint.empty()) return text;
  return text + (text.empty() ? "" : " and ") + "the hint " + in_quotes(choice.hint);
}

Result<std::size_t> find(const Candidates& candidates, const SvidChoice& choice,
                         bool may_be_different_users) {
  const std::string with = wanted(choice);
  const Places places = candidates.matching(choice);
  if (places.size() == 1) return places.front();
  if (places.empty()) {
    return Error::no_credential("the agent has no identity with " + with + " for this process",
                                "it has " + candidates.list(candidates.matching({})));
  }
  const bool is_chosen =
      !with.empty() && (!may_be_different_users || candidates.are_one_identity(places));
  if (is_chosen) return places.front();
  return Error::no_credential("the agent has " + std::to_string(places.size()) + " identities " +
                                  (with.empty() ? "" : "with " + with + " ") +
                                  "for this process: " + candidates.list(places),
                              candidates.remedy(places, choice));
}

}  // namespace

Result<std::size_t> choose_svid(const std::vector<SvidCandidate>& candidates,
                                const SvidChoice& choice, const CertifiedUserOf& user_of) {
  const std::size_t chosen = TRY(find(Candidates(candidates, user_of), choice, user_of != nullptr));
  if (choice.trust_domain.empty()) return chosen;
  const std::string& id = candidates[chosen].spiffe_id;
  const Result<SpiffeId> parsed = SpiffeId::parse(id);
  if (!parsed)
    return Error::no_credential("the agent's identity is none: " + parsed.error().message, {});
  if (parsed->trust_domain() == choice.trust_domain) return chosen;
  return Error::no_credential(
      "the identity " + in_quotes(id) + " is of another trust domain than " +
          in_quotes(choice.trust_domain),
      "--trust-domain names the one that is expected; is this the right agent?");
}

}  // namespace execcred
