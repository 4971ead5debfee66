#include "faults/fault_order.h"

#include "fabric/text/yaml.h"
#include "fabric/text/yaml_write.h"

namespace mrclab::lab {
namespace {

constexpr const char* kByHand = "by hand";

/// A key or a value in YAML: a list or a map as it stands, anything else as one string.
std::string yaml_value(const std::string& text) {
  return text.starts_with('[') || text.starts_with('{') ? text : yaml_string(text);
}

/// There is no file whose lines and columns would mean anything.
std::string without_position(const std::string& message) {
  const bool placed = message.starts_with(std::string(kByHand) + ":");
  return placed ? message.substr(message.find(": ") + 2) : message;
}

faults::FaultKind kind_of(const std::string& word) {
  const std::optional<faults::FaultKind> kind = faults::find_fault(word);
  if (kind) return *kind;
  std::vector<std::string> known;
  for (const faults::FaultInfo& fault : faults::all_faults()) known.emplace_back(fault.name);
  throw InputError("found the fault " + in_quotes(word) + ": expected " + one_of(word, known));
}

}  // namespace

faults::Fault fault_of(const FaultOrder& order, FabricTime at, NameResolver& names) {
  const faults::FaultKind kind = kind_of(order.kind);
  std::string text = "{";
  for (const auto& [key, value] : order.body) {
    text += yaml_value(key) + ": " + yaml_value(value) + ", ";
  }
  try {
    const YamlValue body = read_yaml_text(text + "}", kByHand).with_rtt(names.topology().base_rtt);
    return faults::parse_fault(kind, at, body, names);
  } catch (const InputError& error) {
    throw InputError(order.kind + ": " + without_position(error.what()));
  }
}

}  // namespace mrclab::lab
