// SPDX-License-Identifier: Apache-2.0
// The result of an examination of a cluster: one result for each step, in the order of a
// controller's request.
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/base/duration.hpp>
#include <execcred/base/error.hpp>
#include <execcred/base/known_secrets.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::engine {

enum class Verdict { skipped, ok, warn, fail };

// "skipped", "ok", "warn", "fail".
std::string_view name_of(Verdict verdict);

// The order is that of the request, and of the output.
enum class StepId {
  profile,
  mapping,
  program,
  run,
  credential,
  name,
  connect,
  proxy,
  tls,
  clock,
  authenticate,
  authorize,
};
inline constexpr std::size_t kStepCount = 12;

std::string_view name_of(StepId step);

struct Step {
  Verdict verdict = Verdict::skipped;
  std::string message = {};  // printable
  std::string hint = {};
  std::string_view cause = {};  // of cause.hpp; empty where there is none
  // Of the error of a step that failed.
  Error::Kind kind = Error::Kind::internal;
  bool is_local = false;
  bool is_by_rule = false;
};

class Item {
 public:
  std::string name_space = {};
  std::string name = {};
  std::string provider = {};
  std::string user = {};
  std::optional<TimePoint> expires = std::nullopt;     // the credential
  std::optional<TimePoint> ca_expires = std::nullopt;  // the CA of the server's certificate
  Duration duration = {};
  std::vector<std::string> exchange = {};  // for --debug: requests and replies without secrets

  std::string full_name() const;

  Step& step(StepId id) { return steps_[static_cast<std::size_t>(id)]; }
  const Step& step(StepId id) const { return steps_[static_cast<std::size_t>(id)]; }

  // Set the result of a step, unless the step has a worse verdict. The texts may come from
  // anywhere: secrets in them are replaced, and long texts are cut.
  void ok(StepId id, std::string_view message);
  void skip(StepId id, std::string_view why);
  void warn(StepId id, std::string_view cause, std::string_view message,
            std::string_view hint = {});
  void fail(StepId id, std::string_view cause, std::string_view message,
            std::string_view hint = {});
  // Uses the error's own cause, or `cause` if it has none.
  void fail(StepId id, const Error& error, std::string_view cause = {});

  // Adds a secret that later texts of the report must not show.
  void keep_secret(const SecretString& secret);
  std::string shown(std::string_view text) const;

  // The worst verdict of the steps; ok if all were skipped.
  Verdict verdict() const;
  // The cause of the first failed step that has one; if no step failed, that of the first warning
  // that has one. Empty if there is none.
  std::string_view cause() const;
  // The first step that failed; nullptr if there is none.
  const Step* failed_step() const;
  // The step that cause() is from; nullptr if there is none.
  const Step* cause_step() const;

 private:
  void set(StepId id, Verdict verdict, std::string_view cause, std::string_view message,
           std::string_view hint);

  std::array<Step, kStepCount> steps_ = {};
  KnownSecrets secrets_ = {};
};

// Whether trying again later may help, so that the exit code is 3.
bool is_unavailability(std::string_view cause);

// 1 if an item fails for a permanent reason, else 3 if an item fails, else 0.
int exit_code_of(const std::vector<Item>& items);

// "2026-07-01T12:00:00Z"
std::string text_of(TimePoint time);

}  // namespace execcred::engine
