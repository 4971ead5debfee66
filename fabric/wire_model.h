#pragma once
// What both ends of a wire know about it: its state is a pure function of
// (fault schedule, fabric time). The sender decides whether a frame starts and whether random
// loss takes it; the receiver discards at arrival what was cut on the way.

#include <cstdint>
#include <vector>

#include "fabric/ids.h"
#include "fabric/random.h"
#include "fabric/units.h"

namespace mrclab {

/// The receiver's view of an incoming wire: when it was down.
class IngressWire {
 public:
  void go_down(FabricTime at);
  void come_up(FabricTime at);
  bool up() const { return outages_.empty() || outages_.back().until != FabricTime::never(); }
  /// Was the wire down at any instant of [start, arrival]? An outage is [from, until): a frame
  /// that starts at the instant of coming up passes.
  bool cut(FabricTime start, FabricTime arrival) const;
  /// Forgets outages that ended before `horizon`: no frame that started earlier is still under way.
  void forget_before(FabricTime horizon);

 private:
  struct Outage {
    FabricTime from;
    FabricTime until = FabricTime::never();
  };
  std::vector<Outage> outages_;  // few: a deque takes 600 bytes when empty, and ports are many
};

/// The sender's view of an outgoing wire: its random loss.
class EgressWire {
 public:
  EgressWire() = default;
  EgressWire(uint64_t seed, NodeId node, PortId port) : seed_(seed), node_(node), port_(port) {}
  void set_loss(Probability loss) { loss_ = loss; }
  Probability loss() const { return loss_; }
  /// One draw per frame that starts while the wire is lossy.
  bool takes_next_frame();

 private:
  uint64_t seed_ = 0;
  NodeId node_;
  PortId port_;
  Probability loss_;
  uint64_t counter_ = 0;
};

}  // namespace mrclab
