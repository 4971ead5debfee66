#pragma once
// Faults as values. A fault holds targets in a degraded state for a while; schedule.h turns a list
// of them into the effects that nodes execute.
//
//   faults:
//     - {at: 300us, optic_glitch: {optic: "p0.t0-0:o0", down: 100us, stagger: 20us}}
//     - {at: 300us, link_down: {link: "p0.t0-0:u0", for: 50us}}
//     - {at: 300us, denylist: {host: "h[0-3]", path: [p0/u1, "p3/*"], toward: h4, for: 50us}}
//     - {at: 300us, wire_loss: {link: "p0.t0-0:u0", direction: up, loss: 20%, carrier: keep}}

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fabric/effect.h"
#include "fabric/pattern.h"
#include "fabric/topology.h"
#include "fabric/yaml.h"

namespace mrclab::faults {

inline constexpr size_t kMaxFaults = 4096;
inline constexpr size_t kMaxTargetsPerFault = 65536;

/// Both directions stop carrying light and both ends lose carrier.
struct LinkDown {
  std::vector<LinkId> links;
  FabricTime duration = FabricTime::never();  ///< never: not healed within the run
  bool operator==(const LinkDown&) const = default;
};

/// One direction loses frames at random, or all light: then only the receiving port notices.
struct WireLossFault {
  std::vector<WireId> wires;
  Probability loss;  ///< unused when the carrier is lost
  bool carrier_lost = false;
  FabricTime duration = FabricTime::never();
  bool operator==(const WireLossFault&) const = default;
};

/// A transceiver glitches: its links go down one after the other, `stagger` apart, each for `down`
/// (MRC paper §5.1, figures 6 and 7).
struct OpticGlitch {
  std::vector<OpticId> optics;
  FabricTime down;
  FabricTime stagger;
  bool operator==(const OpticGlitch&) const = default;
};

/// A controller takes paths out of use on hosts, toward all others or toward some (MRC paper §3-4:
/// the denylist that link monitoring feeds). Nothing is broken by it.
struct DenylistFault {
  std::vector<NodeId> hosts;
  std::vector<EntropyValue> evs;
  std::vector<NodeId> toward;  ///< empty: toward everybody
  FabricTime duration = FabricTime::never();
  bool operator==(const DenylistFault&) const = default;
};

using FaultKind = std::variant<LinkDown, WireLossFault, OpticGlitch, DenylistFault>;

struct Fault {
  FabricTime at;
  FaultKind kind;
  bool operator==(const Fault&) const = default;
};

/// "link_down", "wire_loss", "optic_glitch", "denylist": the key in the file.
std::string_view name_of(const Fault& fault);
/// One line: "optic_glitch p0.t0-0:o0 at 300us: down 100us each, 20us apart".
std::string describe(const Fault& fault, const Topology& topology);

/// Reads one entry, or a `faults:` list. Throws InputError with the position.
Fault parse_fault(const YamlValue& entry, NameResolver& names);
std::vector<Fault> parse_faults(const YamlValue& list, NameResolver& names);

/// The entry as it would stand in a file, names resolved and times exact.
std::string to_yaml(const Fault& fault, const Topology& topology);

/// Something that a fault can hold degraded: a wire's light, a wire's frames, a port's carrier,
/// or keep from use: a path on a host.
enum class TargetKind : uint8_t { kWireLight, kWireFrames, kCarrier, kPath };
struct Target {
  TargetKind kind = TargetKind::kWireLight;
  WireId wire;           ///< kWireLight, kWireFrames
  PortRef port;          ///< kCarrier
  NodeId host = {};      ///< kPath: on this host
  EntropyValue ev = {};  ///< kPath
  NodeId toward = {};    ///< kPath: toward this one; invalid: toward all
  auto operator<=>(const Target&) const = default;
};
std::string to_string(const Target& target, const Topology& topology);

/// One target held degraded in [from, until); until is never() if the fault does not heal it. A new
/// kind of fault needs no more than to say its holds.
struct Hold {
  Target target;
  FabricTime from;
  FabricTime until = FabricTime::never();
  Probability loss;  ///< kWireFrames only
};
std::vector<Hold> holds_of(const Fault& fault, const Topology& topology);

/// The links whose traffic a fault can touch, sorted by id.
std::vector<LinkId> affected_links(const Fault& fault, const Topology& topology);
/// The directed wires whose traffic it can touch, sorted by id. None for a denylist.
std::vector<WireId> affected_wires(const Fault& fault, const Topology& topology);

/// From the first effect to the last heal (never() if something stays broken).
struct Interval {
  FabricTime start;
  FabricTime last_heal;
  bool operator==(const Interval&) const = default;
};
Interval interval_of(const Fault& fault, const Topology& topology);

}  // namespace mrclab::faults
