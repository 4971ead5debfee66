#include "fabric/node/effect_text.h"

#include <charconv>
#include <sstream>
#include <vector>

#include "fabric/paths/path_pattern.h"
#include "fabric/text/yaml.h"

namespace mrclab {
namespace {

// --- one field as text ---------------------------------------------------------------------------

template <class Value>
std::string field_text(const Value& value) {
  if constexpr (requires { value.valid(); }) {
    return value.valid() ? std::to_string(value.value) : "-";
  } else if constexpr (std::is_same_v<Value, PortRef>) {
    return field_text(value.node) + "/" + field_text(value.port);
  } else if constexpr (std::is_enum_v<Value> || std::is_integral_v<Value>) {
    return std::to_string(static_cast<uint64_t>(value));
  } else if constexpr (std::is_same_v<Value, FabricTime>) {
    return std::to_string(value.ps());
  } else if constexpr (std::is_same_v<Value, Probability>) {
    return std::to_string(value.ppb);
  } else if constexpr (std::is_same_v<Value, BitErrorRate>) {
    return std::to_string(value.per_quadrillion);
  } else if constexpr (std::is_same_v<Value, BitRate>) {
    return std::to_string(value.bps);
  } else {
    return std::to_string(value.value);  // EntropyValue, Usid, Bytes
  }
}

bool read_number(std::string_view text, uint64_t max, uint64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size() && out <= max;
}

template <class Id>
bool read_id(std::string_view text, Id& out) {
  if (text == "-") return out = Id{}, true;
  uint64_t number = 0;
  if (!read_number(text, Id::kInvalid - 1, number)) return false;
  out.value = static_cast<uint32_t>(number);
  return true;
}

/// False unless the text is a value of the type at all; what it may mean is asked by fits().
template <class Value>
bool read_field(std::string_view text, std::span<const std::string_view> words, Value& out) {
  uint64_t n = 0;
  if constexpr (requires { out.valid(); }) {
    return read_id(text, out);
  } else if constexpr (std::is_same_v<Value, PortRef>) {
    const size_t slash = text.find('/');
    return slash != std::string_view::npos && read_id(text.substr(0, slash), out.node) &&
           read_id(text.substr(slash + 1), out.port);
  } else if constexpr (std::is_enum_v<Value>) {
    for (size_t i = 0; i < words.size(); ++i) {
      if (words[i] == text) return out = static_cast<Value>(i), true;
    }
    return false;
  } else if constexpr (std::is_same_v<Value, bool>) {
    return read_number(text, 1, n) && (out = n == 1, true);
  } else if constexpr (std::is_same_v<Value, FabricTime>) {
    return read_number(text, INT64_MAX - 1, n) &&
           (out = FabricTime::from_ps(static_cast<int64_t>(n)), true);
  } else if constexpr (std::is_same_v<Value, Probability>) {
    return read_number(text, Probability::kOne, n) && (out.ppb = static_cast<uint32_t>(n), true);
  } else if constexpr (std::is_same_v<Value, BitErrorRate>) {
    return read_number(text, BitErrorRate::kOne, n) && (out.per_quadrillion = n, true);
  } else if constexpr (std::is_same_v<Value, BitRate>) {
    return read_number(text, UINT64_MAX, n) && (out.bps = n, true);
  } else if constexpr (std::is_same_v<Value, uint32_t>) {
    return read_number(text, UINT32_MAX, n) && (out = static_cast<uint32_t>(n), true);
  } else {
    using Inner = decltype(out.value);  // EntropyValue, Usid, Bytes
    return read_number(text, std::numeric_limits<Inner>::max(), n) &&
           (out.value = static_cast<Inner>(n), true);
  }
}

// --- which effects fit a topology -----------------------------------------------------

bool has_node(const Topology& topology, NodeId node, bool host) {
  return node.value < topology.nodes.size() &&
         (topology.node(node).role == NodeRole::kHost) == host;
}

bool has_port(const Topology& topology, PortRef ref) {
  return ref.node.value < topology.nodes.size() &&
         ref.port.value < topology.node(ref.node).ports.size();
}

bool has_ev(const Topology& topology, EntropyValue ev) {
  const std::optional<Path> path = path_of(ev);
  return path && has_path(topology, *path);
}

template <class E>
bool fits(const Topology& topology, const E& e) {
  if constexpr (requires { e.wire; }) {
    if (e.wire.value >= topology.all_wires().size()) return false;
  }
  if constexpr (std::is_same_v<E, WireLoss>) {
    return (e.kind != LossKind::kEveryNth || e.every > 0) && (!e.one_ev || has_ev(topology, e.ev));
  } else if constexpr (std::is_same_v<E, WireDelay>) {
    return e.fixed <= kMaxWireDelay && e.jitter <= kMaxWireDelay - e.fixed;
  } else if constexpr (std::is_same_v<E, WireCodewords>) {
    return (e.code == FecCode::kNone) == (e.rate.per_quadrillion == 0);
  } else if constexpr (std::is_same_v<E, PortCarrier>) {
    return has_port(topology, e.port);
  } else if constexpr (std::is_same_v<E, EvDenial>) {
    return has_node(topology, e.host, true) && has_ev(topology, e.ev) &&
           (!e.toward.valid() || has_node(topology, e.toward, true));
  } else if constexpr (std::is_same_v<E, SwitchRoute>) {
    // Only a wrong route names a port. Any other port would be looked up by describe().
    return has_node(topology, e.node, false) &&
           (e.kind == RouteKind::kWrong ? has_port(topology, {e.node, e.port}) : !e.port.valid());
  } else if constexpr (std::is_same_v<E, HostBurst>) {
    return has_node(topology, e.host, true) && has_node(topology, e.toward, true) &&
           e.host != e.toward && e.size <= kMaxBurst;
  } else if constexpr (std::is_same_v<E, HostAttack>) {
    return has_node(topology, e.host, true) && has_node(topology, e.toward, true) &&
           e.host != e.toward;
  } else if constexpr (std::is_same_v<E, HostVerbs>) {
    return has_node(topology, e.host, true) && e.status != VerbsStatus::kNone;
  } else if constexpr (std::is_same_v<E, HostDrain>) {
    return has_node(topology, e.host, true) && (e.kind == DrainKind::kSlow) == (e.rate.bps > 0);
  } else if constexpr (requires { e.host; }) {
    return has_node(topology, e.host, true);
  } else if constexpr (requires { e.node; }) {
    return has_node(topology, e.node, false);
  } else {
    return true;
  }
}

/// The effect of the variant's place `I` and behind it that is called `name`, its fields read.
template <size_t I = 0>
std::optional<Effect> read_effect(const Topology& topology, std::string_view name,
                                  std::istream& in) {
  if constexpr (I < std::variant_size_v<Effect>) {
    if (kEffectNames[I] != name) return read_effect<I + 1>(topology, name, in);
    std::variant_alternative_t<I, Effect> effect;
    bool good = true;
    for_each_field(effect, [&](const auto& field, auto& value) {
      std::string word;
      good = good && (in >> word) && read_field(word, field.words, value);
    });
    if (good && fits(topology, effect)) return effect;
  }
  return std::nullopt;
}

// --- for people ----------------------------------------------------------------------------------

template <class Value>
std::string value_for_people(const Value& value) {
  if constexpr (std::is_same_v<Value, bool>) {
    return value ? "yes" : "no";
  } else if constexpr (std::is_same_v<Value, BitErrorRate>) {
    return std::to_string(value.per_quadrillion) + "e-15";
  } else if constexpr (std::is_same_v<Value, EntropyValue>) {
    return to_string(path_of(value).value_or(Path{}));
  } else if constexpr (requires { exact(value); }) {
    return exact(value);
  } else {
    return field_text(value);
  }
}

}  // namespace

std::string to_text(const ScheduledEffect& scheduled) {
  std::string text = std::to_string(scheduled.at.ps()) + ' ' + std::to_string(scheduled.sequence) +
                     ' ' + std::to_string(scheduled.fault) + (scheduled.heals ? " 1 " : " 0 ") +
                     std::string(name_of(scheduled.effect));
  std::visit(
      [&](const auto& effect) {
        for_each_field(effect, [&](const auto& field, const auto& value) {
          text += ' ';
          if constexpr (std::is_enum_v<std::decay_t<decltype(value)>>) {
            text += field.words[static_cast<size_t>(value)];
          } else {
            text += field_text(value);
          }
        });
      },
      scheduled.effect);
  return text;
}

std::optional<ScheduledEffect> parse_effect(const Topology& topology, std::string_view line) {
  std::istringstream in{std::string(line)};
  int64_t at = 0;
  int heals = 0;
  std::string name;
  ScheduledEffect scheduled;
  if (!(in >> at >> scheduled.sequence >> scheduled.fault >> heals >> name)) return std::nullopt;
  if (at < 0 || (heals != 0 && heals != 1)) return std::nullopt;
  scheduled.at = FabricTime::from_ps(at);
  scheduled.heals = heals == 1;
  const std::optional<Effect> effect = read_effect(topology, name, in);
  std::string rest;
  if (!effect || (in >> rest)) return std::nullopt;
  scheduled.effect = *effect;
  return scheduled;
}

std::string target_name(const Topology& topology, const Effect& effect) {
  return std::visit(
      [&](const auto& e) -> std::string {
        using E = std::decay_t<decltype(e)>;
        if constexpr (std::is_same_v<E, WireLoss>) {
          return topology.wire_name(e.wire) + (e.one_ev ? " " + value_for_people(e.ev) : "");
        } else if constexpr (requires { e.wire; }) {
          return topology.wire_name(e.wire);
        } else if constexpr (std::is_same_v<E, PortCarrier>) {
          return topology.port_name(e.port);
        } else if constexpr (std::is_same_v<E, EvDenial>) {
          return topology.node(e.host).name + " " + value_for_people(e.ev) +
                 (e.toward.valid() ? " toward " + topology.node(e.toward).name : "");
        } else if constexpr (std::is_same_v<E, HostBurst>) {
          return topology.node(e.host).name + " toward " + topology.node(e.toward).name;
        } else if constexpr (std::is_same_v<E, HostAttack>) {
          return topology.node(e.host).name + " toward " + topology.node(e.toward).name + " " +
                 std::string(effect_table::kAttackWords[static_cast<size_t>(e.kind)]);
        } else if constexpr (std::is_same_v<E, HostVerbs>) {
          return topology.node(e.host).name + (e.qp > 0 ? " qp " + std::to_string(e.qp) : "");
        } else if constexpr (std::is_same_v<E, SwitchRoute>) {
          std::ostringstream usid;
          usid << std::hex << e.usid.value;
          return topology.node(e.node).name + " uSID " + usid.str();
        } else if constexpr (requires { e.host; }) {
          return topology.node(e.host).name;
        } else {
          return topology.node(e.node).name;
        }
      },
      effect);
}

std::string describe(const Topology& topology, const Effect& effect) {
  std::string text = std::string(name_of(effect)) + " " + target_name(topology, effect);
  if (is_as_built(effect)) return text + " as built";
  std::visit(
      [&](const auto& e) {
        const std::decay_t<decltype(e)> fresh;
        for_each_field(e, [&](const auto& field, const auto& value) {
          if (field.role == FieldRole::kKey || value == fresh.*field.member) return;
          text += " " + std::string(field.name) + "=";
          if constexpr (std::is_enum_v<std::decay_t<decltype(value)>>) {
            text += field.words[static_cast<size_t>(value)];
          } else if constexpr (std::is_same_v<std::decay_t<decltype(value)>, PortId>) {
            text += topology.node(std::get<SwitchRoute>(effect).node).ports[value.value].name();
          } else {
            text += value_for_people(value);
          }
        });
      },
      effect);
  return text;
}

}  // namespace mrclab
