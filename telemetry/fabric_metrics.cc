#include "telemetry/fabric_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "fabric/text/name_pattern.h"
#include "telemetry/counter_table.h"
#include "telemetry/open_metrics.h"

namespace mrclab::telemetry {
namespace {

/// A NIC of several ports is one device, as mlx5 has it; what a host counts as a whole stands at its first port.
constexpr std::string_view kDevice = "mlx5_0";
constexpr std::string_view kCollector = "node_infiniband_";

uint64_t count_of(const NamedCounts& counts, const std::string& name) {
  const auto at = counts.find(name);
  return at == counts.end() ? 0 : at->second;
}

class FabricText {
 public:
  FabricText(const Topology& topology, const FabricCounts& counts, const MetricsChoice& choice)
      : topology_(topology), counts_(counts), choice_(choice) {}

  std::string written() {
    facts();
    for (const CounterRow& row : counter_rows()) {
      if (row.series_only) continue;
      for_each_counted(row.at, [&](const NodeSite& site, const NamedCounts& counted) {
        if (row.at == Counts::kPort) return of_switch(row, site, counted);
        of_host(row, site, counted);
      });
    }
    for_each_counted(Counts::kHost, [&](const NodeSite& site, const NamedCounts& counted) {
      by_reason(site, counted, "refused.", "mrclab_host_refused_packets",
                "Packets that the endpoint refused, by reason.");
      by_reason(site, counted, "qp_errors.", "mrclab_host_qp_errors",
                "Queue pairs in the error state, by what brought them there.");
      host_links(site);
    });
    return out_.text();
  }

 private:
  bool is_wanted(const NodeSite& site) const {
    return choice_.only.empty() || matches_pattern(choice_.only, site.name);
  }
  const CountedNode* counted(const NodeSite& site) const {
    const auto at = counts_.nodes.find(site.name);
    return at == counts_.nodes.end() ? nullptr : &at->second;
  }

  template <class Use>
  void for_each_counted(Counts at, const Use& use) const {
    for (const NodeSite& site : topology_.nodes) {
      const bool is_host = site.role == NodeRole::kHost;
      if (is_host == (at == Counts::kPort) || !is_wanted(site)) continue;
      if (const CountedNode* node = counted(site)) use(site, node->counts);
    }
  }

  void facts() {
    out_.add_info("mrclab_lab", "The lab, its fabric and the program that answers.",
                  {{"lab", counts_.lab}, {"fabric", topology_.name}, {"version", counts_.version}});
    std::optional<FabricTime> reached;
    for (const auto& [name, node] : counts_.nodes) {
      reached = std::min(reached.value_or(node.until), node.until);
    }
    out_.add("mrclab_fabric_time_seconds", MetricKind::kGauge,
             "Fabric time: before this instant everything is counted. Divide by its change, not by "
             "that of the scraper's clock.",
             {}, "", seconds(reached.value_or(FabricTime())));
    for (const NodeSite& site : topology_.nodes) {
      if (!is_wanted(site)) continue;
      out_.add("mrclab_node_up", MetricKind::kGauge, "1 if the node's daemon answered, else 0.",
               {{"node", site.name}}, "", counted(site) != nullptr ? 1 : 0);
    }
    for (const NodeSite& site : topology_.nodes) {
      if (!is_wanted(site) || choice_.by == MetricsBy::kNode) continue;
      for (const Port& port : site.ports) port_facts(site, port);
    }
  }

  static double seconds(FabricTime time) { return static_cast<double>(time.ps()) * 1e-12; }

  void port_facts(const NodeSite& site, const Port& port) {
    const std::string plane = std::to_string(port.plane);
    const std::string peer = topology_.port_name(port.peer);
    out_.add_info("mrclab_port", "Each port and what is at the other end of its link.",
                  {{"node", site.name}, {"port", port.name()}, {"plane", plane}, {"peer", peer}});
    out_.add("mrclab_port_rate_bytes_per_second", MetricKind::kGauge, "What the link carries.",
             {{"node", site.name}, {"port", port.name()}, {"plane", plane}}, "",
             bytes_per_second(port));
    if (const std::optional<bool> up = is_up(port)) {
      out_.add("mrclab_port_up", MetricKind::kGauge, "1 if the link has carrier, else 0.",
               {{"node", site.name}, {"port", port.name()}, {"plane", plane}}, "", *up ? 1 : 0);
    }
  }

  double bytes_per_second(const Port& port) const {
    return static_cast<double>(topology_.wire(port.out).rate.bps) / 8;
  }
  std::optional<bool> is_up(const Port& port) const {
    if (port.link.value >= counts_.links_up.size()) return std::nullopt;
    return counts_.links_up[port.link.value];
  }

  void of_switch(const CounterRow& row, const NodeSite& site, const NamedCounts& counted) {
    if (choice_.by == MetricsBy::kNode) {
      const std::string plane = std::to_string(site.plane);
      add(row, {{"node", site.name}, {"plane", plane}}, count_of(counted, total_of(row)));
      return;
    }
    for (const Port& port : site.ports) {
      const std::string plane = std::to_string(port.plane);
      add(row, {{"node", site.name}, {"port", port.name()}, {"plane", plane}},
          count_of(counted, fmt::format("{}.{}", port.name(), row.word)));
    }
  }
  static std::string total_of(const CounterRow& row) { return fmt::format("total.{}", row.word); }

  void of_host(const CounterRow& row, const NodeSite& site, const NamedCounts& counted) {
    if (row.at == Counts::kHost) {
      const uint64_t count = count_of(counted, std::string(row.word));
      add(row, {{"node", site.name}}, count);
      if (!row.node_exporter.empty()) of_collector(row, site, 0, count);
      return;
    }
    for (size_t i = 0; i < site.ports.size(); ++i) {
      const Port& port = site.ports[i];
      const std::string plane = std::to_string(port.plane);
      const uint64_t count = count_of(counted, fmt::format("planes.{}.{}", i, row.word));
      add(row, {{"node", site.name}, {"port", port.name()}, {"plane", plane}}, count);
      if (!row.node_exporter.empty()) of_collector(row, site, i, count);
    }
  }

  void add(const CounterRow& row, const std::vector<MetricLabel>& labels, uint64_t count) {
    out_.add(row.family, row.kind, row.help, labels, row.label,
             static_cast<double>(count) * row.unit);
  }

  void of_collector(const CounterRow& row, const NodeSite& site, size_t port, uint64_t count) {
    std::string_view name = row.node_exporter;
    name.remove_suffix(std::string_view("_total").size());
    collect(name, row.kind, row.help, site, port, static_cast<double>(count));
  }
  void collect(std::string_view name, MetricKind kind, std::string_view help, const NodeSite& site,
               size_t port, double value) {
    const std::string number = std::to_string(port + 1);
    out_.add(fmt::format("{}{}", kCollector, name), kind, help,
             {{"node", site.name}, {"device", kDevice}, {"port", number}}, "", value);
  }

  void by_reason(const NodeSite& site, const NamedCounts& counted, std::string_view prefix,
                 std::string_view family, std::string_view help) {
    for (auto at = counted.lower_bound(prefix);
         at != counted.end() && at->first.starts_with(prefix); ++at) {
      const std::string reason = at->first.substr(prefix.size());
      out_.add(family, MetricKind::kCounter, help, {{"node", site.name}, {"reason", reason}}, "",
               static_cast<double>(at->second));
    }
  }

  /// A NIC's ports as the collector has them. A host counts payload, and the switch at the other end bytes of the
  /// wire: those are what is shown, so of what the NIC sent the frames are missing that the wire lost.
  void host_links(const NodeSite& site) {
    for (size_t i = 0; i < site.ports.size(); ++i) {
      const Port& port = site.ports[i];
      collect("rate_bytes_per_second", MetricKind::kGauge, "What the port's link carries.", site, i,
              bytes_per_second(port));
      if (const std::optional<bool> up = is_up(port)) {
        collect("state_id", MetricKind::kGauge, "State of the port: 4 is ACTIVE, 1 is DOWN.", site,
                i, *up ? 4 : 1);
        collect("physical_state_id", MetricKind::kGauge,
                "Physical state of the port: 5 is LinkUp, 2 is Polling.", site, i, *up ? 5 : 2);
      }
      const NodeSite& other = topology_.node(port.peer.node);
      const CountedNode* node = counted(other);
      if (other.role == NodeRole::kHost || node == nullptr) continue;
      const std::string at = other.ports[port.peer.port.value].name();
      collect("port_data_transmitted_bytes", MetricKind::kCounter,
              "Bytes that the switch at the other end got from this port, on the wire.", site, i,
              static_cast<double>(count_of(node->counts, at + ".rx_bytes")));
      collect("port_data_received_bytes", MetricKind::kCounter,
              "Bytes that the switch at the other end sent to this port, on the wire.", site, i,
              static_cast<double>(count_of(node->counts, at + ".tx_bytes")));
    }
  }

  const Topology& topology_;
  const FabricCounts& counts_;
  const MetricsChoice& choice_;
  OpenMetricsText out_;
};

}  // namespace

MetricsBy usual_detail(const Topology& topology) {
  size_t ports = 0;
  for (const NodeSite& site : topology.nodes) {
    if (site.role != NodeRole::kHost) ports += site.ports.size();
  }
  return ports > kPortsByDefault ? MetricsBy::kNode : MetricsBy::kPort;
}

std::string metrics_text(const Topology& topology, const FabricCounts& counts,
                         const MetricsChoice& choice) {
  return FabricText(topology, counts, choice).written();
}

}  // namespace mrclab::telemetry
