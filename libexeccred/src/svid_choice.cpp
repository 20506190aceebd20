// SPDX-License-Identifier: Apache-2.0
#include <execcred/spiffe_id.hpp>
#include <execcred/svid_choice.hpp>
#include <execcred/text.hpp>

#include <algorithm>
#include <utility>

namespace execcred {
namespace {

constexpr std::size_t kMaxShown = 10;

Error unfit(std::string message, std::string hint) {
  return Error{
      .kind = Error::Kind::no_credential, .message = std::move(message), .hint = std::move(hint)};
}

std::string list(const std::vector<SvidCandidate>& candidates) {
  std::string text;
  for (std::size_t i = 0; i < std::min(candidates.size(), kMaxShown); ++i) {
    const SvidCandidate& candidate = candidates[i];
    if (i > 0) text += ", ";
    text += in_quotes(candidate.spiffe_id);
    if (!candidate.hint.empty()) text += " (hint " + in_quotes(candidate.hint) + ")";
  }
  const std::size_t others = candidates.size() - std::min(candidates.size(), kMaxShown);
  return others == 0 ? text : text + " and " + std::to_string(others) + " more";
}

std::string wanted(const SvidChoice& choice) {
  std::string text;
  if (!choice.spiffe_id.empty()) text = "the SPIFFE ID " + in_quotes(choice.spiffe_id);
  if (choice.hint.empty()) return text;
  return text + (text.empty() ? "" : " and ") + "the hint " + in_quotes(choice.hint);
}

Result<std::size_t> find(const std::vector<SvidCandidate>& candidates, const SvidChoice& choice) {
  const auto found =
      std::find_if(candidates.begin(), candidates.end(), [&choice](const SvidCandidate& one) {
        return (choice.spiffe_id.empty() || one.spiffe_id == choice.spiffe_id) &&
               (choice.hint.empty() || one.hint == choice.hint);
      });
  if (found != candidates.end()) return static_cast<std::size_t>(found - candidates.begin());
  return unfit("the agent has no identity with " + wanted(choice) + " for this process",
               "it has " + list(candidates));
}

}  // namespace

Result<std::size_t> choose_svid(const std::vector<SvidCandidate>& candidates,
                                const SvidChoice& choice) {
  std::size_t chosen = 0;
  if (!choice.spiffe_id.empty() || !choice.hint.empty()) {
    TRY_ASSIGN(chosen, find(candidates, choice));
  } else if (candidates.size() != 1) {
    return unfit("the agent has " + std::to_string(candidates.size()) +
                     " identities for this process: " + list(candidates),
                 "choose one with --spiffe-id or --hint");
  }
  if (choice.trust_domain.empty()) return chosen;
  const std::string& id = candidates[chosen].spiffe_id;
  const Result<SpiffeId> parsed = SpiffeId::parse(id);
  if (!parsed) return unfit("the agent's identity is none: " + parsed.error().message, {});
  if (parsed->trust_domain() == choice.trust_domain) return chosen;
  return unfit("the identity " + in_quotes(id) + " is of another trust domain than " +
                   in_quotes(choice.trust_domain),
               "--trust-domain names the one that is expected; is this the right agent?");
}

}  // namespace execcred
