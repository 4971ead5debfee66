#pragma once
// One forged packet against two hosts with quiet, regular traffic in both directions, and what it
// changed: the same run without it is the measure.
//
//   h0 --messages of 16 packets, long pauses--> h1     (queue pair A, the one that is attacked)
//   h1 --the same--> h0                                (queue pair B, which must not notice)

#include <algorithm>
#include <functional>
#include <optional>
#include <stdexcept>
#include <vector>

#include "endpoint/options/profile_maker.h"
#include "endpoint/plan/connection_plan.h"
#include "fabric/topology/build_topology.h"
#include "tests/support/fabrics.h"
#include "tests/support/pair_fabric.h"
#include "tests/support/sample_frames.h"

namespace mrclab::test {

class PacketAttack : private PairFabric::Tap {
 public:
  using Frames = std::vector<uint8_t>;
  struct Sent {
    FabricTime start;
    uint32_t from = 0;
    uint32_t port = 0;
    Frames bytes;
    auto operator<=>(const Sent&) const = default;
  };

  explicit PacketAttack(std::optional<endpoint::TransportProfile> profile = {})
      : fabric_(topology(), config(std::move(profile)), kSeed, pool_, {&silent_, &silent_}, *this) {
    plan_ = endpoint::plan_connections(topology(), config({}).workloads, kSeed).at(0);
  }

  static const Topology& topology() {
    static const Topology pair = build_topology(shape_of("pair", 2, 1, 0, 2));
    return pair;
  }
  static constexpr uint32_t kPacketsPerMessage = 16;
  static constexpr uint64_t kSeed = 1;

  void run_until(FabricTime t) {
    while (fabric_.next_event() <= t) fabric_.step();
  }
  /// After the third message has been answered: nothing is under way on any queue pair.
  void run_until_idle() {
    while (data_sent_ < 3 * kPacketsPerMessage || fabric_.now() - last_frame_ < rtt() * 2) {
      fabric_.step();
    }
  }
  /// In the fourth message: some of its packets are sent, none is acknowledged.
  void run_until_busy() {
    while (data_sent_ < 3 * kPacketsPerMessage + 4) fabric_.step();
  }

  void inject(uint32_t to, const Frames& bytes, uint32_t port) {
    injected_at_ = fabric_.now();
    fabric_.deliver(to, PortId{port}, pool_.copy(bytes), fabric_.now(), fabric_.now());
  }
  /// The newest frame of queue pair A with this opcode that was sent to `to`.
  const Frames& newest(uint32_t to, Opcode opcode) const {
    const auto found = std::find_if(sent_.rbegin(), sent_.rend(), [&](const Sent& s) {
      return s.from != to && s.bytes[kBthOffset] == static_cast<uint8_t>(opcode) &&
             queue_pair_a(s.bytes);
    });
    if (found == sent_.rend()) throw std::logic_error("no such frame was sent yet");
    return found->bytes;
  }
  MrcFrameSpec spec(uint32_t to, Opcode opcode) const {
    MrcPacket packet;
    parse_mrc_frame(newest(to, opcode), packet);
    return spec_of(packet);
  }
  /// A write packet of queue pair A that would be new: the next PSN, its message complete in itself.
  MrcFrameSpec next_write(size_t length = 64) const {
    MrcFrameSpec s = spec(1, Opcode::kWriteLast);
    s.bth.opcode = Opcode::kWriteOnly;
    s.bth.psn = s.bth.psn + 1;
    auto& write = std::get<WriteHeaders>(s.extension);
    write.immediate.reset();
    ++write.meth.msn;
    write.reth->va = plan_.region.va;
    write.reth->dma_length = static_cast<uint32_t>(length);
    s.payload_length = length;
    return s;
  }
  /// The newest PSN that h0 has sent on queue pair A.
  Psn newest_psn() const { return newest_psn_; }

  FabricTime injected_at() const { return injected_at_; }
  endpoint::HostStats stats(uint32_t host) { return fabric_.host(host).stats(); }
  FabricTime now() const { return fabric_.now(); }
  static FabricTime rtt() { return topology().base_rtt; }
  static FabricTime end() { return FabricTime::from_us(400); }
  const std::vector<Sent>& sent() const { return sent_; }
  /// Frames that a host has sent, by opcode.
  uint64_t sent_of(uint32_t from, Opcode opcode) const {
    return by_opcode_[from][static_cast<uint8_t>(opcode)];
  }
  /// From here on frames are counted and not kept.
  void forget() { keep_ = false; }
  const endpoint::ConnectionPlan& plan() const { return plan_; }
  FramePool& pool() { return pool_; }

 private:
  static endpoint::HostConfig config(std::optional<endpoint::TransportProfile> profile) {
    endpoint::HostConfig c;
    c.transport = profile.value_or(endpoint::make_profile("lab", topology()));
    // Probes of the way back would fill the pauses in which nothing is to be under way.
    c.transport.reverse_probe_interval = FabricTime::from_ms(1000);
    endpoint::PermutationSpec permutation;
    permutation.hosts = {0, 1};
    permutation.message = {uint64_t{kPacketsPerMessage} * topology().pmtu};
    permutation.load = {50'000'000};
    c.workloads = {permutation};
    c.end = FabricTime::from_us(300);
    return c;
  }
  bool queue_pair_a(const Frames& bytes) const {
    MrcPacket packet;
    if (parse_mrc_frame(bytes, packet) != ParseError::kNone) return false;
    const Qpn qpn = packet.bth.destination_qp;
    return qpn == plan_.initiator.qpn || qpn == plan_.acceptor.qpn;
  }
  void on_frame(uint32_t from, PortId port, Frame frame, FabricTime start,
                FabricTime arrival) override {
    last_frame_ = start;
    const auto bytes = frame.writable_bytes();
    if (keep_) sent_.push_back({start, from, port.value, {bytes.begin(), bytes.end()}});
    ++by_opcode_[from][bytes[kBthOffset]];
    MrcPacket packet;
    parse_mrc_frame(bytes, packet);
    if (from == 0 && is_write(packet.bth.opcode)) {
      ++data_sent_;
      newest_psn_ = packet.bth.psn;
    }
    fabric_.deliver(1 - from, port, std::move(frame), start, arrival);
  }

  class Silent : public NodeObserver {
    void packet(const PacketRecord&) override {}
    void event(const EventRecord&) override {}
  };

  FramePool pool_;
  Silent silent_;
  std::vector<Sent> sent_;
  bool keep_ = true;
  std::array<std::array<uint64_t, 256>, 2> by_opcode_{};
  uint64_t data_sent_ = 0;
  FabricTime last_frame_;
  FabricTime injected_at_;
  Psn newest_psn_;
  PairFabric fabric_;
  endpoint::ConnectionPlan plan_;
};

}  // namespace mrclab::test
