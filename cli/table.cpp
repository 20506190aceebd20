// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include <algorithm>
#include <cstddef>

namespace execcred::cli {
namespace {

constexpr std::size_t kMostWidth = 60;  // of a column; a longer cell sticks out

// The width in characters, not bytes: continuation bytes of UTF-8 take no room.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
  }));
}

}  // namespace

void Table::add(std::vector<Cell> row) {
  for (Cell& cell : row) {
    if (cell.text.empty()) cell.text = "-";
  }
  rows_.push_back({.cells = std::move(row), .lines = {}});
}

void Table::add_lines(std::string_view lines) { rows_.back().lines += lines; }

std::string Table::text(const Paint& paint) const {
  std::vector<std::size_t> widths(rows_.front().cells.size(), 0);
  for (const Row& row : rows_) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], std::min(width_of(row.cells[i].text), kMostWidth));
    }
  }
  std::string text;
  for (const Row& row : rows_) {
    std::size_t missing = 0;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const Cell& cell = row.cells[i];
      const std::size_t width = width_of(cell.text);
      text.append(missing, ' ') += paint(cell.style, cell.text);
      missing = std::max(widths[i], width) - width + 2;
    }
    text += "\n" + row.lines;
  }
  return text;
}

}  // namespace execcred::cli
