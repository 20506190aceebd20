// SPDX-License-Identifier: Apache-2.0
// A plugin needs no code of its own to hide what a server repeats: this one shows each reply in its
// error and in no other way, and its requests have a secret in every place that can have one.
#include "sandbox.hpp"

#include <execcred/base/form.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/inputs.hpp>
#include <execcred/exec/provider.hpp>
#include <execcred/http/retry.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace execcred;

namespace {

constexpr std::string_view kHeader = "header-token-0123456789";
constexpr std::string_view kClientSecret = "client+secret/0123456789";
constexpr std::string_view kForm = "form-assertion-0123456789";

// Answers with all that it was sent.
class Mirror final : public HttpClient {
 public:
  Result<HttpResponse> send(const HttpRequest& request) override {
    std::string text;
    for (const HttpHeader& header : request.headers) {
      text.append(header.value.reveal()).append(" ");
    }
    text.append(request.body.reveal()).append(" ").append(kClientSecret);
    return HttpResponse{.status = 400, .body = SecretString(text)};
  }
};

class Careless final : public Provider {
 public:
  explicit Careless(bool judges, std::optional<PlanCache> cache)
      : judges_(judges), cache_(std::move(cache)) {}

  void add_options(OptionSet& /*options*/) override {}

  Result<Plan> plan(const Settings& /*settings*/, Inputs& inputs) const override {
    inputs.add("name", "careless");
    Plan plan;
    plan.cache = cache_;
    plan.ask = [this](CallContext& call) { return ask(call); };
    return plan;
  }

 private:
  static Error error_of(const HttpResponse& reply) {
    const std::string said(reply.body.reveal());
    Error error = Error::no_credential("the server said " + said, said);
    error.context = {"reading " + in_quotes(said)};
    return error;
  }

  Result<Issued> ask(CallContext& call) const {
    Form form;
    form.add("grant_type", "client_credentials");
    form.add("assertion", SecretString(kForm));
    HttpRequest request = {.method = "POST", .url = "https://idp.example.com/token"};
    request.set_form(form);
    request.secrets.emplace_back(kClientSecret);
    request.add_header("Accept", "application/json");
    request.headers.push_back(
        {.name = "Authorization", .value = SecretString("Bearer " + std::string(kHeader))});
    Mirror mirror;
    RetryPolicy policy;
    if (judges_) {
      policy.judge = [](const HttpRequest&, const HttpResponse& reply) {
        return Verdict::retry({}, error_of(reply));
      };
    }
    const HttpResponse reply = TRY(send_with_retries(mirror, std::move(request), call, policy));
    return error_of(reply);
  }

  bool judges_;
  std::optional<PlanCache> cache_;
};

}  // namespace

TEST_SUITE_BEGIN("plans");

TEST_CASE("plan: no error and no step shows what a request contained" *
          doctest::description("promise 16")) {
  const blackbox::Sandbox folder;
  const Environment environment(std::vector<std::string>{});
  for (const bool is_kept : {false, true}) {
    for (const bool judges : {false, true}) {
      CAPTURE(is_kept);
      CAPTURE(judges);
      std::optional<PlanCache> cache;
      if (is_kept) {
        cache = CacheOptions{.directory = folder.at(judges ? "judged" : "read")};
      }
      Careless plugin(judges, cache);
      OptionSet options;
      plugin.add_options(options);
      const Settings settings(options);
      const CredentialRequest request = {.plugin = "execcred-careless",
                                         .info = {},
                                         .document = "",
                                         .cluster_name = "",
                                         .rules = {},
                                         .settings = &settings};
      std::string steps;
      const CallContext run = {
          .environment = environment,
          .debug = [&steps](std::string_view step) { steps.append(step).append("\n"); },
          .may_retry = false};
      // The second run of a plan with a cache gets the failure that the first one stored.
      for (int count = 0; count < 2; ++count) {
        const Result<Credential> credential = plugin.get_credential(request, run);
        REQUIRE_FALSE(credential);
        const std::string shown = format_error("plan", credential.error());
        CAPTURE(shown);
        CAPTURE(steps);
        CHECK(shown.find(
                  "the server said application/json Bearer *** grant_type=client_credentials") !=
              std::string::npos);
        for (const std::string_view secret : {kHeader, kClientSecret, kForm}) {
          CHECK((shown + steps).find(secret.substr(0, 12)) == std::string::npos);
          CHECK((shown + steps).find(secret.substr(secret.size() - 12)) == std::string::npos);
        }
      }
      CHECK(steps.find("POST https://idp.example.com:443") != std::string::npos);
    }
  }
}

TEST_SUITE_END();
