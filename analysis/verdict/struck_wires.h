#pragma once
// The wires that a fault of a run impaired, as its story asks for them.

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "analysis/history/fault_span.h"
#include "analysis/measure/wire_matcher.h"
#include "fabric/topology/path.h"

namespace mrclab::analysis {

/// The wires of a fault and the flows that cross them.
class StruckWires {
 public:
  StruckWires(const Topology& topology, const FaultSpan& fault) {
    std::set<WireId> wires;
    for (const Impairment& i : fault.impairments) wires.insert(i.wire);
    for (const WireId wire : wires) {
      wires_.push_back(
          {wire, topology.port(topology.wire(wire).from).plane, WireMatcher(topology, wire)});
    }
    for (const Impairment& i : fault.impairments) {
      until_ = std::max(until_, i.until);
      const Wire& wire = topology.wire(i.wire);
      spans_.push_back({wire.from, wire.to, i.from, i.until});
    }
    from_ = fault.start;
  }
  size_t wires() const { return wires_.size(); }
  WireId first() const { return wires_.front().id; }
  FabricTime until() const { return until_; }
  bool shares_wire(const StruckWires& other) const {
    return std::any_of(wires_.begin(), wires_.end(), [&](const OneWire& own) {
      return std::any_of(other.wires_.begin(), other.wires_.end(),
                         [&](const OneWire& w) { return w.id == own.id; });
    });
  }
  bool crosses(uint32_t source, uint32_t destination, Path path) const {
    return std::any_of(wires_.begin(), wires_.end(), [&](const OneWire& w) {
      return w.matcher.crosses(source, destination, path);
    });
  }
  /// Was the fault there when a frame was lost, or until `slack` before, while the frame was on its way?
  bool was_there(FabricTime lost, FabricTime slack) const {
    return lost >= from_ && (until_ == FabricTime::never() || lost <= until_ + slack);
  }
  /// How well a loss that was recorded at this port and instant fits the fault: 3 at an end of one of its wires while that
  /// was impaired, 2 at one that was until `slack` before, 1 while another of its wires was impaired, else 0.
  uint32_t fit(PortRef where, FabricTime at, FabricTime slack) const {
    uint32_t best = 0;
    for (const Span& span : spans_) {
      if (at < span.from) continue;
      const bool lasts = span.until == FabricTime::never() || at <= span.until;
      const bool is_here = where == span.a || where == span.b;
      if (is_here && lasts) return 3;
      if (is_here && at <= span.until + slack) best = 2;
      if (lasts) best = std::max(best, 1u);
    }
    return best;
  }
  /// Either way; of a whole plane if there is no path.
  bool concerns(uint32_t host, uint32_t peer, uint32_t plane, std::optional<Path> path) const {
    return std::any_of(wires_.begin(), wires_.end(), [&](const OneWire& w) {
      if (path) return w.matcher.crosses(host, peer, *path) || w.matcher.crosses(peer, host, *path);
      return w.plane == plane &&
             (w.matcher.reachable(host, peer) || w.matcher.reachable(peer, host));
    });
  }

 private:
  struct OneWire {
    WireId id;
    uint32_t plane;
    WireMatcher matcher;
  };
  /// One wire's impairment, with its two ends.
  struct Span {
    PortRef a, b;
    FabricTime from, until;
  };
  std::vector<OneWire> wires_;
  std::vector<Span> spans_;
  FabricTime from_, until_ = FabricTime::zero();
};

/// The place in `struck` of the fault that a loss recorded at this port and instant belongs to: of those that were there and
/// that `concerns(place)` is true for the one that fits best, of equal ones the first; empty: none of them.
template <class Concerns>
std::optional<size_t> fault_of_loss(std::span<const StruckWires> struck, PortRef where,
                                    FabricTime lost, FabricTime slack, Concerns concerns) {
  std::optional<size_t> found;
  uint32_t best = 0;
  for (size_t i = 0; i < struck.size(); ++i) {
    if (!struck[i].was_there(lost, slack) || !concerns(i)) continue;
    const uint32_t fit = struck[i].fit(where, lost, slack);
    if (found && best >= fit) continue;
    found = i;
    best = fit;
  }
  return found;
}

}  // namespace mrclab::analysis
