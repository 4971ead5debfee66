#pragma once
// Addresses, neighbours and IPv6 routes, with SRv6. Written with own attributes: libnl 3.7 has no
// seg6, and its route cache refuses a namespace that holds one such route, so it is never used.
//
// Usage: RouteBatch batch(netlink); batch.address(...); batch.route(...); batch.commit();
// Requests are sent in order, with a bounded number in flight; an error names the request.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fabric/topology/topology.h"
#include "netio/kernel/link.h"

namespace mrclab::netio {

struct Ipv6Prefix {
  Ipv6Address address{};
  uint8_t length = 128;
  bool operator==(const Ipv6Prefix&) const = default;
};
/// "5f00:0:100::/48", a bare address being a /128. Throws std::invalid_argument.
Ipv6Prefix parse_prefix(const std::string& text);
Ipv6Address parse_address(const std::string& text);
std::string prefix_text(const Ipv6Prefix& prefix);

/// SRv6 H.Encaps.Red with one segment (RFC 8986 §5.2): an outer IPv6 header and no SRH. The kernel
/// then looks up the segment as destination.
struct EncapRed {
  Ipv6Address segment{};
  bool operator==(const EncapRed&) const = default;
};
/// SRv6 End with the NEXT-C-SID flavour (RFC 9800 §4.1.1): uN. Counters on.
struct EndNextCsid {
  uint8_t block_bits = 32;
  uint8_t usid_bits = 16;
  bool operator==(const EndNextCsid&) const = default;
};
/// SRv6 End.X with the NEXT-C-SID flavour (RFC 9800 §4.1.2): uA, which shifts and sends to a next
/// hop whatever the next uSID is. The kernel looks the next hop up as a destination and takes no
/// interface for it, so a link-local one would be ambiguous. Counters on. Needs Linux 6.6.
struct EndXNextCsid {
  Ipv6Address next_hop{};
  uint8_t block_bits = 32;
  uint8_t usid_bits = 16;
  bool operator==(const EndXNextCsid&) const = default;
};
/// SRv6 End.DT6 (RFC 8986 §4.6): decapsulates and looks the inner destination up in `table`; 255,
/// the local table, delivers to this host. Counters on.
struct EndDt6 {
  uint32_t table = 255;
  bool operator==(const EndDt6&) const = default;
};
using RouteAction = std::variant<std::monostate, EncapRed, EndNextCsid, EndXNextCsid, EndDt6>;

/// One of several ways of a route. The kernel requires a next hop for each.
struct RouteWay {
  std::string dev;
  Ipv6Address via{};
  RouteAction action = {};
  uint32_t weight = 1;  ///< 1 to 256: how many of the flows take it, beside the others' weights
  bool operator==(const RouteWay&) const = default;
};
/// Who a route is from (RTPROT_STATIC, RTPROT_BGP), and the metric that zebra gives those of BGP.
inline constexpr uint8_t kStaticRoutes = 4, kBirdRoutes = 12, kBgpRoutes = 186;
/// Is it a route that a routing program changes as it learns?
constexpr bool is_learnt(uint8_t protocol) {
  return protocol == kBirdRoutes || protocol == kBgpRoutes;
}
inline constexpr uint32_t kBgpMetric = 20;

/// What a route without an interface does with packets.
enum class RouteEnd : uint8_t {
  kNone,         ///< the route has an interface
  kBlackhole,    ///< dropped silently
  kUnreachable,  ///< dropped, and the sender gets an ICMPv6 error
};

/// One IPv6 route: unicast, or one that ends packets here.
struct Route {
  Ipv6Prefix destination;
  std::string dev;  ///< interface; a seg6local route needs one, not lo
  std::optional<Ipv6Address> via = std::nullopt;
  RouteAction action = {};
  RouteEnd end = RouteEnd::kNone;
  std::optional<Ipv6Address> source = std::nullopt;  ///< preferred source address
  uint32_t mtu = 0;                                  ///< 0: the interface's
  uint32_t metric = 0;                               ///< 0: the kernel's default, 1024
  /// Not empty: each flow takes one of these by a hash, in place of `dev`, `via` and `action`.
  std::vector<RouteWay> ways = {};
  uint32_t table = 254;  ///< the main one
  uint8_t protocol = kStaticRoutes;
};

/// An IPv6 unicast or blackhole route as the kernel has it.
struct InstalledRoute {
  Ipv6Prefix destination;
  std::string dev;  ///< empty for a blackhole and for a route with several ways
  std::optional<Ipv6Address> via;
  uint32_t metric = 0;
  uint32_t table = 0;
  uint8_t protocol = 0;
  bool blackhole = false;
  std::vector<RouteWay> ways;  ///< of a route with several; those over dead interfaces are left out
  std::string_view action;     ///< "End", "End.X", "End.DT6", "encap"; empty for a plain route
  /// Counters of a seg6local route: packets and bytes that it processed, errors for those that it
  /// refused. A carrier that ends here, without a local address for it, shows only in the errors.
  struct Counters {
    uint64_t packets = 0, bytes = 0, errors = 0;
  };
  std::optional<Counters> counters;
};

/// The table for packets that come in by the interface `from`. Packets of
/// local programs come by "lo".
struct RouteRule {
  std::string from;
  uint32_t table = 0;
};

/// The tables of a namespace, without what the kernel adds by itself (multicast, link-local), in
/// the kernel's order.
std::vector<InstalledRoute> installed_routes(NamespaceNetlink& netlink);

/// The ways of the route that the kernel takes to `destination` for packets that come in by `from`:
/// one for a plain route. Ways over dead interfaces are left out. Empty if there is no route.
std::vector<RouteWay> installed_ways(NamespaceNetlink& netlink, const std::string& from,
                                     const Ipv6Address& destination);
/// A permanent IPv6 neighbour entry as the kernel has it.
struct InstalledNeighbour {
  std::string dev;
  Ipv6Address address{};
  MacAddress mac{};
};
/// The neighbours of all interfaces of a namespace, without those that the kernel has learnt or
/// adds by itself.
std::vector<InstalledNeighbour> installed_neighbours(NamespaceNetlink& netlink);

class RouteBatch {
 public:
  explicit RouteBatch(NamespaceNetlink& netlink) : netlink_(netlink) {}

  /// Adds an address without duplicate address detection; an existing one is replaced.
  void address(const std::string& dev, const Ipv6Prefix& prefix);
  /// Adds a permanent neighbour entry, so that the kernel never asks for it on the wire.
  void neighbour(const std::string& dev, const Ipv6Address& address, const MacAddress& mac);
  /// Adds or replaces a route. An answer with the error number `tolerated` is
  /// no error (0: none is).
  void route(const Route& route, int tolerated = 0);
  /// Adds a rule at this place in the list of rules. The kernel uses the first rule that matches a
  /// packet and whose table has a route.
  void rule(const RouteRule& rule, uint32_t place);
  /// Removes a route; a missing one is no error.
  void remove_route(const Route& route);
  /// Waits until the kernel has taken all; throws the first refusal as SystemError naming route and
  /// namespace.
  void flush() { netlink_.flush(); }
  /// As flush(), and waits until packets to the new addresses are delivered. The kernel accepts an
  /// address before it has a route to it, which a work queue of the whole machine adds. Throws
  /// SystemError (ETIMEDOUT) if that takes half a minute.
  void commit();

 private:
  bool is_local(const Ipv6Address& address);

  NamespaceNetlink& netlink_;
  std::vector<Ipv6Address> addresses_;  ///< added and not yet seen as local
};

}  // namespace mrclab::netio
