#pragma once
// A table of hostile packets: what it is, why it is refused, what is answered. The rest of the run
// must be the one without it, frame by frame and picosecond by picosecond.

#include <doctest/doctest.h>

#include <initializer_list>

#include "tests/support/mrc_frames.h"
#include "tests/support/packet_attack.h"

namespace mrclab::test {

using endpoint::Refusal;

struct AttackRow {
  const char* what;
  uint32_t to;       ///< host that gets it
  Refusal expected;  ///< kCount: accepted, but it changes nothing
  std::vector<Opcode> answers;
  std::function<PacketAttack::Frames(PacketAttack&)> make;
  std::function<bool(const MrcPacket&, const PacketAttack&)> answer_is = {};
};

inline constexpr std::initializer_list<Opcode> kNobody{};  ///< answers

/// The port that the frame's carrier leads to, else port 0.
inline uint32_t port_of(const PacketAttack::Frames& frame) {
  if (frame.size() < kInnerOffset) return 0;
  const std::optional<Ipv6Header> outer = parse_ipv6(std::span(frame).subspan(kOuterOffset));
  if (!outer) return 0;
  const auto usid = UsidLayout::of(AddressPlan::kLab).parse(active_usid(outer->destination));
  return usid && usid->plane < 2 ? usid->plane : 0;
}

inline void check_same_outcome(PacketAttack& attacked, PacketAttack& baseline,
                               const AttackRow& row) {
  for (uint32_t h = 0; h < 2; ++h) {
    const endpoint::HostStats a = attacked.stats(h), b = baseline.stats(h);
    CHECK(a.bytes_verified == b.bytes_verified);
    CHECK(a.bytes_mismatched == 0);
    CHECK(a.goodput_bytes() == b.goodput_bytes());
    CHECK(a.writes_completed == b.writes_completed);
    CHECK(a.retransmissions == 0);
    CHECK(a.qps_in_error == 0);
    CHECK(a.evs_bad == 0);
    CHECK(a.no_buffer == 0);
    if (h != row.to) continue;
    for (size_t i = 1; i < endpoint::kRefusals; ++i) {  // 0: accepted
      INFO("counter " << name_of(static_cast<Refusal>(i)));
      CHECK(a.refused[i] - b.refused[i] == (i == static_cast<size_t>(row.expected) ? 1u : 0u));
    }
  }
}

/// What is compared of every frame. An answer takes a turn of the way back and a port for a moment,
/// so after one only what was sent must be the same, not when and over which plane.
inline std::vector<PacketAttack::Sent> comparable(std::vector<PacketAttack::Sent> frames,
                                                  bool exact) {
  for (PacketAttack::Sent& sent : frames) {
    if (exact) break;
    sent.start = FabricTime::zero();
    sent.port = 0;
    sent.bytes.resize(kAfterBthOffset);
    sent.bytes.erase(sent.bytes.begin(), sent.bytes.begin() + kBthOffset);
  }
  std::sort(frames.begin(), frames.end());
  return frames;
}

inline void check_attack(bool busy, const AttackRow& row) {
  INFO(std::string(row.what));
  PacketAttack attacked, baseline;
  busy ? attacked.run_until_busy() : attacked.run_until_idle();
  const PacketAttack::Frames frame = row.make(attacked);
  attacked.inject(row.to, frame, port_of(frame));
  attacked.run_until(PacketAttack::end());
  baseline.run_until(PacketAttack::end());
  check_same_outcome(attacked, baseline, row);

  const bool exact = row.answers.empty();
  const auto with = comparable(attacked.sent(), exact),
             without = comparable(baseline.sent(), exact);
  std::vector<PacketAttack::Sent> extra, missing;
  std::set_difference(with.begin(), with.end(), without.begin(), without.end(),
                      std::back_inserter(extra));
  std::set_difference(without.begin(), without.end(), with.begin(), with.end(),
                      std::back_inserter(missing));
  CHECK(missing.size() == 0);
  std::vector<Opcode> answers;
  for (const PacketAttack::Sent& answer : extra) {
    CHECK(answer.from == row.to);
    answers.push_back(static_cast<Opcode>(answer.bytes[exact ? kBthOffset : 0]));
  }
  std::vector<Opcode> expected = row.answers;
  std::sort(answers.begin(), answers.end());
  std::sort(expected.begin(), expected.end());
  CHECK(answers == expected);
  if (!row.answer_is) return;
  // The answers are the first frames after the attack that the attacked host sends.
  size_t seen = 0;
  for (const PacketAttack::Sent& sent : attacked.sent()) {
    if (sent.start < attacked.injected_at() || sent.from != row.to || seen == expected.size()) {
      continue;
    }
    MrcPacket packet;
    REQUIRE(parse_mrc_frame(sent.bytes, packet) == ParseError::kNone);
    CHECK(row.answer_is(packet, attacked));
    ++seen;
  }
  CHECK(seen == expected.size());
}

inline void check_attacks(bool busy, const std::vector<AttackRow>& table) {
  for (const AttackRow& row : table) check_attack(busy, row);
}

}  // namespace mrclab::test
