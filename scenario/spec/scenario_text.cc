// What a run folder keeps of its scenario: a file that repeats it, and the schedule of effects.

#include <nlohmann/json.hpp>

#include "fabric/node/effect_text.h"
#include "netio/system/file_descriptor.h"
#include "scenario/spec/scenario.h"
#include "scenario/spec/scenario_keys.h"

namespace mrclab::lab {
namespace {

/// A field with its unit in its name: "loss_ppb", "fixed_ps".
template <class Value>
void put_field(nlohmann::ordered_json& line, const auto& field, const Value& value) {
  const std::string name(field.name);
  if constexpr (std::is_enum_v<Value>) {
    line[name] = field.words[static_cast<size_t>(value)];
  } else if constexpr (std::is_integral_v<Value>) {
    line[name] = value;
  } else if constexpr (std::is_same_v<Value, FabricTime>) {
    line[name + "_ps"] = value.ps();
  } else if constexpr (std::is_same_v<Value, Probability>) {
    line[name + "_ppb"] = value.ppb;
  } else if constexpr (std::is_same_v<Value, BitErrorRate>) {
    line[name + "_per_quadrillion"] = value.per_quadrillion;
  } else if constexpr (std::is_same_v<Value, BitRate>) {
    line[name + "_bps"] = value.bps;
  } else if constexpr (std::is_same_v<Value, Bytes>) {
    line[name + "_bytes"] = value.value;
  } else if constexpr (std::is_same_v<Value, EntropyValue>) {
    line[name] = value.value;
  } else if constexpr (std::is_same_v<Value, PortId>) {
    if (value.valid()) line[name] = value.value;
  }  // what else there is are keys: "target" has them
}

nlohmann::ordered_json line_of(const ScheduledEffect& scheduled, const Topology& topology) {
  nlohmann::ordered_json line{{"t_ps", scheduled.at.ps()},
                              {"effect", name_of(scheduled.effect)},
                              {"target", target_name(topology, scheduled.effect)}};
  std::visit(
      [&](const auto& effect) {
        for_each_field(effect, [&](const auto& field, const auto& value) {
          if (field.role == FieldRole::kState) put_field(line, field, value);
        });
      },
      scheduled.effect);
  line["fault"] = scheduled.fault;
  line["heals"] = scheduled.heals;
  line["sequence"] = scheduled.sequence;
  return line;
}

}  // namespace

std::string to_yaml(const Scenario& scenario) {
  return scenario_keys().written_lines(scenario, "");
}

void write_resolved_scenario(const Scenario& scenario, const std::filesystem::path& path) {
  netio::write_file(path, to_yaml(scenario));
}

void write_fault_schedule(const std::vector<ScheduledEffect>& schedule, const Topology& topology,
                          const std::filesystem::path& path) {
  std::string text;
  for (const ScheduledEffect& effect : schedule) text += line_of(effect, topology).dump() + "\n";
  netio::write_file(path, text);
}

}  // namespace mrclab::lab
