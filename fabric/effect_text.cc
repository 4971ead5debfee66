#include "fabric/effect_text.h"

#include <charconv>
#include <sstream>

#include "fabric/path_pattern.h"

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

bool is_host(const Topology& topology, uint32_t node) {
  return node < topology.nodes.size() && topology.nodes[node].role == NodeRole::kHost;
}

std::optional<Effect> read_denial(const Topology& topology, std::istream& in) {
  uint32_t host = 0;
  uint32_t ev = 0;
  std::string toward;
  std::string state;
  if (!(in >> host >> ev >> toward >> state) || !is_host(topology, host)) return std::nullopt;
  const std::optional<Path> path = path_of({ev});
  if (!path || !has_path(topology, *path)) return std::nullopt;
  EvDenial denial{NodeId{host}, {ev}, {}, state == "denied"};
  if (!denial.denied && state != "good") return std::nullopt;
  if (toward == "all") return denial;
  uint32_t peer = 0;
  const auto [end, error] = std::from_chars(toward.data(), toward.data() + toward.size(), peer);
  if (error != std::errc{} || end != toward.data() + toward.size()) return std::nullopt;
  if (!is_host(topology, peer)) return std::nullopt;
  denial.toward = NodeId{peer};
  return denial;
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
  } else if (const auto* denial = std::get_if<EvDenial>(&scheduled.effect)) {
    out << "ev " << denial->host.value << ' ' << denial->ev.value << ' '
        << (denial->toward.valid() ? std::to_string(denial->toward.value) : "all") << ' '
        << (denial->denied ? "denied" : "good");
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
  if (kind == "ev") effect = read_denial(topology, in);
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
  if (const auto* denial = std::get_if<EvDenial>(&effect)) {
    const std::string toward =
        denial->toward.valid() ? " toward " + topology.node(denial->toward).name : "";
    return topology.node(denial->host).name + " " +
           to_string(path_of(denial->ev).value_or(Path{})) + toward +
           (denial->denied ? " denied" : " allowed");
  }
  const auto& carrier = std::get<PortCarrier>(effect);
  return topology.port_name(carrier.port) + " carrier " + up_word(carrier.up);
}

}  // namespace mrclab
