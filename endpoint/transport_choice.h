#pragma once
// Which transport a scenario asks for: a profile and the options that replace single values of it.
//
//   transport: lab
//   transport: {profile: lab, active_evs: 64, window_percent: 100, ack_timeout: 8rtt, icrc: on}

#include <cstdint>
#include <optional>
#include <string>

#include "endpoint/transport_profile.h"
#include "fabric/units.h"
#include "fabric/yaml.h"

namespace mrclab::endpoint {

/// Empty options take the profile's value.
struct TransportChoice {
  std::string profile = "lab";             ///< "lab" or "production"
  std::optional<uint32_t> active_evs;      ///< entropy values per QP
  std::optional<uint32_t> window_percent;  ///< of line rate x base RTT
  std::optional<FabricTime> ack_timeout;
  std::optional<bool> icrc;  ///< compute and verify the ICRC
  bool operator==(const TransportChoice&) const = default;
};

/// Reads the profile's word alone or a map. Throws InputError with the position.
TransportChoice parse_transport(const YamlValue& value);
/// A map as it would stand in a file; reads back as the same choice.
std::string to_yaml(const TransportChoice& choice);

/// The profile with the options of the choice in place.
TransportProfile make_profile(const TransportChoice& choice, const Topology& topology);

}  // namespace mrclab::endpoint
