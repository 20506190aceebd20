// SPDX-License-Identifier: Apache-2.0
#include "findings.hpp"

#include "list_text.hpp"
#include "secrets.hpp"
#include "table.hpp"

#include <execcred/base/text.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace execcred::lint {
namespace {

// The bytes that the findings of one rule and severity may have in a file of any size. The bytes of
// the file are added. A finding has a few hundred.
constexpr std::size_t kFindingsOfSmallFile = 4 * 1024 * 1024;

// Messages quote names and settings, which may contain a secret.
std::string without_secret(std::string_view text) {
  const std::string_view secret = secret_in(text);
  if (secret.empty()) return printable(text);
  return "(not shown: it holds " + std::string(secret) + ")";
}

std::string number_of(std::size_t count, std::string_view name) {
  return std::to_string(count) + " " + std::string(name) + (count == 1 ? "" : "s");
}

std::string to_text(const Looked& looked) {
  const std::string objects = number_of(looked.objects, "object") + " of the hub";
  std::string text = number_of(looked.files, "file");
  if (looked.objects > 0) text = looked.files == 0 ? objects : text + " and " + objects;
  if (looked.passed_over == 0) return text;
  return text + "; " + number_of(looked.passed_over, "document") + " of other kinds passed over";
}

cli::Style style_of(Severity severity) {
  switch (severity) {
    case Severity::error:
      return cli::Style::bad;
    case Severity::warning:
      return cli::Style::notice;
    case Severity::info:
      break;
  }
  return cli::Style::faint;
}

std::string file_and_place(const Finding& finding) {
  std::string file = printable(finding.file);
  if (!finding.place) return file;
  return file + ":" + std::to_string(finding.place->line) + ":" +
         std::to_string(finding.place->column);
}

std::string summary(const std::vector<Finding>& findings, const Looked& looked) {
  return number_of(count(findings, Severity::error), "error") + ", " +
         number_of(count(findings, Severity::warning), "warning") + " in " + to_text(looked) + "\n";
}

// The position in a message such as "… at line 3, column 7", perhaps with ", counted from line 20"
// after it. nullopt if the message has none.
std::optional<Place> place_in(std::string_view message) {
  const auto number_behind = [message](std::string_view words) {
    std::size_t number = 0;
    const std::size_t at = message.rfind(words);
    if (at == std::string_view::npos) return number;
    const std::string_view rest = message.substr(at + words.size());
    std::from_chars(rest.data(), rest.data() + rest.size(), number);
    return number;
  };
  const std::size_t line = number_behind(" at line ");
  const std::size_t column = number_behind(", column ");
  if (line == 0 || column == 0) return std::nullopt;
  const std::size_t first = number_behind(", counted from line ");
  return Place{.line = first == 0 ? line : first + line - 1, .column = column};
}

}  // namespace

std::string_view name_of(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
    case Severity::info:
      break;
  }
  return "info";
}

Scope Scope::inside(std::string_view prefix) const {
  Scope scope = *this;
  scope.prefix_ = join_path(prefix_, prefix);
  return scope;
}

Scope Scope::as(const Rule& rule) const {
  Scope scope = *this;
  scope.rule_ = rule.id;
  return scope;
}

Scope Scope::inside_text(std::string_view prefix) const {
  Scope scope = inside(prefix);
  ++scope.texts_;
  return scope;
}

void Scope::error(std::string_view path, std::string_view message, std::string_view hint) const {
  add(Severity::error, path, message, hint);
}

void Scope::warning(std::string_view path, std::string_view message, std::string_view hint) const {
  add(Severity::warning, path, message, hint);
}

void Scope::info(std::string_view path, std::string_view message, std::string_view hint) const {
  add(Severity::info, path, message, hint);
}

void Scope::add(Severity severity, std::string_view path, std::string_view message,
                std::string_view hint) const {
  const auto text = run_->text_sizes.find(file_);
  const std::size_t most =
      kFindingsOfSmallFile + (text == run_->text_sizes.end() ? 0 : text->second);
  std::size_t& size = run_->sizes[{file_, rule_, severity}];
  if (size > most) return;
  Finding finding = {.file = file_,
                     .rule = rule_,
                     .path = without_secret(path_of(path)),
                     .severity = severity,
                     .message = without_secret(message),
                     .hint = without_secret(hint)};
  size += sizeof(Finding) + finding.path.size() + finding.message.size() + finding.hint.size();
  if (size > most) {
    finding.path.clear();
    finding.message = "has more findings of the rule " + std::string(rule_) + " than are listed";
    finding.hint = "correct the listed ones, and check the file again";
  }
  run_->findings.push_back(std::move(finding));
}

void Scope::add(Severity severity, const Error& error, std::string_view base,
                std::string_view hint) const {
  std::string_view message = error.message;
  std::string_view path = base;
  const bool is_of_parser = message.starts_with("the document ");
  if (!is_of_parser && message.starts_with(base)) {
    const std::size_t end = std::min(message.find(' ', base.size()), message.size());
    path = message.substr(0, end);
    message.remove_prefix(std::min(end + 1, message.size()));
  }
  const std::size_t before = run_->findings.size();
  add(severity, path, message, error.hint.empty() ? hint : std::string_view(error.hint));
  const bool is_listed = run_->findings.size() > before;
  // The lines of a text inside a field, or of a document that was written again, are not the
  // file's.
  const bool is_of_file = texts_ == 0 && prefix_.empty();
  if (is_of_parser && is_listed && is_of_file) run_->findings.back().place = place_in(message);
}

std::string Scope::place() const { return prefix_.empty() ? file_ : file_ + ": " + prefix_; }

std::string Scope::path_of(std::string_view path) const { return join_path(prefix_, path); }

std::string join_path(std::string_view path, std::string_view field) {
  std::string joined(path);
  if (!path.empty() && !field.empty() && !field.starts_with('[')) joined += '.';
  return joined.append(field);
}

std::string step(std::size_t index) { return "[" + std::to_string(index) + "]"; }

std::string step(std::string_view member) {
  constexpr std::size_t kLongest = 120;
  const bool is_plain = !member.empty() && member.size() <= kLongest &&
                        std::all_of(member.begin(), member.end(), [](char c) {
                          return is_alphanumeric(c) || c == '-' || c == '_';
                        });
  if (is_plain) return std::string(member);
  return "[\"" + printable(member.substr(0, kLongest)) + "\"]";
}

std::size_t count(const std::vector<Finding>& findings, Severity severity) {
  return static_cast<std::size_t>(
      std::count_if(findings.begin(), findings.end(),
                    [severity](const Finding& finding) { return finding.severity == severity; }));
}

void sort_by_file(std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.file < b.file; });
}

std::string to_text(const std::vector<Finding>& findings, const Looked& looked,
                    const cli::Paint& paint) {
  std::string text;
  for (const Finding& finding : findings) {
    text += file_and_place(finding) + ": " +
            paint(style_of(finding.severity), name_of(finding.severity)) + ": ";
    if (!finding.path.empty()) text += finding.path + ": ";
    text += finding.message + "\n";
    if (!finding.hint.empty()) text += "  hint: " + finding.hint + "\n";
  }
  return text + summary(findings, looked);
}

std::string to_table(const std::vector<Finding>& findings, const Looked& looked,
                     const cli::Paint& paint) {
  cli::Table table({"SEVERITY", "RULE", "PLACE", "FIELD", "MESSAGE", "HINT"});
  for (const Finding& finding : findings) {
    table.add({{name_of(finding.severity), style_of(finding.severity)},
               finding.rule,
               file_and_place(finding),
               finding.path,
               finding.message,
               finding.hint});
  }
  return (findings.empty() ? "" : table.text(paint) + "\n") + summary(findings, looked);
}

std::string to_names(const std::vector<Finding>& findings) {
  std::string text;
  std::string_view last;
  for (const Finding& finding : findings) {
    if (finding.file == last) continue;
    last = finding.file;
    text += printable(finding.file) + "\n";
  }
  return text;
}

json::Value to_json(const std::vector<Finding>& findings, const Looked& looked) {
  using cli::number_of;
  using json::Value;
  json::Array items;
  for (const Finding& finding : findings) {
    Value item(json::Object{{"file", Value(printable(finding.file))}});
    if (finding.place) {
      item.add("line", number_of(finding.place->line));
      item.add("column", number_of(finding.place->column));
    }
    item.add("path", Value(finding.path));
    item.add("severity", Value(name_of(finding.severity)));
    item.add("rule", Value(finding.rule));
    item.add("message", Value(finding.message));
    item.add("hint", Value(finding.hint));
    items.push_back(std::move(item));
  }
  Value object((json::Object()));
  object.add("items", Value(std::move(items)));
  object.add("errors", number_of(count(findings, Severity::error)));
  object.add("warnings", number_of(count(findings, Severity::warning)));
  object.add("passedOver", number_of(looked.passed_over));
  return object;
}

}  // namespace execcred::lint
