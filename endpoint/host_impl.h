#pragma once
// The inside of HostNode; only host_*.cc include it. Who owns what:
//
//   Impl -- ports, event queue, arrivals in hand          host_node.cc, host_send.cc
//     |-- peers (window, reverse path, port status)       host_ports.cc, host_paths.cc
//     |-- queue pairs -- requester, responder             host_queue_pairs.cc, host_receive.cc
//     |-- applications                                    host_workloads.cc, host_applications.cc
//     |-- what faults do to it                            host_effects.cc
//     '-- the device, verbs for programs outside          host_device.cc, host_device_work.cc
//
// One event is processed like this: the event itself, then what it means to applications
// (completions queued by the queue pairs), then whatever ports can start, then timers are set anew.

#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "endpoint/burst.h"
#include "endpoint/denylist.h"
#include "endpoint/ev_events.h"
#include "endpoint/host_node.h"
#include "endpoint/nic_port.h"
#include "endpoint/packet_maker.h"
#include "endpoint/queue_pair_table.h"
#include "endpoint/receive_shares.h"
#include "fabric/event_queue.h"
#include "fabric/path.h"
#include "fabric/slots.h"

namespace mrclab::endpoint {

class HostNode::Impl : public QueuePairEvents {
 public:
  Impl(const NodeEnvironment& environment, const HostConfig& config);
  ~Impl() override;

  void receive(PortId port, Arrival arrival);
  void apply(const ScheduledEffect& effect);
  FabricTime next_event() const { return events_.next_time(); }
  void run_until(FabricTime committed, FrameSink& out);
  HostStats stats() const;
  std::vector<QueueCounts> queues() const;
  std::optional<EvEvent> poll_ev_event() { return ev_events_.poll(); }
  bool finished() const;
  Device& device();
  std::vector<WorkReport> work() const;

 private:
  class HostDevice;
  enum class EventKind : uint8_t {
    kArrival,
    kEffect,
    kPortNotice,
    kQpTimer,
    kPeerTimer,
    kReverseTimer,
    kStart,
    kWake,
    kPortFree,
    kDoorbell,
    kInMemory,
  };
  struct Event {
    EventKind kind = EventKind::kArrival;
    uint32_t index = 0;   ///< slot, port, queue pair, peer or application
    uint32_t detail = 0;  ///< port of an arrival, generation of a port notice
    /// Losses of power before it was made; software's waits end with their life.
    uint32_t life = 0;
  };
  struct PortState {
    PortState(const NodeEnvironment& environment, PortId id) : nic(environment, id) {}
    NicPort nic;
    uint32_t notice_generation = 0;
  };
  /// One message to an application.
  struct Notice {
    enum class Kind : uint8_t {
      kStart,
      kWake,
      kWriteComplete,
      kWriteFailed,
      kReceive,
      kReceiveFlushed,
      kError
    } kind;
    uint32_t application = 0;
    QpHandle qp;
    ReceiveCompletion work;   ///< for a write only the id is set
    std::string_view reason;  ///< or status
  };
  /// One application's access to its host.
  class AppVerbs : public Verbs {
   public:
    AppVerbs(Impl& host, uint32_t index) : host_(host), index_(index) {}
    FabricTime now() const override { return host_.now_; }
    bool post_write(QpHandle qp, const WriteRequest& request) override;
    bool post_receive(QpHandle qp, uint64_t id) override;
    void wake_at(FabricTime at) override;
    void report_verified(uint64_t bytes, uint64_t mismatched_bytes) override;
    void report_collective_done(uint32_t iteration, FabricTime took) override;

   private:
    Impl& host_;
    uint32_t index_;
  };
  struct RunningApp {
    std::unique_ptr<Application> application;
    std::unique_ptr<AppVerbs> verbs;
    FabricTime start;
    bool gone = false;  ///< lost with the power of its host; its measurements remain
  };

  // Queue pairs and peers (host_queue_pairs.cc).
  void add_queue_pairs(const std::vector<ConnectionPlan>& plan);
  QueuePair& add_queue_pair(QueuePair::Identity id, uint32_t peer_host,
                            const ConnectionLimits& limits);
  void remove_queue_pair(QueuePair& qp);
  Peer& peer_for(uint32_t host, Chosen chosen);
  void meet(Peer& peer);
  std::vector<EntropyValue> evs_toward(uint32_t host, Chosen chosen, Qpn qp = {}) const;
  std::vector<EntropyValue> evs_of_queue_pair(const QueuePair::Identity& id, uint32_t host) const;

  // Applications from the workloads (host_workloads.cc).
  void add_applications(const HostConfig& config, const std::vector<ConnectionPlan>& plan);
  struct WorkloadContext;
  /// The numbers that all streams of a workload share.
  struct StreamPlan {
    Bytes message;
    uint32_t qps = 1;
    uint64_t count = 0;  ///< over all queue pairs of a connection; 0: until the end
    uint32_t depth = 0;
    FabricTime interval;  ///< time between two messages of a connection
  };
  void add_collective(const WorkloadContext& context, const CollectiveSpec& spec);
  void add_streams(const WorkloadContext& context, const StreamPlan& streams);
  void add_ping_pong(const WorkloadContext& context, const PingPongSpec& spec);
  Memory send_buffer(uint64_t size);
  Memory region(const RegionPlan& plan);
  void add_application(std::unique_ptr<Application> application, std::span<const QpHandle> qps,
                       FabricTime start);

  // Events (host_node.cc).
  void push(FabricTime at, EventClass event_class, uint32_t port, Event event);
  void process(const Event& event);
  void after_event(FrameSink& out);
  void touch(QueuePair& qp);
  void ring_doorbell();
  void tell_windows();
  void set_timers();
  void on_qp_timer(QueuePair& qp);

  // What is done to the host from outside (host_effects.cc).
  void on_effect(const Effect& effect);
  void on_host_state(HostWork work);
  void on_drain(const HostDrain& drain);
  void set_drain();
  void power_off();
  void on_burst(const HostBurst& burst);
  std::vector<Path> datagram_paths(uint32_t host) const;

  // Ports and peers (host_ports.cc).
  void on_carrier(PortId port, bool up);
  void on_port_notice(PortId port);
  LivePorts ports_toward(const Peer& peer) const {
    return {live_ports_, peer.status.remote_ports()};
  }
  /// The most ports that can carry traffic to a peer at once.
  uint32_t lanes_toward(const Peer& peer) const;
  /// Tells which of the peer's ports a path of ours leads to.
  PeerPortOf peer_port_toward(uint32_t host) const;
  /// A path of the peer's as ours in the other direction; empty: the fabric has no such path.
  std::optional<Path> path_from(const Peer& peer, Path path) const;
  /// The peer's path that a packet came by. Empty if its entropy value is not in our format or
  /// names another port than it came in on: a peer may send any value, but not every value names a
  /// path.
  std::optional<Path> path_of_peer(const Peer& peer, const MrcPacket& packet, uint32_t port) const;
  void on_live_ports(Peer& peer, std::string_view why);
  void on_remote_ports(Peer& peer, uint32_t before);
  void on_peer_timer(uint32_t peer);
  void on_endpoint_request(const MrcPacket& packet, uint32_t port);
  void on_endpoint_response(const MrcPacket& packet);

  // Paths (host_paths.cc).
  void on_denial(const EvDenial& denial);
  void apply_denylist(QueuePair& qp);
  void on_data_heard(Peer& peer, std::optional<EntropyValue> ev, uint32_t port);
  void on_sack_news(Peer& peer, const Seth& seth);
  void on_reverse_timer(uint32_t peer);
  void hold(Peer& peer, FabricTime pause);
  FabricTime remap_time(const NicProfile::Range& range);

  // Receiving (host_receive.cc).
  void on_arrival(uint32_t port, Arrival arrival);
  Refusal deliver(uint32_t port, const Frame& frame);
  Refusal deliver_damaged(uint32_t port, const Frame& frame);
  Refusal deliver_checked(uint32_t port, const MrcPacket& packet);
  Refusal check_packet(uint32_t port, std::span<const uint8_t> frame, MrcPacket& packet) const;
  Refusal deliver_to_qp(uint32_t port, const MrcPacket& packet);
  Refusal deliver_sack(const Seth& seth, QueuePair& qp);
  Refusal deliver_write(uint32_t port, const MrcPacket& packet, QueuePair& qp);
  void send_replies(QueuePair& qp, const Replies& replies, uint32_t port);
  void add_service_time(const QueuePair& qp, const MrcPacket& packet, Replies& replies) const;
  void refuse(Refusal refusal);
  void on_memory();
  void set_memory_timer();

  // Sending (host_send.cc).
  void pump(FrameSink& out);
  void pump_control(FrameSink& out);
  void pump_data(FrameSink& out);
  uint32_t startable_ports() const;
  bool send_one_data_packet(uint32_t ports, FrameSink& out);
  bool send_of_queue_pair(QueuePair& qp, uint32_t ports, FrameSink& out, bool& sent);
  bool send_datagram(Burst& burst, uint32_t ports, FrameSink& out, bool& sent);
  void started(uint32_t port, FabricTime end);
  void queue_control(uint32_t port, Frame frame);
  void send_control(QueuePair& qp, Opcode opcode, Psn psn, const Extension& extension,
                    uint32_t in_port);
  void put_port_state(uint32_t in_port, Seth& seth) const;
  void put_penalty(const Peer& peer, Seth& seth);
  void send_probes(QueuePair& qp);

  // Applications (host_applications.cc).
  void tell_applications();
  void tell(const Notice& notice);
  void tell_what_was_held();
  Fifo<Notice>& notices_of(uint32_t application);
  void wake_application(Notice::Kind kind, uint32_t application);
  void write_completed(QueuePair& qp, uint64_t id) override;
  void write_failed(QueuePair& qp, uint64_t id, std::string_view status) override;
  void immediate_received(QueuePair& qp, const ReceiveCompletion& completion) override;
  void receive_flushed(QueuePair& qp, uint64_t id) override;
  void ev_changed(QueuePair& qp, EntropyValue ev, EvState to) override;
  void ev_swapped(QueuePair& qp, EntropyValue in, EntropyValue out) override;
  void loss_detected(QueuePair& qp, EntropyValue ev, Psn psn, std::string_view cause) override;
  void failed(QueuePair& qp, std::string_view reason) override;
  void notify(const QueuePair& qp, Notice::Kind kind, const ReceiveCompletion& work,
              std::string_view reason = {});

  static constexpr size_t kNoticeLimit = 1 << 16;
  static constexpr size_t kMemoryWaiterLimit = 1 << 24;  ///< packets in the largest buffer

  NodeEnvironment environment_;
  const Topology& topology_;
  uint32_t self_;
  FabricTime latency_;
  TransportProfile profile_;
  TopologyPaths topology_paths_;
  const PathMapper& paths_;
  PacketMaker maker_;
  bool payload_elided_;
  Ipv6Address address_;
  uint32_t all_ports_;
  uint32_t live_ports_;  ///< as the NIC has noticed

  FabricTime now_;
  FabricTime waited_;  ///< how long the packet in hand waited for this host's software
  HostWork work_ = HostWork::kRunning;
  uint32_t life_ = 0;      // counts losses of power
  FabricTime power_lost_;  // arrivals before this that were not processed are gone
  uint64_t next_sequence_ = 0;
  EventQueue<Event> events_;
  Slots<Arrival> arrivals_;
  Slots<Effect> effects_;

  HostStats stats_;
  ReceiveShares shares_;
  ReceiveResources received_;  ///< before qps_, whose bitmaps go back here
  HostDrain drain_;            ///< as a fault leaves it
  /// A queue pair whose message ends wait for memory, and the count of bytes at which to look
  /// again.
  struct InMemoryWaiter {
    Bytes taken;
    Qpn qp;
    uint32_t port = 0;  ///< where the last packet came in
  };
  Fifo<InMemoryWaiter> memory_waiters_{kMemoryWaiterLimit};
  FabricTime memory_timer_ = FabricTime::never();  ///< earliest queued event for the waiters
  MemoryRegistry memory_;
  std::vector<std::unique_ptr<uint8_t[]>> send_buffers_;
  std::deque<PortState> ports_;  // by plane
  Denylist denylist_;
  EvEventQueue ev_events_;
  uint64_t remaps_ = 0;                               // number of draws
  std::deque<Peer> peers_;                            // stable addresses
  std::vector<uint32_t> peer_of_host_;                // kNobody or index
  QueuePairTable qps_;                                // by handle; stable addresses
  std::unordered_map<uint32_t, uint32_t> qp_of_qpn_;  // lookup only, never iterated
  std::vector<QueuePair*> touched_;
  std::vector<Burst> bursts_;
  uint32_t next_qp_ = 0;  // round robin, over queue pairs and then bursts
  std::vector<RunningApp> apps_;
  Fifo<Notice> notices_{kNoticeLimit};
  Fifo<Notice> held_notices_{kNoticeLimit};  // until the host is not paused any more
  HostDevice* device_ = nullptr;             ///< one of apps_
  bool doorbell_ = false;                    ///< an event for new posts stands in the queue
  static constexpr uint32_t kNobody = 0xFFFF'FFFF;
};

}  // namespace mrclab::endpoint
