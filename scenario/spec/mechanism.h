#pragma once
// Mechanisms that a run can be made without, to show what they are for: `run L2 --without spray`,
// or `without: [spray]` in a scenario. Each is an option of the transport or of the fabric's
// queues.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "endpoint/options/transport_choice.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/fabric_shape.h"
#include "fabric/topology/topology.h"

namespace mrclab::lab {

struct Mechanism {
  std::string_view name;
  std::string_view about;  ///< what a run without it does instead
  void (*leave_out_of_fabric)(FabricShape& fabric);
  /// The fabric is without it already.
  void (*leave_out_of_transport)(endpoint::TransportChoice& choice, const Topology& topology);
};

std::span<const Mechanism> mechanisms();
std::vector<std::string> mechanism_names();

/// Reads a list of names, each at most once. Throws InputError with the position.
std::vector<std::string> parse_mechanisms(const YamlValue& list);

/// Applied twice they change nothing more. Names are known ones.
void leave_out(std::span<const std::string> names, FabricShape& fabric);
void leave_out(std::span<const std::string> names, endpoint::TransportChoice& choice,
               const Topology& topology);

}  // namespace mrclab::lab
