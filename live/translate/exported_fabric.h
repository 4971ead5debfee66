#pragma once
// A fabric as another lab shall have it: its switches forwarded by the kernel's SRv6 or by another program, its
// nodes and interfaces by names of that lab. No node there carries fabric time.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/text/enum_words.h"
#include "fabric/topology/fabric_shape.h"
#include "fabric/topology/topology.h"
#include "live/translate/tool_names.h"

namespace mrclab::lab {

/// What stands in the place of a switch.
enum class SwitchKind : uint8_t {
  kMrclab,   ///< our image: the kernel's SRv6 by commands, with FARE our BGP speaker
  kFrr,      ///< the kernel's SRv6 by commands, other routes and BGP by FRR
  kSonicVs,  ///< SONiC's virtual switch
  kCeos,     ///< Arista's cEOS
};
inline constexpr auto kSwitchKinds = words_by_value<SwitchKind>({{SwitchKind::kMrclab, "mrclab"},
                                                                 {SwitchKind::kFrr, "frr"},
                                                                 {SwitchKind::kSonicVs, "sonic-vs"},
                                                                 {SwitchKind::kCeos, "ceos"}});
constexpr std::string_view name_of(SwitchKind kind) {
  return kSwitchKinds[static_cast<size_t>(kind)];
}

struct ExportOptions {
  SwitchKind switches = SwitchKind::kMrclab;
  std::string image = "mrclab";
  std::string switch_image;  ///< empty: `image`, or the usual one of the kind
  bool bare = false;         ///< nodes and links, without any configuration
  uint32_t link_mtu = 0;     ///< of links there; 0: as the tool usually makes them
  /// Not zero: every interface is shaped by a tbf to its link's rate, divided by this.
  double dilation = 0;
};

/// A file beside the topology, by its path from there.
struct LabFile {
  std::string path, text;
  bool operator==(const LabFile&) const = default;
};
struct ExportedLab {
  std::string text;  ///< the topology
  std::vector<LabFile> files;
};

/// What nodes and links of another lab are like.
struct LabTool {
  NameRule names;
  uint32_t first_interface = 1;  ///< the number in the name of a node's first port: "eth1"
  uint32_t link_mtu = 1500;      ///< unless the user gives another
};
/// eth0 is the management network; links are long enough for any packet of ours (its links/link.go).
LabTool containerlab_tool();
LabTool netlab_tool();
LabTool kathara_tool();

/// Room for the least IPv6 packet (RFC 8200 §5) in a carrier, and what containerlab's links have.
inline constexpr uint32_t kLeastLinkMtu = 1320, kMostLinkMtu = 9500;

class ExportedFabric {
 public:
  ExportedFabric(const FabricShape& shape, const ExportOptions& options, const LabTool& tool);

  const FabricShape& shape() const { return shape_; }
  const Topology& topology() const { return topology_; }
  const ExportOptions& options() const { return options_; }
  const std::string& name(NodeId node) const { return names_[node.value]; }
  std::string interface(PortRef port) const;
  /// The interface that the lab itself calls `device` ("d4") at this node; others ("sr0") as they are.
  std::string interface_of(NodeId node, const std::string& device) const;
  /// The address of a port's other end, as the routes there name it.
  Ipv6Address next_hop(PortRef port) const;
  /// The image of a node.
  const std::string& image(NodeId node) const;
  bool is_host(NodeId node) const { return topology_.node(node).role == NodeRole::kHost; }
  uint32_t link_mtu() const { return options_.link_mtu == 0 ? tool_.link_mtu : options_.link_mtu; }
  uint32_t switch_count() const;
  /// Have hosts routes to each other? Not in big fabrics, where each has one for each other.
  bool links_hosts() const { return topology_.host_count() <= kMostLinkedHosts; }
  static constexpr uint32_t kMostLinkedHosts = 64;

 private:
  FabricShape shape_;
  ExportOptions options_;
  LabTool tool_;
  Topology topology_;
  std::vector<std::string> names_;
};

/// The usual image of a kind, where the user names none.
std::string_view usual_image(SwitchKind kind);

}  // namespace mrclab::lab
