#pragma once
// The class that a DSCP gives a packet. The classes are those of the MRC specification (and of UEC 1.0.3
// §4.1.4.1); which value stands for which is the operator's choice: `dscp:` of a fabric.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mrclab {

// The values of the public MRC emulator, which a fabric has that names none.
inline constexpr uint8_t kDscpNoTrim = 0;
inline constexpr uint8_t kDscpTrimmable = 4;
inline constexpr uint8_t kDscpTrimmableRetx = 8;
inline constexpr uint8_t kDscpTrimmed = 12;
inline constexpr uint8_t kDscpTrimmedLastHop = 16;
inline constexpr uint8_t kDscpControl = 46;
// RoCE's, as NVIDIA's NICs and SONiC have them.
inline constexpr uint8_t kDscpLossless = 26;
inline constexpr uint8_t kDscpCnp = 48;
/// BGP and BFD between neighbours: CS6, network control (RFC 4594).
inline constexpr uint8_t kDscpRouting = 48;
inline constexpr uint8_t kMaxDscp = 63;

struct DscpMap {
  uint8_t no_trim = kDscpNoTrim;
  uint8_t trimmable = kDscpTrimmable;
  uint8_t trimmable_retx = kDscpTrimmableRetx;  ///< may be that of first transmissions
  uint8_t trimmed = kDscpTrimmed;
  uint8_t trimmed_last_hop = kDscpTrimmedLastHop;  ///< may be that of every trim
  uint8_t control = kDscpControl;
  uint8_t lossless = kDscpLossless;  ///< data of RoCE
  uint8_t cnp = kDscpCnp;            ///< may be that of control

  constexpr bool is_trimmable(uint8_t dscp) const {
    return dscp == trimmable || dscp == trimmable_retx;
  }
  constexpr bool is_trimmed(uint8_t dscp) const {
    return dscp == trimmed || dscp == trimmed_last_hop;
  }
  /// True only where the two classes of trimmed frames have different values: with one value for
  /// both, a receiver cannot find out which switch trimmed.
  constexpr bool is_trimmed_last_hop(uint8_t dscp) const {
    return dscp == trimmed_last_hop && trimmed_last_hop != trimmed;
  }
  constexpr bool is_data(uint8_t dscp) const { return dscp == no_trim || is_trimmable(dscp); }
  constexpr bool is_control(uint8_t dscp) const { return dscp == control || dscp == cnp; }
  bool operator==(const DscpMap&) const = default;
};

/// One class: its name in files and on command lines, what it is for, and what it may share a value
/// with (classes of one group may be one).
struct DscpClass {
  std::string_view name;
  std::string_view about;
  uint8_t DscpMap::*member;
  uint8_t group;
};
inline constexpr std::array<DscpClass, 8> kDscpClasses{{
    {"no_trim", "data that no switch may trim, and probes", &DscpMap::no_trim, 0},
    {"trimmable", "data", &DscpMap::trimmable, 1},
    {"trimmable_retx", "retransmitted data", &DscpMap::trimmable_retx, 1},
    {"trimmed", "trimmed inside the fabric", &DscpMap::trimmed, 2},
    {"trimmed_last_hop", "trimmed on the last hop", &DscpMap::trimmed_last_hop, 2},
    {"control", "SACKs, NACKs, ACKs", &DscpMap::control, 3},
    {"lossless", "data of RoCE, which may be paused", &DscpMap::lossless, 4},
    {"cnp", "congestion notifications of RoCE", &DscpMap::cnp, 3},
}};

/// The class of a DSCP, such as "trimmable"; empty for a DSCP that no class has. If two classes
/// share the value, the first in kDscpClasses.
std::string_view class_of(const DscpMap& dscps, uint8_t dscp);

/// Why a map is not valid: classes that switches or receivers must distinguish share a value, or a
/// value has more than six bits. Empty for a valid map.
std::optional<std::string> misfit_of(const DscpMap& dscps);

/// "no_trim=0,trimmable=4": any of the classes, the others stay as they are. Throws
/// std::invalid_argument for anything else, and for a map that is not valid (misfit_of).
DscpMap parse_dscps(std::string_view text);

}  // namespace mrclab
