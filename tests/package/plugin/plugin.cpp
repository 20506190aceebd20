// SPDX-License-Identifier: Apache-2.0
// A plugin that is not in the repository, made of the installed headers: library.sh builds it and
// runs it. It has a cache, and a choice of a ClusterProfile.
#include <execcred/exec/cache_options.hpp>
#include <execcred/exec/inputs.hpp>
#include <execcred/exec/plugin_main.hpp>
#include <execcred/exec/profile_choice.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace execcred;

class Vault final : public Provider {
  void add_options(OptionSet& options) override {
    options.group("Credential source");
    options.add("password-file", password_file_, "PATH", "File with the password of the vault")
        .required();
    options.group("Request");
    options.add("room", room_, "ROOM", "Room of the vault")
        .from_profile()
        .chosen_among("allow-room");
    options.group("Access rules");
    add_choice_patterns(options, "allow-room", allowed_rooms_,
                        "Room that a ClusterProfile may choose");
    add_cache_options(options, cache_);
  }

  Result<Plan> plan(const Settings& /*settings*/, Inputs& inputs) const override {
    Result<SecretString> password = inputs.secret_file("--password-file", password_file_);
    if (!password) return password.error();
    const std::string token = "token-of-" + room_;
    return Plan{.ask = [token](CallContext& call) -> Result<Issued> {
                  return Issued{
                      .credential = {.token = SecretString(token),
                                     .expires_at = call.clock.now() + std::chrono::hours(1)},
                      .identity = "vault"};
                },
                .cache = cache_of_run(cache_, inputs.request())};
  }

  std::string password_file_, room_;
  std::vector<ChoicePattern> allowed_rooms_;
  CacheOptions cache_;
};

}  // namespace

int main(int argc, char** argv) {
  return plugin_main(
      {.info = {.name = "vault",
                .summary = "Gives the client a token of a vault.",
                .examples = {{{"Print a token", "vault --password-file=/run/password --room=a"},
                              {"Show every setting", "vault --password-file=/p --show-config"}}}},
       .make = [] { return std::unique_ptr<Provider>(std::make_unique<Vault>()); }},
      argc, argv);
}
