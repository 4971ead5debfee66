#pragma once
// Which host probes what in which period. Each probe comes back to the port that sent it:
//
//   t0      me : T0 : me                         the port's link, and the T0's entries for itself and the port
//   t1      me : T0 a : T1 u : T0 a : me         the link of a and u, both ways
//   cross   me : T0 a : T1 u : T0 b : T1 w : T0 a : me    up a-u, down u-b, up b-w, down w-a
//
// In period n the link of T0 a and T1 u is probed by host (u + n) mod H of a, H hosts to a T0: each link once a
// period, however many T1s and hosts there are, and over H periods from every host, so that a bad port of a host does
// not hide one link (our choice; the MRC paper, section 2.4, has "a subset of the T1s" for each agent).
//
// Cross probes go from a and u by b = a + s and w = u + r, all modulo; s and r go on by one each period, so that each
// pair of T0s meets. Of a and u those are left out whose wires the others cover: then each wire between switches is
// crossed once a period. That takes s or r odd and an even number of T0s or T1s; elsewhere each wire is crossed twice.
//
// Nothing but arithmetic on four numbers: a fabric of 131,072 hosts has a plan as well.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/base/units.h"
#include "fabric/mapper/mapper_profile.h"

namespace mrclab {

/// Regular planes, as numbers.
struct ProbeGrid {
  uint32_t planes = 0, t0 = 0, t1 = 0, hosts_per_t0 = 0;
};

enum class ProbeKind : uint8_t { kT0, kT1, kCross };
std::string_view name_of(ProbeKind kind);

struct Probe {
  ProbeKind kind = ProbeKind::kT0;
  uint32_t plane = 0;
  uint32_t uplink = 0;   ///< t1, cross: u
  uint32_t far_row = 0;  ///< cross: b
  uint32_t back = 0;     ///< cross: w
  bool operator==(const Probe&) const = default;
};

/// The probes of this host in this period, of one plane: each plane has the same. In the order in which they are sent.
std::vector<Probe> probes_of(const ProbeGrid& grid, const MapperProfile& mapper, uint32_t host,
                             uint32_t plane, uint64_t period);
/// At most so many has a port in a period.
uint32_t most_probes(const ProbeGrid& grid, const MapperProfile& mapper);
/// When in the period a host's port sends its probes: spread, so that not all of a fabric arrive at once.
FabricTime probe_offset(uint32_t host, uint32_t plane, FabricTime period);

/// "p2/t0", "p2/u1", "p2/x1": within one host and period a name of one probe.
std::string to_string(const Probe& probe);

}  // namespace mrclab
