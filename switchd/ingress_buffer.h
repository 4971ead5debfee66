#pragma once
// The buffer of a switch as priority-based flow control sees it: how much of RoCE's data came in at each port
// and has not left the switch. When a port's share is used up its neighbour is asked to stop; what still
// comes goes to the port's headroom. The rules are those of the HPCC simulator's switch (dynamic threshold,
// Choudhury and Hahne 1998; alibaba-edu/High-Precision-Congestion-Control, switch-mmu):
//
//   each port    headroom H (fabric/packet/pause_frame.h), reserve R
//   shared pool  all of the buffer but every port's H and R; S bytes of it are used
//   threshold    T = alpha x what is free of the pool
//
//   a frame      goes to R while there is room, then to the pool while the port's part of that is below T,
//                then to H; without room in H it is dropped, which must not happen
//   XOFF         something is in H, or the port's part of the pool is at T
//   XON          nothing is in H, and the part is 0 or 3 KiB below T
//   leaving      H is emptied first, then the pool, then R
//
// Alpha may be a port's own (fabric/asic/switch_buffer.h: HPCC's doubles with its rate).
//
// Where queues of other classes are in the buffer too, they take from the pool as they grow: such a queue may hold R and T,
// which for k ports that fill up together leaves T = alpha x pool / (1 + k alpha) (Choudhury and Hahne).
//
// HPCC also drops a frame that R or the pool has room for, if it is longer than what T leaves to a port with
// nothing in the pool and H is full; here it is taken. A port that has used nothing of the pool is not asked
// to stop when others have used it up: its headroom is still whole.

#include <cstdint>
#include <vector>

#include "fabric/base/ids.h"
#include "fabric/base/units.h"
#include "fabric/topology/topology.h"

namespace mrclab::switchd {

class IngressBuffer {
 public:
  struct Settings {
    Bytes size;                         ///< of all ports together
    Bytes reserve;                      ///< R of each port
    uint32_t alpha_permille = 0;        ///< of the dynamic threshold
    std::vector<Bytes> headroom;        ///< H by port
    std::vector<uint32_t> alphas = {};  ///< by port; empty: all have that one
  };
  explicit IngressBuffer(Settings settings);

  /// A fault takes this share of the buffer: all limits shrink by it, and what is held stays.
  void lose(Probability share);

  /// A frame that came in at `port` is queued. False: there is no room, and it must be dropped.
  bool admit(PortId port, Bytes length);
  /// It has left the switch, or was dropped out of its queue.
  void release(PortId port, Bytes length);

  /// A queue of another class holds so much more, or less.
  void take(Bytes length) { others_ += length, in_use_ += length; }
  void give(Bytes length) { others_ -= length, in_use_ -= length; }
  /// The most that such a queue may hold as of now.
  Bytes room_of_queue() const { return settings_.reserve + threshold(); }

  /// Must the neighbour stop, or may it go on? Between the two nothing changes.
  bool wants_stop(PortId port) const;
  bool wants_go(PortId port) const;

  Bytes held(PortId port) const { return ports_[port.value].held + ports_[port.value].extra; }
  Bytes most_held(PortId port) const { return ports_[port.value].most; }
  Bytes most_headroom_used(PortId port) const { return ports_[port.value].most_extra; }
  Bytes headroom_used(PortId port) const { return ports_[port.value].extra; }
  Bytes headroom(PortId port) const { return settings_.headroom[port.value]; }
  Bytes reserve() const { return settings_.reserve; }
  Bytes pool() const { return pool_; }
  Bytes pool_used() const { return in_use_; }
  /// T as of now: of ports that have no alpha of their own, and of one port.
  Bytes threshold() const { return threshold_by(settings_.alpha_permille); }
  Bytes threshold(PortId port) const {
    return threshold_by(settings_.alphas.empty() ? settings_.alpha_permille
                                                 : settings_.alphas[port.value]);
  }
  /// What it holds at most: never less than all reserves and headrooms.
  Bytes size() const { return size_; }
  uint32_t ports() const { return static_cast<uint32_t>(ports_.size()); }

 private:
  struct Port {
    Bytes held;   ///< in the reserve and the pool
    Bytes extra;  ///< in the headroom
    Bytes most, most_extra;
  };
  Bytes part_of_pool(Bytes held) const {
    return held > settings_.reserve ? held - settings_.reserve : Bytes{0};
  }

  void set_limits(Settings settings);
  Bytes threshold_by(uint32_t alpha_permille) const;

  const Settings as_built_;
  Settings settings_;  // as faults have left them
  Bytes size_;
  Bytes pool_;    ///< size of the shared pool
  Bytes in_use_;  ///< of it
  Bytes others_;  ///< of that by other classes
  std::vector<Port> ports_;
};

/// The buffer of that switch. Without PFC no port needs headroom.
IngressBuffer::Settings buffer_settings(const Topology& topology, NodeId self);

}  // namespace mrclab::switchd
