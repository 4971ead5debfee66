#pragma once
// The lab's clock: fabric time as a continuous, piecewise linear function of lab time
// (CLOCK_MONOTONIC), in shared memory under a seqlock. One writer, any number of readers.

#include <array>
#include <atomic>
#include <cstdint>

#include "fabric/base/units.h"

namespace mrclab::netio {

/// Lab time: nanoseconds of CLOCK_MONOTONIC.
struct LabTime {
  int64_t ns = 0;
  constexpr auto operator<=>(const LabTime&) const = default;
  constexpr LabTime operator+(int64_t d) const { return {ns + d}; }
  constexpr int64_t operator-(LabTime other) const { return ns - other.ns; }
  static LabTime now();
};

/// How fast fabric time passes, as dilation k: lab seconds per fabric second. Zero is a pause.
struct Dilation {
  double k = 0;
};

/// Lives in shared memory: trivially laid out, address-free atomics only.
class ClockPage {
 public:
  /// A rate change takes effect this much ahead, so that hardly any reader is already past it. A
  /// reader that is past it sees the clock step back by what it gained. That does no harm: no
  /// process takes back a commit, and the gate, not the clock, keeps the order. So the lead is
  /// short, and a jump costs little.
  static constexpr int64_t kLeadNs = 500'000;

  /// Writer: fabric time stays at `fabric` until a rate is set.
  void reset(FabricTime fabric, LabTime now);
  /// Writer: from now + kLeadNs on, time passes with `dilation`. Continuous.
  void set_dilation(Dilation dilation, LabTime now);
  /// Writer: as set_dilation, but fabric time also stands at `fabric` if that is later than where
  /// the clock would be: the clock jumps forward over a stretch in which nothing happens.
  void jump(FabricTime fabric, Dilation dilation, LabTime now);

  /// Writer: the clock steps back to `fabric` at once, and goes on with `dilation`.
  void set_back(FabricTime fabric, Dilation dilation, LabTime now);

  /// Fabric time at a lab instant. Wait-free but for a concurrent publication.
  FabricTime fabric_at(LabTime lab) const;
  /// Lab nanoseconds that the clock takes from one instant to the other at its present pace, negative if `to` comes
  /// before `from`; INT64_MAX in a pause.
  int64_t lab_ns_between(FabricTime from, FabricTime to, LabTime now) const;

 private:
  // Fabric ps per lab ns as a fixed-point number with 32 fractional bits: exact on every machine.
  struct Segment {
    std::atomic<int64_t> lab_ns{0};
    std::atomic<int64_t> fabric_ps{0};
    std::atomic<int64_t> rate_q32{0};
  };
  struct Plain {
    int64_t lab_ns, fabric_ps, rate_q32;
    FabricTime at(LabTime lab) const;
  };
  Plain segment_for(LabTime lab) const;
  void publish(LabTime from, FabricTime fabric, Dilation dilation);

  // Enough history for a frame whose kernel timestamp is a few rate changes old.
  static constexpr size_t kSegments = 16;
  std::atomic<uint32_t> version_{0};
  std::atomic<uint32_t> count_{0};
  std::array<Segment, kSegments> segments_;
};

static_assert(std::atomic<int64_t>::is_always_lock_free);

}  // namespace mrclab::netio
