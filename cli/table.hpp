// SPDX-License-Identifier: Apache-2.0
// A table for people: columns of one width each, with two spaces between them.
#pragma once

#include "paint.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace execcred::cli {

// Made printable; an empty one becomes "-".
struct Cell {
  Cell(std::string content, Style look = Style::plain) : text(std::move(content)), style(look) {}
  Cell(std::string_view content, Style look = Style::plain) : text(content), style(look) {}
  Cell(const char* content) : text(content) {}

  std::string text;
  Style style = Style::plain;
};

class Table {
 public:
  explicit Table(std::vector<Cell> head) { add(std::move(head)); }

  // As many cells as the head has.
  void add(std::vector<Cell> row);
  // Lines that are printed unchanged below the last row.
  void add_lines(std::string_view lines);

  std::string text(const Paint& paint = {}) const;

 private:
  struct Row {
    std::vector<Cell> cells;
    std::string lines;
  };

  std::vector<Row> rows_;
};

}  // namespace execcred::cli
