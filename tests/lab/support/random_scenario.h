#pragma once
// Short scenarios at random: small fabrics, every kind of workload, fault and transport (MRC, its other
// sprayers, RC, both at once). A pure function of the seed, as the text of a scenario file, so that what
// failed can be kept and run.

#include <cstdint>
#include <string>

namespace mrclab::test {

/// 30 to 150 us of fabric time on at most 4 planes and 4 hosts.
std::string random_scenario(uint64_t seed);

}  // namespace mrclab::test
