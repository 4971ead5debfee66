#include "lab/drill/drill_series.h"

#include <fmt/format.h>

#include <map>

#include "fabric/text/input_error.h"
#include "recorded/counters/recorded_counters.h"
#include "telemetry/counter_table.h"
#include "telemetry/sai_numbers.h"

namespace mrclab::lab {
namespace {

using telemetry::CounterRow;
using telemetry::CounterSeries;
using telemetry::Counts;
using telemetry::MetricKind;

using Values = std::vector<double>;

std::string name_in_rules(const CounterRow& row) {
  return std::string(row.family) + (row.kind == MetricKind::kCounter ? "_total" : "");
}

class DrillWriter {
 public:
  DrillWriter(const RecordedRun& run, FabricTime step, const std::set<std::string>& words)
      : topology_(run.scenario.topology), words_(words), step_(step) {
    CounterSeries counted = recorded_counters(run, step);
    counted.reach(run.scenario.stop());
    data_.steps = counted.steps();
    for (CounterSeries::Line& line : counted.lines()) {
      lines_[{line.row, line.port}] = std::move(line.values);
    }
    carriers(recorded_scenario(run.folder).schedule, run.scenario.stop());
  }

  DrillData written() {
    for (const CounterRow& row : telemetry::counter_rows()) {
      if (names(name_in_rules(row))) ours(row);
      if (const auto sai = telemetry::sai_number(row.sonic)) sonic(row, *sai);
    }
    collector();
    Values time(data_.steps);
    for (size_t i = 0; i < time.size(); ++i) {
      time[i] = static_cast<double>((step_ * static_cast<int64_t>(i)).ps()) * 1e-12;
    }
    if (names("mrclab_fabric_time_seconds")) add("mrclab_fabric_time_seconds", "", std::move(time));
    if (names("mrclab_port_up")) {
      each_port([&](PortRef port) { add("mrclab_port_up", of_port(port), up(port, 1, 0)); });
    }
    for (const std::string& word : words_) {
      const bool like_ours = word.starts_with("mrclab_") || word.starts_with("node_infiniband_") ||
                             word.starts_with("sai_counter_type_");
      if (like_ours && !data_.names.contains(word)) data_.unknown.insert(word);
    }
    return std::move(data_);
  }

 private:
  bool names(const std::string& name) const { return words_.contains(name); }

  template <class Use>
  void each_port(const Use& use) const {
    for (const NodeSite& site : topology_.nodes) {
      for (uint32_t i = 0; i < site.ports.size(); ++i) use(PortRef{site.id, PortId{i}});
    }
  }
  bool is_host(NodeId node) const { return topology_.node(node).role == NodeRole::kHost; }

  std::string of_node(NodeId node) const {
    const std::string& name = topology_.node(node).name;
    return fmt::format("node=\"{0}\",instance=\"{0}\",job=\"mrclab\"", name);
  }
  std::string of_port(PortRef port) const {
    const Port& site = topology_.port(port);
    return fmt::format("{},port=\"{}\",plane=\"{}\"", of_node(port.node), site.name(), site.plane);
  }
  std::string of_device(PortRef port) const {
    return fmt::format("{},device=\"mlx5_0\",port=\"{}\"", of_node(port.node), port.port.value + 1);
  }

  void add(const std::string& name, const std::string& labels, Values values) {
    values_ += values.size();
    if (values_ > kMaxDrillValues) {
      throw InputError(
          fmt::format("found over {} values, expected longer steps (--every) or fewer "
                      "metrics in the rules",
                      kMaxDrillValues));
    }
    data_.names.insert(name);
    data_.series.push_back({fmt::format("{}{{{}}}", name, labels), std::move(values)});
  }

  Values line(const CounterRow& row, PortRef port) const {
    Values values(data_.steps, 0);
    const auto found = lines_.find({&row, port});
    if (found == lines_.end()) return values;
    for (size_t i = 0; i < values.size() && i < found->second.size(); ++i) {
      values[i] = static_cast<double>(found->second[i]) * row.unit;
    }
    return values;
  }

  /// What a run's packets and events show of it: all of ports, of hosts what some host counted.
  bool is_seen(const CounterRow& row) const {
    if (row.at == Counts::kPort) {
      return row.kind == MetricKind::kCounter || row.word.starts_with("data_") ||
             row.word.starts_with("lossless_");
    }
    if (row.at == Counts::kHostPort) return row.word.ends_with("_packets");
    return row.word == "retransmissions" || row.word == "losses_detected" ||
           row.word == "ce_marks_seen";
  }

  void ours(const CounterRow& row) {
    if (!is_seen(row)) return;
    const std::string name = name_in_rules(row);
    const std::string more = row.label.empty() ? "" : fmt::format(",{}", row.label);
    if (row.at == Counts::kHost)
      return each_host([&](NodeId host) {
        add(name, of_node(host) + more, line(row, {host, PortId{0}}));
      });
    each_port([&](PortRef port) {
      if (is_host(port.node) == (row.at == Counts::kPort)) return;
      add(name, of_port(port) + more, line(row, port));
    });
  }
  template <class Use>
  void each_host(const Use& use) const {
    for (const NodeSite& site : topology_.nodes) {
      if (site.role == NodeRole::kHost) use(site.id);
    }
  }

  /// As SONiC's countersyncd names what it exports. Several of our causes may be one statistic there: added up.
  void sonic(const CounterRow& row, const telemetry::SaiNumber& sai) {
    const std::string name =
        fmt::format("sai_counter_type_{}_stat_{}", sai.object_type, sai.statistic);
    if (row.at != Counts::kPort || !names(name) || data_.names.contains(name)) return;
    constexpr uint32_t kLanes = 4;
    each_port([&](PortRef port) {
      if (is_host(port.node)) return;
      Values sum(data_.steps, 0);
      for (const CounterRow& other : telemetry::counter_rows()) {
        if (other.at != Counts::kPort || other.sonic != row.sonic) continue;
        const Values values = line(other, port);
        for (size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
      }
      const std::string object = fmt::format("Ethernet{}", port.port.value * kLanes);
      add(name,
          fmt::format("{},object_name=\"{}{}\"", of_node(port.node), object,
                      sai.object_type == telemetry::kSaiQueue ? "|0" : ""),
          std::move(sum));
    });
  }

  /// node_exporter's InfiniBand collector, of hosts.
  void collector() {
    for (const CounterRow& row : telemetry::counter_rows()) {
      const std::string name = "node_infiniband_" + std::string(row.node_exporter);
      if (row.node_exporter.empty() || !names(name) || !is_seen(row)) continue;
      each_port([&](PortRef port) {
        if (!is_host(port.node) || (row.at == Counts::kHost && port.port.value > 0)) return;
        add(name, of_device(port), line(row, port));
      });
    }
    each_port([&](PortRef port) {
      if (!is_host(port.node)) return;
      const std::string labels = of_device(port);
      const auto give = [&](const char* what, Values values) {
        add(std::string("node_infiniband_") + what, labels, std::move(values));
      };
      const PortRef peer = topology_.port(port).peer;
      const auto wanted = [&](const char* what) {
        return names(std::string("node_infiniband_") + what);
      };
      if (wanted("state_id")) give("state_id", up(port, 4, 1));
      if (wanted("physical_state_id")) give("physical_state_id", up(port, 5, 2));
      if (wanted("link_downed_total")) give("link_downed_total", downs(port));
      if (wanted("rate_bytes_per_second")) {
        const double rate =
            static_cast<double>(topology_.wire(topology_.port(port).out).rate.bps) / 8;
        give("rate_bytes_per_second", Values(data_.steps, rate));
      }
      if (is_host(peer.node)) return;
      if (wanted("port_data_received_bytes_total")) {
        give("port_data_received_bytes_total",
             line(*find_counter(Counts::kPort, "tx_bytes"), peer));
      }
      if (wanted("port_data_transmitted_bytes_total")) {
        give("port_data_transmitted_bytes_total",
             line(*find_counter(Counts::kPort, "rx_bytes"), peer));
      }
    });
  }

  void carriers(const std::vector<ScheduledEffect>& schedule, FabricTime stop) {
    for (const ScheduledEffect& effect : schedule) {
      const auto* carrier = std::get_if<PortCarrier>(&effect.effect);
      if (carrier != nullptr && effect.at <= stop) changes_[carrier->port][effect.at] = carrier->up;
    }
  }
  /// By step: is there light?
  Values up(PortRef port, double lit, double dark) const {
    Values values(data_.steps, lit);
    const auto found = changes_.find(port);
    if (found == changes_.end()) return values;
    for (size_t i = 0; i < values.size(); ++i) {
      auto next = found->second.upper_bound(step_ * static_cast<int64_t>(i));
      if (next != found->second.begin() && !std::prev(next)->second) values[i] = dark;
    }
    return values;
  }
  /// By step: how often the light went.
  Values downs(PortRef port) const {
    Values values(data_.steps, 0);
    const auto found = changes_.find(port);
    if (found == changes_.end()) return values;
    for (size_t i = 0; i < values.size(); ++i) {
      bool lit = true;
      for (const auto& [at, is_up] : found->second) {
        if (at > step_ * static_cast<int64_t>(i)) break;
        if (lit && !is_up) ++values[i];
        lit = is_up;
      }
    }
    return values;
  }

  const Topology& topology_;
  const std::set<std::string>& words_;
  FabricTime step_;
  std::map<std::pair<const CounterRow*, PortRef>, std::vector<uint64_t>> lines_;
  std::map<PortRef, std::map<FabricTime, bool>> changes_;
  size_t values_ = 0;
  DrillData data_;
};

}  // namespace

DrillData drill_series(const RecordedRun& run, FabricTime step,
                       const std::set<std::string>& words) {
  return DrillWriter(run, step, words).written();
}

}  // namespace mrclab::lab
