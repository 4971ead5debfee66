#include "analysis/orchestrator/cabling_difference.h"

#include <algorithm>
#include <map>
#include <set>

namespace mrclab::analysis {
namespace {

class CablingSearch {
 public:
  CablingSearch(const Topology& topology, const std::vector<std::vector<PortHearing>>& hearing)
      : topology_(topology), hearing_(hearing) {}

  std::vector<OrchestratorFinding> find() {
    for (const NodeSite& site : topology_.nodes) {
      if (!speaks_lldp(topology_, site.id)) continue;
      for (uint32_t i = 0; i < site.ports.size(); ++i) look_at({site.id, PortId{i}});
    }
    return std::move(found_);
  }

 private:
  static uint64_t key(PortRef port) { return uint64_t{port.node.value} << 32 | port.port.value; }
  const PortHearing& heard_at(PortRef port) const {
    return hearing_[port.node.value][port.port.value];
  }
  PortRef planned(PortRef port) const { return topology_.planned_peer(port); }
  std::string name(PortRef port) const { return topology_.port_name(port); }

  /// The other end of the cable in this port, by what either end heard.
  std::optional<PortRef> cabled_to(PortRef port) const {
    if (heard_at(port).peer) return heard_at(port).peer;
    const auto heard = heard_by_.find(key(port));
    return heard == heard_by_.end() ? std::nullopt : std::optional(heard->second);
  }

  void look_at(PortRef port) {
    if (heard_by_.empty()) note_who_heard();
    if (!done_.insert(key(port)).second) return;
    const PortHearing& hearing = heard_at(port);
    if (!hearing.stranger.empty()) {
      found_.push_back({FindingKind::kUnknown,
                        {name(port)},
                        {name(port) + " is cabled to " + hearing.stranger +
                         ", which is no port of this fabric; planned " + name(planned(port))},
                        {},
                        hearing.since});
      return;
    }
    const std::optional<PortRef> peer = cabled_to(port);
    if (!peer) return look_at_silent(port);
    if (*peer == planned(port)) return look_at_planned(port, *peer);
    follow(port);
  }

  void look_at_planned(PortRef port, PortRef peer) {
    if (!heard_at(peer).stranger.empty()) return;  // which is named at that port
    done_.insert(key(peer));
    const bool here = heard_at(port).peer == peer, there = heard_at(peer).peer == port;
    if (here && there) return;
    if (!speaks_lldp(topology_, peer.node)) return;
    const PortRef deaf = here ? peer : port, other = here ? port : peer;
    found_.push_back({FindingKind::kOneWay,
                      {name(port), name(peer)},
                      {name(deaf) + " hears nothing of " + name(other) + ", which hears it"},
                      {},
                      heard_at(other).since});
  }

  void look_at_silent(PortRef port) {
    const PortRef other = planned(port);
    if (!speaks_lldp(topology_, other.node)) return;
    // Where the planned neighbour has another cable, that one's circle names this port.
    if (cabled_to(other) || !heard_at(other).stranger.empty()) return;
    done_.insert(key(other));
    found_.push_back({FindingKind::kMissing,
                      {name(port), name(other)},
                      {name(port) + " and " + name(other) + " hear nothing: no cable, or no light"},
                      {},
                      {}});
  }

  /// Along planned and heard links in turn, from a port whose cable leads elsewhere. An open circle is followed from
  /// here only; what is before it begins a finding of its own.
  void follow(PortRef first) {
    OrchestratorFinding finding;
    finding.kind = FindingKind::kMiscabled;
    std::vector<std::pair<PortRef, PortRef>> cables;
    PortRef at = first;
    bool closed = false;
    for (size_t bound = 2 * topology_.links.size() + 2; bound > 0; --bound) {
      const std::optional<PortRef> peer = cabled_to(at);
      if (!peer) break;
      cables.emplace_back(at, *peer);
      done_.insert(key(at));
      done_.insert(key(*peer));
      at = planned(*peer);
      if (at == first) {
        closed = true;
        break;
      }
    }
    for (const auto& [a, b] : cables) {
      finding.parts.push_back(name(a));
      finding.parts.push_back(name(b));
      finding.sentences.push_back(name(a) + " is cabled to " + name(b) + ", planned " +
                                  name(planned(a)));
      finding.named = std::max({finding.named, heard_at(a).since, heard_at(b).since});
    }
    mend(cables, closed, finding.remedies);
    found_.push_back(std::move(finding));
  }

  /// Cable i joins a_i and b_i, and b_i is planned for a_(i+1). What is exchanged last closes the circle by itself.
  void mend(std::vector<std::pair<PortRef, PortRef>> cables, bool closed,
            std::vector<std::string>& remedies) const {
    for (size_t i = 0; i + 1 < cables.size(); ++i) {
      // b_i goes to a_(i+1): either these ports' cables are exchanged, or those of a_i and a_(i+1), or ...
      auto& [a, b] = cables[i];
      auto& [next_a, next_b] = cables[i + 1];
      const bool same_lower = a.node == next_a.node, same_upper = b.node == next_b.node;
      const PortRef one = same_lower || !same_upper ? a : b;
      const PortRef other = same_lower || !same_upper ? next_a : next_b;
      remedies.push_back("exchange the cables in " + name(one) + " and " + name(other));
      // Then a_(i+1) is joined with b_i as planned, and a_i with b_(i+1).
      next_a = a;
    }
    if (!closed && !cables.empty()) {
      const auto& [a, b] = cables.back();
      remedies.push_back("move the cable in " + name(b) + " to " + name(planned(a)));
    }
  }

  void note_who_heard() {
    for (const NodeSite& site : topology_.nodes) {
      for (uint32_t i = 0; i < site.ports.size(); ++i) {
        const PortRef port{site.id, PortId{i}};
        if (const auto peer = heard_at(port).peer) heard_by_.try_emplace(key(*peer), port);
      }
    }
  }

  const Topology& topology_;
  const std::vector<std::vector<PortHearing>>& hearing_;
  std::map<uint64_t, PortRef> heard_by_;
  std::set<uint64_t> done_;
  std::vector<OrchestratorFinding> found_;
};

}  // namespace

bool speaks_lldp(const Topology& topology, NodeId node) {
  const NodeSite& site = topology.node(node);
  return site.role == NodeRole::kHost || site.forwarding == Forwarding::kSwitchd;
}

std::vector<OrchestratorFinding> cabling_difference(
    const Topology& topology, const std::vector<std::vector<PortHearing>>& hearing) {
  return CablingSearch(topology, hearing).find();
}

}  // namespace mrclab::analysis
