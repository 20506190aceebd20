// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include <execcred/base/text.hpp>

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <utility>

namespace execcred::doctor {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;

// The value of one item, with a label beside the usual ones if it has one.
struct Sample {
  double value = 0;
  double urgency = 0;  // of items with equal labels, the most urgent one has the series
  std::optional<ClientMetric::Label> label = std::nullopt;
};

// nullopt for an item without a sample.
using SampleOf = std::function<std::optional<Sample>(const Item&)>;

// An earlier end is more urgent.
std::optional<Sample> time_sample(const std::optional<TimePoint>& time) {
  if (!time) return std::nullopt;
  const auto seconds = static_cast<double>(
      std::chrono::floor<std::chrono::seconds>(*time).time_since_epoch().count());
  return Sample{.value = seconds, .urgency = -seconds};
}

// A series may occur only once, but ClusterProfiles of several files can have equal names.
MetricFamily family(std::string name, std::string help, const std::vector<Item>& items,
                    const SampleOf& sample_of) {
  MetricFamily made = {.name = std::move(name),
                       .help = std::move(help),
                       .type = prometheus::MetricType::Gauge,
                       .metric = {}};
  std::map<std::vector<ClientMetric::Label>, Sample> series;
  for (const Item& item : items) {
    const std::optional<Sample> sample = sample_of(item);
    if (!sample) continue;
    const auto [place, is_new] = series.try_emplace({{"namespace", printable(item.name_space)},
                                                     {"name", printable(item.name)},
                                                     {"provider", printable(item.provider)}},
                                                    *sample);
    if (!is_new && sample->urgency > place->second.urgency) place->second = *sample;
  }
  for (const auto& [labels, sample] : series) {
    ClientMetric& metric = made.metric.emplace_back();
    metric.label = labels;
    if (sample.label) metric.label.push_back(*sample.label);
    metric.gauge.value = sample.value;
  }
  return made;
}

}  // namespace

std::string write_prometheus(const std::vector<Item>& items) {
  return prometheus::TextSerializer().Serialize(
      {family("execcred_cluster_ok",
              "Whether the cluster accepts the credential; 0 with the cause if not.", items,
              [](const Item& item) -> std::optional<Sample> {
                Sample sample = {.value = item.verdict() == Verdict::fail ? 0.0 : 1.0,
                                 .urgency = static_cast<double>(item.verdict())};
                if (!item.cause().empty()) sample.label = {"cause", printable(item.cause())};
                return sample;
              }),
       family("execcred_credential_expiry_timestamp_seconds",
              "Time at which the credential ends, in Unix time.", items,
              [](const Item& item) { return time_sample(item.expires); }),
       family("execcred_ca_expiry_timestamp_seconds",
              "Time at which the CA of the server's certificate ends, in Unix time.", items,
              [](const Item& item) { return time_sample(item.ca_expires); }),
       family("execcred_check_duration_seconds", "How long the examination took.", items,
              [](const Item& item) -> std::optional<Sample> {
                const auto taken = std::chrono::round<std::chrono::milliseconds>(item.duration);
                const double seconds = std::chrono::duration<double>(taken).count();
                return Sample{.value = seconds, .urgency = seconds};
              })});
}

}  // namespace execcred::doctor
