#include "fabric/effect_text.h"

#include <sstream>

namespace mrclab {
namespace {

const char* up_word(bool up) { return up ? "up" : "down"; }

std::optional<bool> read_up(std::istream& in) {
  std::string word;
  if (!(in >> word) || (word != "up" && word != "down")) return std::nullopt;
  return word == "up";
}

std::optional<Effect> read_wire(const Topology& topology, std::istream& in, bool loss) {
  uint32_t id = 0;
  if (!(in >> id) || id >= topology.wires_list.size()) return std::nullopt;
  if (loss) {
    uint32_t ppb = 0;
    if (!(in >> ppb) || ppb > Probability::kOne) return std::nullopt;
    return WireLoss{WireId{id}, Probability{ppb}};
  }
  const std::optional<bool> up = read_up(in);
  if (!up) return std::nullopt;
  return WireState{WireId{id}, *up};
}

std::optional<Effect> read_carrier(const Topology& topology, std::istream& in) {
  uint32_t node = 0;
  uint32_t port = 0;
  if (!(in >> node >> port) || node >= topology.nodes.size() ||
      port >= topology.nodes[node].ports.size()) {
    return std::nullopt;
  }
  const std::optional<bool> up = read_up(in);
  if (!up) return std::nullopt;
  return PortCarrier{{NodeId{node}, PortId{port}}, *up};
}

}  // namespace

std::string to_text(const ScheduledEffect& scheduled) {
  std::ostringstream out;
  out << scheduled.at.ps() << ' ' << scheduled.sequence << ' ' << scheduled.fault << ' '
      << (scheduled.heals ? 1 : 0) << ' ';
  if (const auto* state = std::get_if<WireState>(&scheduled.effect)) {
    out << "wire " << state->wire.value << ' ' << up_word(state->up);
  } else if (const auto* loss = std::get_if<WireLoss>(&scheduled.effect)) {
    out << "loss " << loss->wire.value << ' ' << loss->loss.ppb;
  } else if (const auto* carrier = std::get_if<PortCarrier>(&scheduled.effect)) {
    out << "carrier " << carrier->port.node.value << ' ' << carrier->port.port.value << ' '
        << up_word(carrier->up);
  }
  return out.str();
}

std::optional<ScheduledEffect> parse_effect(const Topology& topology, std::string_view line) {
  std::istringstream in{std::string(line)};
  int64_t at = 0;
  int heals = 0;
  std::string kind;
  ScheduledEffect scheduled;
  if (!(in >> at >> scheduled.sequence >> scheduled.fault >> heals >> kind)) return std::nullopt;
  if (at < 0 || (heals != 0 && heals != 1)) return std::nullopt;
  scheduled.at = FabricTime::from_ps(at);
  scheduled.heals = heals == 1;
  std::optional<Effect> effect;
  if (kind == "wire" || kind == "loss") effect = read_wire(topology, in, kind == "loss");
  if (kind == "carrier") effect = read_carrier(topology, in);
  std::string rest;
  if (!effect || (in >> rest)) return std::nullopt;
  scheduled.effect = *effect;
  return scheduled;
}

std::string describe(const Topology& topology, const Effect& effect) {
  if (const auto* state = std::get_if<WireState>(&effect)) {
    return topology.wire_name(state->wire) + " wire " + up_word(state->up);
  }
  if (const auto* loss = std::get_if<WireLoss>(&effect)) {
    return topology.wire_name(loss->wire) + " loss " + std::to_string(loss->loss.ppb) + " ppb";
  }
  const auto& carrier = std::get<PortCarrier>(effect);
  return topology.port_name(carrier.port) + " carrier " + up_word(carrier.up);
}

}  // namespace mrclab
