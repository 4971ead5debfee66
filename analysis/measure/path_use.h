#pragma once
// Who used which path when: detection of a fault, and whether its paths came back into use.

#include <optional>
#include <vector>

#include "analysis/history/fault_span.h"
#include "analysis/history/packet_history.h"
#include "analysis/measure/measurements.h"

namespace mrclab::analysis {

/// First transmissions ordered by the instant at which they start to leave. References outlive it.
class PathUsage {
 public:
  PathUsage(const Topology& topology, const PacketHistory& history, FabricTime base_rtt,
            FabricTime end);
  FaultMeasurement measure(const FaultSpan& fault) const;

 private:
  struct Use {
    FabricTime start;
    uint32_t flow = 0;
    Path path;
    bool lost = false;
    bool hashed = false;  ///< the path is what a T0 with all its uplinks would have chosen
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
  bool control_on(const WireMatcher& matcher, FabricTime from, FabricTime until, bool probes) const;

  const Topology& topology_;
  const PacketHistory& history_;
  FabricTime base_rtt_;
  FabricTime end_;
  std::vector<Use> uses_;
};

}  // namespace mrclab::analysis
