// SPDX-License-Identifier: Apache-2.0
// A table for people. Each column has one width, and two spaces separate the columns.
#pragma once

#include "paint.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace execcred::cli {

// A cell of a table. The caller must make the text printable. An empty text is printed as "-".
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

  // Adds a row, which must have as many cells as the head.
  void add(std::vector<Cell> row);
  // Adds lines that are printed unchanged below the last row.
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
