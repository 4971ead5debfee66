// A switch, and any program of frames, pauses, raw bytes and faults on its ports. At every step all that came
// in has left, was dropped under a name, or waits, and what flow control holds is what waits; when no pause can
// be in force any more nothing waits.

#include <array>
#include <vector>

#include "fabric/packet/header_sizes.h"
#include "fabric/packet/pause_frame.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/dscp.h"
#include "fabric/topology/path.h"
#include "switchd/switch_node.h"
#include "tests/fuzz/must.h"

using namespace mrclab;
using switchd::PortCounters;
using switchd::SwitchNode;

namespace {

constexpr uint32_t kPorts = 4;
constexpr std::array kDscpsUsed{kDscpLossless,      kDscpLossless, kDscpTrimmable, kDscpNoTrim,
                                kDscpTrimmableRetx, kDscpControl,  kDscpTrimmed,   kDscpCnp};
constexpr std::array<size_t, 4> kSizes{4226, 1000, 118, 60};

/// The bytes of a program, one after the other; zeros behind its end.
class Program {
 public:
  Program(const uint8_t* data, size_t size) : bytes_(data, size) {}
  bool done() const { return bytes_.empty(); }
  uint8_t next() {
    if (done()) return 0;
    const uint8_t first = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return first;
  }
  uint32_t below(uint32_t bound) { return next() % bound; }

 private:
  std::span<const uint8_t> bytes_;
};

/// Counts pause frames, which begin and end at a port.
struct PauseCount : NodeObserver, FrameSink {
  void packet(const PacketRecord& record) override {
    if (record.queue != QueueClass::kPause) return;
    const bool came = record.direction == Direction::kIngress;
    ++(record.event == PacketEvent::kDropped ? dropped : came ? in : out);
  }
  void event(const EventRecord&) override {}
  void transmit(Transmission&&) override {}
  uint64_t in = 0, out = 0, dropped = 0;
};

/// A T0 with two hosts and two uplinks whose buffers are small, so that a short program fills them.
Topology small_fabric(uint8_t kind) {
  FabricShape shape;
  shape.name = "fuzzed";
  shape.planes = 1;
  shape.t0 = shape.t1 = shape.hosts_per_t0 = 2;
  shape.lossless.pfc = (kind & 1) == 0;
  shape.lossless.adaptive = (kind & 2) != 0;
  shape.lossless.reserve = {kind & 4 ? 0u : 4096u};
  shape.queues.buffer_share = kind & 8 ? 0 : 100;
  shape.queues.tail_drop = shape.queues.lossless_limit = 500;
  shape.lossless.watchdog = std::array{WatchdogAction::kOff, WatchdogAction::kDrop,
                                       WatchdogAction::kForward}[(kind >> 4) % 3];
  shape.lossless.detect = shape.lossless.restore = FabricTime::from_us(5);
  if (kind & 0x40) shape.routing.by_default = Routing::kEcmp;
  return build_topology(shape);
}

class FuzzedSwitch {
 public:
  explicit FuzzedSwitch(uint8_t kind)
      : topology_(small_fabric(kind)),
        self_(topology_.find_node("p0.t0-0").value()),
        node_({topology_, self_, 1, pool_, pauses_}) {}

  void obey(Program& program) {
    const uint8_t order = program.next();
    const PortId port{program.below(kPorts)};
    switch (order % 8) {
      case 0: return apply(some_effect(program, port));
      case 1: return arrive(port, raw_bytes(program));
      case 2:
      case 3: return arrive(port, pause_frame(program));
      default: {
        const uint32_t frames = 1 + (order >> 5);
        const std::vector<uint8_t> bytes = some_frame(program);
        for (uint32_t i = 0; i < frames; ++i) arrive(port, bytes);
      }
    }
  }
  void go_on(FabricTime time) {
    now_ += time;
    node_.run_until(now_, pauses_);
  }

  void check() const {
    const switchd::SwitchCounters counters = node_.counters();
    const PortCounters total = counters.total();
    uint64_t dropped = 0;
    for (const uint64_t count : total.drops) dropped += count;
    MUST(total.rx - pauses_.in + total.tx_copies ==
         total.tx - pauses_.out + (dropped - total.arrivals_lost - pauses_.dropped) + total.queued);
    MUST(total.xoff_received + total.xon_received <= pauses_.in);
    const switchd::PauseControl* const control = node_.pause_control();
    if (control == nullptr) return;
    Bytes held{0};
    for (uint32_t i = 0; i < kPorts; ++i) {
      const PortId port{i};
      held += control->buffer().held(port);
      MUST(control->buffer().headroom_used(port) <= control->buffer().headroom(port) ||
           lost_buffer_);
    }
    MUST(held == total.lossless_depth);
    MUST(held <= control->buffer().size() || lost_buffer_);
  }
  void check_empty() const {
    MUST(node_.counters().total().queued == 0);
    // The node keeps one frame that stands in records for those whose bytes it does not keep.
    MUST(pool_.in_use() == 1);
  }

 private:
  void arrive(PortId port, const std::vector<uint8_t>& bytes) {
    const Wire& wire = topology_.wire(topology_.port({self_, port}).in);
    Arrival arrival;
    arrival.frame = pool_.copy(bytes);
    MUST(arrival.frame);
    arrival.start = std::max(free_[port.value], now_);
    free_[port.value] = arrival.start + serialization_time(arrival.frame.wire_length(), wire.rate);
    arrival.arrival = free_[port.value] + wire.propagation;
    arrival.sequence = sequence_++;
    node_.receive(port, std::move(arrival));
  }
  void apply(const Effect& effect) { node_.apply({now_, effect, effects_++}); }

  std::vector<uint8_t> some_frame(Program& program) {
    const uint8_t where = program.next();
    std::vector<uint8_t> bytes(kSizes[where % kSizes.size()]);
    bytes[12] = 0x86;
    bytes[13] = 0xDD;
    const auto traffic_class =
        static_cast<uint8_t>(kDscpsUsed[(where >> 2) % kDscpsUsed.size()] << 2 | 2);
    bytes[14] = static_cast<uint8_t>(0x60 | traffic_class >> 4);
    bytes[15] = static_cast<uint8_t>(traffic_class << 4);
    const size_t length = bytes.size() - 54;
    bytes[18] = static_cast<uint8_t>(length >> 8);
    bytes[19] = static_cast<uint8_t>(length);
    bytes[20] = 41;
    bytes[21] = 64;
    const uint32_t to = (where >> 5) % topology_.host_count();
    const Ipv6Address carrier =
        topology_.routing.by_default == Routing::kEcmp
            ? host_address(topology_, to)
            : make_carrier(topology_, to == 0 ? 1 : 0, to, Path{0, where % 2u});
    std::copy(carrier.begin(), carrier.end(), bytes.begin() + 38);
    for (uint32_t flips = program.below(8); flips > 5; --flips) {
      const size_t place = program.next() % std::min<size_t>(bytes.size(), 62);
      bytes[place] = program.next();
    }
    return bytes;
  }
  static std::vector<uint8_t> pause_frame(Program& program) {
    PauseFrame pause;
    pause.classes = program.next();
    pause.quanta[kLosslessPriority] = static_cast<uint16_t>(program.next() << 8 | program.next());
    std::array<uint8_t, kPauseFrameBytes> bytes;
    write_pause(pause, MacAddress{}, bytes);
    return {bytes.begin(), bytes.end()};
  }
  static std::vector<uint8_t> raw_bytes(Program& program) {
    std::vector<uint8_t> bytes(program.below(80));
    for (uint8_t& byte : bytes) byte = program.next();
    return bytes;
  }
  Effect some_effect(Program& program, PortId port) {
    const uint8_t kind = program.next(), how = program.next();
    switch (kind % 6) {
      case 0: return SwitchState{self_, static_cast<SwitchWork>(how % 4)};
      case 1: return PortCarrier{{self_, port}, (how & 1) != 0};
      case 2: return WireState{topology_.port({self_, port}).in, (how & 1) != 0};
      case 3: lost_buffer_ = true; return SwitchBuffer{self_, {how * (Probability::kOne / 256)}};
      case 4: return SwitchTrim{self_, (how & 1) != 0};
      default:
        return WireDuplicates{topology_.port({self_, port}).out, {how * (Probability::kOne / 256)}};
    }
  }

  Topology topology_;
  NodeId self_;
  FramePool pool_{1u << 12};
  PauseCount pauses_;
  SwitchNode node_;
  FabricTime now_;
  std::array<FabricTime, kPorts> free_{};
  uint64_t sequence_ = 0, effects_ = 0;
  bool lost_buffer_ =
      false;  // what was held before a fault took buffer away may be more than is left
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Program program(data, size);
  FuzzedSwitch fuzzed(program.next());
  while (!program.done()) {
    fuzzed.obey(program);
    fuzzed.go_on(FabricTime::from_ns(10 * program.next()));
    fuzzed.check();
  }
  // A port sends at 100 Gb/s, on which the longest pause is 336 us.
  fuzzed.go_on(FabricTime::from_ms(5));
  fuzzed.check();
  fuzzed.check_empty();
  return 0;
}
