#pragma once
// How packets find their way: along a carrier that the sender wrote (SRv6), or by what switches make
// of the addresses and entropy of each (ECMP). A fabric has a default; a workload may say otherwise,
// since every switch of ours has both tables.

#include <cstdint>
#include <string_view>

namespace mrclab {

enum class Routing : uint8_t { kSrv6, kEcmp };
enum class Underlay : uint8_t { kIpv6, kIpv4 };  ///< ECMP only; SRv6 uses IPv6

constexpr std::string_view name_of(Routing routing) {
  return routing == Routing::kEcmp ? "ecmp" : "srv6";
}
constexpr std::string_view name_of(Underlay underlay) {
  return underlay == Underlay::kIpv4 ? "ipv4" : "ipv6";
}

struct RoutingChoice {
  Routing by_default = Routing::kSrv6;
  Underlay underlay = Underlay::kIpv6;
  bool same_seed = false;  ///< all switches hash alike, so that their choices are not independent
  bool resilient = false;  ///< groups are bucket tables (fabric/ecmp.h)
  bool operator==(const RoutingChoice&) const = default;
};

}  // namespace mrclab
