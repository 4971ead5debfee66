#pragma once
// The counters of ports and hosts, by everybody's names: one table, of which the exporter, its page of names
// (`mrclab metrics --names`, docs/telemetry.md) and the tests are made.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mrclab::telemetry {

/// Who counts: a switch at each of its ports, a host, a host at each of its ports.
enum class Counts : uint8_t { kPort, kHost, kHostPort };
enum class MetricKind : uint8_t { kCounter, kGauge };

struct CounterRow {
  Counts at;
  MetricKind kind;
  /// Ours: of switchd/counters.h behind "u1.", or a key of a host's report ("refused.out_of_order").
  std::string_view word;
  /// The family of OpenMetrics; a counter's samples have "_total" behind it.
  std::string_view family;
  /// What sets this row apart in its family, as it stands in the text: `queue="data"`.
  std::string_view label;
  std::string_view
      help;  ///< the first row of a family says it; with units and the place where it counts
  /// The same quantity elsewhere; empty where they have none. OpenConfig: leaves of interfaces and queues
  /// (openconfig-interfaces, -if-ethernet, -qos-interfaces). SONiC: the statistic of SAI in COUNTERS_DB. mlx5: Linux,
  /// hw_counters and ethtool. node_exporter: its InfiniBand collector, without "node_infiniband_".
  std::string_view openconfig, sonic, mlx5, node_exporter;
  double unit = 1;  ///< of our word in that of the family, such as 1e-12 for picoseconds in seconds
  bool series_only =
      false;  ///< no daemon counts it: it is had from a run's packets, over fabric time
};

/// Rows of a family stand together.
std::span<const CounterRow> counter_rows();

/// The row of our word; null if there is none.
const CounterRow* find_counter(Counts at, std::string_view word);

/// The table as Markdown: of each word the names.
std::string names_page();

}  // namespace mrclab::telemetry
