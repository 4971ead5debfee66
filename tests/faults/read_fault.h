#pragma once
// One fault, as a scenario file has it.

#include <string>

#include "faults/fault.h"
#include "tests/support/errors.h"

namespace mrclab::test {

/// "rtt" in it is 11 us.
inline faults::Fault read_fault(const Topology& topology, const std::string& text) {
  NameResolver names(topology, 1);
  const YamlValue list = read_yaml_text("- " + text + "\n", "f.yaml");
  return faults::parse_faults(list.with_rtt(FabricTime::from_us(11)), names).at(0);
}

/// The error of one that cannot be read; "no error" of one that can.
inline std::string fault_error(const Topology& topology, const std::string& text) {
  return error_of([&] { read_fault(topology, text); });
}

}  // namespace mrclab::test
