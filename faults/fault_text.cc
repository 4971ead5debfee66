// Faults as text: the entry of a file that repeats them, and a line for people.

#include <algorithm>

#include "fabric/text/yaml_write.h"
#include "fabric/topology/path.h"
#include "faults/fault.h"

namespace mrclab::faults {
namespace {

constexpr size_t kNamesInDescription = 4;

std::string path_name(EntropyValue ev) { return to_string(path_of(ev).value_or(Path{})); }

std::string value_text(const ParameterInfo& parameter, int64_t value) {
  const auto unsigned_value = static_cast<uint64_t>(value);
  switch (parameter.quantity) {
    case Quantity::kTime: return exact(FabricTime::from_ps(value));
    case Quantity::kShare: return exact(Probability{static_cast<uint32_t>(value)});
    case Quantity::kErrorRate: return exact(BitErrorRate{unsigned_value});
    case Quantity::kBitRate: return exact(BitRate{unsigned_value});
    case Quantity::kBytes: return exact(Bytes{unsigned_value});
    case Quantity::kCount: return std::to_string(value);
    case Quantity::kCarrierWord: return value == 1 ? "lost" : "keep";
    case Quantity::kFecWord: return fec_words().at(static_cast<size_t>(value));
    case Quantity::kAttackWord: return attack_words().at(static_cast<size_t>(value));
    case Quantity::kStatusWord: return status_words().at(static_cast<size_t>(value));
  }
  return "";
}

/// A key and the names behind it.
struct Named {
  std::string_view key;
  std::vector<std::string> names;
};

template <class Ids, class NameOf>
Named named(std::string_view key, const Ids& ids, NameOf name_of_id) {
  Named result{key, {}};
  for (const auto& id : ids) result.names.push_back(name_of_id(id));
  return result;
}

/// The targets, in the order in which they are written.
std::vector<Named> names_of(const Fault& fault, const Topology& topology) {
  const Targets& targets = fault.targets;
  const auto node = [&](NodeId id) { return topology.node(id).name; };
  const auto port = [&](PortRef ref) { return topology.port_name(ref); };
  switch (info(fault.kind).targets) {
    case TargetForm::kLinks:
      return {named("link", targets.links, [&](LinkId id) { return topology.link_name(id); })};
    case TargetForm::kWiresOrSwitches:
      if (!targets.nodes.empty()) return {named("switch", targets.nodes, node)};
      [[fallthrough]];
    case TargetForm::kWires:
      return {named("wire", targets.wires, [&](WireId id) { return topology.wire_name(id); })};
    case TargetForm::kOptics:
      return {named("optic", targets.optics, [&](OpticId id) { return topology.optic(id).name; })};
    case TargetForm::kPorts: return {named("port", targets.ports, port)};
    case TargetForm::kHosts: return {named("host", targets.nodes, node)};
    case TargetForm::kSwitches: return {named("switch", targets.nodes, node)};
    case TargetForm::kPlanes:
      return {named("plane", targets.planes, [](uint32_t p) { return "p" + std::to_string(p); })};
    case TargetForm::kHostPaths:
    case TargetForm::kDenials: {
      std::vector<Named> all{named("host", targets.nodes, node),
                             named("path", targets.evs, path_name)};
      if (!targets.toward.empty()) all.push_back(named("toward", targets.toward, node));
      return all;
    }
    case TargetForm::kRoutes: return {named("route", targets.ports, port)};
    case TargetForm::kRoutesTo:
      return {named("route", targets.ports, port), {"to", {port(targets.to.value_or(PortRef{}))}}};
    case TargetForm::kLineCards:
      return {
          named("card", targets.ports, [&](PortRef ref) { return topology.line_card_name(ref); })};
    case TargetForm::kPowerZones:
      return {named("zone", targets.zones,
                    [&](uint32_t zone) { return topology.power_zones[zone].name; })};
    case TargetForm::kOutOfUse:
      if (!targets.nodes.empty()) return {named("switch", targets.nodes, node)};
      return {named("link", targets.links, [&](LinkId id) { return topology.link_name(id); })};
    case TargetForm::kBurst:
      return {named("from", targets.nodes, node), named("to", targets.toward, node)};
  }
  return {};
}

/// "a, b, c", cut after a few: a line for people.
std::string shortened(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < kNamesInDescription; ++i) {
    text += (i ? ", " : "") + names[i];
  }
  if (names.size() > kNamesInDescription) {
    text += " and " + std::to_string(names.size() - kNamesInDescription) + " more";
  }
  return text;
}

std::string yaml_list(const std::vector<std::string>& names) {
  std::string text = "[";
  for (size_t i = 0; i < names.size(); ++i) text += (i ? ", " : "") + yaml_string(names[i]);
  return text + "]";
}

}  // namespace

std::string_view name_of(const Fault& fault) { return info(fault.kind).name; }

FabricTime Fault::until() const {
  return settings.has(Parameter::kFor) ? at + settings.time(Parameter::kFor) : FabricTime::never();
}

std::string describe(const Fault& fault, const Topology& topology) {
  std::string text(name_of(fault));
  const std::vector<Named> targets = names_of(fault, topology);
  for (size_t i = 0; i < targets.size(); ++i) {
    text += (i == 0 ? " " : " " + std::string(targets[i].key) + " ") + shortened(targets[i].names);
  }
  text += " at " + exact(fault.at);
  std::string separator = ": ";
  for (const ParameterUse& use : info(fault.kind).parameters) {
    const auto value = fault.settings.get(use.parameter);
    if (!value || use.parameter == Parameter::kFor || use.parameter == Parameter::kSeed) continue;
    text += separator + std::string(info(use.parameter).name) + " " +
            value_text(info(use.parameter), *value);
    separator = ", ";
  }
  const FabricTime until = fault.until();
  if (fault.healed < until && fault.healed != FabricTime::never()) {
    return text + ", healed at " + exact(fault.healed);
  }
  if (!info(fault.kind).takes(Parameter::kFor)) return text;
  return text + (until == FabricTime::never() ? ", not healed" : " for " + exact(until - fault.at));
}

std::string to_yaml(const Fault& fault, const Topology& topology) {
  std::string text = "{at: " + exact(fault.at) + ", ";
  if (fault.healed != FabricTime::never()) text += "healed: " + exact(fault.healed) + ", ";
  text += std::string(name_of(fault)) + ": {";
  std::string separator;
  for (const Named& target : names_of(fault, topology)) {
    text += separator + std::string(target.key) + ": " + yaml_list(target.names);
    separator = ", ";
  }
  for (const ParameterUse& use : info(fault.kind).parameters) {
    const auto value = fault.settings.get(use.parameter);
    if (!value) continue;
    text += separator + std::string(info(use.parameter).name) + ": " +
            value_text(info(use.parameter), *value);
  }
  return text + "}}";
}

}  // namespace mrclab::faults
