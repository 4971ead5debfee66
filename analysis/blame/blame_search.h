#pragma once
// The search behind find_blame: which components, in which intervals, make the samples likely. Only
// analysis/blame/blame*.cc include this.

#include <functional>
#include <map>
#include <span>
#include <string>
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

/// One component that a search found.
struct Suspicion {
  Component component;
  std::vector<Component> or_else;  ///< explain the same as well
  double gain = 0;                 ///< nats
  FabricTime from, until;
  std::vector<uint32_t> bad;  ///< indices of samples
  uint64_t of = 0;            ///< samples over it in that time, that count
};

struct SearchOptions {
  Question question = Question::kWhoLoses;
  /// Probability that a sample is bad for no reason.
  double chance = 1e-4;
  std::vector<double> severities = {0.98, 0.5, 0.2, 0.05, 0.01};  ///< shares of bad ones to try
  /// Would a fault of this component have shown elsewhere, too? Then others explain these samples. Empty: nothing is
  /// refuted.
  std::function<bool(const Component&, const std::vector<uint32_t>& bad, FabricTime from,
                     FabricTime until)>
      refuted = {};
};

/// Best first, until nothing is left that is more than chance. Bounded by kMaxSuspicions.
std::vector<Suspicion> search_blame(const Topology& topology, std::span<const BlameSample> samples,
                                    const SearchOptions& options = {});
inline constexpr size_t kMaxSuspicions = 64;

}  // namespace mrclab::analysis
