#pragma once
// Transports out of a seed: MRC most of the time, the two other sprayers, RC over RoCEv2, or RC beside MRC.
// Each of some options is switched on or not: swarm style, as with the faults. What came after MRC has draws
// of its own, so that the seeds which have MRC keep their runs.

#include <cstdint>
#include <string_view>

#include "endpoint/options/transport_choice.h"
#include "fabric/topology/topology.h"
#include "faults/draws.h"

namespace mrclab::lab {

enum class ChaosTransport : uint8_t { kMrc, kOblivious, kReps, kRoce, kMixed };
/// "mrc", "oblivious", "reps", "roce", "mrc+roce".
std::string_view name_of(ChaosTransport transport);
constexpr bool has_roce(ChaosTransport transport) {
  return transport == ChaosTransport::kRoce || transport == ChaosTransport::kMixed;
}

struct DrawnTransport {
  ChaosTransport transport = ChaosTransport::kMrc;
  endpoint::TransportChoice choice;
  uint32_t qps = 1;  ///< of each connection of RC
  /// What the switches' watchdogs do, if the switches pause RoCE's data.
  WatchdogAction watchdog = WatchdogAction::kOff;
  FabricTime detect, restore;
};

/// The streams of a seed's draws that the scenario and its faults have are below this one.
inline constexpr uint32_t kTransportDraws = (1 << 16) + 1;

/// `draws` and `receiver_draws` are drawn from alike for every transport.
DrawnTransport draw_transport(uint64_t seed, faults::Draws& draws, faults::Draws& receiver_draws,
                              const Topology& topology, bool roce_possible);

}  // namespace mrclab::lab
