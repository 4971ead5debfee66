#pragma once
// One fault, as a scenario file has it.

#include <string>

#include "faults/fault.h"

namespace mrclab::test {

/// "rtt" in it is 11 us.
inline faults::Fault read_fault(const Topology& topology, const std::string& text) {
  NameResolver names(topology, 1);
  const YamlValue list = read_yaml_text("- " + text + "\n", "f.yaml");
  return faults::parse_faults(list.with_rtt(FabricTime::from_us(11)), names).at(0);
}

}  // namespace mrclab::test
