#include "lab/persistent/fault_text.h"

#include <fmt/format.h>

#include "console/terminal.h"
#include "fabric/base/units.h"
#include "fabric/text/text_wrap.h"
#include "fabric/text/yaml.h"
#include "faults/fault_kind.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;

/// `link=p0.t0-0:u0 for=50us`, for a shell.
std::string command_words(std::string_view example) {
  std::string text;
  for (const auto& [key, value] : read_yaml_text(example, "example").members()) {
    std::string word;
    if (value.is_list()) {
      for (const YamlValue& item : value.items())
        word += (word.empty() ? "" : ",") + item.as_string();
    } else {
      word = value.as_string();
    }
    const bool quote = word.find_first_of("*[?>") != std::string::npos;
    text += (text.empty() ? "" : " ") + key + "=" + (quote ? "'" + word + "'" : word);
  }
  return text;
}

std::vector<std::string> keys_of_kind(const faults::FaultInfo& fault) {
  std::vector<std::string> keys;
  for (const std::string_view key : faults::keys_of(fault.targets)) keys.emplace_back(key);
  for (const faults::ParameterUse& use : fault.parameters) {
    keys.emplace_back(faults::info(use.parameter).name);
  }
  return keys;
}

std::string by_number(const json& fault) {
  return fmt::format("{:>3}  {}", fault.at("number").get<uint32_t>(),
                     fault.at("fault").get<std::string>());
}

}  // namespace

std::string fault_text(const json& fault) {
  return wrapped_text(fmt::format("fault {}: {}", fault.at("number").get<uint32_t>(),
                                  fault.at("fault").get<std::string>()),
                      kTerminalColumns, 2);
}

std::string healed_text(const json& healed) {
  std::string text;
  for (const json& fault : healed.at("healed"))
    text += wrapped_text("healed " + by_number(fault), kTerminalColumns, 12);
  if (text.empty()) text = "nothing to heal\n";
  for (const json& fault : healed.at("outside")) {
    text += wrapped_text("not healed, others did it: " + fault.at("noticed").get<std::string>(),
                         kTerminalColumns, 2);
  }
  return text;
}

std::string faults_text(const json& faults) {
  std::string text;
  for (const json& fault : faults.at("faults")) {
    text += wrapped_text(
        fmt::format("{:>3}  {:<9}  {:<8}  {}", fault.at("number").get<uint32_t>(),
                    fault.at("stage").get<std::string>(), fault.at("source").get<std::string>(),
                    fault.at("fault").get<std::string>()),
        kTerminalColumns, 26);
    if (fault.contains("noticed")) {
      text += wrapped_text(std::string(26, ' ') + fault.at("noticed").get<std::string>(),
                           kTerminalColumns, 26);
    }
  }
  const auto left_out = faults.at("left_out").get<uint64_t>();
  if (left_out > 0) {
    text +=
        fmt::format("and {} more; mrclab fault --export FILE writes all that began\n", left_out);
  }
  std::string others;
  for (const json& line : faults.value("outside_faults", json::array())) {
    others += wrapped_text("outside: " + line.get<std::string>(), kTerminalColumns, 9);
  }
  const auto now = FabricTime::from_ps(faults.at("fabric_ps").get<int64_t>());
  return fmt::format("fabric time {}\n", in_microseconds(now)) +
         (text.empty() ? "no faults\n" : " NO  STAGE      SOURCE    FAULT\n" + text) + others;
}

json fault_kinds_json() {
  json kinds = json::array();
  for (const faults::FaultInfo& fault : faults::all_faults()) {
    kinds.push_back({{"kind", fault.name},
                     {"about", fault.about},
                     {"keys", keys_of_kind(fault)},
                     {"example", command_words(fault.example)}});
  }
  return kinds;
}

std::string fault_kinds_text() {
  std::string text;
  for (const faults::FaultInfo& fault : faults::all_faults()) {
    text += wrapped_text(fmt::format("{:<21} {}", fault.name, fault.about), kTerminalColumns, 22);
    text += fmt::format("    {} {}\n", fault.name, command_words(fault.example));
  }
  return text + "Without \"for\" a fault stays until 'mrclab heal'.\n";
}

}  // namespace mrclab::lab
