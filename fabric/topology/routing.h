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
/// What switches do about a failure before their routing has decided (switchd/fast_reroute.h).
enum class RerouteScope : uint8_t {
  kOff,     ///< nothing
  kLocal,   ///< a dead port leaves the groups of its own switch
  kRemote,  ///< and a switch without another way notifies its neighbours, which send by others
};
constexpr std::string_view name_of(RerouteScope scope) {
  constexpr auto kNames = words_by_value<RerouteScope>({{RerouteScope::kOff, "off"},
                                                        {RerouteScope::kLocal, "local"},
                                                        {RerouteScope::kRemote, "remote"}});
  return kNames[static_cast<size_t>(scope)];
}

/// The shortest of the intervals that implementations of BFD have in common, those in hardware among them (RFC 7419),
/// and what `delays: hardware` has unless the fabric names another.
inline constexpr FabricTime kHardwareBfd = FabricTime::from_us(3'300);

struct FareChoice {
  Spray spray = Spray::kPacket;
  FareDelays delays = FareDelays::kIdeal;
  /// Between BFD packets; none given: bfd_interval().
  std::optional<FabricTime> bfd = std::nullopt;
  std::optional<NicRoutes> nics =
      std::nullopt;    ///< none given: all where there are several planes, else off
  FabricTime ready{};  ///< when workloads begin that do not set it; zero: fabric/topology/fare.h
  RerouteScope fast_reroute = RerouteScope::kOff;
  /// From the loss of light to the end of a port's use, and from the arrival of a neighbour's notification to that.
  /// FANN's charter has "microseconds to sub-millisecond" for detection; both figures are our choice.
  FabricTime detect = FabricTime::from_us(10), react = FabricTime::from_us(10);
  /// Zero: no BFD, so a silent link is noticed by BGP's hold timer.
  constexpr FabricTime bfd_interval() const {
    return bfd.value_or(delays == FareDelays::kHardware ? kHardwareBfd : FabricTime::zero());
  }
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
