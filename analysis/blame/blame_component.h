#pragma once
// What can be to blame, by numbers of the topology, and which samples it can explain.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/blame/blame_samples.h"

namespace mrclab::analysis {

enum class ComponentKind : uint8_t {
  kWire,
  kLink,
  kPath,
  kOptic,
  kSwitch,
  kHost,
  kCard,  ///< a line card: neighbouring ports of a switch that works on
  kPlane,
  kZone,  ///< a power zone: switches and hosts on one feed
};
std::string_view name_of(ComponentKind kind);
/// All but a wire, a link and a path, which are one way: what has parts fails with all that it carries.
bool has_parts(ComponentKind kind);

/// Numbers for all that can be blamed. Where several explain the same packets, the first kind is named.
struct Component {
  ComponentKind kind = ComponentKind::kWire;
  /// Number within its kind in the topology; for a path, the host; for a line card, the wire that leaves its first
  /// port.
  uint32_t index = 0;
  EntropyValue ev;  ///< for a path
  auto operator<=>(const Component&) const = default;
};
std::string name_of(const Topology& topology, const Component& component);

/// Who can be to blame: anything loses packets, wires and links alone copy them, and switches mark
/// where they send to another switch.
enum class Question : uint8_t { kWhoLoses, kWhoCopies, kWhoMarks };
/// The components that a sample concerns, each with the bits of the wires that belong to it.
using Concerned = std::vector<std::pair<Component, uint8_t>>;
/// The power zones of each node; zones of one node are left out, which are that node.
using ZonesOfNodes = std::vector<std::vector<uint32_t>>;
ZonesOfNodes zones_of_nodes(const Topology& topology);
void concerned_by(const Topology& topology, const ZonesOfNodes& zones, const BlameSample& sample,
                  Question question, Concerned& out);
/// Can this component explain the sample?
bool explains(const BlameSample& sample, const Component& component, uint8_t wires);

}  // namespace mrclab::analysis
