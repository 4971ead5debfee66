#include "lab/persistent/link_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <tuple>

#include "console/terminal.h"
#include "netio/rpc/rpc.h"
#include "netio/system/system_error.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds kPatience{2};

void add_process(const Topology& topology, const json& said, CounterSample& sample) {
  // Before time starts the instant before 0 is committed.
  const auto until =
      std::max(FabricTime::from_ps(said.at("committed_ps").get<int64_t>()), FabricTime::zero());
  for (const auto& [name, counted] : said.at("nodes").items()) {
    const std::optional<NodeId> node = topology.find_node(name);
    if (!node) continue;
    if (topology.node(*node).role == NodeRole::kHost) {
      sample.hosts[name] = {until, host_counts(counted.at("stats"))};
    } else {
      sample.switches[name] = {until, counted.get<telemetry::NamedCounts>()};
    }
  }
}

/// What one switch counted between two looks.
class CountedBetween {
 public:
  CountedBetween(const telemetry::CountedNode* before, const telemetry::CountedNode& now)
      : before_(before), now_(now) {
    // A daemon that took the place of another counts from its own beginning.
    if (before_ != nullptr && of(before_->counts, "total.rx") > of(now_.counts, "total.rx")) {
      before_ = nullptr;
    }
  }

  FabricTime time() const {
    return now_.until - (before_ == nullptr ? FabricTime() : before_->until);
  }
  uint64_t standing(const std::string& name) const { return of(now_.counts, name); }
  uint64_t count(const std::string& name) const {
    const uint64_t earlier = before_ == nullptr ? 0 : of(before_->counts, name);
    const uint64_t later = of(now_.counts, name);
    return later > earlier ? later - earlier : 0;
  }
  uint64_t drops(const std::string& port) const {
    uint64_t sum = 0;
    const std::string prefix = port + ".drop.";
    for (auto at = now_.counts.lower_bound(prefix);
         at != now_.counts.end() && at->first.starts_with(prefix); ++at) {
      sum += count(at->first);
    }
    return sum;
  }

 private:
  static uint64_t of(const telemetry::NamedCounts& counters, const std::string& name) {
    const auto at = counters.find(name);
    return at == counters.end() ? 0 : at->second;
  }

  const telemetry::CountedNode* before_;  ///< null: from the beginning
  const telemetry::CountedNode& now_;
};

DirectionLoad direction(const Topology& topology, const Wire& wire, uint32_t plane, uint64_t bytes,
                        FabricTime time) {
  DirectionLoad load;
  load.from = topology.port_name(wire.from);
  load.to = topology.port_name(wire.to);
  load.plane = plane;
  if (time > FabricTime()) {
    const double seconds = static_cast<double>(time.ps()) * 1e-12;
    load.bits_per_second = 8 * static_cast<double>(bytes) / seconds;
    load.load = load.bits_per_second / static_cast<double>(wire.rate.bps);
  }
  return load;
}

/// What the switch itself sends through a port.
DirectionLoad sent_by(const Topology& topology, const Port& port, const CountedBetween& counted) {
  const std::string name = port.name();
  DirectionLoad load = direction(topology, topology.wire(port.out), port.plane,
                                 counted.count(name + ".tx_bytes"), counted.time());
  uint64_t queued = 0;
  for (const char* queue : {"data", "control", "trimmed", "lossless"}) {
    queued += counted.standing(fmt::format("{}.{}_depth_bytes", name, queue));
  }
  load.queued_bytes = queued;
  load.trimmed = counted.count(name + ".trimmed");
  load.marked = counted.count(name + ".ecn_marked");
  // What is lost on the wire into this port is among its drops, and is the other end's loss.
  const uint64_t arrivals = counted.count(name + ".arrivals_lost");
  const uint64_t drops = counted.drops(name);
  load.lost = counted.count(name + ".tx_lost") + (drops > arrivals ? drops - arrivals : 0);
  return load;
}

/// What a host sends to a switch, which alone counts it.
DirectionLoad received_by(const Topology& topology, const Port& port,
                          const CountedBetween& counted) {
  DirectionLoad load = direction(topology, topology.wire(port.in), port.plane,
                                 counted.count(port.name() + ".rx_bytes"), counted.time());
  load.lost = counted.count(port.name() + ".arrivals_lost");
  return load;
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }
std::string gigabits(double bits_per_second) {
  return fmt::format("{:.1f}", bits_per_second / 1e9);
}

std::string plane_table(const std::vector<DirectionLoad>& loads) {
  struct Plane {
    double bits_per_second = 0, most = 0;
    uint64_t queued = 0, trimmed = 0, marked = 0, lost = 0;
  };
  std::map<uint32_t, Plane> planes;
  for (const DirectionLoad& load : loads) {
    Plane& plane = planes[load.plane];
    plane.bits_per_second += load.bits_per_second;
    plane.most = std::max(plane.most, load.load);
    plane.queued += load.queued_bytes.value_or(0);
    plane.trimmed += load.trimmed;
    plane.marked += load.marked;
    plane.lost += load.lost;
  }
  std::vector<std::vector<std::string>> rows{
      {"PLANE", "ALL LINKS Gb/s", "FULLEST", "QUEUED B", "TRIMMED", "MARKED", "LOST"}};
  for (const auto& [number, plane] : planes) {
    rows.push_back({fmt::format("p{}", number), gigabits(plane.bits_per_second),
                    percent(plane.most), std::to_string(plane.queued),
                    std::to_string(plane.trimmed), std::to_string(plane.marked),
                    std::to_string(plane.lost)});
  }
  return table(rows);
}

}  // namespace

telemetry::NamedCounts host_counts(const json& stats) {
  telemetry::NamedCounts counts;
  for (const auto& [key, value] : stats.items()) {
    if (key == "qp_errors") {
      for (const json& error : value) {
        counts["qp_errors." + error.at("reason").get<std::string>()] = error.at("count");
      }
    } else if (key == "planes") {
      for (size_t i = 0; i < value.size(); ++i) {
        for (const auto& [word, count] : value[i].items()) {
          counts[fmt::format("planes.{}.{}", i, word)] = count;
        }
      }
    } else if (value.is_object()) {
      for (const auto& [word, count] : value.items()) counts[key + "." + word] = count;
    } else {
      counts[key] = value;
    }
  }
  return counts;
}

FabricTime CounterSample::reached() const {
  FabricTime least = switches.empty() ? FabricTime() : FabricTime::never();
  for (const auto& [name, counted] : switches) least = std::min(least, counted.until);
  return least;
}

CounterSample read_counters(const Topology& topology, const std::filesystem::path& lab_directory) {
  CounterSample sample;
  std::error_code error;
  for (auto at = std::filesystem::directory_iterator(lab_directory, error);
       !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    if (at->path().extension() != ".sock" || at->path().stem() == "control") continue;
    try {
      add_process(topology, netio::RpcClient(at->path()).call("counters", nullptr, kPatience),
                  sample);
    } catch (const netio::SystemError&) {  // the daemon has ended, or is about to
    } catch (const netio::RpcError&) {     // the daemon counts nothing
    } catch (const json::exception&) {     // the daemon is of another version
    }
  }
  if (error) throw netio::SystemError("look into " + lab_directory.string(), error.value());
  return sample;
}

std::vector<DirectionLoad> link_loads(const Topology& topology, const CounterSample* before,
                                      const CounterSample& now) {
  std::vector<DirectionLoad> loads;
  for (const NodeSite& node : topology.nodes) {
    const auto at = now.switches.find(node.name);
    if (at == now.switches.end()) continue;
    const telemetry::CountedNode* earlier = nullptr;
    if (before != nullptr) {
      const auto found = before->switches.find(node.name);
      if (found != before->switches.end()) earlier = &found->second;
    }
    const CountedBetween counted(earlier, at->second);
    for (const Port& port : node.ports) {
      loads.push_back(sent_by(topology, port, counted));
      if (topology.node(port.peer.node).role == NodeRole::kHost) {
        loads.push_back(received_by(topology, port, counted));
      }
    }
  }
  return loads;
}

void sort_by_load(std::vector<DirectionLoad>& loads) {
  std::stable_sort(loads.begin(), loads.end(), [](const auto& a, const auto& b) {
    return std::tie(a.load, a.lost) > std::tie(b.load, b.lost);
  });
}

std::string load_text(const std::vector<DirectionLoad>& loads, size_t rows) {
  std::vector<std::vector<std::string>> lines{
      {"FROM", "TO", "Gb/s", "LOAD", "QUEUED B", "TRIMMED", "MARKED", "LOST"}};
  for (size_t i = 0; i < std::min(rows, loads.size()); ++i) {
    const DirectionLoad& load = loads[i];
    lines.push_back({load.from, load.to, gigabits(load.bits_per_second), percent(load.load),
                     load.queued_bytes ? std::to_string(*load.queued_bytes) : "-",
                     std::to_string(load.trimmed), std::to_string(load.marked),
                     std::to_string(load.lost)});
  }
  std::string text = plane_table(loads) + "\n" + table(lines);
  if (loads.size() > rows) text += fmt::format("and {} more, less busy\n", loads.size() - rows);
  return text;
}

json load_json(const std::vector<DirectionLoad>& loads) {
  json list = json::array();
  for (const DirectionLoad& load : loads) {
    json row{{"from", load.from},       {"to", load.to},
             {"plane", load.plane},     {"bits_per_second", load.bits_per_second},
             {"load", load.load},       {"queued_bytes", nullptr},
             {"trimmed", load.trimmed}, {"marked", load.marked},
             {"lost", load.lost}};
    if (load.queued_bytes) row["queued_bytes"] = *load.queued_bytes;
    list.push_back(std::move(row));
  }
  return list;
}

}  // namespace mrclab::lab
