// Pauses by 802.1Qbb at a NIC: what it stops when its switch pauses it and for how long, and when it pauses the
// switch. One host alone, which is handed pause frames; then two with a real switch between them.

#include <doctest/doctest.h>

#include <algorithm>

#include "endpoint/host/host_node.h"
#include "endpoint/options/profile_maker.h"
#include "fabric/packet/pause_frame.h"
#include "tests/support/fabrics.h"
#include "tests/support/sim_fabric.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::SimFabric;
using mrclab::test::us;

namespace {

/// Two hosts on one T0.
Topology with_pauses(uint32_t planes = 1) {
  FabricShape shape = test::shape_of("pair", planes, 1, 0, 2);
  shape.lossless.pfc = true;
  return build_topology(shape);
}

WriteSpec roce_write(uint64_t bytes, uint32_t count, uint32_t qps = 1) {
  WriteSpec spec;
  spec.from = 0;
  spec.to = 1;
  spec.size = {bytes};
  spec.count = count;
  spec.qps = qps;
  spec.transport = TransportKind::kRoce;
  return spec;
}

struct SentFrame {
  FabricTime start, end;
  QueueClass queue;
};

/// Host 0 with more RoCE data to send than a window takes, and nobody that answers.
class LoneHost {
 public:
  explicit LoneHost(uint32_t planes = 1) : topology_(with_pauses(planes)) {
    observer_.on_packet = [this](const PacketRecord& r) {
      if (r.direction == Direction::kEgress) queues_.push_back(r.queue);
    };
    HostConfig config;
    config.transport = make_profile("roce", topology_);
    config.transport.rc_window = 1'000;
    config.transport.timers = RcTimers::kCompressed;
    config.transport.rc_ack_timeout = us(100'000);
    config.workloads.emplace_back(roce_write(64 << 20, planes, planes));
    host_ = std::make_unique<HostNode>(NodeEnvironment{topology_, NodeId{0}, 1, frames_, observer_},
                                       config);
  }
  /// A frame whose last bit arrives at `arrival`.
  void arrives(FabricTime arrival, Frame frame, uint32_t port = 0) {
    host_->receive(PortId{port}, Arrival{std::move(frame), arrival - us(1), arrival, next_++});
  }
  void arrives(FabricTime arrival, const PauseFrame& pause, uint32_t port = 0) {
    Frame frame = frames_.make(kPauseFrameBytes);
    write_pause(pause, {}, frame.writable_bytes().first<kPauseFrameBytes>());
    arrives(arrival, std::move(frame), port);
  }
  void pauses(FabricTime arrival, uint16_t quanta, uint32_t port = 0) {
    arrives(arrival, make_pause(frames_, {}, quanta), port);
  }
  void apply(FabricTime at, const Effect& effect) { host_->apply({at, effect, next_++, 0, false}); }
  void run_until(FabricTime until) {
    Sink sink(*this);
    host_->run_until(until, sink);
  }
  /// Starts of frames of that class in a stretch of time.
  std::vector<SentFrame> sent(QueueClass queue, FabricTime from, FabricTime to) const {
    std::vector<SentFrame> found;
    for (const SentFrame& frame : sent_) {
      if (frame.queue == queue && frame.start >= from && frame.start < to) found.push_back(frame);
    }
    return found;
  }
  HostNode& host() { return *host_; }
  const Topology& topology() const { return topology_; }
  FramePool& frames() { return frames_; }

 private:
  struct Sink : FrameSink {
    explicit Sink(LoneHost& lone) : owner(lone) {}
    void transmit(Transmission&& t) override {
      owner.sent_.push_back({t.start, t.end, owner.queues_.at(owner.sent_.size())});
    }
    LoneHost& owner;
  };

  Topology topology_;
  FramePool frames_;
  test::RecordingObserver observer_;
  std::vector<QueueClass> queues_;
  std::vector<SentFrame> sent_;
  uint64_t next_ = 0;
  std::unique_ptr<HostNode> host_;
};

constexpr FabricTime kNever = FabricTime::from_ms(1'000);
/// 512 bits at 100 Gb/s.
constexpr FabricTime kQuantum = FabricTime::from_ps(5'120);

}  // namespace

TEST_CASE("XOFF lets the frame in flight end, starts no other, and is over at its bit time") {
  LoneHost host;
  host.pauses(us(20), 1'000);
  host.run_until(us(40));
  const FabricTime noticed = us(20) + host.topology().host_latency;
  const FabricTime over = noticed + kQuantum * 1'000;
  const auto before = host.sent(QueueClass::kLossless, us(0), noticed);
  REQUIRE(before.size() > 50);
  CHECK(before.back().end > noticed);  // it was in flight
  CHECK(host.sent(QueueClass::kLossless, noticed, over).empty());
  const auto after = host.sent(QueueClass::kLossless, over, kNever);
  REQUIRE(after.size() > 40);
  CHECK(after.front().start == over);
}

TEST_CASE("a later XOFF prolongs or shortens the pause, and XON ends it at once") {
  LoneHost host;
  host.pauses(us(20), 1'000);
  FabricTime over;
  SUBCASE("longer") {
    host.pauses(us(22), 2'000);
    over = us(22) + kQuantum * 2'000;
  }
  SUBCASE("shorter") {
    host.pauses(us(22), 10);
    over = us(22) + kQuantum * 10;
  }
  SUBCASE("over") {
    host.pauses(us(22), 0);
    over = us(22);
  }
  host.run_until(us(50));
  over += host.topology().host_latency;
  CHECK(host.sent(QueueClass::kLossless, us(21), over).empty());
  const auto after = host.sent(QueueClass::kLossless, over, kNever);
  REQUIRE_FALSE(after.empty());
  CHECK(after.front().start == over);
}

TEST_CASE("other classes go on while RoCE's data is paused") {
  LoneHost host;
  host.apply(us(10), HostBurst{NodeId{0}, NodeId{1}, {1 << 20}});
  host.pauses(us(20), 5'000);
  host.run_until(us(44));
  CHECK(host.sent(QueueClass::kLossless, us(10), us(20)).size() > 10);
  CHECK(host.sent(QueueClass::kData, us(10), us(20)).size() > 10);
  CHECK(host.sent(QueueClass::kLossless, us(22), us(44)).empty());
  const auto datagrams = host.sent(QueueClass::kData, us(22), us(44));
  CHECK(datagrams.size() > 60);  // of all the line
  for (size_t i = 1; i < datagrams.size(); ++i) CHECK(datagrams[i].start == datagrams[i - 1].end);
}

TEST_CASE("a pause is about its port, and about RoCE's priority alone") {
  LoneHost host(2);
  PauseFrame others;
  others.classes = 0xF7;
  others.quanta.fill(0xFFFF);
  host.arrives(us(10), others, 0);
  PauseFrame unmarked;  // the class vector leaves it out, whatever the quanta are
  unmarked.quanta.fill(0xFFFF);
  host.arrives(us(10), unmarked, 0);
  host.pauses(us(10), 10'000, 1);
  host.run_until(us(40));
  const uint64_t port0 = host.host().stats().planes[0].tx_packets;
  const uint64_t port1 = host.host().stats().planes[1].tx_packets;
  CHECK(port0 > 100);
  CHECK(port1 < 40);
  CHECK(host.host().stats().refused_for(Refusal::kMalformed) == 2);
}

TEST_CASE("broken pause frames are counted and stop nothing") {
  LoneHost host;
  for (size_t size : {14u, 20u, 33u}) {
    Frame frame = host.frames().make(size);
    std::array<uint8_t, kPauseFrameBytes> whole{};
    PauseFrame pause;
    pause.classes = 0xFF;
    pause.quanta.fill(0xFFFF);
    write_pause(pause, {}, whole);
    std::copy_n(whole.begin(), size, frame.writable_bytes().begin());
    host.arrives(us(10), std::move(frame));
  }
  host.run_until(us(20));
  CHECK(host.sent(QueueClass::kLossless, us(12), us(20)).size() > 20);
  CHECK(host.host().stats().refused_for(Refusal::kMalformed) == 3);
}

TEST_CASE("a pause storm says XOFF at once, again at half of its time, and XON when it is over") {
  LoneHost host;
  host.apply(us(10), HostStorm{NodeId{0}, true});
  host.apply(us(10), HostStorm{NodeId{0}, true});  // it is so already
  host.apply(us(500), HostStorm{NodeId{0}, false});
  host.run_until(us(600));
  const auto pauses = host.sent(QueueClass::kPause, us(0), kNever);
  REQUIRE(pauses.size() == 4);
  // Before any data that waits: as soon as the frame in flight is out.
  CHECK(pauses[0].start >= us(10));
  CHECK(pauses[0].start < us(11));
  const FabricTime half = pause_time(0xFFFF, BitRate::from_gbps(100)) / 2;
  CHECK(pauses[1].start >= us(10) + half);
  CHECK(pauses[1].start < us(11) + half);
  CHECK(pauses[2].start < us(11) + half * 2);
  CHECK(pauses[3].start >= us(500));
  CHECK(pauses[3].start < us(501));
}

TEST_CASE("a host without power asks for no pause; the fault goes on when the power is back") {
  LoneHost host;
  host.apply(us(10), HostStorm{NodeId{0}, true});
  host.apply(us(100), HostState{NodeId{0}, HostWork::kDown});
  host.apply(us(700), HostState{NodeId{0}, HostWork::kRunning});
  bool goes_on = true;
  SUBCASE("it goes on") {}
  SUBCASE("it has ended meanwhile") {
    host.apply(us(400), HostStorm{NodeId{0}, false});
    goes_on = false;
  }
  host.run_until(us(800));
  CHECK(host.sent(QueueClass::kPause, us(0), us(100)).size() == 1);
  CHECK(host.sent(QueueClass::kPause, us(100), us(700)).empty());
  CHECK(host.sent(QueueClass::kPause, us(700), us(800)).size() == (goes_on ? 1 : 0));
}

namespace {

/// How h1's NIC paused its switch, and what became of the data.
struct PausedRun {
  uint64_t xoff = 0, xon = 0, dropped = 0;
  FabricTime last_xon;
  HostStats sender, receiver;
};

PausedRun run_slow(const HostDrain& drain, FabricTime until, FabricTime end) {
  const Topology topology = with_pauses();
  SimFabric::Options options;
  options.profile = make_profile("roce", topology);
  options.profile->dcqcn = DcqcnChoice::kOff;
  options.profile->receive_buffer = 256 * 1024;
  options.workloads.emplace_back(roce_write(1 << 20, 8));
  SimFabric fabric(topology, options);
  PausedRun run;
  for (uint32_t node = 0; node < 3; ++node) {
    fabric.node_observer(NodeId{node}).on_packet = [&run, node](const PacketRecord& r) {
      run.dropped += r.event == PacketEvent::kDropped ? 1 : 0;
      if (node != 1 || r.direction != Direction::kEgress || r.queue != QueueClass::kPause) return;
      const bool stops = *lossless_quanta(r.frame.bytes()) > 0;
      ++(stops ? run.xoff : run.xon);
      if (!stops) run.last_xon = r.t;
    };
  }
  fabric.apply(us(50), drain);
  fabric.apply(until, HostDrain{NodeId{1}});
  fabric.run_until(end);
  run.sender = fabric.stats(0);
  run.receiver = fabric.stats(1);
  return run;
}

}  // namespace

TEST_CASE("a NIC whose buffer fills pauses its switch, and not a packet is lost") {
  SUBCASE("memory is slow") {
    const HostDrain slow{NodeId{1}, DrainKind::kSlow, BitRate::from_gbps(20)};
    const PausedRun run = run_slow(slow, us(2'000), us(6'000));
    CHECK(run.xoff > 3);
    CHECK(run.xon > 3);
    CHECK(run.dropped == 0);
    CHECK(run.sender.retransmissions == 0);
    CHECK(run.sender.writes_completed == 8);
    CHECK(run.receiver.bytes_verified == 8 << 20);
  }
  SUBCASE("memory stands still: XOFF is repeated until it goes on") {
    const HostDrain stalled{NodeId{1}, DrainKind::kStalled};
    const PausedRun run = run_slow(stalled, us(450), us(6'000));
    CHECK(run.xoff >= 3);
    CHECK(run.xon == 1);
    CHECK(run.last_xon >= us(450));  // as soon as the memory goes on, not when XOFF is due again
    CHECK(run.last_xon < us(451));
    CHECK(run.dropped == 0);
    CHECK(run.sender.writes_completed == 8);
    CHECK(run.receiver.bytes_verified == 8 << 20);
  }
}

TEST_CASE(
    "without pauses the same slow memory loses packets, which go-back-N brings all the same") {
  Topology topology = with_pauses();
  topology.lossless.pfc = false;
  SimFabric::Options options;
  options.profile = make_profile("roce", topology);
  options.profile->dcqcn = DcqcnChoice::kOff;
  options.profile->receive_buffer = 256 * 1024;
  options.workloads.emplace_back(roce_write(1 << 20, 2));
  SimFabric fabric(topology, options);
  fabric.apply(us(5), HostDrain{NodeId{1}, DrainKind::kSlow, BitRate::from_gbps(20)});
  fabric.run_until(us(6'000));
  CHECK(fabric.stats(1).refused_for(Refusal::kNoPacketBuffer) > 0);
  CHECK(fabric.stats(0).retransmissions > 0);
  CHECK(fabric.stats(0).writes_completed == 2);
  CHECK(fabric.stats(1).bytes_verified == 2 << 20);
}

TEST_CASE("a storm at the receiver stops RoCE's data of its sender, and MRC's not") {
  const Topology topology = with_pauses();
  SimFabric::Options options;
  options.profile = make_profile("roce", topology);
  options.workloads.emplace_back(roce_write(1 << 20, 16));
  WriteSpec mrc = roce_write(1 << 20, 16);
  mrc.transport = TransportKind::kMrc;
  options.workloads.emplace_back(mrc);
  SimFabric fabric(topology, options);
  std::vector<FabricTime> data, lossless;
  fabric.observer(0).on_packet = [&](const PacketRecord& r) {
    if (r.direction != Direction::kEgress) return;
    if (r.queue == QueueClass::kData) data.push_back(r.t);
    if (r.queue == QueueClass::kLossless) lossless.push_back(r.t);
  };
  fabric.apply(us(100), HostStorm{NodeId{1}, true});
  fabric.apply(us(400), HostStorm{NodeId{1}, false});
  fabric.run_until(us(5'000));
  const auto between = [](const std::vector<FabricTime>& times, FabricTime from, FabricTime to) {
    return std::count_if(times.begin(), times.end(),
                         [&](FabricTime t) { return t >= from && t < to; });
  };
  CHECK(between(lossless, us(50), us(100)) > 40);
  CHECK(between(lossless, us(250), us(400)) == 0);  // all buffers on the way are full
  CHECK(between(data, us(250), us(400)) > 200);
  CHECK(between(lossless, us(400), us(5'000)) > 500);
  CHECK(fabric.stats(0).writes_completed == 32);
  CHECK(fabric.stats(0).qps_in_error == 0);
}
