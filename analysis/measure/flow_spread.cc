#include "analysis/measure/flow_spread.h"

#include <algorithm>
#include <map>
#include <set>

#include "fabric/paths/ecmp.h"
#include "fabric/paths/path_list.h"
#include "fabric/text/counted_noun.h"

namespace mrclab::analysis {
namespace {

/// An uplink by the place of its T0 and its own.
struct Uplink {
  uint32_t plane = 0, row = 0, uplink = 0;
  auto operator<=>(const Uplink&) const = default;
};

struct Load {
  uint64_t packets = 0;
  uint32_t one_path = 0;  // flows that use no other uplink
};

std::string port_name(const Uplink& at) {
  return "p" + std::to_string(at.plane) + ".t0-" + std::to_string(at.row) + ":u" +
         std::to_string(at.uplink);
}

/// Counts what each uplink carried, and which of them each flow used.
class SpreadCount {
 public:
  SpreadCount(const Topology& topology, const PacketHistory& history)
      : topology_(topology), history_(history), used_by_(history.flows().size()) {}

  /// False: the path of a packet is not known.
  bool count() {
    for (const Attempt& attempt : history_.attempts()) {
      if (attempt.attempt > 0) continue;
      const uint32_t flow = history_.packets()[attempt.packet].flow;
      const std::optional<Uplink> uplink = uplink_of(flow, attempt.ev);
      if (!uplink) return false;
      if (uplink->uplink == kT0LocalUplink) continue;
      ++loads_[*uplink].packets;
      used_by_[flow].insert(*uplink);
    }
    return !loads_.empty();
  }

  FlowSpread spread() {
    FlowSpread spread;
    std::set<uint32_t> rows;
    for (const std::set<Uplink>& uplinks : used_by_) {
      if (uplinks.empty()) continue;
      ++spread.flows;
      rows.insert(uplinks.begin()->row);
      if (uplinks.size() > 1) continue;
      ++spread.one_path;
      ++loads_[*uplinks.begin()].one_path;
    }
    const size_t uplinks = topology_.node(topology_.t0(0, 0)).ports.size() - topology_.hosts_per_t0;
    spread.uplinks = static_cast<uint32_t>(rows.size() * topology_.planes * uplinks);
    spread.used = static_cast<uint32_t>(loads_.size());
    add_loads(spread);
    spread.uplinks_by_flows.assign(spread.most + 1, 0);
    for (const auto& [uplink, load] : loads_) ++spread.uplinks_by_flows[load.one_path];
    spread.uplinks_by_flows[0] += spread.uplinks - spread.used;
    return spread;
  }

 private:
  void add_loads(FlowSpread& spread) const {
    uint64_t all = 0, busiest = 0;
    for (const auto& [uplink, load] : loads_) {
      all += load.packets;
      spread.most = std::max(spread.most, load.one_path);
      if (load.one_path > 1) {
        spread.sharing += load.one_path;
        ++spread.shared;
      }
      if (load.packets <= busiest) continue;
      busiest = load.packets;
      spread.busiest = port_name(uplink);
    }
    spread.busiest_to_mean =
        static_cast<double>(busiest) * spread.uplinks / static_cast<double>(all);
  }

  std::optional<Uplink> uplink_of(uint32_t flow, EntropyValue ev) {
    const auto [place, fresh] = known_.try_emplace({flow, ev.value});
    if (!fresh) return place->second;
    const Flow& ends = history_.flows()[flow];
    if (const auto path = path_of(ev)) {
      const auto built = path_between(topology_, ends.source, ends.destination, *path);
      if (built) place->second = uplink_of_path(ends, *built);
    }
    return place->second;
  }

  /// Captures of others may name uplinks that no T0 has.
  std::optional<Uplink> uplink_of_path(const Flow& ends, Path path) const {
    const uint32_t row = topology_.host_row(ends.source);
    if (path.uplink == kT0LocalUplink) return Uplink{path.plane, row, path.uplink};
    if (topology_.regular()) {
      if (path.uplink >= topology_.t1_per_plane) return std::nullopt;
      return Uplink{path.plane, row, path.uplink};
    }
    if (!has_path(topology_, ends.source, ends.destination, path)) return std::nullopt;
    const PortRef exit = exits_of(topology_, ends.source, ends.destination, path)[1];
    return Uplink{path.plane, row, exit.port.value - topology_.hosts_per_t0};
  }

  const Topology& topology_;
  const PacketHistory& history_;
  std::vector<std::set<Uplink>> used_by_;  // by flow
  std::map<Uplink, Load> loads_;
  std::map<std::pair<uint32_t, uint32_t>, std::optional<Uplink>> known_;  // by flow and EV
};

}  // namespace

std::optional<FlowSpread> flow_spread(const Topology& topology, const PacketHistory& history) {
  if (!topology.has_planes() || topology.lossless.adaptive || topology.routing.is_fare()) {
    return std::nullopt;
  }
  SpreadCount count(topology, history);
  if (!count.count()) return std::nullopt;
  return count.spread();
}

std::string flows_per_uplink(const FlowSpread& spread) {
  if (spread.one_path == 0) return "";
  std::string text;
  for (size_t flows = 0; flows < spread.uplinks_by_flows.size(); ++flows) {
    if (spread.uplinks_by_flows[flows] == 0) continue;
    const std::string name = flows == 0 ? "none" : flows == 1 ? "one" : std::to_string(flows);
    text +=
        (text.empty() ? "" : ", ") + name + " on " + std::to_string(spread.uplinks_by_flows[flows]);
  }
  return "flows per uplink: " + text + "; " + std::to_string(spread.shared) + " of " +
         counted_noun(spread.uplinks, "uplink") +
         (spread.shared == 1 ? " carries more than one" : " carry more than one");
}

}  // namespace mrclab::analysis
