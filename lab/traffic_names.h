#pragma once
// What the tables of traffic call things, with or without a fabric to name them.

#include <map>
#include <string>

#include "analysis/traffic.h"
#include "fabric/topology.h"

namespace mrclab::lab {

/// "h3", or the address where no fabric says whose it is.
std::string host_name(const Topology* topology, const Ipv6Address& address);
/// "h0>h5 0xe44001".
std::string flow_name(const Topology* topology, const analysis::Conversation& c);
/// "p3/u1", or the EV in hex where it names no path of ours.
std::string path_name(EntropyValue ev);
std::string plane_name(uint32_t plane);  ///< "p3", "?"
/// Where frames were counted, in words: "as they leave their host".
std::string sent_place(uint8_t rank);
std::string arrived_place(uint8_t rank);

}  // namespace mrclab::lab
