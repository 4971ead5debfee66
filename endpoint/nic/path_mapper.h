#pragma once
// Where packets go and which ones are for us: entropy value -> MACs and IP headers, host number <->
// inner address. A lab's topology is one implementation; addresses that a user wrote down, for
// endpoints without the lab, are the other (explicit_paths.h). PacketMaker and the receive checks
// use nothing else.
//
// In both, host numbers and entropy values are those of a Topology: an explicit set-up has a small
// model of one (a plane per interface, an uplink per carrier), so the transport sees no difference.

#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/node/node.h"
#include "fabric/packet/headers.h"
#include "fabric/topology/path.h"
#include "fabric/topology/same_address.h"

namespace mrclab::endpoint {

/// What the entropy value decides in a frame, beside the fields that carry it.
struct PathHeaders {
  Encapsulation encapsulation = Encapsulation::kSrv6;
  MacAddress source_mac{};
  MacAddress destination_mac{};
  Ipv6Address outer_source{};
  Ipv6Address carrier{};  ///< outer destination
};

class PathMapper {
 public:
  virtual ~PathMapper() = default;
  /// Inner address of a host. `host` must be below the topology's host_count().
  virtual Ipv6Address address(uint32_t host) const = 0;
  /// The address as it stands in packets of this encapsulation.
  Ipv6Address address_in(Encapsulation encapsulation, uint32_t host) const {
    return encapsulation == Encapsulation::kIpv4 ? host_address_ipv4(host) : address(host);
  }
  /// The host with this address. Takes any address; empty if no host has it.
  virtual std::optional<uint32_t> host_of(const Ipv6Address& address) const = 0;
  /// The headers of a packet of ours to `destination`. A value without a path, which may come from
  /// a peer, gives a carrier that no switch forwards.
  virtual PathHeaders headers(uint32_t destination, EntropyValue ev) const = 0;
  /// Is a frame with a carrier that came in on `port`, with this outer destination, for this NIC?
  virtual bool accepts(uint32_t port, const Ipv6Address& outer_destination) const = 0;
  /// Does the carrier end at this NIC? A NIC does not shift a carrier that names more hops behind
  /// it (RFC 9800 §4.1.1: a node with an argument left forwards, and a NIC does not).
  virtual bool ends_here(const Ipv6Address& /*outer_destination*/) const { return true; }
  /// How our packets encode a value of ours, and the value that a peer's encoding stands for; a
  /// value of another format is returned unchanged. A lab's packets carry values as they are.
  virtual EntropyValue on_wire(EntropyValue ev) const { return ev; }
  virtual EntropyValue from_wire(EntropyValue wire) const { return wire; }
  /// UDP destination port of packets that we send.
  virtual uint16_t udp_port() const { return kMrcUdpPort; }
};

/// The paths of a lab: everything follows from the topology (fabric/topology/path.h).
class TopologyPaths : public PathMapper {
 public:
  TopologyPaths(const Topology& topology, NodeId self);

  Ipv6Address address(uint32_t host) const override;
  std::optional<uint32_t> host_of(const Ipv6Address& address) const override;
  PathHeaders headers(uint32_t destination, EntropyValue ev) const override;
  bool accepts(uint32_t port, const Ipv6Address& outer_destination) const override;
  bool ends_here(const Ipv6Address& outer_destination) const override {
    return end_of_carrier(outer_destination);
  }

 private:
  struct NicPort {
    MacAddress own{}, peer{};
    Usid usid{};  ///< behind which packets come in
  };

  const Topology& topology_;
  uint32_t host_;
  Ipv6Address own_address_;
  // By port. TopologyPaths copies them, as every packet needs them and the topology lies in no cache.
  std::vector<NicPort> ports_;
};

}  // namespace mrclab::endpoint
