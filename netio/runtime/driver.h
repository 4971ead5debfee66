#pragma once
// Runs the nodes of one process: reads clock and gate, drains every ring, runs its
// nodes, sends, publishes. A tick never blocks; the caller sleeps between ticks.
//
// What comes in is accounted for by the ingress ledger and read by the arrival reader; what goes out
// waits in the egress queue. The driver itself decides how far the nodes run, and moves the frames.
//
// Threading: one thread. Bounds: a drain reads at most what a ring holds.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fabric/node/node.h"
#include "netio/packet/frame_bundler.h"
#include "netio/packet/packet_port.h"
#include "netio/packet/promiscuous_ports.h"
#include "netio/runtime/arrival_reader.h"
#include "netio/runtime/effect_feed.h"
#include "netio/runtime/egress_queue.h"
#include "netio/runtime/frame_channels.h"
#include "netio/runtime/gate.h"
#include "netio/runtime/ingress_ledger.h"
#include "netio/runtime/process_map.h"
#include "netio/system/file_descriptor.h"

namespace mrclab::netio {

/// Why a run was not faithful, and how much margin it had.
struct DriverReport {
  uint64_t frames_sent = 0;
  uint64_t frames_by_channel =
      0;  ///< frames among those that the driver has put into FrameChannels
  ArrivalCounts arrivals;
  GapList gaps;
  uint64_t failed_sends = 0;
  std::vector<std::string> failed_send_reasons;  ///< at most kMaxReasons
  uint64_t ring_drops = 0;
  uint64_t late_effects = 0;  ///< of the schedule, received after their time
  int64_t min_slack_ns = INT64_MAX;
};

class Driver {
 public:
  static constexpr size_t kMaxReasons = 16;
  /// A tick advances its nodes in slices of shortest lookahead / kSlices, and after each compares with kHandOverNs.
  static constexpr int64_t kSlices = 8;
  /// A tick that takes longer than this hands over what it has so far, so
  /// that the neighbours go on.
  static constexpr int64_t kHandOverNs = 300'000;

  Driver(GatePage& page, const Topology& topology, ProcessMap processes, uint32_t incarnation,
         FramePool& frames);
  Driver(const Driver&) = delete;  // its parts refer to each other
  Driver& operator=(const Driver&) = delete;

  /// `node` and `socket` must outlive the driver.
  void add_node(NodeId id, Node& node, PacketSocket& socket);
  /// Frames of all nodes leave by this ring, with one system call; without it each node's socket sends its own.
  void send_by(SendRing ring) { ring_.emplace(std::move(ring)); }
  /// The driver puts frames for other processes into these channels where no other program listens on their wire and its
  /// interface is up with a carrier; it sends all others by packet sockets.
  void send_by(FrameChannels channels) { channels_.emplace(std::move(channels)); }
  /// Where a wire ends at one of these ports, the driver sends each frame alone while the port is promiscuous,
  /// as it does where the lab has set GatePage::alone.
  void send_alone_where(PromiscuousPorts ports);
  /// Stops committing at `end`; what starts up to there is sent.
  void set_end(FabricTime end) { end_ = end; }
  /// Publishes the next event of this node as the one that a single step waits for; never() if
  /// another process runs the node. Empty: of all nodes.
  void watch(std::optional<NodeId> node);

  using ReadSchedule = std::function<Schedule()>;
  /// Reads the lab's schedule now, and again whenever the page announces a newer version. To be
  /// called when all nodes have been added.
  void follow_schedule(ReadSchedule read);

  /// Takes the place of a process that ended when it had committed `committed`, had received all
  /// frames sent to its nodes, and had nothing queued. The nodes are new; the effects of the
  /// schedule up to `committed` bring them to their predecessors' state. To be called after
  /// follow_schedule().
  void resume(FabricTime committed);

  struct Tick {
    bool advanced = false;     ///< fabric time was committed, or frames were moved
    bool clock_ahead = false;  ///< the gate, not the clock, holds this process back
    bool finished = false;     ///< committed up to the end and every wire accounted for
  };
  Tick tick();

  FabricTime committed() const { return committed_; }
  DriverReport report() const;

 private:
  class Sink;
  struct HostedNode {
    NodeId id;
    Node* node = nullptr;
    PacketSocket* socket = nullptr;
    std::vector<PortId> port_of_ifindex;
    std::vector<uint32_t> ifindex_of_port;
    size_t line = 0;  ///< of the egress queue
    FrameBundler bundler;
  };

  void take_schedule(uint64_t version);
  /// How far this tick may commit: `target`, or only committed() if the lab has lowered the limit
  /// or replaced the schedule since this tick read them (see gate.h).
  FabricTime claim(FabricTime target);
  void hand_out_effects(FabricTime until);
  void drain();
  void note_slack(FabricTime clock, LabTime now);
  void advance(FabricTime target, FabricTime clock, LabTime since);
  void run_nodes(FabricTime target);
  void send(FabricTime clock);
  void queue_due(HostedNode& hosted, FabricTime clock);
  bool may_bundle(const EgressQueue::Outgoing& outgoing) const;
  bool put_in_channel(const HostedNode& hosted, EgressQueue::Outgoing& outgoing);
  void send_together();
  void update_interfaces();
  void note_failures(const HostedNode& hosted, std::span<const SendFailure> failures);
  void take_arrival(HostedNode& hosted, PortId port, std::span<const uint8_t> bytes,
                    LabTime received);
  void deliver_inside(const Port& port, Transmission&& transmission);
  void publish(LabTime now);
  void publish_next_events();
  ProcessSlot& slot() { return page_.slot(processes_.self); }

  GatePage& page_;
  const Topology& topology_;
  ProcessMap processes_;
  std::vector<HostedNode> nodes_;
  FileDescriptor
      interfaces_;  ///< an epoll: whose carriers, and which promiscuous ports, have changed
  std::optional<PromiscuousPorts> promiscuous_;
  std::optional<SendRing> ring_;
  std::optional<FrameChannels> channels_;
  std::vector<HostedNode*> sending_;    ///< those that have frames in line
  std::vector<uint32_t> hosted_index_;  ///< by NodeId; kNoProcess if not here
  IngressLedger ledger_;
  ArrivalReader arrivals_;
  EgressQueue egress_;
  FabricTime committed_ = FabricTime::from_ps(-1);
  FabricTime end_ = FabricTime::never();
  EffectFeed effects_;
  ReadSchedule read_schedule_;
  uint64_t schedule_ = 0;  ///< version of the schedule that this process has read
  std::optional<NodeId> watched_;
  bool moved_ = false;  ///< a frame, in this tick
  DriverReport report_;
};

}  // namespace mrclab::netio
