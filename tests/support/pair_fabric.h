#pragma once
// Two real hosts and nothing between them but time: an idle network that shifts the carrier as its
// switches would, and a tap through which every frame goes. Much faster than a whole fabric.
//
//   h0 --ports--> [tap: deliver, change, delay, drop, invent] --> ports-- h1      and back
//
// Driven conservatively: from the earliest event on both hosts may run for as long as
// nothing that starts now can be processed at the other one.

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "endpoint/host/host_node.h"
#include "fabric/node/node.h"
#include "fabric/packet/headers.h"
#include "fabric/topology/path.h"

namespace mrclab::test {

class PairFabric {
 public:
  /// Decides what becomes of a frame that `from` has sent on `port`: it calls deliver() or not.
  /// The frame looks as it does behind the last switch.
  class Tap {
   public:
    virtual ~Tap() = default;
    virtual void on_frame(uint32_t from, PortId port, Frame frame, FabricTime start,
                          FabricTime arrival) = 0;
  };

  /// `topology` must have exactly two hosts and outlive this; so must `frames`.
  PairFabric(const Topology& topology, const endpoint::HostConfig& config, uint64_t seed,
             FramePool& frames, std::array<NodeObserver*, 2> observers, Tap& tap)
      : topology_(topology), frames_(frames), tap_(tap) {
    hops_ = topology.host_row(0) == topology.host_row(1) ? 1 : 3;
    const Wire& wire = topology.all_wires()[0];
    hop_ = wire.propagation + topology.switch_latency;
    lookahead_ = wire.propagation + hop_ * hops_ + topology.host_latency;
    for (uint32_t h = 0; h < 2; ++h) {
      hosts_[h] = std::make_unique<endpoint::HostNode>(
          NodeEnvironment{topology, NodeId{h}, seed, frames, *observers[h]}, config);
    }
  }

  endpoint::HostNode& host(uint32_t index) { return *hosts_[index]; }
  FabricTime now() const { return now_; }
  FabricTime next_event() const {
    return std::min(hosts_[0]->next_event(), hosts_[1]->next_event());
  }
  /// From `next` on nothing reaches the other host before this has passed.
  FabricTime lookahead() const { return lookahead_; }

  /// One step: all events of both hosts up to the next horizon.
  void step() {
    const FabricTime next = next_event();
    if (next == FabricTime::never()) return;
    now_ = next + lookahead_ - FabricTime::from_ps(1);
    for (uint32_t h = 0; h < 2; ++h) {
      if (hosts_[h]->next_event() > now_) continue;
      Sink sink(*this, h);
      hosts_[h]->run_until(now_, sink);
    }
  }

  /// Gives a frame to a host. Earlier than the horizon counts as at the horizon.
  void deliver(uint32_t to, PortId port, Frame frame, FabricTime start, FabricTime arrival) {
    Arrival a;
    a.frame = std::move(frame);
    a.start = start;
    a.arrival = std::max(arrival, now_ + FabricTime::from_ps(1));
    a.sequence = sequences_[to]++;
    hosts_[to]->receive(port, std::move(a));
  }
  /// Right behind the horizon.
  void apply(uint32_t host, const Effect& effect) {
    hosts_[host]->apply({now_ + FabricTime::from_ps(1), effect, next_effect_++, 0, false});
  }
  FramePool& frames() { return frames_; }
  const Topology& topology() const { return topology_; }

 private:
  class Sink : public FrameSink {
   public:
    Sink(PairFabric& fabric, uint32_t from) : fabric_(fabric), from_(from) {}
    void transmit(Transmission&& t) override { fabric_.carry(from_, std::move(t)); }

   private:
    PairFabric& fabric_;
    uint32_t from_;
  };

  /// As the switches on its way do.
  void shift(uint32_t to, Transmission& t) {
    const std::span<uint8_t> bytes = t.frame.writable_bytes();
    Ipv6Address carrier;
    std::copy_n(&bytes[kOuterOffset + 24], carrier.size(), carrier.begin());
    const Usid last =
        topology_.usids.make(UsidRole::kNicPort, t.port.value, topology_.host_downlink(to));
    for (uint32_t hop = 0; hop < hops_ && active_usid(carrier) != last; ++hop) {
      shift_carrier(carrier);
    }
    std::copy(carrier.begin(), carrier.end(), &bytes[kOuterOffset + 24]);
  }

  void carry(uint32_t from, Transmission t) {
    if (t.lost != DropCause::kNone) return;
    if (encapsulation_of(t.frame.bytes()) == Encapsulation::kSrv6) shift(1 - from, t);
    const FabricTime each = hop_ + serialization_time(t.frame.wire_length(), topology_.host_rate);
    const FabricTime arrival = t.end + t.flight + each * hops_;
    tap_.on_frame(from, t.port, std::move(t.frame), t.start, arrival);
  }

  const Topology& topology_;
  FramePool& frames_;
  Tap& tap_;
  int64_t hops_ = 1;
  FabricTime hop_;
  FabricTime lookahead_;
  FabricTime now_;
  std::array<std::unique_ptr<endpoint::HostNode>, 2> hosts_;
  std::array<uint64_t, 2> sequences_{};
  uint64_t next_effect_ = 0;
};

}  // namespace mrclab::test
