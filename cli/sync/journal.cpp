// SPDX-License-Identifier: Apache-2.0
#include "journal.hpp"

#include <execcred/base/cause.hpp>
#include <execcred/base/clock.hpp>
#include <execcred/base/rfc3339.hpp>
#include <execcred/base/text.hpp>
#include <execcred/json/json.hpp>
#include <execcred/os/deadline.hpp>

namespace execcred::sync {
namespace {

constexpr std::size_t kMaxValue = 1024;

std::string_view name_of(Level level) {
  if (level == Level::info) return "info";
  return level == Level::warning ? "warning" : "error";
}

bool is_word(std::string_view text) {
  return is_visible_ascii(text) && text.find('"') == std::string_view::npos;
}

std::string now() {
  return format_rfc3339(std::chrono::floor<std::chrono::seconds>(SystemClock().now()));
}

std::string text_line(Level level, std::string_view message, const std::vector<Field>& fields) {
  std::string line = now() + " execcred: ";
  if (level != Level::info) line += std::string(name_of(level)) + ": ";
  line += shown_text(message, kMaxValue);
  for (const Field& field : fields) {
    if (field.value.empty()) continue;
    const std::string value = shown_text(field.value, kMaxValue);
    line += " " + std::string(field.name) + "=";
    if (is_word(value)) {
      line += value;
    } else {
      json::write_string(value, line);
    }
  }
  return line + "\n";
}

std::string json_line(Level level, std::string_view message, const std::vector<Field>& fields) {
  json::Value object((json::Object()));
  object.add("time", json::Value(now()));
  object.add("level", json::Value(name_of(level)));
  object.add("message", json::Value(shown_text(message, kMaxValue)));
  for (const Field& field : fields) {
    if (field.value.empty()) continue;
    object.add(field.name, json::Value(shown_text(field.value, kMaxValue)));
  }
  return json::to_text(object) + "\n";
}

}  // namespace

void Journal::write(Level level, std::string_view message, const std::vector<Field>& fields) {
  const std::string line =
      is_json_ ? json_line(level, message, fields) : text_line(level, message, fields);
  const std::lock_guard lock(mutex_);
  deadline::write_to_stderr(line);
}

void Journal::write(Level level, const Error& error, std::vector<Field> fields) {
  std::string message = error.message;
  for (const std::string& doing : error.context) message += "; while " + doing;
  fields.push_back({"cause", std::string(error.cause)});
  fields.push_back({"hint", error.hint});
  write(level, message, fields);
}

}  // namespace execcred::sync
