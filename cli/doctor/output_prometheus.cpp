// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include <execcred/base/text.hpp>

#include <chrono>
#include <cstdio>
#include <functional>
#include <set>

namespace execcred::doctor {
namespace {

// A label of a metric. Unprintable characters are escaped, and also backslash and quote, which have
// a meaning in this format.
std::string label(std::string_view name, std::string_view value) {
  std::string text(name);
  text += "=\"";
  for (const char c : printable(value)) {
    if (c == '\\' || c == '"') text.push_back('\\');
    text.push_back(c);
  }
  return text + "\"";
}

std::string labels_of(const Item& item) {
  return label("namespace", item.name_space) + "," + label("name", item.name) + "," +
         label("provider", item.provider);
}

std::string seconds_text(Duration duration) {
  const auto milliseconds = std::chrono::round<std::chrono::milliseconds>(duration).count();
  std::string fraction = std::to_string(milliseconds % 1000);
  fraction.insert(0, 3 - fraction.size(), '0');
  return std::to_string(milliseconds / 1000) + "." + fraction;
}

std::string unix_time(TimePoint time) {
  return std::to_string(std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count());
}

// Returns the labels and the value of one item; an empty text for an item without a sample.
using Sample = std::function<std::string(const Item&, const std::string& labels)>;

// A series may occur only once: of items with equal labels, the first is used.
std::string family(std::string_view name, std::string_view help, const std::vector<Item>& items,
                   const Sample& sample) {
  std::string text = "# HELP " + std::string(name) + " " + std::string(help) + "\n# TYPE " +
                     std::string(name) + " gauge\n";
  std::set<std::string> seen;
  for (const Item& item : items) {
    std::string labels = labels_of(item);
    if (!seen.insert(labels).second) continue;
    const std::string line = sample(item, labels);
    if (!line.empty()) text += std::string(name) + line + "\n";
  }
  return text;
}

}  // namespace

std::string write_prometheus(const std::vector<Item>& items) {
  std::string text = family(
      "execcred_cluster_ok", "Whether the cluster accepts the credential; 0 with the cause if not.",
      items, [](const Item& item, const std::string& labels) {
        const bool is_ok = item.verdict() != Verdict::fail;
        const std::string cause =
            item.cause().empty() ? std::string() : "," + label("cause", item.cause());
        return "{" + labels + cause + "} " + (is_ok ? "1" : "0");
      });
  text +=
      family("execcred_credential_expiry_timestamp_seconds",
             "Time at which the credential ends, in Unix time.", items,
             [](const Item& item, const std::string& labels) {
               return item.expires ? "{" + labels + "} " + unix_time(*item.expires) : std::string();
             });
  text += family("execcred_ca_expiry_timestamp_seconds",
                 "Time at which the CA of the server's certificate ends, in Unix time.", items,
                 [](const Item& item, const std::string& labels) {
                   return item.ca_expires ? "{" + labels + "} " + unix_time(*item.ca_expires)
                                          : std::string();
                 });
  text += family("execcred_check_duration_seconds", "How long the examination took.", items,
                 [](const Item& item, const std::string& labels) {
                   return "{" + labels + "} " + seconds_text(item.duration);
                 });
  return text;
}

}  // namespace execcred::doctor
