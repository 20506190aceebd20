// SPDX-License-Identifier: Apache-2.0
// execcred-made-up, an example of a new plugin, for made_up_test.py. No release has it.
#include <execcred/base/try.hpp>
#include <execcred/exec/inputs.hpp>
#include <execcred/exec/plugin_main.hpp>

namespace execcred::made_up {

constexpr std::array<std::string_view, 2> kMoods = {"calm", "stormy"};
constexpr ValueForm kShelfForm = {"^[a-z]+-[0-9]+$", 40};

class MadeUp final : public Provider {
  std::string vault_, mood_;
  std::vector<std::string> shelves_;
  bool allow_storm_ = false;

  void add_options(OptionSet& options) override {
    options.group("Credential source");
    options.add("vault", vault_, "PATH", "Directory of the vault")
        .required()
        .directory()
        .with_template();
    options.add("mood", mood_, "MOOD", "Mood of the vault")
        .choices(kMoods, "mood of a vault")
        .default_text("calm")
        .variable("VAULT_MOOD");
    options.group("Request");
    options.add("shelf", shelves_, "SHELF", "Shelf of the vault")
        .from_profile()
        .allowed_by("allow-audience")
        .form(kShelfForm);
    options.group("Access rules");
    options.add("allow-storm", allow_storm_, "Open a vault that is stormy")
        .no_environment()
        .weakens("lets a storm into the cluster");
  }

  std::vector<Finding> check(const Settings&, const Environment&) const override {
    if (mood_ != "stormy" || allow_storm_) return {};
    return refusals(Error::configuration("--mood=stormy needs --allow-storm", "wait for calm"));
  }

  Result<Plan> plan(const Settings&, Inputs& inputs) const override {
    TRY(inputs.expand("--vault", vault_));
    return Plan{.ask = [](CallContext&) -> Result<Issued> {
      return Issued{.credential = {.token = SecretString("made-up")}};
    }};
  }
};

PluginDefinition plugin() {
  return {
      .info = {.name = "execcred-made-up",
               .summary = "Gives the client a token of a vault.",
               .examples = {{{"Print the token of a vault", "execcred-made-up --vault=/run/vault"},
                             {"Show every setting", "execcred-made-up --vault=/v --show-config"}}}},
      .make = [] { return std::unique_ptr<Provider>(std::make_unique<MadeUp>()); }};
}

}  // namespace execcred::made_up
