// SPDX-License-Identifier: Apache-2.0
#include <execcred/engine/report.hpp>

#include <execcred/base/cause.hpp>
#include <execcred/base/rfc3339.hpp>
#include <execcred/base/text.hpp>

#include <algorithm>

namespace execcred::engine {
namespace {

constexpr std::size_t kMaxText = 1024 - 3;  // and "..."

constexpr std::array<std::string_view, kStepCount> kStepNames = {
    "profile", "mapping", "program", "run",   "credential",   "name",
    "connect", "proxy",   "tls",     "clock", "authenticate", "authorize"};

constexpr std::array kUnavailable = {
    cause::kProgramTimeout, cause::kSourceUnavailable, cause::kNameUnknown,
    cause::kConnectRefused, cause::kConnectTimeout,    cause::kConnectFailed,
    cause::kProxyFailed,    cause::kTlsFailed,         cause::kTlsProtocol,
    cause::kServerError,    cause::kServerThrottled};

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::skipped:
      return "skipped";
    case Verdict::ok:
      return "ok";
    case Verdict::warn:
      return "warn";
    case Verdict::fail:
      break;
  }
  return "fail";
}

std::string_view name_of(StepId step) { return kStepNames[static_cast<std::size_t>(step)]; }

std::string Item::full_name() const { return full_name_of(name_space, name); }

void Item::keep_secret(const SecretString& secret) { secrets_.add(secret); }

std::string Item::shown(std::string_view text) const {
  return shown_text(secrets_.redacted(text), kMaxText);
}

void Item::set(StepId id, Verdict verdict, std::string_view cause, std::string_view message,
               std::string_view hint) {
  Step& step = this->step(id);
  if (step.verdict > verdict) return;
  // The message of a warning is added to that of a step that was ok until then.
  const bool adds = step.verdict == Verdict::ok && verdict == Verdict::warn;
  const std::string before = adds && !step.message.empty() ? step.message + "; " : std::string();
  step = {.verdict = verdict,
          .message = shown(before + std::string(message)),
          .hint = shown(hint),
          .cause = cause};
}

void Item::ok(StepId id, std::string_view message) { set(id, Verdict::ok, {}, message, {}); }

void Item::skip(StepId id, std::string_view why) { set(id, Verdict::skipped, {}, why, {}); }

void Item::warn(StepId id, std::string_view cause, std::string_view message,
                std::string_view hint) {
  set(id, Verdict::warn, cause, message, hint);
}

void Item::fail(StepId id, std::string_view cause, std::string_view message,
                std::string_view hint) {
  set(id, Verdict::fail, cause, message, hint);
}

void Item::fail(StepId id, const Error& error, std::string_view cause) {
  std::string message = error.message;
  for (const std::string& doing : error.context) message += "; while " + doing;
  fail(id, error.cause.empty() ? cause : error.cause, message, error.hint);
  step(id).kind = error.kind;
  step(id).is_local = error.is_local;
  step(id).is_by_rule = error.is_by_rule;
}

Verdict Item::verdict() const {
  Verdict worst = Verdict::ok;
  for (const Step& step : steps_) worst = std::max(worst, step.verdict);
  return worst;
}

const Step* Item::failed_step() const {
  for (const Step& step : steps_) {
    if (step.verdict == Verdict::fail) return &step;
  }
  return nullptr;
}

const Step* Item::cause_step() const {
  const Verdict worst = verdict();
  if (worst != Verdict::fail && worst != Verdict::warn) return nullptr;
  for (const Step& step : steps_) {
    if (step.verdict == worst && !step.cause.empty()) return &step;
  }
  return nullptr;
}

std::string_view Item::cause() const {
  const Step* const step = cause_step();
  return step == nullptr ? std::string_view() : step->cause;
}

bool is_unavailability(std::string_view cause) {
  return std::find(kUnavailable.begin(), kUnavailable.end(), cause) != kUnavailable.end();
}

int exit_code_of(const std::vector<Item>& items) {
  int code = 0;
  for (const Item& item : items) {
    if (item.verdict() != Verdict::fail) continue;
    if (!is_unavailability(item.cause())) return 1;
    code = 3;
  }
  return code;
}

std::string text_of(TimePoint time) {
  return format_rfc3339(std::chrono::floor<std::chrono::seconds>(time));
}

}  // namespace execcred::engine
