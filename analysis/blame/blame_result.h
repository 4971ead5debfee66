#pragma once
// A component that is blamed (analysis/blame/blame.h: how), as verdicts carry it.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/base/units.h"

namespace mrclab::analysis {

enum class Symptom : uint8_t {
  kLoses,
  kNoLight,    ///< losses, and ports that hosts report dark
  kFlipsBits,  ///< losses that a frame check or an ICRC explains
  kMisroutes,  ///< losses by switches or NICs to which the packet was not addressed
  kDuplicates,
  kMarks,             ///< marks packets where there is no congestion
  kBursts,            ///< sends without heeding congestion
  kDrainsSlowly,      ///< refuses what it receives because its buffer is full
  kPausesWithoutEnd,  ///< its NIC asks its switches to stop, and takes next to nothing
};
std::string_view name_of(Symptom symptom);

/// A NIC that holds a port of a switch back for 4 base RTTs without a gap pauses without end: who takes a packet of
/// 4 KB in that time drains at 1 % of a port's rate or so (our choice).
inline constexpr int64_t kStormRtts = 4;

/// Between two components of Blame::or_else that explain the packets if both failed at once.
inline constexpr std::string_view kAndAtOnce = " and ";

struct Blame {
  std::string
      kind;  ///< "wire", "link", "optic", "switch", "host", "line_card", "plane", "power_zone", "route", "path"
  std::string component;  ///< "link h0:p2--p2.t0-0:d0"
  Symptom symptom = Symptom::kLoses;
  std::vector<std::string> or_else;  ///< components that explain the same packets
  /// Number of places of it and `or_else`; a wire and its link are one.
  uint32_t places = 1;
  FabricTime from, until;  ///< the first and the last packet that is evidence for it
  FabricTime named = FabricTime::never();  ///< from here on the evidence sufficed
  uint32_t times = 1;                      ///< stretches of time, with good ones between them
  uint64_t bad = 0, of = 0;                ///< packets over it in that time
  uint64_t bad_elsewhere = 0;              ///< in the same time, unexplained by any blame
  /// Which host first stopped to use which path; empty if none did.
  std::string noticed;
  std::string evidence;  ///< a sentence
};

}  // namespace mrclab::analysis
