// SPDX-License-Identifier: Apache-2.0
#include <execcred/yaml/documents.hpp>

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/json/json_scan.hpp>
#include <execcred/json/list_item.hpp>
#include <execcred/yaml/places.hpp>
#include <execcred/yaml/yaml.hpp>

#include "places_walk.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

namespace execcred {
namespace {

using json::Value;

// The size of the JSON document at the front of `text`; if it has no end, the size of the text.
std::size_t json_document_size(std::string_view text) {
  std::size_t depth = 0;
  bool is_in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_in_string) {
      if (c == '\\') ++i;
      if (c == '"') is_in_string = false;
    } else if (c == '"') {
      is_in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && depth <= 1) {
      return i + 1;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return text.size();
}

void append_utf8(std::uint32_t point, SecretString& out) {
  const auto byte = [](std::uint32_t value) { return static_cast<char>(value); };
  std::array<char, 4> bytes = {};
  std::size_t size = 1;
  if (point < 0x80) {
    bytes = {byte(point)};
  } else if (point < 0x800) {
    bytes = {byte(0xc0 | point >> 6), byte(0x80 | (point & 0x3f))};
    size = 2;
  } else if (point < 0x10000) {
    bytes = {byte(0xe0 | point >> 12), byte(0x80 | (point >> 6 & 0x3f)),
             byte(0x80 | (point & 0x3f))};
    size = 3;
  } else {
    bytes = {byte(0xf0 | point >> 18), byte(0x80 | (point >> 12 & 0x3f)),
             byte(0x80 | (point >> 6 & 0x3f)), byte(0x80 | (point & 0x3f))};
    size = 4;
  }
  out.append(std::string_view(bytes.data(), size));
}

std::string_view skip_separators(std::string_view text) {
  for (text = trim(text); text.starts_with("---");) text = trim(text.substr(3));
  return text;
}

std::size_t count_lines(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// Positions in the message are those in a part of the text, with so many lines before it.
void tell_lines_before(Error& error, std::size_t lines) {
  if (lines > 0) error.message += ", counted from line " + std::to_string(lines + 1);
}

Result<std::vector<Value>> parse_json_documents(std::string_view text, std::size_t max_bytes,
                                                std::size_t lines_before) {
  std::vector<Value> documents;
  const std::string_view whole = text;
  for (text = skip_separators(text); !text.empty(); text = skip_separators(text)) {
    const std::size_t size = json_document_size(text);
    Result<Value> document = json::parse(text.substr(0, size), {.bytes = max_bytes});
    if (!document) {
      tell_lines_before(document.error(),
                        lines_before + count_lines(whole.substr(0, whole.size() - text.size())));
      return std::move(document).error();
    }
    documents.push_back(std::move(document).value());
    text.remove_prefix(size);
  }
  return documents;
}

Result<std::vector<Value>> parse_yaml_documents(std::string_view text, std::size_t max_bytes,
                                                yaml::Progress& progress) {
  std::vector<Value> documents;
  TRY(yaml::for_each_document(text, {.bytes = max_bytes}, progress,
                              [&documents](Value document) -> Status {
                                documents.push_back(std::move(document));
                                return {};
                              }));
  return documents;
}

Result<std::vector<Value>> parse_piece(std::string_view text, std::size_t max_bytes,
                                       yaml::Progress& progress) {
  const bool looks_like_json = trim(text).starts_with('{');
  Result<std::vector<Value>> documents = looks_like_json
                                             ? parse_json_documents(text, max_bytes, progress.lines)
                                             : parse_yaml_documents(text, max_bytes, progress);
  if (!documents && looks_like_json) {
    Result<std::vector<Value>> flow_style = parse_yaml_documents(text, max_bytes, progress);
    if (flow_style) return flow_style;
  }
  if (!documents) return json::field_error("", documents.error().message);
  return documents;
}

// The items of the list that `text` is, each read alone; nullopt if it is no list in JSON.
std::optional<Document> parse_divided_list(std::string_view text, std::size_t max_bytes,
                                           std::size_t lines_before) {
  Result<Envelope> list = open_envelope(trim(text), "items");
  if (!list || !json::text_or_empty(list->rest.find("kind")).ends_with("List")) return std::nullopt;
  const auto texts = json::element_texts(list->content);
  if (!texts) return std::nullopt;
  Document document;
  json::Array items;
  const char* counted = text.data();
  for (const std::string_view item_text : *texts) {
    ListItem item = parse_item(item_text, max_bytes);
    if (item.problem) {
      const auto lines = std::count(counted, item_text.data(), '\n');
      lines_before += static_cast<std::size_t>(lines);
      counted = item_text.data();
      tell_lines_before(*item.problem, lines_before);
      document.item_problems.emplace(items.size(), *std::move(item.problem));
    }
    items.push_back(std::move(item.object));
  }
  for (json::Member& member : *list->rest.object()) {
    if (member.name != "items") continue;
    member.value = Value(std::move(items));
    break;
  }
  document.value = std::move(list->rest);
  return document;
}

// What tells an object from others.
Value outline_of(const Value& item) {
  const Value* const metadata = item.find("metadata");
  if (metadata == nullptr || json::text_or_empty(*metadata, "name").empty()) return {};
  Value outline((json::Object()));
  for (const std::string_view name : {"apiVersion", "kind", "metadata"}) {
    if (const Value* const value = item.find(name)) outline.add(name, *value);
  }
  return outline;
}

// The same for a list in YAML.
std::optional<Document> parse_divided_yaml(std::string_view text, std::size_t max_bytes,
                                           yaml::Progress& progress) {
  std::optional<Document> list;
  std::size_t documents = 0;
  const auto take = [&](Value value, const yaml::ItemErrors& errors) -> Status {
    ++documents;
    if (value.object() == nullptr) return {};
    list = Document{.value = std::move(value)};
    for (json::Member& member : *list->value.object()) {
      if (member.name != "items") continue;
      for (const auto& [index, error] : errors) {
        Value& item = (*member.value.array())[index];
        item = outline_of(item);
        list->item_problems.emplace(index, item_problem(error.message));
      }
    }
    return {};
  };
  const Status read = yaml::for_each_divided_document(text, {.bytes = max_bytes}, progress, take);
  if (!read || documents != 1 || !list) return {};
  if (!json::text_or_empty(list->value.find("kind")).ends_with("List")) return {};
  return list;
}

// Whether the line is a marker of YAML: "---" or "...", alone or before a space.
bool is_marker(std::string_view line, std::string_view marker) {
  if (!line.starts_with(marker)) return false;
  return line.size() == marker.size() || is_space(line[marker.size()]);
}

// Removes the next document from the front of `text`, and returns it. It ends before the "---" that
// begins another one, or with its own "...". Directives before a "---" belong to it.
std::string_view take_piece(std::string_view& text) {
  std::size_t end = 0;
  bool has_begun = false;
  while (end < text.size()) {
    const std::size_t line_end = std::min(text.find('\n', end), text.size() - 1) + 1;
    const std::string_view line = text.substr(end, line_end - end);
    const bool is_start = is_marker(line, "---");
    if (is_start && has_begun) break;
    const std::string_view content = trim(line);
    has_begun = has_begun || is_start ||
                (!content.empty() && content.front() != '#' && !line.starts_with('%'));
    end = line_end;
    if (is_marker(line, "...")) break;
  }
  const std::string_view piece = text.substr(0, end);
  text.remove_prefix(end);
  return piece;
}

// The same without the text before a JSON document. The lines of that text are counted.
std::string_view take_content(std::string_view& text, yaml::Progress& progress) {
  const std::string_view piece = take_piece(text);
  const std::string_view content = skip_separators(piece);
  const std::size_t skipped = content.starts_with('{') ? piece.find('{') : 0;
  progress.lines += count_lines(piece.substr(0, skipped));
  return piece.substr(skipped);
}

}  // namespace

Result<std::vector<Value>> parse_documents(std::string_view text, std::size_t max_bytes) {
  yaml::Progress progress;
  return parse_piece(text, max_bytes, progress);
}

std::optional<SecretString> from_utf16(std::string_view text) {
  const bool is_little = text.starts_with("\xff\xfe");
  if ((!is_little && !text.starts_with("\xfe\xff")) || text.size() % 2 != 0) return std::nullopt;
  const auto unit_at = [text, is_little](std::size_t i) {
    const auto first = static_cast<unsigned char>(text[i]);
    const auto second = static_cast<unsigned char>(text[i + 1]);
    return static_cast<std::uint32_t>(is_little ? first | second << 8 : first << 8 | second);
  };
  SecretString converted;
  for (std::size_t i = 2; i < text.size(); i += 2) {
    std::uint32_t point = unit_at(i);
    if (point >= 0xdc00 && point < 0xe000) return std::nullopt;
    if (point >= 0xd800 && point < 0xdc00) {
      i += 2;
      const std::uint32_t low = i < text.size() ? unit_at(i) : 0;
      if (low < 0xdc00 || low >= 0xe000) return std::nullopt;
      point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
    }
    append_utf8(point, converted);
  }
  return converted;
}

std::vector<Result<Document>> parse_each_document(std::string_view text, std::size_t max_bytes) {
  std::vector<Result<Document>> results;
  const auto add = [&results](Result<std::vector<Value>> documents) {
    if (documents) {
      for (Value& document : *documents) results.emplace_back(Document{std::move(document)});
    } else {
      results.emplace_back(std::move(documents).error());
    }
  };
  Result<std::vector<Value>> all = parse_documents(text, max_bytes);
  if (all || text.size() > max_bytes) {
    add(std::move(all));
    return results;
  }
  yaml::Progress progress;
  while (!text.empty()) {
    const std::string_view content = take_content(text, progress);
    Result<std::vector<Value>> documents = parse_piece(content, max_bytes, progress);
    std::optional<Document> list;
    if (!documents) list = parse_divided_list(content, max_bytes, progress.lines);
    if (!documents && !list) list = parse_divided_yaml(content, max_bytes, progress);
    if (list) {
      results.emplace_back(*std::move(list));
    } else {
      add(std::move(documents));
    }
    progress.lines += count_lines(content);
  }
  return results;
}

namespace {

// Walks a piece, and returns the number of its documents; nullopt if the piece cannot be read.
std::optional<std::size_t> walk_piece(std::string_view text, std::size_t max_bytes,
                                      yaml::Progress& progress, std::size_t document,
                                      const ReceivePlace& receive) {
  if (trim(text).starts_with('{')) {
    const Result<std::vector<Value>> documents =
        parse_json_documents(text, max_bytes, progress.lines);
    if (documents) {
      walk_json(text, progress.lines, document, receive);
      return documents->size();
    }
  }
  const Result<std::vector<Value>> documents = parse_yaml_documents(text, max_bytes, progress);
  if (!documents) return std::nullopt;
  walk_yaml(text, progress.lines, document, receive);
  return documents->size();
}

}  // namespace

void for_each_place(std::string_view text, std::size_t max_bytes, const ReceivePlace& receive) {
  yaml::Progress progress;
  if (walk_piece(text, max_bytes, progress, 0, receive) || text.size() > max_bytes) return;
  progress = {};
  std::size_t document = 0;
  while (!text.empty()) {
    const std::string_view content = take_content(text, progress);
    const std::optional<std::size_t> count =
        walk_piece(content, max_bytes, progress, document, receive);
    document += count.value_or(1);  // the one that cannot be read
    progress.lines += count_lines(content);
  }
}

}  // namespace execcred
