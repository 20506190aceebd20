// SPDX-License-Identifier: Apache-2.0
// execcred-made-up, an example of a new plugin, for made_up_test.py. No release has it.
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/inputs.hpp>
#include <execcred/exec/plugin_main.hpp>

#include <array>
#include <memory>

namespace execcred::made_up {
namespace {

constexpr std::array<std::string_view, 2> kMoods = {"calm", "stormy"};
constexpr ValueForm kShelfForm = {"^[a-z]+-[0-9]+$", 40};

Result<std::string> parse_mood(const std::string& text) {
  if (text == "calm" || text == "stormy") return text;
  return Error::configuration(in_quotes(text) + " is no mood of a vault", "it is calm or stormy");
}

class MadeUp final : public Provider {
 public:
  void add_options(OptionSet& options) override {
    options.group("Credential source");
    options.add("vault", vault_, "PATH", "Directory of the vault")
        .required()
        .directory()
        .with_template();
    options.add_parsed("mood", mood_, "MOOD", "Mood of the vault", parse_mood)
        .choices(kMoods)
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

  Status check(const Settings& /*settings*/) const override {
    if (mood_ != "stormy" || allow_storm_) return {};
    return Error::configuration("--mood=stormy needs --allow-storm",
                                "or wait until the vault is calm");
  }

  Result<Plan> plan(const Settings& /*settings*/, Inputs& inputs) const override {
    TRY(inputs.expand("--vault", vault_));
    return Plan{.ask = [](CallContext& /*call*/) -> Result<Issued> {
      return Issued{.credential = {.token = SecretString("made-up")}};
    }};
  }

 private:
  std::string vault_;
  std::string mood_ = "calm";
  std::vector<std::string> shelves_;
  bool allow_storm_ = false;
};

}  // namespace

PluginDefinition plugin() {
  return {
      .info = {.name = "execcred-made-up",
               .summary = "Gives the client a token of a vault.",
               .examples = {{{"Print the token of a vault", "execcred-made-up --vault=/run/vault"},
                             {"Show every setting",
                              "execcred-made-up --vault=/run/vault --show-config"}}}},
      .make = [] { return std::unique_ptr<Provider>(std::make_unique<MadeUp>()); }};
}

}  // namespace execcred::made_up
