// What a run folder keeps of its scenario: a file that repeats it, and the schedule of effects.

#include <nlohmann/json.hpp>

#include "fabric/node/effect_text.h"
#include "fabric/text/yaml_write.h"
#include "fabric/topology/fabric_file.h"
#include "netio/system/file_descriptor.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {
namespace {

std::string_view word_of(CaptureScope scope) {
  switch (scope) {
    case CaptureScope::kHosts: return "hosts";
    case CaptureScope::kAll: return "all";
    case CaptureScope::kNone: return "none";
  }
  return "hosts";
}

/// "[spray, trim]"
std::string names_text(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "[" : ", ") + yaml_word(name);
  return text + "]";
}

template <class Values, class TextOf>
std::string entries_text(const Values& values, TextOf text_of) {
  std::string text;
  for (const auto& value : values) text += "  - " + text_of(value) + "\n";
  return text;
}

std::string under(std::string_view key, const std::string& entries) {
  return entries.empty() ? "" : std::string(key) + ":\n" + entries;
}

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
  std::string text = "name: " + yaml_word(scenario.name) + "\n";
  if (!scenario.ids.empty()) text += "id: " + names_text(scenario.ids) + "\n";
  if (!scenario.about.empty()) text += "about: " + yaml_string(scenario.about) + "\n";
  text += "fabric:\n" + mrclab::to_yaml(scenario.fabric, 2);
  text += "seed: " + std::to_string(scenario.seed) + "\n";
  if (!scenario.without.empty()) text += "without: " + names_text(scenario.without) + "\n";
  if (!scenario.fails_without.empty()) {
    text += "fails_without: " + names_text(scenario.fails_without) + "\n";
  }
  text += "transport: " + endpoint::to_yaml(scenario.transport) + "\n";
  text += "dilation: " + (scenario.dilation ? std::to_string(*scenario.dilation) : "auto") + "\n";
  text += scenario.timing == TimingMode::kWall ? "timing: wall\n" : "timing: carried\n";
  text += "captures: " + std::string(word_of(scenario.captures)) + "\n";
  if (scenario.taps != CaptureScope::kNone) {
    text += "taps: " + std::string(word_of(scenario.taps)) + "\n";
  }
  text += std::string("payload: ") + (scenario.payload_elided ? "elided" : "real") + "\n";
  const auto same = [](const auto& value) { return to_yaml(value); };
  text += under("workload",
                entries_text(scenario.workload, same) + entries_text(scenario.programs, same));
  text += under("faults", entries_text(scenario.faults, [&](const faults::Fault& fault) {
                  return faults::to_yaml(fault, scenario.topology);
                }));
  text += "end: " + (scenario.end == FabricTime::never() ? "never" : exact(scenario.end)) + "\n";
  text += under("expect",
                entries_text(scenario.expect, same) + entries_text(scenario.check_programs, same));
  text += under("contrast", entries_text(scenario.contrasts, same));
  return text;
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
