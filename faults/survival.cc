#include "faults/survival.h"

#include <algorithm>
#include <optional>

#include "fabric/paths/path_list.h"

namespace mrclab::faults {
Outages::Outages(const Topology& topology)
    : topology_(&topology), wires_(topology.all_wires().size()), nodes_(topology.nodes.size()) {}

void Outages::add_holds(const std::vector<Hold>& holds) {
  for (const Hold& hold : holds) add_holds(hold);
}

void Outages::add_holds(const Hold& hold) {
  const Outage outage{hold.from, hold.until};
  const auto breaks_node = [&](NodeId node) { nodes_[node.value].push_back(outage); };
  std::visit(
      [&](const auto& effect) {
        using E = std::decay_t<decltype(effect)>;
        if constexpr (std::is_same_v<E, WireState> || std::is_same_v<E, WireLoss> ||
                      std::is_same_v<E, WireErrors> || std::is_same_v<E, WireCodewords>) {
          wires_[effect.wire.value].push_back(outage);
        } else if constexpr (std::is_same_v<E, PortCarrier>) {
          wires_[topology_->port(effect.port).out.value].push_back(outage);
        } else if constexpr (std::is_same_v<E, SwitchState> || std::is_same_v<E, SwitchErrors> ||
                             std::is_same_v<E, SwitchRoute>) {
          breaks_node(effect.node);
        } else if constexpr (std::is_same_v<E, HostState>) {
          host_lost_ = host_lost_ || effect.work == HostWork::kDown;  // a pause only delays
          stops_.push_back(outage);
        } else if constexpr (std::is_same_v<E, HostDrain> || std::is_same_v<E, HostStorm> ||
                             std::is_same_v<E, HostAttack>) {
          stops_.push_back(outage);
        } else if constexpr (std::is_same_v<E, EvDenial>) {
          const uint32_t toward = effect.toward.valid() ? effect.toward.value : kEverybody;
          denials_[{effect.host.value, effect.ev, toward}].push_back(outage);
        }
      },
      hold.effect);
}

void Outages::append_denials(const Denial& denial, std::vector<Outage>& out) const {
  const auto found = denials_.find(denial);
  if (found == denials_.end()) return;
  out.insert(out.end(), found->second.begin(), found->second.end());
}

/// When something on the path is broken, in any order.
std::vector<Outages::Outage> Outages::raw_outages_of(uint32_t from, uint32_t to, Path path) const {
  std::vector<Outage> raw;
  const auto append = [&](const std::vector<Outage>& more) {
    raw.insert(raw.end(), more.begin(), more.end());
  };
  append(nodes_[topology_->host(from).value]);
  for (const PortRef exit : exits_of(*topology_, from, to, path)) {
    append(wires_[topology_->port(exit).out.value]);
    append(nodes_[topology_->port(exit).peer.node.value]);
  }
  return raw;
}

/// The times in which the path counts as broken, ordered, without overlap.
std::vector<Outages::Outage> Outages::outages_of(uint32_t from, uint32_t to, Path path) const {
  std::vector<Outage> raw = raw_outages_of(from, to, path);
  const EntropyValue ev = ev_of(path);
  append_denials({from, ev, kEverybody}, raw);
  append_denials({from, ev, to}, raw);

  std::sort(raw.begin(), raw.end(),
            [](const Outage& a, const Outage& b) { return a.from < b.from; });
  std::vector<Outage> merged;
  for (const Outage& outage : raw) {
    if (!merged.empty() && outage.from <= merged.back().until) {
      merged.back().until = std::max(merged.back().until, outage.until);
    } else {
      merged.push_back(outage);
    }
  }
  if (merged.empty()) return {};
  Outage first = merged.front();
  if (first.until != FabricTime::never()) {
    first.until = first.until + (first.until - first.from) + topology_->base_rtt * kSettleRtts;
  }
  if (merged.size() == 1) return {first};
  if (merged[1].from <= first.until) return {{first.from, FabricTime::never()}};
  return {first, {merged[1].from, FabricTime::never()}};
}

bool Outages::pair_survives(uint32_t from, uint32_t to) const {
  struct Edge {
    FabricTime at;
    int step;
  };
  std::vector<Edge> edges;
  int paths = 0;
  for (const Path path : paths_between(*topology_, from, to)) {
    const auto outages = outages_of(from, to, path);
    if (outages.empty()) return true;
    ++paths;
    for (const Outage& outage : outages) {
      edges.push_back({outage.from, 1});
      if (outage.until != FabricTime::never()) edges.push_back({outage.until, -1});
    }
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return a.at != b.at ? a.at < b.at : a.step > b.step;
  });
  int broken = 0;
  for (const Edge& edge : edges) {
    broken += edge.step;
    if (broken == paths) return false;
  }
  return true;
}

/// Is any run of outages, each less than kApartRtts behind the one before, longer than `patience`?
bool Outages::outlast(std::vector<Outage> outages, FabricTime patience) const {
  std::sort(outages.begin(), outages.end(),
            [](const Outage& a, const Outage& b) { return a.from < b.from; });
  const FabricTime apart = topology_->base_rtt * kApartRtts;
  std::optional<Outage> stretch;
  for (const Outage& outage : outages) {
    if (!stretch || outage.from > stretch->until + apart) stretch = outage;
    stretch->until = std::max(stretch->until, outage.until);
    if (stretch->until == FabricTime::never() || stretch->until - stretch->from > patience) {
      return true;
    }
  }
  return false;
}

bool Outages::survivable_by_patience(const std::vector<uint32_t>& hosts,
                                     FabricTime patience) const {
  if (host_lost_) return false;
  for (const uint32_t from : hosts) {
    for (const uint32_t to : hosts) {
      if (from == to) continue;
      for (const Path path : paths_between(*topology_, from, to)) {
        std::vector<Outage> outages = stops_;
        for (const auto& [one, other] : {std::pair{from, to}, std::pair{to, from}}) {
          const std::vector<Outage> way = raw_outages_of(one, other, path);
          outages.insert(outages.end(), way.begin(), way.end());
        }
        if (outlast(std::move(outages), patience)) return false;
      }
    }
  }
  return true;
}

bool Outages::survivable(const std::vector<uint32_t>& hosts) const {
  if (host_lost_) return false;
  for (const uint32_t from : hosts) {
    for (const uint32_t to : hosts) {
      if (from != to && !pair_survives(from, to)) return false;
    }
  }
  return true;
}

}  // namespace mrclab::faults
