#pragma once
// When to probe the entropy values that are assumed bad, and when enough probes have succeeded
// (MRC paper §2.1: "if enough probes succeed, the EV is resurrected").
//
// Interval: base, then x 1.5 after each failure up to the maximum; after a success back to base, or
// to 1.5 x the probe's round trip if queues make that longer; jittered. A probe has failed when the
// next one is due and no answer has come. Damping: a re-failure within the damping window of the
// last one doubles the successes that are needed.

#include <cstdint>
#include <optional>
#include <vector>

#include "endpoint/base/transport_profile.h"
#include "fabric/base/random.h"
#include "fabric/base/units.h"

namespace mrclab::endpoint {

class EvProber {
 public:
  /// `profile` outlives it.
  EvProber(const TransportProfile& profile, uint64_t seed, NodeId node, uint32_t qp);

  void assumed_bad(uint32_t ev, FabricTime now);
  void forget(uint32_t ev);
  /// Forgets a value that was never bad, and its damping.
  void exonerate(uint32_t ev);
  bool watches(uint32_t ev) const;
  /// Was it assumed bad within the damping window, and answered the first probe and all others?
  bool was_falsely_accused(uint32_t ev, FabricTime now) const;
  FabricTime next_due() const;

  /// The next value to probe at `now`; the caller sends the probe under `probe_id`.
  std::optional<uint32_t> due(FabricTime now, uint16_t probe_id);

  enum class Answer : uint8_t { kUnknown, kCounted, kResurrect };
  /// An answer to `probe_id`. kResurrect: `ev` is no longer watched.
  Answer answered(uint16_t probe_id, FabricTime now, uint32_t& ev);

 private:
  struct History {
    FabricTime last_failure = FabricTime::never();
    FabricTime false_accusation = FabricTime::never();  ///< when its probes had all been answered
    uint32_t needed = 0;
  };
  struct Bad {
    uint32_t ev = 0;
    FabricTime sent;
    FabricTime due;
    FabricTime interval;
    uint32_t successes = 0;
    uint16_t probe_id = 0;
    bool awaiting = false;
    bool failed = false;  ///< a probe was not answered
    History before;
  };
  FabricTime jittered(FabricTime interval);
  History& history_of(uint32_t ev);

  const TransportProfile& profile_;
  uint64_t seed_;
  NodeId node_;
  uint64_t qp_;
  uint64_t draws_ = 0;
  std::vector<Bad> bad_;
  std::vector<History> history_;  // by number of the value, up to the last that was assumed bad
};

}  // namespace mrclab::endpoint
