#pragma once
// The state of a wire, which both ends compute alike: a pure function of
// (fault schedule, fabric time). The sender decides at a frame's start what the wire does to it; the
// receiver discards at arrival what was cut on the way.

#include <cstdint>
#include <memory>
#include <vector>

#include "fabric/base/ids.h"
#include "fabric/base/random.h"
#include "fabric/base/units.h"
#include "fabric/node/effect.h"
#include "fabric/node/node.h"
#include "fabric/packet/frame.h"
#include "fabric/topology/forwarder.h"
#include "fabric/topology/topology.h"

namespace mrclab {

/// The receiver's view of an incoming wire: when it was down.
class IngressWire {
 public:
  IngressWire() = default;
  /// `ingress_latency` of the receiver: a frame is judged so long after it arrived.
  IngressWire(const Wire& wire, FabricTime ingress_latency);

  void set(const WireState& state, FabricTime now) { state.up ? come_up(now) : go_down(now); }
  void set(const WireRate& rate);
  void go_down(FabricTime at);
  void come_up(FabricTime at);
  bool up() const {
    return !outages_ || outages_->empty() || outages_->back().until != FabricTime::never();
  }
  /// Was the wire down at any instant of [start, arrival]? An outage is [from, until): a frame
  /// that starts at the instant of coming up passes.
  bool cut(FabricTime start, FabricTime arrival) const {
    return outages_ && overlaps_outage(start, arrival);
  }

 private:
  bool overlaps_outage(FabricTime start, FabricTime arrival) const;
  void forget_before(FabricTime horizon);

  struct Outage {
    FabricTime from;
    FabricTime until = FabricTime::never();
  };
  std::unique_ptr<std::vector<Outage>> outages_;  // few ports have any
  /// How long an outage is remembered after its end: from the start of the slowest frame to its
  /// judgement, at the lowest rate that the wire had and with the longest delay that a fault may
  /// add.
  FabricTime memory_ = FabricTime::never();
};

/// What a wire does to a frame, decided when the frame starts.
struct WireFate {
  DropCause lost = DropCause::kNone;
  FabricTime flight;   ///< propagation plus any delay
  bool again = false;  ///< the transmitter sends it once more, right behind
};

/// The sender's view of an outgoing wire. As built it draws nothing and costs a comparison.
///
/// Every frame that starts while anything is wrong with the wire has a number, which all its draws
/// use, each with a purpose of its own. In this order: is it lost; does an error hit it; how much
/// longer does it take. A frame that is lost or hit neither waits nor makes others wait. Codewords have numbers of their
/// own, by the time at which the frame is on the wire.
class EgressWire {
 public:
  struct Site {
    FabricTime propagation;
    BitRate rate;
    uint64_t seed = 0;
    PortRef from;
    /// Plane of the port: a part of the entropy values of frames that leave here.
    uint32_t plane = 0;
    DscpMap dscps = {};
  };
  explicit EgressWire(const Site& site);

  /// Applies from the next frame that starts. A changed loss begins anew: in the good state,
  /// counting from 1.
  void set(const WireLoss& loss);
  void set(const WireErrors& errors) { trouble().errors = errors; }
  void set(const WireCodewords& codewords);
  /// Only for a wire whose receiver is not ours, and so does not judge frames: frames that start
  /// while the wire is dark are lost.
  void set(const WireState& state) { trouble().dark = !state.up; }
  void set(const WireDelay& delay) { trouble().delay = delay; }
  void set(const WireDuplicates& duplicates) { trouble().duplicates = duplicates; }
  /// `rate` is never above the link's own: neighbours rely on how long the shortest frame takes.
  void set(const WireRate& rate);

  Site site() const {
    return {propagation_, trouble_ ? trouble_->built : rate_, seed_, from(), plane_, dscps_};
  }
  FabricTime propagation() const { return propagation_; }
  uint64_t seed() const { return seed_; }
  PortRef from() const { return {from_, PortId{from_port_}}; }
  BitRate rate() const { return rate_; }
  FabricTime end_of(Bytes wire_length, FabricTime start) const {
    if (byte_time_ == FabricTime::zero()) return start + serialization_time(wire_length, rate_);
    return start + byte_time_ * static_cast<int64_t>(wire_length.value);
  }
  /// No fault has touched it: start_frame() would return the propagation alone for every frame.
  bool is_sound() const { return trouble_ == nullptr; }
  /// To be called once for each frame that starts; `end` is when its last bit leaves. A copy does not
  /// start once more.
  WireFate start_frame(const Frame& frame, FabricTime end, bool is_copy = false) {
    if (is_sound()) return {DropCause::kNone, propagation_, false};
    return decide(frame, end, is_copy);
  }

 private:
  /// Only wires that a fault has touched have this.
  struct Trouble {
    /// The loss `what`, and its state between frames.
    struct Loss {
      WireLoss what;
      uint64_t concerned = 0;  ///< LossKind::kEveryNth: so many frames
      bool bad_state = false;  ///< LossKind::kBursty
    };
    std::vector<Loss> losses;  ///< the loss of all frames first, then by entropy value
    WireErrors errors;
    WireCodewords codewords;
    uint64_t codeword_loss = 0;  ///< the share of them, with 63 binary places
    WireDelay delay;
    WireDuplicates duplicates;
    bool dark = false;
    BitRate built;            ///< the link's own rate
    uint64_t frames = 0;      ///< the number of the next one
    FabricTime last_arrival;  ///< arrival of the last frame that later ones must not overtake
  };
  Trouble& trouble();
  WireFate decide(const Frame& frame, FabricTime end, bool is_copy);
  bool loses(const Frame& frame, uint64_t number);
  bool takes(Trouble::Loss& loss, uint64_t number) const;
  bool in_lost_codeword(const Frame& frame, FabricTime end) const;
  FabricTime extra_flight(uint64_t number) const;
  bool happens(DrawPurpose purpose, uint64_t number, Probability p) const;
  uint64_t random(DrawPurpose purpose, uint64_t number) const;

  void take_rate(BitRate rate);

  // What every frame asks for comes first, since a port is in no cache when its turn comes: up to the propagation.
  std::unique_ptr<Trouble> trouble_;
  /// How long the wire takes for a byte, if that is a whole number of picoseconds: then end_of() multiplies and need not
  /// divide. Zero if it is not.
  FabricTime byte_time_;
  FabricTime propagation_;
  BitRate rate_;  ///< as faults leave it
  // The rest of a Site, packed: large fabrics have millions of wires.
  uint64_t seed_;
  NodeId from_;
  uint16_t from_port_, plane_;
  DscpMap dscps_;
};
static_assert(sizeof(EgressWire) == 56);

/// The EV of a data frame that leaves a port of `plane`, as switches and NICs can read it: the
/// frame must be of the data class and with an inner UDP header, whose source port has the low half
/// of the EV (fabric/topology/ev_path.h). The function returns nothing for control frames, trimmed frames and all others.
std::optional<EntropyValue> ev_of_data_frame(std::span<const uint8_t> frame, uint32_t plane,
                                             const DscpMap& dscps);

/// Does an error hit a frame of `bits` bits? `draw` is uniform; integer arithmetic only.
bool hit_by_error(uint64_t draw, BitErrorRate rate, uint64_t bits);

/// Gives an effect on a wire to the ends of it that belong to `self`: `in(port)` is its IngressWire
/// there, `out(port)` its EgressWire.
template <class WireEffect>
void tell_wire_ends(const Topology& topology, NodeId self, const WireEffect& effect, FabricTime now,
                    auto&& in, auto&& out) {
  if (effect.wire.value >= topology.all_wires().size()) return;
  const Wire& wire = topology.wire(effect.wire);
  if constexpr (!std::is_same_v<WireEffect, WireState>) {
    if (wire.from.node == self) out(wire.from.port).set(effect);
  } else {
    if (wire.to.node == self) in(wire.to.port).set(effect, now);
    if (wire.from.node == self && !receiver_is_ours(topology, effect.wire)) {
      out(wire.from.port).set(effect);
    }
  }
  if constexpr (std::is_same_v<WireEffect, WireRate>) {
    if (wire.to.node == self) in(wire.to.port).set(effect);
  }
}

}  // namespace mrclab
