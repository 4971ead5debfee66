#pragma once
// Two nodes in two processes that share a gate page, without a kernel:
//
//     h0 (process 0) --- t0 (process 1)

#include <memory>
#include <vector>

#include "fabric/topology/build_topology.h"
#include "netio/runtime/gate.h"
#include "netio/runtime/process_map.h"

namespace mrclab::netio {

/// Length of ipv6_frame(), and so where its trailer stands.
inline constexpr size_t kPlainFrameBytes = 154;

struct TwoProcesses {
  TwoProcesses() {
    page->lab = 7;
    page->process_count = 2;
    for (uint32_t i = 0; i < 2; ++i) page->set_state(i, ProcessState::kReady);
  }

  /// Who runs what, as process `self` has it.
  ProcessMap seen_by(uint32_t self) const { return {self, {0, 1}}; }
  Port host_port() const { return topology.port({host, PortId{0}}); }
  Port leaf_port() const { return topology.port({leaf, PortId{0}}); }
  /// The sender of a wire publishes: so many frames, and done up to there.
  void say(uint32_t process, WireId wire, uint64_t sent, int64_t done_ps) {
    page->sent[wire.value].store(sent);
    page->slot(process).done_ps.store(done_ps);
  }

  /// An IPv6 packet in an Ethernet frame, with room for a trailer behind it.
  static std::vector<uint8_t> ipv6_frame() {
    std::vector<uint8_t> frame(kPlainFrameBytes + 64, 0);
    frame[12] = 0x86;
    frame[13] = 0xDD;
    frame[14] = 0x60;
    frame[19] = kPlainFrameBytes - 54;  // IPv6 payload length
    return frame;
  }

  Topology topology = build_topology({.name = "two", .t1 = 0});
  NodeId host = topology.host(0);
  NodeId leaf = topology.t0(0, 0);
  std::unique_ptr<GatePage> page = std::make_unique<GatePage>();
};

}  // namespace mrclab::netio
