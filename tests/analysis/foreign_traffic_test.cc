// Packets of other people's fabrics: what is learned of their format and of where they were captured. Whole
// captures against the known truth are tests/analysis/foreign/, made without our codecs.

#include <doctest/doctest.h>

#include "analysis/traffic/traffic_reader.h"
#include "tests/support/capture_writer.h"
#include "tests/support/mrc_frames.h"

namespace mrclab::analysis::foreign_traffic_test {
namespace {

Ipv6Address address(std::initializer_list<uint16_t> hextets) {
  Ipv6Address all{};
  size_t at = 0;
  for (const uint16_t hextet : hextets) {
    all[at++] = static_cast<uint8_t>(hextet >> 8);
    all[at++] = static_cast<uint8_t>(hextet);
  }
  return all;
}

const Ipv6Address kA = address({0x2001, 0xdb8, 0, 0, 0, 0, 0, 1});
const Ipv6Address kB = address({0x2001, 0xdb8, 0, 0, 0, 0, 0, 2});

/// A write of A to B, or an answer of B.
struct Sent {
  uint32_t psn = 0, qp = 0x100;
  Ipv6Address carrier = address({0xfc00, 0x42, 0x2001, 0x1001, 0x2002, 0xe003});
  uint8_t switches = 0;
  std::optional<Seth> sack = std::nullopt;
};

class ForeignCapture {
 public:
  ForeignCapture() { writer_.interface("eth0"); }
  void add(const Sent& sent, uint64_t t_ns) {
    MrcFrameSpec spec;
    spec.inner_source = sent.sack ? kB : kA;
    spec.inner_destination = sent.sack ? kA : kB;
    spec.carrier = sent.carrier;
    spec.outer_source = spec.inner_source;
    spec.bth.destination_qp = Qpn{sent.qp};
    spec.bth.psn = Psn{sent.psn};
    spec.bth.opcode = sent.sack ? Opcode::kSack : Opcode::kWriteOnly;
    if (sent.sack) {
      spec.extension = *sent.sack;
    } else {
      spec.extension = WriteHeaders{{}, std::nullopt, Reth{}, std::nullopt};
      spec.payload_length = 64;
    }
    std::vector<uint8_t> frame(mrc_frame_size(spec));
    write_mrc_headers(spec, frame);
    finish_mrc_frame(frame);
    frame[kOuterOffset + 7] = static_cast<uint8_t>(64 - sent.switches);
    writer_.packet(0, 0, t_ns, frame, static_cast<uint32_t>(frame.size()));
  }
  Traffic traffic() { return analyze_traffic(writer_.bytes()); }
  const std::vector<uint8_t>& bytes() { return writer_.bytes(); }

 private:
  test::CaptureWriter writer_;
};

Seth sack_of(uint32_t psn) {
  Seth sack;
  sack.cumulative = Psn{psn};
  return sack;
}

TEST_CASE("block and uSID length are those by which a carrier got shorter on its way") {
  struct Case {
    const char* name;
    Ipv6Address first, later;
    uint8_t hops, block_bits, usid_bits;
    Known known;
  };
  const std::vector<Case> cases{
      {"F3216", address({0xfc00, 0x42, 1, 2, 3}), address({0xfc00, 0x42, 3}), 2, 32, 16,
       Known::kSeen},
      {"32 bits", address({0xfc00, 0x42, 1, 2, 3, 4}), address({0xfc00, 0x42, 3, 4}), 1, 32, 32,
       Known::kSeen},
      {"32 bits, or two of 16", address({0xfc00, 0x42, 1, 2, 3, 4}), address({0xfc00, 0x42, 3, 4}),
       2, 32, 32, Known::kAssumed},
      {"block of 48", address({0xfc00, 0x42, 7, 1, 2, 3}), address({0xfc00, 0x42, 7, 3}), 2, 48, 16,
       Known::kSeen},
      {"zero in the high half", address({0xfc00, 0x42, 0, 1, 0, 2}),
       address({0xfc00, 0x42, 0, 1, 0, 2}), 0, 32, 32, Known::kSeen},
      {"seen once", address({0xfc00, 0x42, 1, 2, 3}), address({0xfc00, 0x42, 1, 2, 3}), 0, 32, 16,
       Known::kAssumed},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    CarrierLearner learner;
    learner.sample_carrier(c.first, 1, 0);
    learner.sample_carrier(c.later, 1, c.hops);
    const CarrierFormat format = learner.learned({});
    CHECK(format.block_bits == c.block_bits);
    CHECK(format.usid_bits == c.usid_bits);
    CHECK(format.known == c.known);
    CHECK(format.may_become(c.first, c.later));
    CHECK(learner.learned({48, 32, Known::kGiven}).block_bits == 48);
  }
}

TEST_CASE("a packet that left its host counts as sent and not as arrived, one that came as both") {
  for (const uint8_t switches : std::array<uint8_t, 2>{0, 3}) {
    ForeignCapture capture;
    for (uint32_t i = 0; i < 20; ++i) {
      Sent sent{i};
      sent.switches = switches;
      if (switches > 0) sent.carrier = address({0xfc00, 0x42, 0xe003});
      capture.add(sent, 1000 * i);
    }
    const Traffic traffic = capture.traffic();
    REQUIRE(traffic.flows.size() == 1);
    CHECK(traffic.flows[0].packets == 20);
    CHECK(traffic.flows[0].delivered == (switches == 0 ? 0 : 20));
    CHECK(traffic.counters.unmatched == 0);
    REQUIRE(traffic.format.places.ways().size() == 1);
    CHECK(traffic.format.places.ways()[0].place.known() == Known::kSeen);
  }
}

TEST_CASE("the carrier is the path where source port and flow label are 0") {
  ForeignCapture capture;
  for (uint32_t i = 0; i < 40; ++i) {
    Sent sent{i};
    const auto plane = static_cast<uint16_t>(i % 4 << 8);
    sent.carrier = address(
        {0xfc00, 0x42, static_cast<uint16_t>(0x2001 | plane), static_cast<uint16_t>(0x1001 | plane),
         static_cast<uint16_t>(0x2002 | plane), static_cast<uint16_t>(0xe003 | plane)});
    capture.add(sent, 1000 * i);
  }
  const Traffic traffic = capture.traffic();
  CHECK(traffic.paths.size() == 4);
  CHECK(traffic.foreign_paths[1].carrier ==
        address({0xfc00, 0x42, 0x2101, 0x1101, 0x2102, 0xe103}));
  for (uint32_t plane = 0; plane < 4; ++plane) {
    REQUIRE(traffic.planes.size() > kFirstClass + plane);
    CHECK(traffic.planes[kFirstClass + plane].packets == 10);
  }
}

TEST_CASE("answers that fit two flows belong to none, until one of them does not fit") {
  ForeignCapture capture;
  for (uint32_t i = 0; i < 40; ++i) {
    capture.add({i, 0x100}, 1000 * i);
    if (i < 20) capture.add({i, 0x101}, 1000 * i + 100);
  }
  Sent answer{5, 0x900};
  answer.sack = sack_of(5);
  capture.add(answer, 50'000);
  const Traffic unsure = capture.traffic();
  REQUIRE(unsure.answer_groups.size() == 1);
  CHECK(unsure.answer_groups[0].by == MatchedBy::kNothing);
  CHECK(unsure.answer_groups[0].candidates == 2);
  CHECK(unsure.answer_groups[0].sacks == 1);
  CHECK(unsure.counters.sacks == 1);
  CHECK(unsure.counters.answers_unmatched == 1);

  answer.psn = 30;
  answer.sack = sack_of(30);
  capture.add(answer, 60'000);
  const Traffic sure = capture.traffic();
  CHECK(sure.answer_groups[0].by == MatchedBy::kPsn);
  CHECK(sure.flows[sure.answer_groups[0].flow].sacks == 2);
  CHECK(sure.counters.answers_unmatched == 0);
}

TEST_CASE("spdcid and dpdcid name the flow that an answer belongs to") {
  ForeignCapture capture;
  for (uint32_t i = 0; i < 20; ++i) {
    capture.add({i, 0x2'0100}, 1000 * i);
    capture.add({i, 0x2'0101}, 1000 * i + 100);
  }
  for (const bool swapped : {false, true}) {
    Sent answer{5, 0x3'0900u + (swapped ? 1 : 0)};
    answer.sack = sack_of(5);
    answer.sack->spdcid = swapped ? 0x0901 : 0x0101;
    answer.sack->dpdcid = swapped ? 0x0100 : 0x0900;
    capture.add(answer, 50'000);
  }
  const Traffic traffic = capture.traffic();
  REQUIRE(traffic.answer_groups.size() == 2);
  for (const AnswerGroup& group : traffic.answer_groups) CHECK(group.by == MatchedBy::kIds);
  CHECK(traffic.conversations[traffic.flows[traffic.answer_groups[0].flow].conversation].qp ==
        Qpn{0x2'0101});
}

TEST_CASE(
    "damaged captures of others give traffic or an error, and never more packets than records") {
  ForeignCapture capture;
  for (uint32_t i = 0; i < 60; ++i) {
    Sent sent{i, 0x100 + i % 3};
    sent.switches = static_cast<uint8_t>(i % 4);
    capture.add(sent, 1000 * i);
    sent.sack = sack_of(i);
    capture.add(sent, 1000 * i + 500);
  }
  for (uint64_t seed = 0; seed < 300; ++seed) {
    std::vector<uint8_t> bytes = capture.bytes();
    for (uint64_t i = 0; i < 1 + seed % 60; ++i) {
      const uint64_t draw = mixed(seed << 16 | i);
      bytes[(draw >> 8) % bytes.size()] = static_cast<uint8_t>(draw);
    }
    try {
      const Traffic traffic = analyze_traffic(bytes);
      uint64_t packets = 0;
      for (const TrafficFlow& f : traffic.flows) packets += f.packets + f.resent;
      CHECK(packets <= traffic.counters.records);
      for (const FlowPath& path : traffic.paths) CHECK(path.plane < kFirstClass + kMaxClasses);
    } catch (const CaptureError&) {
    }
  }
}

}  // namespace
}  // namespace mrclab::analysis::foreign_traffic_test
