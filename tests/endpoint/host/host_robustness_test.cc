// Hostile input: any packet at any time is counted under its own reason and corrupts neither memory
// nor state. A host in a running transfer is given forged and mutilated frames.

#include <doctest/doctest.h>

#include <cstring>
#include <optional>
#include <utility>

#include "endpoint/host/host_node.h"
#include "endpoint/options/profile_maker.h"
#include "fabric/base/random.h"
#include "fabric/packet/headers.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/path.h"
#include "tests/support/fabrics.h"
#include "tests/support/mrc_frames.h"
#include "tests/support/sim_fabric.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::SimFabric;
using mrclab::test::us;

namespace {

/// h0 writes to h1 over two planes; frames are put into h1's (or h0's) port 0 by hand.
struct Attack {
  explicit Attack(std::optional<TransportProfile> profile = {})
      : fabric(build_topology(test::shape_of("pair", 2, 1, 0, 2)), options(std::move(profile))) {
    plan = plan_connections(fabric.topology, options().workloads, 1).at(0);
    fabric.stop_when_finished = false;
  }
  static SimFabric::Options options(std::optional<TransportProfile> profile = {}) {
    WriteSpec spec;
    spec.from = 0;
    spec.to = 1;
    spec.size = {1 << 20};
    spec.count = 4;
    SimFabric::Options o;
    o.workloads = {spec};
    o.profile = std::move(profile);
    return o;
  }

  /// As it looks behind the last T0: only the port's own uSID is left in the carrier.
  MrcFrameSpec spec(uint32_t from, uint32_t to) const {
    const Topology& t = fabric.topology;
    MrcFrameSpec s;
    s.ev = ev_of({0, kT0LocalUplink});
    s.carrier = make_carrier(t, from, to, {0, kT0LocalUplink});
    shift_carrier(s.carrier);
    s.outer_source = s.inner_source = host_address(t, from);
    s.inner_destination = host_address(t, to);
    s.bth.destination_qp = to == plan.acceptor.host ? plan.acceptor.qpn : plan.initiator.qpn;
    return s;
  }
  MrcFrameSpec data(Psn psn, uint64_t va, uint32_t rkey) const {
    MrcFrameSpec s = spec(0, 1);
    s.bth.opcode = Opcode::kWriteOnly;
    s.bth.psn = psn;
    WriteHeaders w;
    w.tseth = Tseth{};
    w.reth = Reth{va, rkey, 64};
    s.extension = w;
    s.payload_length = 64;
    return s;
  }
  std::vector<uint8_t> bytes(const MrcFrameSpec& s) const {
    std::vector<uint8_t> frame(mrc_frame_size(s), 0xEE);
    write_mrc_headers(s, frame);
    finish_mrc_frame(frame);
    return frame;
  }
  /// `ago`: so long has it been in the host already.
  void inject(uint32_t host, std::span<const uint8_t> frame, FabricTime ago = {}) {
    Arrival arrival;
    arrival.frame = fabric.frames().copy(frame);
    arrival.start = arrival.arrival = fabric.now() - ago;
    arrival.sequence = 1'000'000 + injected++;
    fabric.host(host).receive(PortId{0}, std::move(arrival));
  }
  uint64_t refused(uint32_t host, Refusal reason) const {
    return fabric.stats(host).refused_for(reason);
  }
  void check_unharmed() {
    fabric.run_until(us(5000));
    CHECK(fabric.stats(0).writes_completed == 4);
    CHECK(fabric.stats(1).bytes_verified == 4 << 20);
    CHECK(fabric.stats(1).bytes_mismatched == 0);
    CHECK(fabric.stats(0).qps_in_error + fabric.stats(1).qps_in_error == 0);
  }

  SimFabric fabric;
  ConnectionPlan plan;
  uint64_t injected = 0;
};

}  // namespace

TEST_CASE("each kind of bad frame is counted under its own reason") {
  struct Case {
    const char* what;
    Refusal expected;
    void (*spoil)(Attack&, MrcFrameSpec&, std::vector<uint8_t>&);
  };
  const auto table = {
      Case{"cut off", Refusal::kMalformed,
           [](Attack&, MrcFrameSpec&, std::vector<uint8_t>& f) { f.resize(100); }},
      Case{"empty", Refusal::kMalformed,
           [](Attack&, MrcFrameSpec&, std::vector<uint8_t>& f) { f.resize(0); }},
      Case{"ARP", Refusal::kOtherTraffic,
           [](Attack&, MrcFrameSpec&, std::vector<uint8_t>& f) { f[12] = 8, f[13] = 6; }},
      Case{"unknown opcode", Refusal::kMalformed,
           [](Attack&, MrcFrameSpec&, std::vector<uint8_t>& f) { f[kBthOffset] = 0x77; }},
      Case{"flipped payload bit", Refusal::kBadIcrc,
           [](Attack&, MrcFrameSpec&, std::vector<uint8_t>& f) { f[160] ^= 1; }},
      Case{"another port's carrier", Refusal::kWrongCarrier,
           [](Attack&, MrcFrameSpec&, std::vector<uint8_t>& f) { f[kOuterOffset + 29] ^= 1; }},
      Case{"a carrier that goes on", Refusal::kCarrierNotEmpty,
           [](Attack&, MrcFrameSpec&, std::vector<uint8_t>& f) { f[kOuterOffset + 31] = 1; }},
      Case{"another host's address", Refusal::kWrongAddress,
           [](Attack& a, MrcFrameSpec& s, std::vector<uint8_t>& f) {
             s.inner_destination = s.inner_source;
             f = a.bytes(s);
           }},
      Case{"unknown queue pair", Refusal::kUnknownQp,
           [](Attack& a, MrcFrameSpec& s, std::vector<uint8_t>& f) {
             s.bth.destination_qp.value ^= 0x800;
             f = a.bytes(s);
           }},
      Case{"not from the peer", Refusal::kWrongPeer,
           [](Attack& a, MrcFrameSpec& s, std::vector<uint8_t>& f) {
             s.inner_source[15] ^= 4;
             f = a.bytes(s);
           }},
      Case{"trimmed DSCP on a whole packet", Refusal::kBadTrim,
           [](Attack& a, MrcFrameSpec& s, std::vector<uint8_t>& f) {
             s.dscp = kDscpTrimmed;
             f = a.bytes(s);
           }},
      Case{"write to the endpoint QPN", Refusal::kUnexpectedOpcode,
           [](Attack& a, MrcFrameSpec& s, std::vector<uint8_t>& f) {
             s.bth.destination_qp = kEndpointQpn;
             f = a.bytes(s);
           }},
      Case{"a replay with the entropy value of another plane", Refusal::kDuplicate,
           [](Attack& a, MrcFrameSpec& s, std::vector<uint8_t>& f) {
             s.ev = ev_of({1, kT0LocalUplink});
             f = a.bytes(s);
           }},
      Case{"ahead of the window", Refusal::kPsnOutOfWindow,
           [](Attack& a, MrcFrameSpec& s, std::vector<uint8_t>& f) {
             s.bth.psn = s.bth.psn + 5000;
             f = a.bytes(s);
           }},
      Case{"far past", Refusal::kPsnFarPast,
           [](Attack& a, MrcFrameSpec& s, std::vector<uint8_t>& f) {
             s.bth.psn = s.bth.psn + (-5000);
             f = a.bytes(s);
           }},
  };
  for (const Case& c : table) {
    INFO(c.what);
    Attack a;
    a.fabric.run_until(us(20));
    MrcFrameSpec spec = a.data(a.plan.initiator.first_psn, a.plan.region.va, a.plan.region.rkey);
    std::vector<uint8_t> frame = a.bytes(spec);
    c.spoil(a, spec, frame);
    const uint64_t before = a.refused(1, c.expected);
    a.inject(1, frame);
    a.fabric.run_until(us(25));
    CHECK(a.refused(1, c.expected) == before + 1);
    a.check_unharmed();
  }
}

TEST_CASE("a SACK tells how long its packet waited for the host, if that was agreed on") {
  for (const bool agreed : {true, false}) {
    TransportProfile profile = make_profile("lab", test::pair());
    profile.service_time = agreed;
    Attack a(profile);
    a.fabric.run_until(us(20));
    std::optional<uint16_t> reflected;
    const Psn psn = a.plan.initiator.first_psn;  // has long arrived
    a.fabric.observer(1).on_packet = [&](const PacketRecord& record) {
      MrcPacket packet;
      if (!record.frame || parse_mrc_frame(record.frame.bytes(), packet) != ParseError::kNone)
        return;
      const auto* seth = std::get_if<Seth>(&packet.extension);
      if (seth == nullptr || record.direction != Direction::kEgress) return;
      const auto offset = static_cast<int16_t>(seth->psn_offset_or_probe_id);
      if (seth->cumulative + offset == psn) reflected = seth->tx_timestamp;
    };
    MrcFrameSpec spec = a.data(psn, a.plan.region.va, a.plan.region.rkey);
    std::get<WriteHeaders>(spec.extension).tseth->tx_timestamp = 0xFFF0;
    // It came in 12.8 us before it could be processed: 100 units of 128 ns.
    a.inject(1, a.bytes(spec), FabricTime::from_ns(12'800) + a.fabric.topology.host_latency);
    a.fabric.run_until(us(25));
    REQUIRE(reflected);
    CHECK(*reflected == (agreed ? 0xFFF0 + 100 - 0x1'0000 : 0xFFF0));
    a.check_unharmed();
  }
}

TEST_CASE("a wrong rkey or address never touches memory: counted, NAKed, the sender gives up") {
  for (const bool rkey : {true, false}) {
    Attack a;
    a.fabric.run_until(us(1));
    const Psn psn = a.plan.initiator.first_psn + 200;
    a.inject(1, a.bytes(rkey ? a.data(psn, a.plan.region.va, a.plan.region.rkey ^ 0x1000)
                             : a.data(psn, a.plan.region.va - 1, a.plan.region.rkey)));
    a.fabric.run_until(us(8));
    CHECK(a.fabric.stats(1).memory_faults == 1);
    CHECK(a.refused(1, rkey ? Refusal::kBadRkey : Refusal::kOutOfBounds) == 1);
    // The NAK names a packet that is not outstanding, so the sender ignores it.
    a.check_unharmed();
  }
}

TEST_CASE("feedback about packets that were never sent is refused") {
  Attack a;
  a.fabric.run_until(us(20));
  MrcFrameSpec sack = a.spec(1, 0);
  sack.bth.opcode = Opcode::kSack;
  Seth seth;
  seth.cumulative = a.plan.initiator.first_psn + 100'000;
  seth.entropy = ev_of({0, kT0LocalUplink});
  sack.extension = seth;
  a.inject(0, a.bytes(sack));
  MrcFrameSpec ack = a.spec(1, 0);
  ack.bth.opcode = Opcode::kAcknowledge;
  ack.bth.psn = seth.cumulative;
  ack.extension = Aeth{};
  a.inject(0, a.bytes(ack));
  MrcFrameSpec nack = a.spec(1, 0);
  nack.bth.opcode = Opcode::kNack;
  Neth neth;
  neth.psn = seth.cumulative;
  neth.entropy = seth.entropy;
  nack.extension = neth;
  a.inject(0, a.bytes(nack));
  a.fabric.run_until(us(25));
  CHECK(a.refused(0, Refusal::kSackOfFuture) == 1);
  CHECK(a.refused(0, Refusal::kAckOfFuture) == 1);
  CHECK(a.refused(0, Refusal::kNackOfUnsent) == 1);
  a.check_unharmed();
}

TEST_CASE("any frame with any bytes changed at any time leaves memory and transfer right") {
  Attack a;
  std::vector<std::vector<uint8_t>> seeds;
  uint64_t random = 1;
  const auto next = [&](uint64_t bound) {
    random = mix64(random);
    return below(random, bound);
  };
  // Real frames of this very transfer, as h1 and h0 receive them, mutilated and given again.
  for (uint32_t h = 0; h < 2; ++h) {
    a.fabric.observer(h).on_packet = [&](const PacketRecord& r) {
      if (r.direction == Direction::kIngress && seeds.size() < 400 && next(4) == 0) {
        seeds.emplace_back(r.frame.bytes().begin(), r.frame.bytes().end());
      }
    };
  }
  for (int64_t t = 1; t <= 60; ++t) {
    a.fabric.run_until(us(t));
    for (int i = 0; i < 50 && !seeds.empty(); ++i) {
      std::vector<uint8_t> frame = seeds[next(seeds.size())];
      const uint64_t changes = next(5);
      for (uint64_t c = 0; c < changes; ++c) {
        frame[next(next(2) == 0 ? 150 : frame.size()) % frame.size()] =
            static_cast<uint8_t>(next(256));
      }
      if (next(8) == 0) frame.resize(next(frame.size() + 1));
      a.inject(static_cast<uint32_t>(next(2)), frame);
    }
  }
  CHECK(a.injected > 2000);
  a.check_unharmed();
}

TEST_CASE("forgeries that know every key spoil a transfer at most, never a host") {
  uint64_t random = 7;
  const auto next = [&](uint64_t bound) {
    random = mix64(random);
    return below(random, bound);
  };
  for (int round = 0; round < 20; ++round) {
    Attack a;
    std::vector<std::pair<uint32_t, std::vector<uint8_t>>> seeds;
    for (uint32_t h = 0; h < 2; ++h) {
      a.fabric.observer(h).on_packet = [&, h](const PacketRecord& r) {
        if (r.direction == Direction::kIngress && seeds.size() < 300 && next(3) == 0) {
          const auto bytes = r.frame.bytes();
          seeds.emplace_back(h, std::vector<uint8_t>(bytes.begin(), bytes.end()));
        }
      };
    }
    uint64_t accepted = 0;
    for (int64_t t = 1; t <= 40; ++t) {
      a.fabric.run_until(us(t * 2));
      for (int i = 0; i < 20 && !seeds.empty(); ++i) {
        auto [host, frame] = seeds[next(seeds.size())];
        // Bits from BTH on, with an ICRC that fits again.
        const size_t end = std::min<size_t>(frame.size() - kIcrcBytes, 160);
        for (uint64_t c = 1 + next(4); c > 0; --c) {
          frame[kBthOffset + next(end - kBthOffset)] ^= static_cast<uint8_t>(1 << next(8));
        }
        MrcPacket packet;
        if (parse_mrc_frame(frame, packet) != ParseError::kNone) continue;
        finish_mrc_frame(frame);
        ++accepted;
        a.inject(host, frame);
      }
    }
    a.fabric.run_until(us(8000));
    CHECK(accepted > 100);
    uint64_t refused = 0;
    for (uint32_t h = 0; h < 2; ++h) {
      CHECK(a.refused(h, Refusal::kBadIcrc) == 0);
      for (const uint64_t count : a.fabric.stats(h).refused) refused += count;
    }
    CHECK(refused > 100);
    CHECK(a.fabric.stats(0).no_buffer == 0);
  }
}

TEST_CASE(
    "a forged port status takes ports away only until the real one speaks, memory stays right") {
  Attack a;
  a.fabric.run_until(us(20));
  MrcFrameSpec forged = a.spec(1, 0);
  forged.bth.opcode = Opcode::kEndpointRequest;
  forged.bth.destination_qp = kEndpointQpn;
  forged.bth.psn = Psn{1};
  Erth erth;
  erth.port_status_mask = 0b01;
  forged.extension = erth;
  a.inject(0, a.bytes(forged));
  MrcFrameSpec stranger = forged;
  stranger.inner_source[3] = 9;
  a.inject(0, a.bytes(stranger));
  a.fabric.run_until(us(25));
  CHECK(a.refused(0, Refusal::kWrongPeer) == 1);
  CHECK(a.fabric.observer(0).count("port_status_received") == 1);
  a.check_unharmed();
}
