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
#include <iterator>
#include <optional>
#include <utility>

namespace execcred {
namespace {

using json::Value;

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

// Positions in the message are those in a part of the text, with so many lines before it.
void tell_lines_before(Error& error, std::size_t lines) {
  if (lines > 0) error.message += ", counted from line " + std::to_string(lines + 1);
}

struct JsonText {
  std::string_view text;
  Position begin;

  std::size_t lines_before() const { return begin.line - 1; }
};

// Divides JSON documents that stand one after another. What another document or the end does not
// follow has an unknown end: it is one broken document with all that is left.
std::vector<JsonText> divide_json(std::string_view text, Position position) {
  std::vector<JsonText> documents;
  std::string_view rest = skip_separators(text);
  while (!rest.empty()) {
    position.pass(text.substr(0, static_cast<std::size_t>(rest.data() - text.data())));
    const std::size_t size = json::container_size(rest);
    const std::string_view next = skip_separators(rest.substr(size));
    const bool has_end =
        size > 0 && (next.empty() || next.starts_with('{') || next.starts_with('['));
    documents.push_back({.text = has_end ? rest.substr(0, size) : rest, .begin = position});
    text = rest;
    rest = has_end ? next : std::string_view();
  }
  return documents;
}

Result<Value> parse_json(const JsonText& json, std::size_t max_bytes) {
  Result<Value> value = json::parse(json.text, {.bytes = max_bytes});
  if (!value) tell_lines_before(value.error(), json.lines_before());
  return value;
}

Result<std::vector<Value>> parse_json_documents(std::string_view text, Position begin,
                                                std::size_t max_bytes) {
  std::vector<Value> documents;
  for (const JsonText& json : divide_json(text, begin)) {
    documents.push_back(TRY(parse_json(json, max_bytes)));
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

enum class Format { json, yaml };

struct Documents {
  Format format;
  std::vector<Value> values;
};

bool looks_like_json(std::string_view text) { return trim(text).starts_with('{'); }

Result<Documents> parse_piece(std::string_view text, Position begin, std::size_t max_bytes,
                              yaml::Progress& progress) {
  std::optional<Error> problem;
  if (looks_like_json(text)) {
    Result<std::vector<Value>> values = parse_json_documents(text, begin, max_bytes);
    if (values) return Documents{Format::json, *std::move(values)};
    problem = std::move(values).error();
  }
  progress.lines = begin.line - 1;
  Result<std::vector<Value>> values = parse_yaml_documents(text, max_bytes, progress);
  if (values) return Documents{Format::yaml, *std::move(values)};
  return json::field_error("", problem ? problem->message : values.error().message);
}

// The items of the list that `text` is, each read alone; nullopt if it is no list in JSON.
std::optional<Document> parse_divided_list(const JsonText& json, std::size_t max_bytes) {
  Result<Envelope> list = open_envelope(json.text, "items");
  if (!list || !json::text_or_empty(list->rest.find("kind")).ends_with("List")) return std::nullopt;
  const auto texts = json::element_texts(list->content);
  if (!texts) return std::nullopt;
  Document document;
  json::Array items;
  const char* counted = json.text.data();
  std::size_t lines_before = json.lines_before();
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

// The same without the text before a JSON document, which `position` passes.
std::string_view take_content(std::string_view& text, Position& position) {
  const std::string_view piece = take_piece(text);
  const std::string_view content = skip_separators(piece);
  const std::size_t skipped = content.starts_with('{') ? piece.find('{') : 0;
  position.pass(piece.substr(0, skipped));
  return piece.substr(skipped);
}

// A part of a text whose documents are read together, or are one that cannot be read.
struct Part {
  std::string_view text;
  Position begin;
  Format format;
  std::vector<Result<Document>> documents;
};

Part part_of(std::string_view text, Position begin, Result<Documents> documents) {
  Part part = {.text = text, .begin = begin, .format = Format::json, .documents = {}};
  if (!documents) {
    part.documents.emplace_back(std::move(documents).error());
    return part;
  }
  part.format = documents->format;
  for (Value& value : documents->values) part.documents.emplace_back(Document{std::move(value)});
  return part;
}

// Reads each document of a piece alone, if it looks like JSON: in YAML, "---" separates them.
std::vector<Part> read_each_json(std::string_view text, Position begin, std::size_t max_bytes) {
  std::vector<Part> parts;
  if (!looks_like_json(text)) return parts;
  for (const JsonText& json : divide_json(text, begin)) {
    Part part = {.text = json.text, .begin = json.begin, .format = Format::json, .documents = {}};
    Result<Value> value = parse_json(json, max_bytes);
    std::optional<Document> list;
    if (!value) list = parse_divided_list(json, max_bytes);
    if (value) {
      part.documents.emplace_back(Document{*std::move(value)});
    } else if (list) {
      part.documents.emplace_back(*std::move(list));
    } else {
      part.documents.emplace_back(json::field_error("", value.error().message));
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

bool has_read(const Part& part) {
  return std::any_of(part.documents.begin(), part.documents.end(),
                     [](const Result<Document>& document) { return document.has_value(); });
}

bool is_whole(const Part& part) {
  return std::all_of(
      part.documents.begin(), part.documents.end(),
      [](const Result<Document>& document) { return document && document->item_problems.empty(); });
}

// Both readers of a text in which documents can be broken get its parts from here, so that they
// agree on the documents' numbers. Each byte is read a fixed number of times.
std::vector<Part> read_parts(std::string_view text, std::size_t max_bytes) {
  std::vector<Part> parts;
  yaml::Progress of_all;
  Result<Documents> all = parse_piece(text, {}, max_bytes, of_all);
  if (all || text.size() > max_bytes) {
    parts.push_back(part_of(text, {}, std::move(all)));
    return parts;
  }
  Position position;
  yaml::Progress progress;
  while (!text.empty()) {
    const std::string_view content = take_content(text, position);
    Result<Documents> documents = parse_piece(content, position, max_bytes, progress);
    std::vector<Part> inner;
    if (!documents) inner = read_each_json(content, position, max_bytes);
    std::optional<Document> list;
    if (!documents && std::none_of(inner.begin(), inner.end(), has_read)) {
      list = parse_divided_yaml(content, max_bytes, progress);
    }
    if (documents || (!list && inner.empty())) {
      parts.push_back(part_of(content, position, std::move(documents)));
    } else if (list) {
      Part& part = parts.emplace_back(
          Part{.text = content, .begin = position, .format = Format::yaml, .documents = {}});
      part.documents.emplace_back(*std::move(list));
    } else {
      std::move(inner.begin(), inner.end(), std::back_inserter(parts));
    }
    position.pass(content);
  }
  return parts;
}

}  // namespace

Result<std::vector<Value>> parse_documents(std::string_view text, std::size_t max_bytes) {
  yaml::Progress progress;
  return TRY(parse_piece(text, {}, max_bytes, progress)).values;
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
  for (Part& part : read_parts(text, max_bytes)) {
    std::move(part.documents.begin(), part.documents.end(), std::back_inserter(results));
  }
  return results;
}

void for_each_place(std::string_view text, std::size_t max_bytes, const ReceivePlace& receive) {
  std::size_t document = 0;
  for (const Part& part : read_parts(text, max_bytes)) {
    const auto walk = part.format == Format::json ? walk_json : walk_yaml;
    if (is_whole(part)) walk(part.text, part.begin, document, receive);
    document += part.documents.size();
  }
}

}  // namespace execcred
