#pragma once
// Faults as values: a kind, its targets, its times and its parameters. schedule.h turns a list of
// them into the effects that nodes execute.
//
//   faults:
//     - {at: 300us, optic_glitch: {optic: "p0.t0-0:o0", down: 100us, stagger: 20us}}
//     - {at: 300us, wire_loss: {link: "p0.t0-0:u0", direction: up, loss: 20%, until: 450us}}
//     - {at: 300us, every: 100us, until: 900us, link_down: {link: "random(1, p*.t0-*:u*)", for: 20us}}
//     - {at: 300us, healed: 320us, flap: {link: "p0.t0-0:u0", count: 9, down: 2us, up: 8us}}
//     - {at: 300us, parallel: [{switch_hang: {switch: p0.t1-0, for: 50us}}, {trim_off: {...}}]}

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/node/effect.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/pattern.h"
#include "fabric/topology/topology.h"
#include "faults/fault_kind.h"

namespace mrclab::faults {

inline constexpr size_t kMaxFaults = 4096;
inline constexpr size_t kMaxHoldsPerFault = 65536;

/// The targets of a fault; its TargetForm decides which of these are filled. Sorted, nothing twice.
struct Targets {
  std::vector<LinkId> links = {};
  std::vector<WireId> wires = {};
  std::vector<OpticId> optics = {};
  /// For kPorts; for routes: the ports where they lead as built; for line cards: the first port of each.
  std::vector<PortRef> ports = {};
  std::vector<NodeId> nodes = {};  ///< hosts or switches; for a burst: its senders
  std::vector<uint32_t> planes = {};
  std::vector<uint32_t> zones = {};  ///< places in Topology::power_zones
  std::vector<EntropyValue> evs = {};
  std::vector<NodeId> toward =
      {};  ///< for a denial: empty means every host; for a burst: the one receiver
  std::optional<PortRef> to = {};  ///< for a wrong route
  bool operator==(const Targets&) const = default;
};

/// The parameters that a fault has been given, as counts of their Quantity.
class Settings {
 public:
  bool has(Parameter p) const { return values_[static_cast<size_t>(p)].has_value(); }
  std::optional<int64_t> get(Parameter p) const { return values_[static_cast<size_t>(p)]; }
  void set(Parameter p, int64_t value) { values_[static_cast<size_t>(p)] = value; }
  void unset(Parameter p) { values_[static_cast<size_t>(p)].reset(); }

  int64_t count(Parameter p, int64_t otherwise = 0) const { return get(p).value_or(otherwise); }
  FabricTime time(Parameter p, FabricTime otherwise = {}) const {
    return has(p) ? FabricTime::from_ps(*get(p)) : otherwise;
  }
  Probability share(Parameter p) const { return {static_cast<uint32_t>(count(p))}; }
  bool operator==(const Settings&) const = default;

 private:
  std::array<std::optional<int64_t>, kParameters> values_;
};

struct Fault {
  FabricTime at;
  FaultKind kind = FaultKind::kLinkDown;
  Targets targets = {};
  Settings settings = {};
  /// When the user ended it before its own end (`mrclab heal`); parts that would begin later do
  /// not.
  FabricTime healed = FabricTime::never();
  bool operator==(const Fault&) const = default;

  /// When the interval of its parameter `for` ends; never() if the fault does not heal.
  FabricTime until() const;
};

/// "link_down", "optic_glitch", ...: the key in the file.
std::string_view name_of(const Fault& fault);
/// One line: "optic_glitch p0.t0-0:o0 at 300us: down 100us, stagger 20us".
std::string describe(const Fault& fault, const Topology& topology);

/// Reads a `faults:` list: `every` with `until` (or `times`) repeats an entry, with new draws of
/// random() each time; without either it goes on to `end`. Throws InputError with the position;
/// every fault starts before `end`.
std::vector<Fault> parse_faults(const YamlValue& list, NameResolver& names,
                                FabricTime end = FabricTime::never());
/// Reads what stands behind a kind's name: its targets and settings.
Fault parse_fault(FaultKind kind, FabricTime at, const YamlValue& body, NameResolver& names);

/// Reads a body that may lack settings, as what is asked of a fault that somebody else makes: its targets, and those
/// settings that it has.
Fault parse_partial_fault(FaultKind kind, const YamlValue& body, NameResolver& names);

/// The entry as it would stand in a file, names resolved and times exact.
std::string to_yaml(const Fault& fault, const Topology& topology);

/// One target held in a degraded state in [from, until); until is never() if the fault does not
/// heal it. An effect that happens once has from = until.
struct Hold {
  Effect effect;
  FabricTime from;
  FabricTime until = FabricTime::never();
};
std::vector<Hold> holds_of(const Fault& fault, const Topology& topology);

/// From the first effect to the last heal (never() if something stays broken).
struct Interval {
  FabricTime start;
  FabricTime last_heal;
  bool operator==(const Interval&) const = default;
};
Interval interval_of(const Fault& fault, const Topology& topology);

}  // namespace mrclab::faults
