#include "plan/node_addresses.h"

#include <fmt/format.h>

#include <charconv>

#include "console/terminal.h"
#include "fabric/base/byte_order.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/routes.h"

namespace mrclab::lab {
namespace {

struct NodePlace {
  NodeRole role = NodeRole::kHost;
  uint32_t plane = 0;
  uint32_t index = 0;
};

std::string node_name(const NodePlace& place) {
  if (place.role == NodeRole::kHost) return fmt::format("h{}", place.index);
  const int tier = place.role == NodeRole::kT0 ? 0 : place.role == NodeRole::kT1 ? 1 : 2;
  return fmt::format("p{}.t{}-{}", place.plane, tier, place.index);
}

/// Takes `prefix` and a number off the front; false if they are not there.
bool take_number(std::string_view& text, std::string_view prefix, uint32_t& out) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

NodePlace place_of(const Topology& o, std::string_view name) {
  std::string_view rest = name;
  NodePlace place;
  bool known = false;
  if (take_number(rest, "h", place.index)) {
    known = place.index < o.host_count();
  } else if (uint32_t tier = 0; take_number(rest, "p", place.plane) &&
                                take_number(rest, ".t", tier) &&
                                take_number(rest, "-", place.index) && tier <= 1) {
    place.role = tier == 0 ? NodeRole::kT0 : NodeRole::kT1;
    known = place.plane < o.planes && place.index < (tier == 0 ? o.t0_per_plane : o.t1_per_plane);
  }
  if (known && node_name(place) == name) return place;
  const std::string spines =
      o.t1_per_plane == 0 ? ""
                          : fmt::format(", p0.t1-0 to p{}.t1-{}", o.planes - 1, o.t1_per_plane - 1);
  throw InputError(
      fmt::format("found {}, which names no node: expected h0 to h{}, p0.t0-0 to p{}.t0-{}{}",
                  in_quotes(name), o.host_count() - 1, o.planes - 1, o.t0_per_plane - 1, spines));
}

/// One end of a link: a node's place and the number and name of its port.
struct End {
  NodePlace node;
  uint32_t port;
  std::string name;
  std::string node_name_there = {};  ///< of a built node, which may be called anything

  std::string text() const {
    return (node_name_there.empty() ? node_name(node) : node_name_there) + ":" + name;
  }
  MacAddress mac() const { return port_mac(node.role, node.plane, node.index, port); }
};

class Rows {
 public:
  explicit Rows(const Topology& outline) : o_(outline) {}

  std::vector<AddressRow> of(const NodePlace& place) {
    switch (place.role) {
      case NodeRole::kHost: host(place.index); break;
      case NodeRole::kT0: t0(place); break;
      case NodeRole::kT1: t1(place); break;
      case NodeRole::kT2: break;  // there is none in an outline
    }
    return std::move(rows_);
  }

  /// Of a fabric whose graph is there.
  std::vector<AddressRow> of_built(const NodeSite& site) {
    const bool is_host = site.role == NodeRole::kHost;
    if (is_host) {
      own(AddressAction::kInner, host_address(o_, site.index), 128);
    } else {
      own(AddressAction::kEnd, carrier(site.usid), kUsidBlockBits + kUsidBits);
    }
    for (uint32_t i = 0; i < site.ports.size(); ++i) {
      const Port& port = site.ports[i];
      const End here = end_at({site.id, PortId{i}}), there = end_at(port.peer);
      if (!is_host) {
        for (const Usid usid : usids_behind(o_, {site.id, PortId{i}})) via(here, there, usid);
        continue;
      }
      if (o_.has_planes()) {
        via(here, there, o_.usids.make(UsidRole::kT0, port.plane, 0),
            o_.usids.role_and_plane_bits());
      } else {
        via(here, there, o_.node(port.peer.node).usid);
      }
      at(AddressAction::kMrc, here, port.nic_usid);
      at(AddressAction::kEndDt6, here, port.kernel_usid);
    }
    return std::move(rows_);
  }

 private:
  End end_at(PortRef ref) const {
    const NodeSite& site = o_.node(ref.node);
    return {{site.role, site.plane, site.index}, ref.port.value, o_.port(ref).name(), site.name};
  }
  End nic(uint32_t host, uint32_t plane) const {
    return {{NodeRole::kHost, 0, host}, plane, fmt::format("p{}", plane)};
  }
  End downlink(uint32_t plane, uint32_t row, uint32_t d) const {
    return {{NodeRole::kT0, plane, row}, d, fmt::format("d{}", d)};
  }
  End uplink(uint32_t plane, uint32_t row, uint32_t u) const {
    return {{NodeRole::kT0, plane, row}, o_.hosts_per_t0 + u, fmt::format("u{}", u)};
  }
  End spine_port(uint32_t plane, uint32_t spine, uint32_t row) const {
    return {{NodeRole::kT1, plane, spine}, row, fmt::format("d{}", row)};
  }

  void own(AddressAction action, const Ipv6Address& prefix, uint8_t bits) {
    rows_.push_back({action, prefix, bits, "", "", {}, {}});
  }
  void at(AddressAction action, const End& here, Usid usid) {
    rows_.push_back(
        {action, carrier(usid), kUsidBlockBits + kUsidBits, here.name, "", here.mac(), {}});
  }
  void via(const End& here, const End& there, Usid usid, uint8_t usid_bits = kUsidBits) {
    rows_.push_back({AddressAction::kVia, carrier(usid),
                     static_cast<uint8_t>(kUsidBlockBits + usid_bits), here.name, there.text(),
                     here.mac(), there.mac()});
  }

  static Ipv6Address carrier(Usid usid) {
    Ipv6Address address{};
    store_be<uint32_t>(address.data(), kUsidBlock);
    store_be<uint16_t>(address.data() + 4, usid.value);
    return address;
  }

  void host(uint32_t h) {
    own(AddressAction::kInner, host_address(o_, h), 128);
    const uint32_t row = o_.host_row(h);
    const uint32_t d = o_.host_downlink(h);
    for (uint32_t plane = 0; plane < o_.planes; ++plane) {
      const End here = nic(h, plane);
      via(here, downlink(plane, row, d), o_.usids.make(UsidRole::kT0, plane, 0),
          o_.usids.role_and_plane_bits());
      at(AddressAction::kMrc, here, o_.usids.make(UsidRole::kNicPort, plane, d));
      at(AddressAction::kEndDt6, here, o_.usids.make(UsidRole::kHostKernel, plane, d));
    }
  }

  void t0(const NodePlace& place) {
    const uint32_t plane = place.plane;
    own(AddressAction::kEnd, carrier(o_.usids.make(UsidRole::kT0, plane, place.index)),
        kUsidBlockBits + kUsidBits);
    for (uint32_t d = 0; d < o_.hosts_per_t0; ++d) {
      const End here = downlink(plane, place.index, d);
      const End there = nic(place.index * o_.hosts_per_t0 + d, plane);
      via(here, there, o_.usids.make(UsidRole::kNicPort, plane, d));
      via(here, there, o_.usids.make(UsidRole::kHostKernel, plane, d));
    }
    for (uint32_t u = 0; u < o_.t1_per_plane; ++u) {
      via(uplink(plane, place.index, u), spine_port(plane, u, place.index),
          o_.usids.make(UsidRole::kT1, plane, u));
    }
  }

  void t1(const NodePlace& place) {
    const uint32_t plane = place.plane;
    own(AddressAction::kEnd, carrier(o_.usids.make(UsidRole::kT1, plane, place.index)),
        kUsidBlockBits + kUsidBits);
    for (uint32_t row = 0; row < o_.t0_per_plane; ++row) {
      via(spine_port(plane, place.index, row), uplink(plane, row, place.index),
          o_.usids.make(UsidRole::kT0, plane, row));
    }
  }

  const Topology& o_;
  std::vector<AddressRow> rows_;
};

/// Empty for none.
std::string mac_text(const MacAddress& mac) { return mac == MacAddress{} ? "" : to_string(mac); }

}  // namespace

std::string_view name_of(AddressAction action) {
  switch (action) {
    case AddressAction::kInner: return "inner address";
    case AddressAction::kEnd: return "End NEXT-CSID";
    case AddressAction::kVia: return "via";
    case AddressAction::kMrc: return "MRC";
    case AddressAction::kEndDt6: return "End.DT6";
  }
  return "?";
}

std::vector<AddressRow> node_addresses(const Topology& outline, std::string_view node) {
  if (!outline.regular()) {
    const std::optional<NodeId> built = outline.find_node(node);
    if (built) return Rows(outline).of_built(outline.node(*built));
    throw InputError(
        fmt::format("found {}, which names no node: expected h0 to h{}, or a switch of {}",
                    in_quotes(std::string(node)), outline.host_count() - 1, outline.name));
  }
  return Rows(outline).of(place_of(outline, node));
}

std::string prefix_text(const AddressRow& row) {
  return fmt::format("{}/{}", to_string(row.prefix), row.bits);
}

std::string addresses_csv(std::string_view node, const std::vector<AddressRow>& rows) {
  std::string text = "node,port,prefix,action,to,mac,peer_mac\n";
  for (const AddressRow& row : rows) {
    text += fmt::format("{},{},{},{},{},{},{}\n", node, row.port, prefix_text(row),
                        name_of(row.action), row.to, mac_text(row.mac), mac_text(row.peer_mac));
  }
  return text;
}

std::string addresses_table(const std::vector<AddressRow>& rows) {
  std::vector<std::vector<std::string>> cells{{"PORT", "PREFIX", "ACTION", "TO", "MAC"}};
  for (const AddressRow& row : rows) {
    cells.push_back(
        {row.port, prefix_text(row), std::string(name_of(row.action)), row.to, mac_text(row.mac)});
  }
  return table(cells);
}

}  // namespace mrclab::lab
