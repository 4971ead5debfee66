#include "analysis/measure/pause_circle.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace mrclab::analysis {
namespace {

class CircleSearch {
 public:
  CircleSearch(const Topology& topology, const PauseTimes& times, const LosslessTurns& turns,
               FabricTime least)
      : topology_(topology), times_(times), turns_(turns), least_(least) {}

  /// All circles stand from the instant on at which the last of their ports began to.
  std::vector<PauseCircle> find() {
    std::set<std::vector<PortRef>> known;
    std::vector<PauseCircle> circles;
    for (const PausedSpan& span : times_.spans()) {
      if (span.length() < least_ || circles.size() >= kMaxCircles) continue;
      std::optional<PauseCircle> circle = through(span);
      if (!circle) continue;
      std::vector<PortRef> ports = circle->ports;
      std::sort(ports.begin(), ports.end());
      if (known.insert(std::move(ports)).second) circles.push_back(std::move(*circle));
    }
    return circles;
  }

 private:
  /// The span of a port that is in force at `t` and so long after it.
  const PausedSpan* standing(PortRef port, FabricTime t) const {
    const PausedSpan* span = times_.last_before(port, t + FabricTime::from_ps(1));
    return span != nullptr && span->until >= t + least_ ? span : nullptr;
  }

  std::optional<PauseCircle> through(const PausedSpan& first) const {
    std::map<PortRef, const PausedSpan*> came_from;  // by port: the span that it causes
    std::vector<const PausedSpan*> open{&first};
    while (!open.empty()) {
      const PausedSpan* span = open.back();
      open.pop_back();
      const PortRef asker = topology_.port(span->port).peer;
      const NodeSite& site = topology_.node(asker.node);
      for (uint32_t i = 0; i < site.ports.size(); ++i) {
        const PortRef next{site.id, PortId{i}};
        if (!turns_.used(site.id, asker.port, next.port)) continue;
        const PausedSpan* behind = standing(next, first.from);
        if (behind == nullptr || !came_from.try_emplace(next, span).second) continue;
        if (next == first.port) return closed(first, came_from);
        open.push_back(behind);
      }
    }
    return std::nullopt;
  }

  static PauseCircle closed(const PausedSpan& first,
                            const std::map<PortRef, const PausedSpan*>& came_from) {
    PauseCircle circle{{}, first.from, first.until};
    const PausedSpan* at = &first;
    do {
      at = came_from.at(at->port);
      circle.ports.push_back(at->port);
      circle.until = std::min(circle.until, at->until);
    } while (at->port != first.port);
    std::reverse(circle.ports.begin(), circle.ports.end());
    return circle;
  }

  const Topology& topology_;
  const PauseTimes& times_;
  const LosslessTurns& turns_;
  FabricTime least_;
};

}  // namespace

std::vector<PauseCircle> pause_circles(const Topology& topology, const PauseTimes& times,
                                       const LosslessTurns& turns, FabricTime least) {
  return CircleSearch(topology, times, turns, least).find();
}

}  // namespace mrclab::analysis
