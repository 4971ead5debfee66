#pragma once
// Numbers of mrc_ctl.h that both a request's mask and the host's rules use.

#include <cstdint>

namespace mrclab::verbs {

enum ProfileStateNumber : uint32_t { kProfileInit, kProfileOffline, kProfileOnline };

enum ProfileMaskBit : uint32_t {
  kSetState = 1u << 0,    ///< of all kinds
  kGiveState = 1u << 1,   ///< of all kinds: the current one
  kSetVendor = 1u << 31,  ///< of all kinds
  kFormatSetMode = 1u << 2,
  kFormatSetFields = 1u << 3,
  kEvSetMode = 1u << 2,
  kEvSetFormat = 1u << 3,
  kEvSetCount = 1u << 4,
  kEvSetMinActive = 1u << 5,
  kEvSetEventMask = 1u << 6,
  kEvEntries = 1u << 7,
  kEvSetFields = 1u << 8,
  kCcSetAlgorithm = 1u << 2,
  kCcSetConfig = 1u << 3,
};

inline constexpr uint32_t kFormatStev = 1;
enum EvModeBit : uint32_t { kEvAuto = 1, kEvExplicit = 2, kEvGenerated = 4 };
enum EvEntryOp : uint32_t { kEvReplace, kEvSetState, kEvGiveState, kEvGiveArray };
enum EvStateBits : uint32_t { kStateGood = 1, kStateAssumedBad = 2, kStateDenied = 4 };
inline constexpr uint32_t kEvAllCopies = 1;

}  // namespace mrclab::verbs
