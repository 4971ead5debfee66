#pragma once
// Runs one node on interfaces of this machine at wall-clock speed: no gate, no trailer, no lab.
// The other side may be another endpoint or any vendor's switch.
//
//   rings --(kernel's receive timestamp = arrival)--> node.receive()
//   node.run_until(now) --> frames --> one sendmmsg
//
// Fabric time is the monotonic clock since construction, divided by the dilation. It is honest but
// not exact: a stalled process makes frames late, and the node takes them at its committed time.
// Serialization times are those of the node's model; a frame leaves when its transmission starts.
// Carrier changes of the interfaces become PortCarrier effects.
//
// Threading: one thread. poll() never blocks; wait() sleeps until there is something to do.

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fabric/node/node.h"
#include "netio/packet/packet_port.h"
#include "netio/runtime/clock_page.h"

namespace mrclab::netio {

class WallDriver {
 public:
  struct Config {
    NodeId self;                          ///< the node's place in its topology
    std::vector<std::string> interfaces;  ///< interface of port 0, 1, ...
    Dilation dilation{1};
    PacketSocketOptions socket;
  };
  struct Report {
    uint64_t frames_received = 0;  ///< on the listed interfaces
    uint64_t frames_sent = 0;      ///< handed to the kernel
    uint64_t send_failures = 0;    ///< frames that the kernel refused: lost, as on a wire
    uint64_t no_buffer = 0;        ///< received, but the frame pool was empty
    uint64_t ring_drops = 0;       ///< lost because this process was too slow
  };

  /// Throws SystemError for an interface that `ns` does not have or rights that are missing.
  WallDriver(const NetworkNamespace& ns, const Config& config, FramePool& frames);

  /// The node must outlive the driver's use. It gets the ports without carrier at once.
  void run(Node& node);

  /// Takes in what has arrived, runs the node to now, sends. False if nothing moved.
  bool poll();
  /// Sleeps until a frame is there, the node has an event, or `limit` has passed.
  void wait(std::chrono::nanoseconds limit);
  /// Fabric time since construction.
  FabricTime now() const;
  /// Readable when a frame waits: for a caller that sleeps over several drivers.
  int fd() const { return socket_.fd(); }
  Report report();

  /// MAC address of the interface of port `i`.
  const MacAddress& mac(size_t i) const { return ports_[i].mac; }
  uint32_t mtu(size_t i) const { return ports_[i].mtu; }

 private:
  class Egress;
  struct PortState {
    uint32_t ifindex = 0;
    MacAddress mac{};
    uint32_t mtu = 0;
    bool carrier = true;
  };
  void take(uint32_t ifindex, std::span<const uint8_t> bytes, uint64_t rx_ns);
  void watch_carriers();
  void note_carrier(const LinkState& link);
  FabricTime fabric_at(int64_t monotonic_ns) const;

  NodeId self_;
  FramePool& frames_;
  NamespaceNetlink netlink_;
  LinkWatch watch_;
  PacketSocket socket_;
  double ps_per_ns_;
  int64_t start_ns_;
  FabricTime committed_;
  std::vector<PortState> ports_;
  std::vector<uint32_t> port_of_ifindex_;
  struct Unsent {
    uint32_t ifindex;
    Frame frame;
  };
  std::vector<Unsent> unsent_;
  Node* node_ = nullptr;
  uint64_t sequence_ = 0;
  uint32_t rounds_ = 0;
  bool moved_ = false;
  Report report_;
};

}  // namespace mrclab::netio
