// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include <execcred/base/text.hpp>

#include <algorithm>
#include <chrono>

namespace execcred::doctor {
namespace {

// The page loads nothing. Its policy forbids this, because its texts come from anywhere.
//
// Only the first hundred matching clusters are laid out, until the reader asks for all: a browser
// takes seconds for ten thousand table rows. Columns of a fixed width need no measuring of each
// cell, and long messages do not make the columns of names narrow.
//
// The messages of a row are in a <noscript>. A browser with scripts reads it as text until the row
// is shown. A browser without scripts shows all rows.
constexpr std::string_view kHead = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>execcred doctor</title>
<style>
:root { color-scheme: light dark; --line: #8884; --fail: #c62828; --warn: #b26a00; --ok: #2e7d32; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 0 auto; max-width: 90rem; padding: 1rem; }
h1 { font-size: 1.3rem; margin: 0 0 .3rem; }
h2 { font-size: 1.05rem; margin: .8rem 0 .3rem; }
#causes { padding-left: 1.1rem; }
#causes button { background: none; border: 0; font: inherit; padding: 0; cursor: pointer; font-weight: 600; }
#causes button:focus-visible { outline: 2px solid currentColor; }
.bar { display: flex; flex-wrap: wrap; gap: .5rem; margin: .8rem 0; }
input, select { font: inherit; padding: .35rem .5rem; min-width: 0; }
input[type=search] { flex: 1 1 14rem; }
table { border-collapse: collapse; table-layout: fixed; width: 100%; }
th, td { border-bottom: 1px solid var(--line); box-sizing: border-box; padding: .35rem .5rem; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
th button { all: unset; cursor: pointer; font-weight: 600; }
th button:focus-visible { outline: 2px solid currentColor; }
th:nth-child(1) { width: 18%; }
th:nth-child(2) { width: 10%; }
th:nth-child(3), th:nth-child(7) { width: 7%; }
th:nth-child(5), th:nth-child(6) { width: 13%; }
th[aria-sort=ascending] button::after { content: " \25B2"; }
th[aria-sort=descending] button::after { content: " \25BC"; }
tbody tr { display: none; }
tbody tr.shown { display: table-row; }
.fail { color: var(--fail); font-weight: 600; }
.warn { color: var(--warn); font-weight: 600; }
.ok { color: var(--ok); }
.num { text-align: right; }
details ul { margin: .3rem 0; padding-left: 1.1rem; }
summary { cursor: pointer; }
[hidden] { display: none !important; }
@media (max-width: 45rem) {
  thead { position: absolute; clip-path: inset(50%); height: 1px; overflow: hidden; width: 1px; }
  table, tbody, tbody tr.shown, td { display: block; }
  tbody tr { border: 1px solid var(--line); border-radius: .4rem; margin-bottom: .6rem; }
  td { border: 0; display: grid; grid-template-columns: 6rem 1fr; padding: .2rem .5rem; }
  td::before { content: attr(data-label); font-weight: 600; }
  .num { text-align: left; }
}
</style>
<noscript><style>tbody tr { display: table-row !important; }</style></noscript>
</head>
<body>
)";

constexpr std::string_view kScript = R"(<script>
"use strict";
(() => {
  const table = document.getElementById("clusters");
  const body = table.tBodies[0];
  const most = 100;
  const characters = { lt: "<", gt: ">", amp: "&", quot: "\"", "#39": "'" };
  const textIn = (html) => html.replace(/<[^>]*>/g, " ")
    .replace(/&(lt|gt|amp|quot|#39);/g, (all, name) => characters[name]);
  const rows = Array.from(body.rows, (tr) => {
    const folded = tr.querySelector("noscript");
    const texts = Array.from(tr.cells, (cell) =>
      folded && cell.contains(folded) ? textIn(folded.textContent) : cell.textContent);
    return { tr, folded, text: texts.join("\n").toLowerCase(), ...tr.dataset };
  });
  const search = document.getElementById("search");
  const result = document.getElementById("result");
  const cause = document.getElementById("cause");
  const count = document.getElementById("count");
  const more = document.getElementById("more");
  let shown = [];
  let limit = most;
  const show = (row) => {
    if (row.folded) row.folded.outerHTML = row.folded.textContent;
    row.folded = null;
    row.tr.classList.add("shown");
  };
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fitting = rows.filter((row) => words.every((word) => row.text.includes(word)) &&
      (!result.value || row.result === result.value) &&
      (!cause.value || row.cause === cause.value));
    shown.forEach((row) => row.tr.classList.remove("shown"));
    shown = fitting.slice(0, limit);
    shown.forEach(show);
    count.textContent = fitting.length + " of " + rows.length;
    more.hidden = fitting.length <= limit;
    more.textContent = "show all " + fitting.length;
  };
  const order = new Intl.Collator(undefined, { numeric: true });
  const key = (row, column) => {
    const cell = row.tr.cells[column];
    return cell.dataset.key === undefined ? cell.textContent : cell.dataset.key;
  };
  table.querySelectorAll("th button").forEach((button) => {
    button.addEventListener("click", () => {
      const head = button.closest("th");
      const down = head.getAttribute("aria-sort") === "ascending";
      table.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const column = head.cellIndex;
      const keyed = rows.map((row) => [key(row, column), row]);
      keyed.sort((a, b) => (down ? -1 : 1) * order.compare(a[0], b[0]));
      const sorted = document.createDocumentFragment();
      keyed.forEach((pair, i) => {
        rows[i] = pair[1];
        sorted.append(pair[1].tr);
      });
      body.append(sorted);
      filter();
    });
  });
  [search, result, cause].forEach((input) => input.addEventListener("input", () => {
    limit = most;
    filter();
  }));
  document.querySelectorAll("#causes button").forEach((button) => {
    button.addEventListener("click", () => {
      cause.value = button.value;
      limit = most;
      filter();
    });
  });
  more.addEventListener("click", () => {
    limit = rows.length;
    filter();
  });
  filter();
})();
</script>
</body>
</html>
)";

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : printable(text)) {
    switch (c) {
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '&':
        safe += "&amp;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe.push_back(c);
    }
  }
  return safe;
}

std::string cell(std::string_view label, std::string_view text) {
  return "<td data-label=\"" + std::string(label) + "\">" + escaped(text) + "</td>";
}

// The steps with problems, and what to do about them.
std::string details_of(const Item& item) {
  std::string steps;
  std::string hint;
  for (std::size_t i = 0; i < kStepCount; ++i) {
    const auto id = static_cast<StepId>(i);
    const Step& step = item.step(id);
    if (step.verdict != Verdict::fail && step.verdict != Verdict::warn) continue;
    steps += "<li><b>" + std::string(name_of(id)) + "</b> <span class=\"" +
             std::string(name_of(step.verdict)) + "\">" + std::string(name_of(step.verdict)) +
             "</span> " + escaped(step.message);
    if (!step.hint.empty()) steps += "<br>hint: " + escaped(step.hint);
    steps += "</li>";
  }
  if (steps.empty()) return escaped(item.cause());
  return "<noscript><details><summary>" +
         (item.cause().empty() ? std::string("see") : escaped(item.cause())) + "</summary><ul>" +
         steps + "</ul></details></noscript>";
}

std::string row_of(const Item& item) {
  const std::string verdict(name_of(item.verdict()));
  const auto duration = std::chrono::round<std::chrono::milliseconds>(item.duration);
  const std::string milliseconds = std::to_string(duration.count());
  std::string row =
      "<tr data-result=\"" + verdict + "\" data-cause=\"" + escaped(item.cause()) + "\">";
  row += cell("Cluster", item.full_name());
  row += cell("Provider", item.provider);
  row += "<td data-label=\"Result\" class=\"" + verdict + "\">" + verdict + "</td>";
  row += "<td data-label=\"Cause\" data-key=\"" + escaped(item.cause()) + "\">" + details_of(item) +
         "</td>";
  row += cell("User", item.user);
  row += cell("Expires", item.expires ? text_of(*item.expires) : std::string());
  row += "<td data-label=\"Time\" class=\"num\" data-key=\"" + milliseconds + "\">" +
         format_duration(duration) + "</td></tr>\n";
  return row;
}

std::string option_list(const std::vector<Item>& items) {
  std::vector<std::string_view> causes;
  for (const Item& item : items) {
    const std::string_view cause = item.cause();
    if (cause.empty() || std::find(causes.begin(), causes.end(), cause) != causes.end()) continue;
    causes.push_back(cause);
  }
  std::sort(causes.begin(), causes.end());
  std::string text = "<option value=\"\">every cause</option>";
  for (const std::string_view cause : causes) {
    text += "<option>" + std::string(cause) + "</option>";
  }
  return text;
}

// What is wrong, before the table. A button shows only the clusters with its cause.
std::string cause_list(const std::vector<Item>& items) {
  std::string list;
  for (const auto& [cause, count, worst] : count_causes(items)) {
    list += "<li><button type=\"button\" class=\"" + std::string(name_of(worst)) + "\" value=\"" +
            std::string(cause) + "\">" + std::string(cause) + "</button> " + std::to_string(count) +
            (count == 1 ? " cluster" : " clusters") + "</li>\n";
  }
  if (list.empty()) return "<p id=\"causes\">nothing is wrong</p>\n";
  return "<h2>What is wrong</h2>\n<ul id=\"causes\">\n" + list +
         "</ul>\n<p><code>execcred explain CAUSE</code> says what to do.</p>\n";
}

}  // namespace

std::string write_html(const std::vector<Item>& items, TimePoint now) {
  std::string page(kHead);
  page += "<h1>execcred doctor</h1>\n<p>" + text_of(now) + " · " + write_totals(items) + "</p>\n" +
          cause_list(items);
  page +=
      "<div class=\"bar\"><input id=\"search\" type=\"search\" placeholder=\"Filter\" "
      "aria-label=\"Filter\">"
      "<select id=\"result\" aria-label=\"Result\"><option value=\"\">every result</option>"
      "<option>fail</option><option>warn</option><option>ok</option></select>"
      "<select id=\"cause\" aria-label=\"Cause\">" +
      option_list(items) + "</select> <output id=\"count\"></output></div>\n";
  page += "<table id=\"clusters\"><thead><tr>";
  for (const std::string_view head :
       {"Cluster", "Provider", "Result", "Cause", "User", "Expires", "Time"}) {
    page += "<th scope=\"col\"><button type=\"button\">" + std::string(head) + "</button></th>";
  }
  page += "</tr></thead>\n<tbody>\n";
  for (const Item* const item : by_result(items)) page += row_of(*item);
  page += "</tbody></table>\n<p><button id=\"more\" type=\"button\" hidden></button></p>\n";
  page += kScript;
  return page;
}

}  // namespace execcred::doctor
