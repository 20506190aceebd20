// SPDX-License-Identifier: Apache-2.0
#include "examine.hpp"

#include <execcred/base/clock.hpp>
#include <execcred/base/try.hpp>
#include <execcred/engine/credential_check.hpp>
#include <execcred/engine/plugin_run.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace execcred::grant {
namespace {

using engine::StepId;

class Grants final : public cli::FleetWork {
 public:
  Grants(std::vector<engine::Target> targets, Rules rules, Duration limit)
      : FleetWork(targets.size()),
        targets_(std::move(targets)),
        items_(targets_.size()),
        rules_(std::move(rules)),
        runner_(environment_, {.limit = limit, .stop = stop()}) {}

  bool run(std::size_t number) override {
    engine::Target& target = targets_[number];
    Item& item = items_[number];
    item.examined = std::move(target.item);
    if (target.access) examine(*target.access, item);
    target.access.reset();
    return item.readings.empty();
  }

  Item& item_of(std::size_t number) { return items_[number]; }

 private:
  void examine(const Access& access, Item& item) {
    item.server = access.cluster.server;
    const std::optional<Credential> credential = runner_.run(access, environment_, item.examined);
    if (!credential) return;
    const engine::CredentialFacts facts =
        check_credential(*credential, {.now = SystemClock().now()}, item.examined);
    if (item.examined.verdict() == engine::Verdict::fail) return;
    Result<std::vector<Grant>> readings = read(access, facts, credential->token, item.examined);
    if (readings) {
      item.readings = std::move(readings).value();
    } else {
      item.examined.fail(StepId::credential, readings.error(), {});
    }
  }

  Result<std::vector<Grant>> read(const Access& access, const engine::CredentialFacts& facts,
                                  const SecretString& token, const engine::Item& examined) const {
    const Url server = TRY(parse_url(access.cluster.server).context("reading the server"));
    const Origin origin = TRY(origin_of(access, environment_));
    const std::vector<Identity> identities =
        TRY(identities_of(evidence_of(facts, token, origin), origin, server));
    const Subject subject{.name_space = examined.name_space,
                          .name = examined.name,
                          .provider = examined.provider,
                          .cluster_id = origin.cluster_id};
    std::vector<Grant> grants;
    grants.reserve(identities.size());
    for (const Identity& identity : identities) {
      grants.push_back(grant_of(identity, subject, server, rules_));
    }
    return grants;
  }

  std::vector<engine::Target> targets_;
  std::vector<Item> items_;
  Rules rules_;
  Environment environment_ = Environment::copy();
  engine::PluginRunner runner_;
};

}  // namespace

cli::FleetItems<Item> grants_of(std::vector<engine::Target> targets, const Rules& rules,
                                Duration limit, const cli::FleetOptions& options) {
  return cli::collect_from_fleet<Item>(std::make_shared<Grants>(std::move(targets), rules, limit),
                                       options);
}

}  // namespace execcred::grant
