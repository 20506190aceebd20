// SPDX-License-Identifier: Apache-2.0
#include "metrics.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <limits>
#include <utility>

namespace execcred::sync {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

MetricFamily family(std::string name, std::string help, MetricType type) {
  return {.name = std::move(name), .help = std::move(help), .type = type, .metric = {}};
}

MetricFamily gauge(std::string name, std::string help, double value) {
  MetricFamily made = family(std::move(name), std::move(help), MetricType::Gauge);
  made.metric.emplace_back().gauge.value = value;
  return made;
}

MetricFamily plugin_durations(const Figures& figures) {
  MetricFamily made = family("execcred_sync_plugin_duration_seconds",
                             "How long the plugins took to run.", MetricType::Histogram);
  ClientMetric::Histogram& histogram = made.metric.emplace_back().histogram;
  histogram.sample_count = figures.plugin_runs;
  histogram.sample_sum = figures.plugin_seconds;
  for (std::size_t i = 0; i < Figures::kPluginSeconds.size(); ++i) {
    histogram.bucket.push_back({.cumulative_count = figures.plugin_runs_within.at(i),
                                .upper_bound = Figures::kPluginSeconds.at(i)});
  }
  histogram.bucket.push_back({.cumulative_count = figures.plugin_runs,
                              .upper_bound = std::numeric_limits<double>::infinity()});
  return made;
}

}  // namespace

std::string metrics_text(const Figures& figures) {
  MetricFamily expiry =
      family("execcred_credential_expiry_timestamp_seconds",
             "When the written credential of the cluster ends, in Unix time; +Inf without an end.",
             MetricType::Gauge);
  MetricFamily lifetime = family(
      "execcred_credential_lifetime_seconds",
      "How long the written credential of the cluster lives, from the plugin's answer to its "
      "end; +Inf without an end.",
      MetricType::Gauge);
  const auto add = [](MetricFamily& to, const ClusterFigures& cluster,
                      std::optional<std::chrono::seconds> value) {
    ClientMetric& metric = to.metric.emplace_back();
    metric.label = {
        {"namespace", cluster.name_space}, {"name", cluster.name}, {"provider", cluster.provider}};
    metric.gauge.value =
        value ? static_cast<double>(value->count()) : std::numeric_limits<double>::infinity();
  };
  for (const ClusterFigures& cluster : figures.credentials) {
    const auto& [issued, expires] = cluster.lifetime;
    const bool ends = expires.has_value();
    add(expiry, cluster, ends ? std::optional(expires->time_since_epoch()) : std::nullopt);
    add(lifetime, cluster, ends ? std::optional(*expires - issued) : std::nullopt);
  }
  MetricFamily renewals =
      family("execcred_sync_renewals_total", "How many times a cluster's credential was written.",
             MetricType::Counter);
  renewals.metric.emplace_back().counter.value = static_cast<double>(figures.renewals);
  MetricFamily failures =
      family("execcred_sync_failures_total", "How many times a cluster or target failed, by cause.",
             MetricType::Counter);
  for (const auto& [cause, count] : figures.failures) {
    ClientMetric& metric = failures.metric.emplace_back();
    metric.label = {{"cause", cause}};
    metric.counter.value = static_cast<double>(count);
  }
  const std::vector<MetricFamily> families = {
      std::move(expiry),
      std::move(lifetime),
      gauge("execcred_sync_clusters", "How many ClusterProfiles the inventory lists.",
            static_cast<double>(figures.clusters)),
      std::move(renewals),
      std::move(failures),
      plugin_durations(figures),
      gauge("execcred_sync_watch_up",
            "1 while changes of the inventory and of written Secrets are seen as they happen.",
            figures.is_watching ? 1 : 0)};
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace execcred::sync
