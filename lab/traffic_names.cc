#include "lab/traffic_names.h"

#include <fmt/format.h>

#include "fabric/path.h"

namespace mrclab::lab {

std::string host_name(const Topology* topology, const Ipv6Address& address) {
  if (topology != nullptr) {
    if (const auto host = host_of_address(*topology, address)) {
      return fmt::format("h{}", *host);
    }
  }
  return to_string(address);
}

std::string flow_name(const Topology* topology, const analysis::Conversation& c) {
  return fmt::format("{}>{} {:#x}", host_name(topology, c.source),
                     host_name(topology, c.destination), c.qp.value);
}

std::string path_name(EntropyValue ev) {
  const auto path = path_of(ev);
  return path ? to_string(*path) : fmt::format("EV {:#010x}", ev.value);
}

std::string plane_name(uint32_t plane) {
  return plane == analysis::kNoPlane ? "?" : fmt::format("p{}", plane);
}

std::string sent_place(uint8_t rank) {
  constexpr const char* kPlaces[] = {"as they leave their host",
                                     "as they reach the first T0",
                                     "as they leave the first T0",
                                     "as they reach the T1",
                                     "as they leave the T1",
                                     "as they reach the last T0",
                                     "as they leave the last T0",
                                     "as they reach their receiver",
                                     "at a place that their carrier does not tell"};
  return rank < std::size(kPlaces) ? kPlaces[rank] : "nowhere";
}

std::string arrived_place(uint8_t rank) {
  constexpr const char* kPlaces[] = {"nowhere", "at a place that their carrier does not tell",
                                     "as they leave the last T0", "as they reach their receiver"};
  return rank < std::size(kPlaces) ? kPlaces[rank] : "nowhere";
}

}  // namespace mrclab::lab
