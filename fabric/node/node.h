#pragma once
// The heart: a node is a switch or a host, pure, with no clock and no sockets. The live world and
// the simulator drive the same objects.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fabric/base/ids.h"
#include "fabric/base/units.h"
#include "fabric/node/effect.h"
#include "fabric/node/window_record.h"
#include "fabric/packet/drop_cause.h"
#include "fabric/packet/frame.h"
#include "fabric/topology/topology.h"

namespace mrclab {

/// A frame as the world hands it to a node. `arrival` is when its last bit arrives.
struct Arrival {
  Frame frame;
  FabricTime start;       ///< first bit left the sender
  FabricTime arrival;     ///< last bit arrives: end + flight
  uint64_t sequence = 0;  ///< per-wire sequence number: the tie-break of the event order
  /// Not kNone: a void frame. `frame` then holds the headers of what was lost on the wire.
  DropCause lost = DropCause::kNone;
  bool foreign = false;  ///< not put on the wire by one of our nodes (no valid trailer)
};

/// A frame as a node hands it to the world, at the instant its transmission starts.
struct Transmission {
  PortId port;
  Frame frame;
  FabricTime start;
  FabricTime end;     ///< last bit leaves: start + serialization
  FabricTime flight;  ///< propagation plus any fault's delay; arrival = end + flight
  DropCause lost = DropCause::kNone;  ///< why the wire will lose it: it becomes a void frame
};

class FrameSink {
 public:
  virtual ~FrameSink() = default;
  virtual void transmit(Transmission&& transmission) = 0;
};

enum class Direction : uint8_t { kIngress, kEgress };
enum class PacketEvent : uint8_t { kPassed, kTrimmed, kDropped };
/// kLossless: data of RoCE; kPause: pause frames, which wait in no queue.
enum class QueueClass : uint8_t { kNone, kData, kControl, kTrimmed, kLossless, kPause };

/// One line of a node's packet history, in commit order.
/// kPassed/kIngress: the last bit arrived. kPassed or kTrimmed/kEgress: it leaves (trimmed here),
/// `t` is when its last bit leaves. kDropped: `direction` is the side of the node.
struct PacketRecord {
  FabricTime t;
  PortId port;
  Direction direction = Direction::kIngress;
  PacketEvent event = PacketEvent::kPassed;
  DropCause cause = DropCause::kNone;
  QueueClass queue = QueueClass::kNone;
  const Frame& frame;
};

/// One line of events.jsonl. `kind` is a stable snake_case word.
struct EventRecord {
  FabricTime t;
  std::string_view kind;
  std::optional<PortId> port;
  std::optional<Qpn> qp;
  std::optional<EntropyValue> ev;
  std::optional<Psn> psn;
  std::string_view cause;
  std::string detail;
};

/// Gets each act of a node, in commit order. Must not influence the node.
class NodeObserver {
 public:
  virtual ~NodeObserver() = default;
  virtual void packet(const PacketRecord& record) = 0;
  virtual void event(const EventRecord& record) = 0;
  /// Hosts only: at most a few records per base RTT and destination. An observer of packets alone
  /// need not override this.
  virtual void window(const WindowRecord&) {}
  /// Loads into the cache what packet() will read, for a node whose turn comes (Node::fetch).
  virtual void fetch() const {}
};

/// References that every node is given; all of them outlive the node.
struct NodeEnvironment {
  const Topology& topology;
  NodeId self;
  uint64_t seed = 0;
  FramePool& frames;
  NodeObserver& observer;
};

class ArrivalQueue;

/// A switch or a host. Events are processed in the order (time, class, port, sequence); receive()
/// and apply() only insert, so their order and earliness change nothing.
class Node {
 public:
  virtual ~Node() = default;

  /// May be called ahead of time. An arrival before the committed time is late: the world has
  /// counted it, and the node processes it at its committed time.
  virtual void receive(PortId port, Arrival&& arrival) = 0;
  /// Where receive() puts arrivals, for a world that hands over many at once and puts them there itself. Null: the node
  /// does something else with them.
  virtual ArrivalQueue* arrivals() { return nullptr; }
  /// May be called ahead of time. Only effects on this node's ports and incident wires.
  virtual void apply(const ScheduledEffect& effect) = 0;
  /// The instant of the earliest event in hand, never() if none.
  virtual FabricTime next_event() const = 0;
  /// Loads into the cache what run_until() will read. For a world with so many nodes that little of one is there still when
  /// its turn comes.
  virtual void fetch() const {}
  /// Processes every event with time <= committed. Frames whose transmission starts go to `out`, in
  /// order.
  virtual void run_until(FabricTime committed, FrameSink& out) = 0;
};

}  // namespace mrclab
