#pragma once
// What the tables of traffic call things, with or without a fabric to name them.

#include <map>
#include <string>

#include "analysis/traffic/traffic.h"
#include "fabric/topology/topology.h"

namespace mrclab::lab {

/// "h3", or the address where no fabric has its host.
std::string host_name(const Topology* topology, const Ipv6Address& address);
/// "h0>h5 0xe44001".
std::string flow_name(const Topology* topology, const analysis::Conversation& c);
/// "p3/u1". A foreign path is "EV 0x102" or its carrier, with the plane in front if that is known:
/// "A fc00:42:2001:1002:2005:e003::".
std::string path_name(const analysis::Traffic& traffic, EntropyValue ev);
/// The entropy value in hex.
std::string entropy_text(const analysis::Traffic& traffic, EntropyValue ev);
std::string plane_name(uint32_t plane);  ///< "p3"; "A" for one without a number; "?"
/// The name of a tap, as the table of places has it.
std::string tap_name(const analysis::Traffic& traffic, uint32_t tap);
/// Where frames were counted, in words: "as they leave their host".
std::string sent_place(uint8_t rank);
std::string arrived_place(uint8_t rank);

}  // namespace mrclab::lab
