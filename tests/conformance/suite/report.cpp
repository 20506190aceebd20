// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include "plugin_under_test.hpp"
#include "rules.hpp"

#include <execcred/base/version.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <sstream>
#include <string_view>
#include <vector>

namespace blackbox {
namespace {

constexpr std::string_view kSkipped = "skipped: ";
constexpr std::size_t kLongestContext = 120;

struct Case {
  std::string rule;
  std::string suite;
  std::vector<std::string> observations = {};
  std::vector<std::string> left_out = {};

  [[nodiscard]] std::string result() const {
    if (!observations.empty()) return "failed";
    return left_out.empty() ? "passed" : "passed in part";
  }
};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

void add_once(std::vector<std::string>& texts, std::string text) {
  if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(std::move(text));
}

// A check of plugin_under_test.hpp gives its reason before the plugin's own output, which must not
// be in a report. Of any other check the expression is shown, and no value.
std::string observation_of(const doctest::AssertData& assertion) {
  const std::string expression = assertion.m_expr;
  if (expression.find("secret_in(") != std::string::npos) return "a secret is shown";
  if (expression.find("violation_of_") == std::string::npos) return "not so: " + expression;
  std::string reason = first_line(assertion.m_decomp.c_str());
  // A reason of one line is followed by what it was compared with, the empty text.
  const std::size_t compared = reason.rfind(" == ");
  if (compared != std::string::npos) reason.resize(compared);
  return reason;
}

// The inputs of the case at the time: "user := 1".
std::string context() {
  const int count = doctest::IReporter::get_num_active_contexts();
  std::string all;
  for (int i = 0; i < count; ++i) {
    std::ostringstream text;
    doctest::IReporter::get_active_contexts()[i]->stringify(&text);
    all += (all.empty() ? "" : ", ") + first_line(text.str());
  }
  if (all.size() > kLongestContext) all = all.substr(0, kLongestContext) + "…";
  return all.empty() ? all : " (" + all + ")";
}

class Listener : public doctest::IReporter {
 public:
  void report_query(const doctest::QueryData& /*query*/) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats& /*stats*/) override {}
  void test_case_start(const doctest::TestCaseData& /*data*/) override {}
  void test_case_reenter(const doctest::TestCaseData& /*data*/) override {}
  void test_case_end(const doctest::CurrentTestCaseStats& /*stats*/) override {}
  void test_case_exception(const doctest::TestCaseException& /*exception*/) override {}
  void subcase_start(const doctest::SubcaseSignature& /*subcase*/) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData& /*assertion*/) override {}
  void log_message(const doctest::MessageData& /*message*/) override {}
  void test_case_skipped(const doctest::TestCaseData& /*data*/) override {}
};

int cases_started = 0;

class Counter final : public Listener {
 public:
  explicit Counter(const doctest::ContextOptions& /*options*/) {}
  void test_case_start(const doctest::TestCaseData& /*data*/) override { ++cases_started; }
};

class Report : public Listener {
 public:
  explicit Report(const doctest::ContextOptions& options) : options_(options) {}

  void test_run_end(const doctest::TestRunStats& /*stats*/) override {
    withhold_secrets();
    write(*options_.cout);
  }
  void test_case_start(const doctest::TestCaseData& data) override {
    cases_.push_back({.rule = data.m_name, .suite = data.m_test_suite});
  }
  void test_case_exception(const doctest::TestCaseException& exception) override {
    add_once(cases_.back().observations, first_line(exception.error_string.c_str()));
  }
  void log_assert(const doctest::AssertData& assertion) override {
    if (!assertion.m_failed) return;
    const std::string observation = observation_of(assertion);
    auto& known = cases_.back().observations;
    const auto is_same = [&](const std::string& one) { return one.starts_with(observation); };
    if (std::none_of(known.begin(), known.end(), is_same)) known.push_back(observation + context());
  }
  void log_message(const doctest::MessageData& message) override {
    const std::string text = message.m_string.c_str();
    if (text.starts_with(kSkipped)) {
      add_once(cases_.back().left_out, text.substr(kSkipped.size()));
    }
  }

 protected:
  [[nodiscard]] const std::vector<Case>& cases() const { return cases_; }
  [[nodiscard]] std::size_t count(bool is_failed) const {
    return static_cast<std::size_t>(
        std::count_if(cases_.begin(), cases_.end(),
                      [&](const Case& one) { return one.observations.empty() != is_failed; }));
  }
  static std::string plugin_name() {
    return std::filesystem::path(plugin_command().arguments.front()).filename().native();
  }
  static std::string rules_name() { return has_own_rules() ? kOwnSuite : kProtocolSuite; }
  virtual void write(std::ostream& out) const = 0;

 private:
  // A reason may quote a member of an answer.
  void withhold_secrets() {
    for (Case& one : cases_) {
      for (std::string& observation : one.observations) {
        if (!secret_in(observation).empty()) observation = "it shows a secret";
      }
    }
  }

  const doctest::ContextOptions& options_;
  std::vector<Case> cases_;
};

class JsonReport final : public Report {
 public:
  using Report::Report;

 protected:
  void write(std::ostream& out) const override {
    nlohmann::ordered_json report = {{"suite", "execcred-conformance"},
                                     {"version", execcred::kVersion},
                                     {"rules", rules_name()},
                                     {"plugin", plugin_name()},
                                     {"passed", count(false)},
                                     {"failed", count(true)},
                                     {"cases", nlohmann::ordered_json::array()}};
    for (const Case& one : cases()) {
      nlohmann::ordered_json entry = {
          {"rule", one.rule}, {"of", one.suite}, {"result", one.result()}};
      if (!one.observations.empty()) entry["observations"] = one.observations;
      if (!one.left_out.empty()) entry["leftOut"] = one.left_out;
      report["cases"].push_back(std::move(entry));
    }
    out << report.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
  }
};

// A table's cell has no line break, and no "|" of its own.
std::string cell(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) {
    if (!all.empty()) all += "; ";
    for (const char c : text) {
      if (c == '|') all += '\\';
      all += c >= 0 && c < ' ' ? ' ' : c;
    }
  }
  return all;
}

class MarkdownReport final : public Report {
 public:
  using Report::Report;

 protected:
  void write(std::ostream& out) const override {
    out << "`" << plugin_name() << "`: " << count(false) << " of " << cases().size()
        << " cases passed (execcred-conformance " << execcred::kVersion
        << ", rules: " << rules_name() << ").\n\n| rule | result | observation |\n|---|---|---|\n";
    for (const Case& one : cases()) {
      const std::vector<std::string>& remarks =
          one.observations.empty() ? one.left_out : one.observations;
      out << "| " << cell({one.rule}) << " | " << one.result() << " | " << cell(remarks) << " |\n";
    }
  }
};

REGISTER_LISTENER("counter", 0, Counter);
REGISTER_REPORTER("json", 0, JsonReport);
REGISTER_REPORTER("markdown", 0, MarkdownReport);

}  // namespace

bool is_report_format(const std::string& name) { return name == "json" || name == "markdown"; }

int cases_run() { return cases_started; }

}  // namespace blackbox
