#pragma once
// The steps of a hostile program, and what they make of frames.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fabric/base/ids.h"
#include "tests/support/forgery.h"
#include "tests/support/hostile_setup.h"

namespace mrclab::test {

/// kMutationNames has their names.
enum class Mutation : uint8_t {
  kDrop,
  kDropBurst,
  kDuplicate,
  kDelay,
  kReplay,
  kTrim,
  kMark,
  kFlip,  // the ICRC stays as it was
  kCut,
  kWrongPort,
  kReflect,
  kRaw,
  kForgeField,  // from here on with a right ICRC
  kForgeControl,
  kForgeBits,
  kSilence,  // from here on faults of wires and ports
  kCarrier,
  kLoss,
  kPause,
  kCount,
};

struct HostileStep {
  uint8_t skip = 0;  ///< so many frames pass before
  Mutation what = Mutation::kCount;
  ForgeryChoice how;
};

/// Empty at the end of the program.
std::optional<HostileStep> read_hostile_step(ProgramBytes& program);

/// A neighbour may ask for any pause, of any classes; one in eight of its frames is cut, one is changed.
std::vector<uint8_t> any_pause(ForgeryChoice how);
/// What a switch in the middle of the way, or the one before the receiver, makes of a frame that it trims.
std::vector<uint8_t> trimmed_somewhere(std::span<const uint8_t> frame, ForgeryChoice how);
/// One bit or two, those of headers more often than those of a payload.
void flip_bits(std::vector<uint8_t>& frame, ForgeryChoice how);

struct PastFrame {
  uint32_t from = 0;
  PortId port;
  std::vector<uint8_t> bytes;
};

/// The last frames that two hosts sent.
class PastFrames {
 public:
  void remember(uint32_t from, PortId port, std::span<const uint8_t> bytes);
  /// Null as long as there is none.
  const PastFrame* recall(uint8_t which) const;
  /// The PSN of the newest data packet that the host sent; 0 before the first.
  Psn newest_psn(uint32_t from) const { return newest_psn_[from]; }

 private:
  std::array<PastFrame, 16> frames_;
  uint64_t count_ = 0;  ///< frames remembered so far; the last ones are in frames_
  std::array<Psn, 2> newest_psn_;
};

}  // namespace mrclab::test
