#pragma once
// What a mapper does in a fabric of any size: probes, cost, which wires they cross, which wires have the same probes, and how
// long it takes until a loss is named. Every wire of a plane is counted, of 131,072 hosts as well.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fabric/topology/fabric_shape.h"
#include "fabric/topology/topology.h"

namespace mrclab::lab {

struct MapperPlan {
  MapperProfile mapper;
  FabricTime period;
  uint32_t planes = 0, hosts = 0, hosts_per_t0 = 0;
  // Of one period, in all planes.
  uint64_t t0 = 0, t1 = 0, cross = 0;  ///< probes
  uint64_t wires = 0;                  ///< directed: two for each link
  uint64_t crossed = 0;                ///< in the period that crosses fewest
  uint32_t most_a_wire = 0;            ///< probes over one wire between switches
  uint32_t most_a_port = 0;            ///< probes that one port sends
  double share = 0;                    ///< of a host's port
  /// Wires with the same probes in all the periods that were looked at: a fault of one looks like one of the other.
  uint32_t periods_looked_at = 0;
  uint64_t classes = 0, alone = 0;  ///< of one plane; those of one wire
  double threshold = 0;             ///< nats
  struct Delay {
    double loss;
    double probes;  ///< in the mean, until it is named
  };
  std::vector<Delay> delays;
};
/// Its mapper, or if it has none, each kind of probe and a period of 1 ms, as in production (MRC paper section 2.4).
/// Throws InputError for a fabric that is no regular planes.
MapperPlan plan_mapper(const FabricShape& shape);

std::string mapper_plan_text(const MapperPlan& plan);
nlohmann::ordered_json mapper_plan_json(const MapperPlan& plan);

}  // namespace mrclab::lab
