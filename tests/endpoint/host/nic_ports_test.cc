// What a NIC sends next at a port where control packets wait and there is data as well.

#include "endpoint/host/nic_ports.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "endpoint/options/profile_maker.h"
#include "tests/support/fabrics.h"

namespace mrclab::endpoint {
namespace {

class Nothing : public NodeObserver {
 public:
  void packet(const PacketRecord&) override {}
  void event(const EventRecord&) override {}
};

class Ends : public FrameSink {
 public:
  void transmit(Transmission&& t) override { end = t.end; }
  FabricTime end;
};

/// One port of a NIC, driven as HostNode drives it after each event.
struct NicBench {
  NicBench()
      : host(environment, make_profile("lab", topology), nullptr, false, false), ports(host) {}

  Frame frame(uint64_t wire_bytes) {
    Frame made = pool.copy(std::vector<uint8_t>(wire_bytes - 24));
    REQUIRE(made.wire_length() == Bytes{wire_bytes});
    return made;
  }
  /// 'c' or 'd': which kind is sent next; '-' if none is. `data`: so long is the data that is there to send, if any.
  char next(uint64_t data) {
    Ends sink;
    ports.start_control(sink);
    bool sent_data = false;
    if (data > 0 && (ports.startable() & 1) != 0) {
      ports.start_data(0, frame(data), sink);
      sent_data = true;
    }
    ports.start_control_after_data(sink);
    if ((ports.startable() & 1) != 0) return '-';
    host.now = sink.end;
    ports.finish_sending();
    return sent_data ? 'd' : 'c';
  }
  void queue_control(int frames) {
    for (int i = 0; i < frames; ++i) ports.queue_control(0, frame(152));
  }

  const Topology topology = build_topology(test::shape_of("one-port", 1, 1, 0, 2));
  FramePool pool;
  Nothing observer;
  const NodeEnvironment environment{topology, topology.host(0), 1, pool, observer};
  HostShared host;
  NicPorts ports;
};

TEST_CASE("a NIC sends control first, but data that could go gets a quarter of the bytes") {
  NicBench bench;
  bench.queue_control(300);
  std::string order;
  for (int i = 0; i < 94; ++i) order += bench.next(152);
  // By hand: 86 c are 13,072 bytes, over the quantum of 13,000; from there each d pays for three c.
  CHECK(order == std::string(86, 'c') + "dcccdccc");
}

TEST_CASE("where there is no data a NIC goes on with control") {
  NicBench bench;
  bench.queue_control(200);
  for (int i = 0; i < 200; ++i) REQUIRE(bench.next(0) == 'c');
  CHECK(bench.next(0) == '-');
}

TEST_CASE("control that a NIC sent before a pause in which it was idle owes nothing") {
  NicBench bench;
  bench.queue_control(86);
  for (int i = 0; i < 86; ++i) REQUIRE(bench.next(0) == 'c');
  bench.host.now += FabricTime::from_ns(1);
  bench.queue_control(86);
  for (int i = 0; i < 86; ++i) REQUIRE(bench.next(152) == 'c');
  CHECK(bench.next(152) == 'd');
}

TEST_CASE("a NIC sends a pause before data whose turn it is") {
  NicBench bench;
  bench.queue_control(90);
  for (int i = 0; i < 86; ++i) REQUIRE(bench.next(0) == 'c');
  bench.ports.pause_neighbours(7);
  CHECK(bench.next(152) == 'c');  // the pause, which is no data
  CHECK(bench.ports.at(0).pauses(bench.host.now).xoff_sent == 1);
  CHECK(bench.next(152) == 'd');
}

}  // namespace
}  // namespace mrclab::endpoint
