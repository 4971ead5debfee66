#pragma once
// Carried time on the smallest fabric: two nodes, one veth, two drivers that share a gate.
//
//     h0 (process 0) --- veth --- t0 (process 1)
//
// The drivers are ticked by hand, so that any interleaving can be made.

#include <unistd.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fabric/base/event_queue.h"
#include "fabric/packet/frame_room.h"
#include "fabric/packet/headers.h"
#include "fabric/topology/build_topology.h"
#include "netio/kernel/link.h"
#include "netio/runtime/driver.h"
#include "netio/runtime/shared_page.h"

namespace mrclab::netio::test {

inline constexpr size_t kFrameBytes = 200;

/// Sends a frame every `period`, and an answer for every frame that arrives.
class Chatter : public Node {
 public:
  Chatter(const NodeEnvironment& environment, FabricTime period, int count)
      : environment_(environment), period_(period) {
    for (int i = 0; i < count; ++i) {
      events_.push({period * (i + 1), EventClass::kTimer, 0, static_cast<uint64_t>(i)}, Frame{});
    }
  }

  void receive(PortId port, Arrival&& arrival) override {
    const FabricTime at =
        arrival.arrival + environment_.topology.ingress_latency(environment_.self);
    if (arrival.foreign) ++foreign;
    if (on_receive) on_receive();
    events_.push({at, EventClass::kArrival, port.value, arrival.sequence},
                 std::move(arrival.frame));
  }
  void apply(const ScheduledEffect& effect) override {
    events_.push({effect.at, EventClass::kFault, 0, effect.sequence}, Frame{});
  }
  FabricTime next_event() const override { return events_.next_time(); }

  void run_until(FabricTime committed, FrameSink& out) override {
    while (!events_.empty() && events_.next_time() <= committed) {
      auto [key, frame] = events_.pop();
      if (key.event_class == EventClass::kFault) {
        effects.push_back(key.at);
      } else if (key.event_class == EventClass::kArrival) {
        log.emplace_back(key.at, key.sequence);
        if (frame.bytes()[60] == 'q') send(key.at, 'a', out);
      } else {
        send(key.at, 'q', out);
      }
    }
  }

  std::vector<std::pair<FabricTime, uint64_t>> log;
  std::vector<FabricTime> effects;
  uint64_t foreign = 0;
  std::function<void()> on_receive;  ///< in the middle of a tick, between limit and commit

 private:
  void send(FabricTime now, uint8_t kind, FrameSink& out) {
    Frame frame = environment_.frames.make(kFrameBytes);
    std::fill(frame.writable_bytes().begin(), frame.writable_bytes().end(), uint8_t{0});
    frame.writable_bytes()[12] = 0x86;
    frame.writable_bytes()[13] = 0xDD;
    frame.writable_bytes()[14] = 0x60;
    frame.writable_bytes()[19] = kFrameBytes - 54;  // IPv6 payload length
    frame.writable_bytes()[20] = 17;                // UDP, to MRC's port
    frame.writable_bytes()[56] = kMrcUdpPort >> 8;
    frame.writable_bytes()[57] = kMrcUdpPort & 0xFF;
    frame.writable_bytes()[60] = kind;
    free_at_ = std::max(free_at_, now);
    const Wire& wire =
        environment_.topology.wire(environment_.topology.port({environment_.self, PortId{0}}).out);
    const FabricTime end = free_at_ + serialization_time(frame.wire_length(), wire.rate);
    out.transmit({PortId{0}, std::move(frame), free_at_, end, wire.propagation, DropCause::kNone});
    free_at_ = end;
  }

  NodeEnvironment environment_;
  FabricTime period_;
  FabricTime free_at_;
  EventQueue<Frame> events_;
};

class Quiet : public NodeObserver {
  void packet(const PacketRecord&) override {}
  void event(const EventRecord&) override {}
};

/// Two namespaces with a veth, two nodes, two drivers.
struct TwoNodes {
  /// `leaf_process`: kNoProcess: t0 is not ours.
  explicit TwoNodes(FabricTime end, uint32_t leaf_process = 1)
      : topology(build_topology({.name = "two", .t1 = 0})),
        prefix("mrclab-t" + std::to_string(::getpid()) + "-"),
        host_ns(NetworkNamespace::create(prefix + "h0", switch_sysctls())),
        leaf_ns(NetworkNamespace::create(prefix + "t0", switch_sysctls())),
        page(SharedPage::create("test-gate", sizeof(GatePage))),
        gate(page.as<GatePage>()) {
    connect();
    host_socket = std::make_unique<PacketSocket>(host_ns);
    leaf_socket = std::make_unique<PacketSocket>(leaf_ns);
    gate.lab = 7;
    gate.process_count = 2;
    for (uint32_t i = 0; i < 2; ++i) gate.slot(i).done_ps.store(-1);
    gate.set_state(0, ProcessState::kReady);
    gate.set_state(1, ProcessState::kReady);
    gate.clock.reset(end, LabTime::now());  // the clock holds no process back here
    gate.limit_ps.store(FabricTime::never().ps());
    processes.assign(topology.nodes.size(), kNoProcess);
    const NodeId h0 = topology.host(0);
    const NodeId t0 = topology.t0(0, 0);
    processes[h0.value] = 0;
    processes[t0.value] = leaf_process;
    host = std::make_unique<Chatter>(NodeEnvironment{topology, h0, 1, frames, quiet},
                                     FabricTime::from_ns(700), 50);
    leaf = std::make_unique<Chatter>(NodeEnvironment{topology, t0, 1, frames, quiet},
                                     FabricTime::from_ns(450), 80);
    host_driver = std::make_unique<Driver>(gate, topology, ProcessMap{0, processes}, 1, frames);
    leaf_driver = std::make_unique<Driver>(gate, topology, ProcessMap{1, processes}, 1, frames);
    host_driver->add_node(h0, *host, *host_socket);
    leaf_driver->add_node(t0, *leaf, *leaf_socket);
    host_driver->set_end(end);
    leaf_driver->set_end(end);
  }

  void connect() {
    const std::vector<VethPair> pairs{
        {{&host_ns, "p0", topology.port({topology.host(0), PortId{0}}).mac, ""},
         {&leaf_ns, "d0", topology.port({topology.t0(0, 0), PortId{0}}).mac, ""}}};
    create_veths(pairs);
    NamespaceNetlink(host_ns).set_up("p0");
    NamespaceNetlink(leaf_ns).set_up("d0");
  }

  /// Those of both ends.
  PromiscuousPorts ports() const {
    PromiscuousPorts both(topology.all_wires().size());
    for (const NodeId node : {topology.host(0), topology.t0(0, 0)}) {
      const bool is_host = node == topology.host(0);
      const Port& port = topology.port({node, PortId{0}});
      both.watch_namespace(NetworkNamespace::open((is_host ? host_ns : leaf_ns).name()),
                           {{is_host ? "p0" : "d0", port.in, port.out}});
    }
    return both;
  }

  /// The wires are fast from now on.
  void cross_in_memory() {
    topology.wires = WireMode::kFast;
    const FrameRoom room = room_on_wires(topology, false);
    wires.emplace(
        SharedPage::create("test-wires", FrameChannels::bytes_for(topology, processes, room)));
    for (uint32_t i = 0; i < 2; ++i) {
      Driver& driver = i == 0 ? *host_driver : *leaf_driver;
      driver.send_by(FrameChannels(SharedPage::attach(FileDescriptor(::dup(wires->fd())), 1),
                                   topology, {i, processes}, room));
    }
  }

  /// Ticks both, `host_ticks` and `leaf_ticks` at a time, until both have finished.
  bool run(int host_ticks, int leaf_ticks) {
    for (int round = 0; round < 1'000'000; ++round) {
      bool host_done = false, leaf_done = false;
      for (int i = 0; i < host_ticks; ++i) host_done = host_driver->tick().finished;
      for (int i = 0; i < leaf_ticks; ++i) leaf_done = leaf_driver->tick().finished;
      if (host_done && leaf_done) return true;
    }
    return false;
  }

  Topology topology;
  std::string prefix;
  NetworkNamespace host_ns, leaf_ns;
  SharedPage page;
  GatePage& gate;
  std::vector<uint32_t> processes;  ///< by node
  std::optional<SharedPage> wires;
  FramePool frames;
  Quiet quiet;
  std::unique_ptr<PacketSocket> host_socket, leaf_socket;
  std::unique_ptr<Chatter> host, leaf;
  std::unique_ptr<Driver> host_driver, leaf_driver;
};

using Log = std::vector<std::pair<FabricTime, uint64_t>>;

}  // namespace mrclab::netio::test
