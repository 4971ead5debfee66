// Faults from files, by the table of kinds.

#include <algorithm>
#include <functional>

#include "fabric/paths/path_pattern.h"
#include "fabric/text/mistakes.h"
#include "fabric/topology/programs/program_table.h"
#include "faults/fault.h"
#include "faults/fault_form.h"
#include "faults/forwarding_limits.h"

namespace mrclab::faults {
namespace {

constexpr std::string_view kUntil = "until";

bool takes_duration(FaultKind kind) { return info(kind).takes(Parameter::kFor); }

// --- targets -------------------------------------------------------------------------------------

/// Either `wire: "a->b"`, or `link:` with a direction: up is from the host towards the T1.
std::vector<WireId> read_wires(const YamlValue& body, NameResolver& names) {
  const auto link = body.get("link");
  const auto wire = body.get("wire");
  const auto direction = body.get("direction");
  if (wire && link) body.fail_at_key("link", "a link and a wire", "one of them");
  if (wire) {
    if (direction) {
      body.fail_at_key("direction", "the direction of a wire", "none: a wire has its own");
    }
    return names.wires(*wire);
  }
  const size_t which = direction ? direction->as_word(direction_words()) : 0;
  std::vector<WireId> wires;
  for (const LinkId id : names.links(body.require("link"))) {
    const Link& ends = names.topology().link(id);
    if (which != 2) wires.push_back(ends.a_to_b());
    if (which != 1) wires.push_back(ends.b_to_a());
  }
  std::sort(wires.begin(), wires.end());
  return wires;
}

void read_wires_or_switches(const YamlValue& body, NameResolver& names, Targets& out) {
  const auto node = body.get("switch");
  if (!node) {
    out.wires = read_wires(body, names);
    return;
  }
  for (const std::string_view key : {"wire", "link", "direction"}) {
    if (body.get(key)) body.fail_at_key(key, "a switch and a wire", "one of them");
  }
  out.nodes = names.switches(*node);
}

std::vector<EntropyValue> read_evs(const YamlValue& value, NameResolver& names) {
  std::vector<EntropyValue> evs;
  for (const Path path : read_paths(value, names.topology())) evs.push_back(ev_of(path));
  return evs;
}

/// Ports of switches, which stand for the routes that lead out of them.
std::vector<PortRef> read_routes(const YamlValue& value, NameResolver& names) {
  std::vector<PortRef> ports = names.ports(value);
  for (const PortRef port : ports) {
    if (names.topology().node(port.node).role != NodeRole::kHost) continue;
    value.fail("the port of a host, " + names.topology().port_name(port), "a port of a switch");
  }
  return ports;
}

void read_wrong_route(const YamlValue& body, NameResolver& names, Targets& out) {
  out.ports = read_routes(body.require("route"), names);
  const YamlValue to = body.require("to");
  const std::vector<PortRef> ports = read_routes(to, names);
  if (ports.size() != 1) to.fail_expecting("one port");
  out.to = ports[0];
  for (const PortRef port : out.ports) {
    if (port.node == ports[0].node && port != ports[0]) continue;
    to.fail_expecting("another port of the same switch");
  }
}

/// Every named switch needs two ports at least, or a stale table would change nothing.
void check_stale(const YamlValue& body, const Targets& targets) {
  for (const PortRef port : targets.ports) {
    const auto same_switch = [&](PortRef other) { return other.node == port.node; };
    if (std::count_if(targets.ports.begin(), targets.ports.end(), same_switch) > 1) continue;
    body.require("route").fail_expecting("two or more ports of the same switch");
  }
}

void read_burst(const YamlValue& body, NameResolver& names, Targets& out) {
  out.nodes = names.hosts(body.require("from"));
  const YamlValue to = body.require("to");
  out.toward = names.hosts(to);
  if (out.toward.size() != 1) to.fail_expecting("one host");
  std::erase(out.nodes, out.toward[0]);
  if (out.nodes.empty()) body.require("from").fail_expecting("a host other than the receiver");
}

/// A switch or a link, not both.
void read_out_of_use(const YamlValue& body, NameResolver& names, Targets& out) {
  const auto node = body.get("switch");
  const auto link = body.get("link");
  if (node && link) body.fail_at_key("link", "a switch and a link", "one of them");
  if (!node && !link) body.fail("no target", "\"switch: ...\" or \"link: ...\"");
  if (node) out.nodes = names.switches(*node);
  if (link) out.links = names.links(*link);
}

Targets read_targets(FaultKind kind, const YamlValue& body, NameResolver& names) {
  Targets out;
  switch (info(kind).targets) {
    case TargetForm::kLinks: out.links = names.links(body.require("link")); break;
    case TargetForm::kWires: out.wires = read_wires(body, names); break;
    case TargetForm::kWiresOrSwitches: read_wires_or_switches(body, names, out); break;
    case TargetForm::kOptics: out.optics = names.optics(body.require("optic")); break;
    case TargetForm::kPorts: out.ports = names.ports(body.require("port")); break;
    case TargetForm::kHosts: out.nodes = names.hosts(body.require("host")); break;
    case TargetForm::kSwitches: out.nodes = names.switches(body.require("switch")); break;
    case TargetForm::kPlanes: out.planes = names.planes(body.require("plane")); break;
    case TargetForm::kHostPaths:
    case TargetForm::kDenials:
      out.nodes = names.hosts(body.require("host"));
      out.evs = read_evs(body.require("path"), names);
      if (const auto toward = body.get("toward")) out.toward = names.hosts(*toward);
      break;
    case TargetForm::kRoutes: out.ports = read_routes(body.require("route"), names); break;
    case TargetForm::kRoutesTo: read_wrong_route(body, names, out); break;
    case TargetForm::kBurst: read_burst(body, names, out); break;
    case TargetForm::kLineCards: out.ports = names.line_cards(body.require("card")); break;
    case TargetForm::kPowerZones: out.zones = names.power_zones(body.require("zone")); break;
    case TargetForm::kOutOfUse: read_out_of_use(body, names, out); break;
  }
  if (kind == FaultKind::kStaleTable) check_stale(body, out);
  return out;
}

/// Who attacks another tenant has one, or the other has; a flood stays in its own.
void check_attack(const YamlValue& body, const Topology& topology, const Fault& fault) {
  if (fault.kind != FaultKind::kAttack) return;
  const bool tenant =
      fault.settings.count(Parameter::kAttack) == static_cast<int64_t>(AttackKind::kTenant);
  for (const NodeId host : fault.targets.nodes) {
    const bool apart = !same_tenant(topology, topology.node(host).index,
                                    topology.node(fault.targets.toward.at(0)).index);
    if (tenant && !apart) {
      body.require("to").fail_expecting("a host of another tenant than " +
                                        topology.node(host).name +
                                        "'s (\"tenants\" of the fabric or scenario)");
    }
  }
}

// --- settings ------------------------------------------------------------------------------------

int64_t read_quantity(const YamlValue& value, const ParameterInfo& parameter) {
  const auto within = [&](int64_t n, const std::string& min, const std::string& max) {
    if (n < parameter.min || n > parameter.max) {
      value.fail_expecting(n < parameter.min ? "at least " + min : "at most " + max);
    }
    return n;
  };
  const int64_t min = parameter.min;
  const int64_t max = parameter.max;
  switch (parameter.quantity) {
    case Quantity::kTime:
      return within(value.as_time().ps(), exact(FabricTime::from_ps(min)),
                    exact(FabricTime::from_ps(max)));
    case Quantity::kShare: return within(value.as_probability().ppb, "a share above 0%", "100%");
    case Quantity::kErrorRate:
      return within(static_cast<int64_t>(value.as_error_rate().per_quadrillion), "1e-15",
                    exact(BitErrorRate{static_cast<uint64_t>(max)}));
    case Quantity::kBitRate: return static_cast<int64_t>(value.as_rate().bps);
    case Quantity::kBytes:
      return within(static_cast<int64_t>(value.as_bytes().value),
                    exact(Bytes{static_cast<uint64_t>(min)}),
                    exact(Bytes{static_cast<uint64_t>(max)}));
    case Quantity::kCount: return value.as_integer(min, max);
    case Quantity::kCarrierWord: return static_cast<int64_t>(value.as_word(carrier_words()));
    case Quantity::kFecWord: return static_cast<int64_t>(value.as_word(fec_words()));
    case Quantity::kAttackWord: return static_cast<int64_t>(value.as_word(attack_words()));
    case Quantity::kStatusWord: return static_cast<int64_t>(value.as_word(status_words()));
  }
  return 0;
}

/// `until: <instant>` is another form of `for`.
void read_until(const YamlValue& body, FabricTime at, Settings& out) {
  const auto until = body.get(kUntil);
  if (!until) return;
  if (out.has(Parameter::kFor)) body.fail_at_key(kUntil, "\"until\" beside \"for\"", "one of them");
  const FabricTime instant = until->as_time();
  if (instant <= at) until->fail_expecting("an instant after " + exact(at));
  out.set(Parameter::kFor, (instant - at).ps());
}

constexpr BitErrorRate kMostUncorrected{BitErrorRate::kOne / 1'000};  // nearly every frame is hit

/// What belongs to a code stands beside one, and a code on wires.
void check_bit_errors(const YamlValue& body, Settings& settings) {
  if (settings.count(Parameter::kFec) == 0) {
    settings.unset(Parameter::kFec);
    for (const Parameter p :
         {Parameter::kDfe, Parameter::kRetrain, Parameter::kLimit, Parameter::kSeed}) {
      if (settings.has(p)) {
        body.fail_at_key(info(p).name, in_quotes(info(p).name) + " without a code",
                         "\"fec: kp4\" beside it");
      }
    }
    if (settings.count(Parameter::kErrorRate) >
        static_cast<int64_t>(kMostUncorrected.per_quadrillion)) {
      body.require("rate").fail_expecting("at most " + exact(kMostUncorrected) +
                                          ", or fec beside it");
    }
    return;
  }
  if (body.get("switch")) {
    body.fail_at_key("fec", "a code inside a switch", "a wire or a link, which has one");
  }
  if (settings.has(Parameter::kLimit) && !settings.has(Parameter::kRetrain)) {
    body.fail_at_key("limit", "\"limit\" alone", "\"retrain\" beside it");
  }
}

/// Conditions between parameters, in the kinds that have any.
void check_settings(FaultKind kind, const YamlValue& body, Settings& settings) {
  if (kind == FaultKind::kBitErrors) return check_bit_errors(body, settings);
  if (kind == FaultKind::kSlowReceiver) {
    if (settings.has(Parameter::kTo) == settings.has(Parameter::kShare)) {
      body.fail(settings.has(Parameter::kTo) ? "\"to\" and \"share\"" : "no rate",
                "one of them: to (a rate) or share (of the line rate)");
    }
    return;
  }
  if (kind == FaultKind::kAttack && settings.has(Parameter::kShare) &&
      settings.count(Parameter::kAttack) == static_cast<int64_t>(AttackKind::kNoEcn)) {
    body.fail_at_key("share", "a share for no_ecn", "none: its own workloads send");
  }
  if (kind != FaultKind::kWireLoss) return;
  const bool every = settings.has(Parameter::kEvery);
  const bool bursts = settings.has(Parameter::kBurst) || settings.has(Parameter::kGap);
  if (settings.count(Parameter::kCarrier) == 1) {
    if (every || bursts || settings.count(Parameter::kLoss, Probability::kOne) != Probability::kOne)
      body.fail_at_key("carrier", "a lost carrier beside a loss",
                       "one of them: nothing passes when the carrier is lost");
    settings.unset(Parameter::kLoss);
    return;
  }
  if (every && (bursts || settings.has(Parameter::kLoss))) {
    body.fail_at_key("every", "\"every\" beside a loss at random", "one of them");
  }
  if (!every && !settings.has(Parameter::kLoss)) body.require("loss");
  if (settings.has(Parameter::kBurst) != settings.has(Parameter::kGap)) {
    body.fail("\"burst\" and \"gap\" not together", "both: mean frames of bad and good stretches");
  }
}

Settings read_settings(FaultKind kind, FabricTime at, const YamlValue& body, NameResolver& names) {
  Settings settings;
  Mistakes mistakes;
  for (const ParameterUse& use : info(kind).parameters) {
    mistakes.go_on([&] {
      const ParameterInfo& parameter = info(use.parameter);
      const auto value = use.required ? body.require(parameter.name) : body.get(parameter.name);
      if (value) settings.set(use.parameter, read_quantity(*value, parameter));
    });
  }
  mistakes.report();
  if (takes_duration(kind)) read_until(body, at, settings);
  const bool draws = kind == FaultKind::kBitErrors ? settings.count(Parameter::kFec) > 0
                                                   : info(kind).takes(Parameter::kSeed);
  if (draws && !settings.has(Parameter::kSeed)) {
    settings.set(Parameter::kSeed, names.draw_below(1'000'000'000));
  }
  check_settings(kind, body, settings);
  return settings;
}

std::vector<std::string_view> known_keys(FaultKind kind) {
  const auto targets = keys_of(info(kind).targets);
  std::vector<std::string_view> keys(targets.begin(), targets.end());
  for (const ParameterUse& use : info(kind).parameters) keys.push_back(info(use.parameter).name);
  if (takes_duration(kind)) keys.push_back(kUntil);
  return keys;
}

}  // namespace

Fault parse_fault(FaultKind kind, FabricTime at, const YamlValue& body, NameResolver& names) {
  const std::vector<std::string_view> keys = known_keys(kind);
  Mistakes mistakes;
  if (!mistakes.go_on([&] { body.only_keys(keys); })) {  // what seems to lack may be misspelt
    mistakes.go_on([&] { check_form(body, faults_form().parts[0].at(info(kind).name)); });
    mistakes.report();
  }
  Fault fault{at, kind, {}, {}};
  mistakes.go_on([&] { fault.targets = read_targets(kind, body, names); });
  mistakes.go_on([&] { fault.settings = read_settings(kind, at, body, names); });
  mistakes.report();
  check_attack(body, names.topology(), fault);
  if (const auto why = refusal(names.topology(), fault)) body.fail(why->found, why->expected);
  return fault;
}

Fault parse_partial_fault(FaultKind kind, const YamlValue& body, NameResolver& names) {
  const std::vector<std::string_view> keys = known_keys(kind);
  body.only_keys(keys);
  Fault fault{FabricTime::zero(), kind, read_targets(kind, body, names), {}};
  for (const ParameterUse& use : info(kind).parameters) {
    const ParameterInfo& parameter = info(use.parameter);
    if (const auto value = body.get(parameter.name)) {
      fault.settings.set(use.parameter, read_quantity(*value, parameter));
    }
  }
  return fault;
}

}  // namespace mrclab::faults
