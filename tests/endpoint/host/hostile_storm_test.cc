// Storms: thousands of hostile packets at one instant. Whatever they are, a host answers each at
// most once of a kind, queues within its bounds, allocates nothing once warm, and its own traffic
// arrives whole.

#include <malloc.h>

#include "tests/support/attack_table.h"
#include "tests/support/forgery.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using namespace mrclab::test;

namespace {

using A = PacketAttack;
using F = PacketAttack::Frames;

constexpr uint32_t kPackets = 3000;

struct Storm {
  const char* what;
  uint32_t to;
  std::function<F(A&, uint32_t number)> make;
};

MrcFrameSpec to_endpoint(A& a, EndpointOp op, uint32_t id) {
  MrcFrameSpec spec = a.next_write();
  spec.payload_length = 0;
  spec.bth.opcode = Opcode::kEndpointRequest;
  spec.bth.destination_qp = kEndpointQpn;
  spec.bth.psn = Psn{id};
  Erth erth;
  erth.op = op;
  erth.port_status_mask = 1u << id % 3;
  spec.extension = erth;
  return spec;
}

std::vector<Storm> storms() {
  return {
      {"replayed data", 1, [](A& a, uint32_t) { return a.newest(1, Opcode::kWriteLast); }},
      {"data beyond the window", 1,
       [](A& a, uint32_t n) {
         MrcFrameSpec spec = a.next_write();
         spec.bth.psn = spec.bth.psn + static_cast<int32_t>(2000 + n);
         return build_frame(spec);
       }},
      {"data with a wrong rkey", 1,
       [](A& a, uint32_t n) {
         MrcFrameSpec spec = a.next_write();
         spec.bth.psn = spec.bth.psn + static_cast<int32_t>(n % 1000);
         std::get<WriteHeaders>(spec.extension).reth->rkey = n;
         return build_frame(spec);
       }},
      {"trimmed packets that never were", 1,
       [](A& a, uint32_t n) {
         MrcFrameSpec spec = a.next_write();
         spec.bth.psn = spec.bth.psn + static_cast<int32_t>(n % 1000);
         return trimmed_by_switch(build_frame(spec), kDscpTrimmed);
       }},
      {"reliability probes", 1,
       [](A& a, uint32_t n) {
         MrcFrameSpec spec = a.next_write();
         spec.payload_length = 0;
         spec.bth.opcode = Opcode::kProbeRequest;
         spec.extension = Peth{0, static_cast<uint16_t>(n)};
         return build_frame(spec);
       }},
      {"EV probes", 1,
       [](A& a, uint32_t n) { return build_frame(to_endpoint(a, EndpointOp::kEvProbe, n)); }},
      {"replayed SACKs", 0, [](A& a, uint32_t) { return a.newest(0, Opcode::kSack); }},
      {"NACKs of packets long acknowledged", 0,
       [](A& a, uint32_t n) {
         MrcFrameSpec spec = a.spec(0, Opcode::kSack);
         spec.bth.opcode = Opcode::kNack;
         Neth neth;
         neth.psn = a.newest_psn() + -static_cast<int32_t>(n % 40);
         neth.entropy = spec.ev;
         spec.extension = neth;
         return build_frame(spec);
       }},
      {"bytes that mean nothing", 1,
       [](A& a, uint32_t n) {
         F frame = a.newest(1, Opcode::kWriteLast);
         Numbers random(n);
         for (uint8_t& byte : frame) byte = random.next<uint8_t>();
         return frame;
       }},
  };
}

uint64_t answers(const A& a, uint32_t from) {
  uint64_t sum = 0;
  for (const Opcode opcode : kAllOpcodes) sum += is_write(opcode) ? 0 : a.sent_of(from, opcode);
  return sum;
}

void blow(A& attack, const Storm& storm) {
  for (uint32_t n = 0; n < kPackets; ++n) {
    const F frame = storm.make(attack, n);
    attack.inject(storm.to, frame, port_of(frame));
  }
}

}  // namespace

TEST_CASE("a storm is answered packet by packet at most, and the traffic behind it arrives whole") {
  for (const Storm& storm : storms()) {
    INFO(std::string(storm.what));
    PacketAttack attacked, baseline;
    attacked.run_until_idle();
    blow(attacked, storm);
    attacked.run_until(FabricTime::from_us(900));
    baseline.run_until(FabricTime::from_us(900));
    for (uint32_t h = 0; h < 2; ++h) {
      CHECK(attacked.stats(h).bytes_verified == baseline.stats(h).bytes_verified);
      CHECK(attacked.stats(h).bytes_mismatched == 0);
      CHECK(attacked.stats(h).qps_in_error == 0);
    }
    // A SACK or NACK, and a transport ACK, for each; the peer answers none of them.
    CHECK(answers(attacked, storm.to) <= answers(baseline, storm.to) + 2 * kPackets);
    CHECK(attacked.sent_of(storm.to, Opcode::kAcknowledge) <=
          baseline.sent_of(storm.to, Opcode::kAcknowledge) + kPackets);
    CHECK(attacked.pool().in_use() == 0);
    CHECK(attacked.pool().exhausted() == 0);
  }
}

TEST_CASE("a host that is warm allocates nothing in a storm") {
  for (const Storm& storm : storms()) {
    INFO(std::string(storm.what));
    PacketAttack attacked;
    attacked.run_until_idle();
    attacked.forget();
    const auto allocated_after_a_storm = [&] {
      blow(attacked, storm);
      const FabricTime until = attacked.now() + PacketAttack::rtt() * 200;
      attacked.run_until(until);
      return ::mallinfo2().uordblks;
    };
    for (int i = 0; i < 4; ++i) allocated_after_a_storm();  // queues have found their size
    const size_t warm = allocated_after_a_storm();
    CHECK(allocated_after_a_storm() <= warm);
  }
}

TEST_CASE("a peer whose port status never rests is believed each time, and everything arrives") {
  PacketAttack attacked, baseline;
  attacked.run_until_idle();
  for (uint32_t n = 1; n <= kPackets; ++n) {
    MrcFrameSpec spec = to_endpoint(attacked, EndpointOp::kPortStatusUpdate, n);
    if (n == kPackets) std::get<Erth>(spec.extension).port_status_mask = 0b11;
    const F frame = build_frame(spec);
    attacked.inject(1, frame, port_of(frame));
  }
  attacked.run_until(FabricTime::from_us(900));
  baseline.run_until(FabricTime::from_us(900));
  for (uint32_t h = 0; h < 2; ++h) {
    CHECK(attacked.stats(h).bytes_verified == baseline.stats(h).bytes_verified);
    CHECK(attacked.stats(h).qps_in_error == 0);
  }
  CHECK(attacked.stats(1).port_status_received == kPackets);
  CHECK(attacked.sent_of(1, Opcode::kEndpointResponse) <= kPackets);
}
