#pragma once
// The events of one host: its heap, what waits in it, and which of its lives an event belongs to.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "fabric/base/event_queue.h"
#include "fabric/base/slots.h"
#include "fabric/node/arrival_queue.h"
#include "fabric/node/node.h"

namespace mrclab::endpoint {

enum class HostEventKind : uint8_t {
  kEffect,
  kPortNotice,
  kQpTimer,
  kPeerTimer,
  kReverseTimer,
  kStart,
  kWake,
  kDoorbell,
  kInMemory,
  kRcTimer,
  kPauseEnd,    ///< the pause that a switch asked this NIC for is over
  kRoutes,      ///< the NIC's speaker has something to do
  kMapper,      ///< the mapper's agent has a probe to send, or a report
  kAttack,      ///< a frame of an attack is due
  kNeighbours,  ///< LLDP frames are due
  kLoop,        ///< a packet that the NIC loops back arrives, or the next one may start
  kPauseCheck,  ///< the NIC looks whether its switches must stop, or may go on
};

struct HostEvent {
  HostEventKind kind = HostEventKind::kEffect;
  uint32_t index = 0;   ///< slot of an effect, port, queue pair, peer or application
  uint32_t detail = 0;  ///< generation of a port notice
  uint32_t life = 0;    ///< in which it was made; what software waits for dies with it
};

class HostEvents {
 public:
  /// A host takes a frame in `latency` after its last bit came.
  HostEvents(size_t ports, FabricTime latency) : arrivals_(ports, latency, kHeaderBytes) {}

  size_t ports() const { return arrivals_.ports(); }
  FabricTime next_time() const { return std::min(queue_.next_time(), arrivals_.next_time()); }
  /// Then pop_arrival() hands it out, else pop() the next event.
  bool arrival_is_next() const { return mrclab::arrival_is_next(arrivals_, queue_); }
  /// Loads the first arrivals and their frames into the cache.
  void fetch_arrivals() const {
    arrivals_.fetch_arrivals();
    arrivals_.fetch_frames();
  }
  ArrivalQueue* arrivals() { return &arrivals_; }
  PortId port_of_arrival() const { return arrivals_.next_port(); }
  Arrival pop_arrival(FramePool& frames) { return arrivals_.pop(frames); }
  std::pair<EventKey, HostEvent> pop() { return queue_.pop(); }

  /// An event of this life at `at`, behind all events of its class and port that were pushed before it.
  void push(FabricTime at, EventClass event_class, uint32_t port, HostEvent event) {
    event.life = life_;
    queue_.push({at, event_class, port, next_sequence_++}, event);
  }
  /// Arrivals stay in the order of their own sequence.
  void push_arrival(PortId port, Arrival&& arrival) { arrivals_.push(port, std::move(arrival)); }
  /// Among the effects of one instant, what a host loses with its power is not lost by its ports.
  void push_effect(const ScheduledEffect& effect) {
    const uint32_t slot = effects_.put(effect.effect);
    const uint32_t order = std::holds_alternative<HostState>(effect.effect) ? 0 : 1;
    queue_.push({effect.at, EventClass::kFault, order, effect.sequence},
                {HostEventKind::kEffect, slot, 0});
  }
  Effect take_effect(uint32_t slot) { return effects_.take(slot); }

  /// The host has lost its power: events that were pushed before are not of this life.
  void begin_life() { ++life_; }
  bool is_of_this_life(const HostEvent& event) const { return event.life == life_; }
  bool lost_power_before() const { return life_ > 0; }

 private:
  EventQueue<HostEvent> queue_;
  ArrivalQueue arrivals_;
  Slots<Effect> effects_;
  uint64_t next_sequence_ = 0;
  uint32_t life_ = 0;  ///< losses of power so far
};

}  // namespace mrclab::endpoint
