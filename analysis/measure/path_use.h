#pragma once
// Who used which path when: detection of a fault, and whether its paths came back into use.

#include <optional>
#include <vector>

#include "analysis/capture/flat_index.h"
#include "analysis/history/fault_span.h"
#include "analysis/history/packet_history.h"
#include "analysis/measure/wire_matcher.h"

namespace mrclab::analysis {

inline constexpr int64_t kWindowRtts = 20;
/// At full load a sender of 128 paths turns through them once in about an RTT (MRC paper §2.4: 1-2
/// windows' worth); our choice: three turns without it are no accident.
inline constexpr int64_t kAwayRtts = 3;

/// How one flow used the paths over one impaired wire.
struct PathUse {
  uint32_t flow = 0;
  WireId wire;
  FabricTime impaired_from;
  uint32_t uses_before = 0;  ///< first transmissions in the 20 RTT before
  uint32_t uses_during = 0;  ///< first transmissions while impaired
  FabricTime last_use;       ///< the last of these; meaningful if uses_during > 0
  bool avoided = false;      ///< went on sending enough elsewhere to show that it stays away
  bool still_used = false;   ///< in use in the last RTT of the impairment (or run)
};

enum class Detection : uint8_t {
  kNothing,      ///< no affected sender tried: nothing to detect
  kUnconfirmed,  ///< used, but no sender then sent enough to show that it avoids the path
  kDetected,
};

struct FaultMeasurement {
  Detection detection = Detection::kNothing;
  FabricTime detect;  ///< a lower bound if kUnconfirmed
  bool still_used = false;
  std::optional<FabricTime> left;  ///< empty: no affected sender lost anything
  bool never_left = false;         ///< an affected sender never stayed away
  std::vector<PathUse> uses;       ///< one for every affected flow
  uint32_t wires_to_regain = 0;    ///< impaired wires that had traffic before
  std::vector<WireId> unused;      ///< those that nothing crossed again, though enough was sent
  std::vector<WireId> unjudged;    ///< those that nothing crossed again, but too little was sent
};

/// First transmissions ordered by the instant at which they start to leave; and of each way that a flow took when it was
/// first and last of use, so that a wire is judged by the ways over it and not by all packets once more. References
/// outlive it.
class PathUsage {
 public:
  PathUsage(const Topology& topology, const PacketHistory& history, FabricTime base_rtt,
            FabricTime end);
  FaultMeasurement measure(const FaultSpan& fault) const;

 private:
  /// One entropy value of one flow.
  struct Way {
    uint32_t flow = 0;
    Path path;
    bool hashed = false;  ///< `path` is what a T0 with all its uplinks would have chosen
    FabricTime first_start = FabricTime::never();  ///< when the first attempt on this path started
    std::optional<FabricTime> last_delivered;      ///< when the last attempt that arrived started
  };
  struct Use {
    FabricTime start;
    uint32_t way = 0;
    bool lost = false;
  };
  struct FlowCount {
    uint32_t before = 0, before_on_wire = 0;  // in the 20 RTT before the impairment
    uint32_t during_on_wire = 0;
    uint32_t since_last = 0;  // elsewhere, after the last use of the wire
    FabricTime last;
    std::optional<FabricTime> first_loss;  // when the first use that was lost started
    std::optional<FabricTime> left;        // the last use before it first stayed away after that
  };
  enum class Regained : uint8_t { kNotUsedBefore, kYes, kNo, kNobodySent };

  void measure_impairment(const Impairment& impairment, FaultMeasurement& result) const;
  bool stays_away(const FlowCount& count, FabricTime now, uint32_t paths) const;
  void judge_flow(uint32_t flow, const FlowCount& count, const Impairment& impairment,
                  uint32_t paths, FaultMeasurement& result) const;
  Regained regained(WireId wire, FabricTime first_down, FabricTime last_up) const;
  uint32_t way_of(FlatIndex& known, uint32_t flow, EntropyValue ev);
  /// Calls `use` with the number of each way over the wire.
  template <class UseWay>
  void for_each_way_over(const WireMatcher& matcher, UseWay&& use) const;
  uint64_t chances_of(const WireMatcher& matcher, FabricTime from) const;
  bool control_on(const WireMatcher& matcher, FabricTime from, FabricTime until, bool probes) const;

  const Topology& topology_;
  const PacketHistory& history_;
  FabricTime base_rtt_;
  FabricTime end_;
  std::vector<Use> uses_;
  std::vector<Way> ways_;
  std::vector<std::vector<uint32_t>> ways_of_flow_;
};

}  // namespace mrclab::analysis
