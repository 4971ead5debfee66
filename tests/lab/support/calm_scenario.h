#pragma once
// Runs in which nothing is broken: small, on five fabrics, under MRC and the six transports that it is held
// against, with messages from 1 byte to 16 MiB. What waits, what queues drop and what is repeated needlessly happens in
// them; what a component loses does not. A pure function of fabric, transport and seed.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "scenario/spec/scenario.h"

namespace mrclab::test {

/// Four of them are shipped; "racks" has many hosts for few uplinks, as the incident blocked-gpu has.
inline constexpr std::array<std::string_view, 5> kCalmFabrics{"pair", "single", "trio", "octet",
                                                              "racks"};
/// Names of `compare --transport`; the fabrics need switches of no other routing for them.
inline constexpr std::array<std::string_view, 7> kCalmTransports{
    "mrc", "oblivious", "reps", "roce", "roce16", "roce-nopfc", "roce-ar"};

/// The text of a scenario file for `seed` under that transport, whose name is not yet in it.
std::string calm_text(std::string_view fabric, std::string_view transport, uint64_t seed);
/// The same, read, under the transport.
lab::Scenario calm_scenario(std::string_view fabric, std::string_view transport, uint64_t seed);

}  // namespace mrclab::test
