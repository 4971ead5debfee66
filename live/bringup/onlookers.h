#pragma once
// Where somebody looks at the packets of a lab, or changes what passes: there each frame crosses its wires alone, and
// not in a bundle (fabric/packet/bundle.h), so that tcpdump, tc and nftables find what is sent.
//
// Who makes an interface promiscuous, as tcpdump does, is noticed by the senders themselves before they send
// (netio/packet/promiscuous_ports.h); any other packet socket here, within kLongestNs; a filter or queueing discipline as
// soon as the kernel reports it, and for good.

#include <cstdint>
#include <deque>
#include <vector>

#include "live/bringup/bring_up.h"
#include "netio/packet/packet_listeners.h"
#include "netio/runtime/clock_page.h"
#include "netio/runtime/gate.h"

namespace mrclab::lab {

class Onlookers {
 public:
  static constexpr int64_t kLongestNs = 50'000'000;
  /// Both outlive this.
  Onlookers(const LiveFabric& fabric, netio::GatePage& gate);

  /// Looks at some namespaces, so many that all have their turn within kLongestNs. To be called every few milliseconds.
  void look();
  /// Looks at all of them.
  void look_at_all();
  /// Looks at the namespace of this node: something was changed there.
  void look_at(NodeId node);
  /// Something is in the way of packets in the namespace of this node, and may stay there.
  void note_filter(NodeId node);

 private:
  struct Place {
    std::vector<NodeId> nodes;  ///< in this namespace
    netio::PacketListeners listeners;
    bool filtered = false;
    bool watched = false;
  };
  void look_at_place(Place& place);
  /// A wire is watched if either of its ends is.
  void publish(const Place& place);
  bool watched_at(NodeId node) const { return places_[place_of_[node.value]].watched; }

  const Topology& topology_;
  netio::GatePage& gate_;
  std::deque<Place> places_;
  std::vector<size_t> place_of_;  ///< by NodeId
  size_t next_ = 0;
  netio::LabTime last_{};
};

}  // namespace mrclab::lab
