#pragma once
// How the agents of hosts probe the links of their fabric (endpoint/mapper): what a fabric's or a scenario's key `mapper`
// holds. Which host probes what, and when, follows from it and from the fabric: fabric/probes/probe_plan.h.

#include <cstdint>

#include "fabric/base/units.h"

namespace mrclab {

/// A time as a file has it: a number of the fabric's base RTTs, or a duration.
struct RttTime {
  uint32_t rtts = 0;  ///< 0: `time` is it
  FabricTime time;
  FabricTime at(FabricTime base_rtt) const { return rtts > 0 ? base_rtt * rtts : time; }
  bool operator==(const RttTime&) const = default;
};

/// What a probe carries behind UDP: a header of ours, or a STAMP test packet (RFC 8762 section 4.2.1).
enum class ProbeForm : uint8_t { kOwn, kStamp };

struct MapperProfile {
  bool on = false;
  RttTime period{10, {}};  ///< in which each link of the fabric is probed once
  RttTime timeout;         ///< zero: default_timeout()
  bool t0 = true;          ///< each port: to its T0 and back
  bool t1 = true;          ///< each link between T0 and T1: up and down it
  bool cross = true;       ///< each two such links: over another T0, and back by another T1
  ProbeForm form = ProbeForm::kOwn;
  bool operator==(const MapperProfile&) const = default;
};

}  // namespace mrclab
