// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include <execcred/base/text.hpp>

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <utility>

namespace execcred::doctor {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;

double unix_time(TimePoint time) {
  return static_cast<double>(
      std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count());
}

// The value of one item; nullopt for an item without a sample.
using Value = std::function<std::optional<double>(const Item&)>;

// A series may occur only once: of items with equal labels, the first is used.
MetricFamily family(std::string name, std::string help, const std::vector<Item>& items,
                    const Value& value_of) {
  MetricFamily made = {.name = std::move(name),
                       .help = std::move(help),
                       .type = prometheus::MetricType::Gauge,
                       .metric = {}};
  std::set<std::vector<ClientMetric::Label>> seen;
  for (const Item& item : items) {
    std::vector<ClientMetric::Label> labels = {{"namespace", printable(item.name_space)},
                                               {"name", printable(item.name)},
                                               {"provider", printable(item.provider)}};
    if (!seen.insert(labels).second) continue;
    const std::optional<double> value = value_of(item);
    if (!value) continue;
    ClientMetric& metric = made.metric.emplace_back();
    metric.label = std::move(labels);
    metric.gauge.value = *value;
    if (made.name == "execcred_cluster_ok" && !item.cause().empty()) {
      metric.label.push_back({"cause", printable(item.cause())});
    }
  }
  return made;
}

}  // namespace

std::string write_prometheus(const std::vector<Item>& items) {
  return prometheus::TextSerializer().Serialize(
      {family("execcred_cluster_ok",
              "Whether the cluster accepts the credential; 0 with the cause if not.", items,
              [](const Item& item) { return item.verdict() == Verdict::fail ? 0 : 1; }),
       family("execcred_credential_expiry_timestamp_seconds",
              "Time at which the credential ends, in Unix time.", items,
              [](const Item& item) {
                return item.expires ? std::optional(unix_time(*item.expires)) : std::nullopt;
              }),
       family("execcred_ca_expiry_timestamp_seconds",
              "Time at which the CA of the server's certificate ends, in Unix time.", items,
              [](const Item& item) {
                return item.ca_expires ? std::optional(unix_time(*item.ca_expires)) : std::nullopt;
              }),
       family("execcred_check_duration_seconds", "How long the examination took.", items,
              [](const Item& item) {
                const auto taken = std::chrono::round<std::chrono::milliseconds>(item.duration);
                return std::chrono::duration<double>(taken).count();
              })});
}

}  // namespace execcred::doctor
