#pragma once
// A live pair of hosts under attack: real traffic in both directions, and a program of mutations
// that is applied to their packets. The program is any bytes at all, so a fuzzer can write it and a
// random generator too.
//
//   bytes 0-5   fabric, transport, PMTU, first PSN, ICRC, queue pairs, message size and count, seed
//   then 6 each skip n frames | what to do | four bytes for how
//
// When the program is over everything is healed and liveness is demanded. What must hold:
//   - never a wrong byte, never a completion before its bytes are in the peer's memory (unless the
//     program forged data or a transport ACK with a right ICRC: who can do that may do anything)
//   - every write completes or its queue pair fails, within a bounded fabric time: nothing hangs
//   - no queue pair fails for what a few lost or changed packets can do
//   - packets that nobody changed are refused by nobody; counters agree; no frame is leaked

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mrclab::test {

struct HostileOutcome {
  std::string violation;      ///< empty: all that must hold held
  uint64_t frames = 0;        ///< sent by the two hosts
  uint64_t disturbances = 0;  ///< frames that were lost, changed, moved or invented
  uint32_t qps_failed = 0;
  bool forged = false;  ///< a packet with a right ICRC did not come from the peer
};

/// What a program can do to a frame, by number: the words are for seeds and findings.
inline constexpr std::array<std::string_view, 19> kMutationNames{
    "drop",       "drop-burst", "duplicate",  "delay",   "replay", "trim",        "mark",
    "flip",       "cut",        "wrong-port", "reflect", "raw",    "forge-field", "forge-control",
    "forge-bits", "silence",    "carrier",    "loss",    "pause"};

HostileOutcome run_hostile_program(std::span<const uint8_t> program);

}  // namespace mrclab::test
