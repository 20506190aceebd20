// SPDX-License-Identifier: Apache-2.0
#include "job.hpp"

#include "ledger.hpp"

#include <execcred/base/assert.hpp>
#include <execcred/base/cause.hpp>
#include <execcred/base/rfc3339.hpp>
#include <execcred/engine/credential_check.hpp>
#include <execcred/os/program_file.hpp>

#include <list.hpp>

#include <algorithm>
#include <span>
#include <utility>

namespace execcred::sync {
namespace {

using std::chrono::sys_seconds;

// The margin of claimed_expiration().
constexpr std::chrono::seconds kClaimMargin(30);

sys_seconds now_in_seconds() {
  return std::chrono::floor<std::chrono::seconds>(SystemClock().now());
}

// Whether the plugin claims an end only so that clients ask again (--max-age).
bool is_cheap_to_ask(std::string_view command) {
  const std::span<const PluginDefinition> plugins = all_plugins();
  return std::any_of(plugins.begin(), plugins.end(), [&](const PluginDefinition& plugin) {
    return plugin.info.is_cheap_to_ask && plugin.info.name == program_name(command);
  });
}

// When the plugin is asked again: at the end that it claims, or at that of its token or certificate
// if that is earlier, or the only one.
std::optional<sys_seconds> claim_of(const Credential& credential,
                                    const engine::CredentialFacts& facts) {
  std::optional<TimePoint> end = credential.expires_at;
  if (facts.own_end) end = std::min(end.value_or(*facts.own_end), *facts.own_end);
  if (!end) return std::nullopt;
  return std::chrono::floor<std::chrono::seconds>(*end);
}

// The end of the credential: the claim; or, if the plugin claims an end only so that clients ask
// again, that of its token or certificate. Such a claim moves with each answer.
std::optional<sys_seconds> end_of(std::optional<sys_seconds> claim,
                                  const engine::CredentialFacts& facts, bool is_cheap) {
  if (!claim || !is_cheap) return claim;
  if (!facts.own_end) return std::nullopt;
  const auto own = std::chrono::floor<std::chrono::seconds>(*facts.own_end);
  return std::max(*claim, own - kClaimMargin);
}

Failure failure_at(const std::string& place, const Error& error) {
  std::string message = error.message;
  for (const std::string& doing : error.context) message += "; while " + doing;
  return {.cause = error.cause,
          .message = std::move(message),
          .hint = error.hint,
          .place = place,
          .is_unavailability = error.kind == Error::Kind::unavailable};
}

// Why the existing credential stays after the failure, where that is not evident.
std::string_view why_kept(const Failure& failure) {
  if (failure.is_by_rule) return "it stays, because nothing may be removed now";
  if (failure.cause == execcred::cause::kProgramFailed) {
    return "it stays, because the program reported no cause";
  }
  const bool is_like_a_rule = failure.cause == execcred::cause::kConfigRefused ||
                              failure.cause == execcred::cause::kServerNotAllowed;
  return is_like_a_rule ? "it stays, because no rule refuses the ClusterProfile" : "";
}

class Work {
 public:
  Work(const Job& job, const JobTools& tools) : job_(job), tools_(tools) {
    result_.held = job.held;
  }

  JobResult run() {
    if (job_.kind == Job::Kind::remove) {
      remove_all();
    } else if (job_.kind == Job::Kind::expire) {
      mark_ended();
    } else if (job_.problem) {
      give_up(*job_.problem);
    } else {
      renew();
    }
    return std::move(result_);
  }

 private:
  std::vector<Field> fields(const std::string& place) const {
    return {{"cluster", job_.mark.cluster()}, {"provider", job_.provider}, {"target", place}};
  }

  void report(Failure failure) {
    std::vector<Field> all = fields(failure.place);
    all.push_back({"cause", std::string(failure.cause)});
    all.push_back({"credential", std::string(failure.kept_because)});
    all.push_back({"hint", failure.hint});
    tools_.journal.write(Level::error, failure.message, all);
    result_.failures.push_back(std::move(failure));
  }

  void report(const Store& store, const std::string& place, const Error& error) {
    report(failure_at(place, error));
    if (error.kind != Error::Kind::unavailable) return;
    result_.retry_after = std::max(result_.retry_after, store.retry_after());
  }

  void remove_all() {
    std::vector<Held> rest;
    for (Held& held : result_.held) {
      const Result<Wrote> wrote = held.store->remove(held, tools_.may_write);
      if (!wrote) {
        report(*held.store, held.place, wrote.error());
        rest.push_back(std::move(held));
      } else if (*wrote == Wrote::not_now) {
        result_.is_interrupted = true;
        rest.push_back(std::move(held));
      } else if (*wrote == Wrote::written) {
        ++result_.writes;
        std::vector<Field> all = fields(held.place);
        all.push_back({"why", std::string(job_.why)});
        tools_.journal.write(Level::info, "removed", all);
      }
    }
    result_.held = std::move(rest);
  }

  void mark_ended() {
    for (Held& held : result_.held) {
      const bool has_ended = held.mark.expires && *held.mark.expires <= now_in_seconds();
      if (!has_ended || held.mark.is_expired) continue;
      const Result<Wrote> wrote = held.store->mark_expired(held, tools_.may_write);
      if (!wrote) {
        report(*held.store, held.place, wrote.error());
        continue;
      }
      result_.is_interrupted = result_.is_interrupted || *wrote == Wrote::not_now;
      held.mark.is_expired = *wrote != Wrote::not_now;
      if (*wrote == Wrote::written) ++result_.writes;
      if (held.mark.is_expired) {
        tools_.journal.write(Level::warning, "the credential has ended", fields(held.place));
      }
    }
  }

  // After a failure, the old credential stays until its end. If a rule forbids it, the ledger
  // decides.
  void give_up(Failure failure) {
    const bool is_removed = failure.is_by_rule && job_.may_remove;
    if (!result_.held.empty() && !is_removed) failure.kept_because = why_kept(failure);
    report(std::move(failure));
    if (!is_removed) mark_ended();
  }

  // The environment of the plugin. From the second run on, the plugin's cache must give a new
  // credential at the renewal. The end that an execcred plugin claims is before that of its
  // credential (claimed_expiration), so this difference is added.
  Environment environment() const {
    std::vector<std::string> entries = tools_.environment.entries();
    const TimePoint now = SystemClock().now();
    if (job_.lifetime && job_.lifetime->expires && *job_.lifetime->expires > now) {
      const TimePoint expires = *job_.lifetime->expires;
      Duration left = expires - std::max(now, job_.renewal);
      if (is_plugin_of_ours(job_.access->exec.command)) {
        left += std::min<Duration>(kClaimMargin, (expires - job_.lifetime->issued) / 9);
      }
      const auto seconds = std::chrono::ceil<std::chrono::seconds>(left);
      entries.push_back("EXECCRED_REFRESH_BEFORE=" + std::to_string(seconds.count()) + "s");
    }
    return Environment(std::move(entries));
  }

  std::optional<Credential> ask_plugin() {
    engine::Item item;
    const auto start = std::chrono::steady_clock::now();
    std::optional<Credential> credential = tools_.runner.run(*job_.access, environment(), item);
    result_.plugin_time = std::chrono::steady_clock::now() - start;
    // A plugin that was interrupted at the end of the run has not failed.
    if (!credential && tools_.is_stopped()) {
      result_.is_interrupted = true;
      return std::nullopt;
    }
    if (credential) {
      facts_ = check_credential(*credential, {.now = SystemClock().now()}, item);
      if (!facts_.is_unusable && !facts_.is_provisional) return credential;
    }
    give_up(failure_of(item));
    return std::nullopt;
  }

  // Whether the place has a credential that is not due. It stays unchanged if the plugin runs
  // because another place is missing or was refused.
  bool is_good(const Held& place) const {
    if (job_.renewal <= SystemClock().now()) return false;
    return std::any_of(job_.held.begin(), job_.held.end(), [&](const Held& held) {
      return held.place == place.place && held.mark.digest == place.mark.digest &&
             held.mark.is_same_object(place.mark) && !held.mark.is_expired;
    });
  }

  void write(Target& target, const Mark& mark, const Issue& issue) {
    const Result<Held> place = target.place_of(mark);
    if (!place) {
      Failure failure = failure_at({}, place.error());
      failure.cause = cause::kTargetUnusable;
      report(std::move(failure));
      return;
    }
    const auto clash = std::find_if(job_.clashes.begin(), job_.clashes.end(),
                                    [&](const Clash& one) { return one.place == place->place; });
    if (clash != job_.clashes.end()) {
      report({.cause = cause::kTargetClash,
              .message = clash->why,
              .hint = "choose other names with --secret-name: neither is written",
              .place = place->place});
      return;
    }
    if (is_good(*place)) return;
    const Result<Wrote> wrote = target.write(*place, issue, tools_.may_write);
    if (!wrote) {
      report(target.store(), place->place, wrote.error());
      return;
    }
    if (*wrote == Wrote::not_now) {
      result_.is_interrupted = true;
      return;
    }
    const auto before = std::find_if(result_.held.begin(), result_.held.end(),
                                     [&](const Held& held) { return held.place == place->place; });
    if (before == result_.held.end()) {
      result_.held.push_back(*place);
    } else {
      *before = *place;
    }
    if (*wrote == Wrote::unchanged) return;
    ++result_.writes;
    std::vector<Field> all = fields(place->place);
    if (mark.expires) all.push_back({"expires", format_rfc3339(*mark.expires)});
    tools_.journal.write(Level::info, "wrote", all);
  }

  void renew() {
    std::optional<Credential> credential = ask_plugin();
    if (!credential) return;
    Mark mark = job_.mark;
    mark.issued = now_in_seconds();
    const Lifetime claim{.issued = mark.issued, .expires = claim_of(*credential, facts_)};
    mark.expires = end_of(claim.expires, facts_, is_cheap_to_ask(job_.access->exec.command));
    const bool is_same = job_.lifetime && mark.expires && mark.expires == job_.lifetime->expires;
    if (is_same) mark.issued = job_.lifetime->issued;
    result_.is_same_credential = is_same;
    result_.lifetime = Lifetime{.issued = mark.issued, .expires = mark.expires};
    if (claim.expires != mark.expires) result_.claim = claim;
    const Issue issue{.access = *job_.access,
                      .name_space = mark.name_space,
                      .name = mark.name,
                      .credential = *credential,
                      .issued = mark.issued,
                      .expires = mark.expires,
                      .claimed = claim.expires};
    for (Target* const target : tools_.targets) write(*target, mark, issue);
    // Ended credentials at places that are no longer targets are marked too.
    mark_ended();
    wipe(credential->client_certificate);
  }

  const Job& job_;
  const JobTools& tools_;
  JobResult result_;
  engine::CredentialFacts facts_ = {};  // of the plugin's answer
};

}  // namespace

Failure failure_of(const engine::Item& item) {
  const engine::Step* const step = item.cause_step();
  EXECCRED_ASSERT(step != nullptr);
  return {.cause = step->cause,
          .message = step->message,
          .hint = step->hint,
          .is_unavailability = engine::is_unavailability(step->cause),
          .is_local = step->is_local || step == &item.step(engine::StepId::program),
          .is_by_rule = step->is_by_rule};
}

JobResult do_job(const Job& job, const JobTools& tools) { return Work(job, tools).run(); }

}  // namespace execcred::sync
