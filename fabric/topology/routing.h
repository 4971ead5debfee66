#pragma once
// How packets find their way: along a carrier that the sender wrote (SRv6), or by what switches make of the
// addresses and entropy of each: by the topology as it was built and their own ports (ECMP), or by routes that
// they announce to each other (FARE). A fabric has a default; a workload may set another, since every switch of ours
// takes carriers as well. Without a carrier there is one table: a fabric has ECMP or FARE.

#include <cstdint>
#include <optional>
#include <string_view>

#include "fabric/base/units.h"
#include "fabric/text/enum_words.h"

namespace mrclab {

enum class Routing : uint8_t { kSrv6, kEcmp, kFare };
enum class Underlay : uint8_t { kIpv6, kIpv4 };  ///< ECMP only; SRv6 uses IPv6

inline constexpr auto kRoutingWords = words_by_value<Routing>(
    {{Routing::kSrv6, "srv6"}, {Routing::kEcmp, "ecmp"}, {Routing::kFare, "fare"}});
constexpr std::string_view name_of(Routing routing) {
  return kRoutingWords[static_cast<size_t>(routing)];
}
constexpr std::string_view name_of(Underlay underlay) {
  return underlay == Underlay::kIpv4 ? "ipv4" : "ipv6";
}

/// What a FARE switch chooses a next hop for: every packet (round robin), or every flow (by its hash).
enum class Spray : uint8_t { kPacket, kFlow };
constexpr std::string_view name_of(Spray spray) {
  return spray == Spray::kPacket ? "packet" : "flow";
}
/// How long a FARE switch takes for its decisions (routing/speaker/speaker_parameters.h has the numbers).
enum class FareDelays : uint8_t { kIdeal, kFrr, kHardware };
constexpr std::string_view name_of(FareDelays delays) {
  constexpr auto kNames = words_by_value<FareDelays>({{FareDelays::kIdeal, "ideal"},
                                                      {FareDelays::kFrr, "frr"},
                                                      {FareDelays::kHardware, "hardware"}});
  return kNames[static_cast<size_t>(delays)];
}
/// Which routes NICs that speak BGP get (draft-xu-idr-fare-in-mpson section 4).
enum class NicRoutes : uint8_t {
  kOff,         ///< NICs do not speak BGP: a T0 originates the routes to its hosts
  kAll,         ///< a route for every host
  kAggregates,  ///< one for the hosts of each T0, and one for each host that a plane has lost
  kWanted,  ///< a route for each host that a NIC asks for (RFC 5292): those its workloads send to
};
constexpr std::string_view name_of(NicRoutes routes) {
  constexpr auto kNames = words_by_value<NicRoutes>({{NicRoutes::kOff, "off"},
                                                     {NicRoutes::kAll, "all"},
                                                     {NicRoutes::kAggregates, "aggregates"},
                                                     {NicRoutes::kWanted, "wanted"}});
  return kNames[static_cast<size_t>(routes)];
}
struct FareChoice {
  Spray spray = Spray::kPacket;
  FareDelays delays = FareDelays::kIdeal;
  FabricTime
      bfd{};  ///< between BFD packets; zero: no BFD, so a silent link is noticed by BGP's hold timer
  std::optional<NicRoutes> nics =
      std::nullopt;    ///< none given: all where there are several planes, else off
  FabricTime ready{};  ///< when workloads begin that do not set it; zero: fabric/topology/fare.h
  bool operator==(const FareChoice&) const = default;
};

struct RoutingChoice {
  Routing by_default = Routing::kSrv6;
  Underlay underlay = Underlay::kIpv6;
  bool same_seed = false;  ///< all switches hash alike, so that their choices are not independent
  bool resilient = false;  ///< groups are bucket tables (fabric/paths/ecmp.h)
  FareChoice fare = {};
  bool is_fare() const { return by_default == Routing::kFare; }
  bool operator==(const RoutingChoice&) const = default;
};

}  // namespace mrclab
