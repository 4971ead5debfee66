#include "live/translate/fabric_labels.h"

#include <algorithm>
#include <array>

#include "fabric/topology/fabric_file.h"

namespace mrclab::lab {
namespace {

constexpr std::string_view kPrefix = "mrclab-";
constexpr std::array<std::string_view, 25> kKeys{
    "address_plan", "decap",       "segments",       "host_rate",    "fabric_rate",
    "link_rates",   "propagation", "switch_latency", "host_latency", "pmtu",
    "optics",       "forwarding",  "routing",        "speaker",      "wires",
    "ecn",          "trim",        "queues",         "dscp",         "roce",
    "nic",          "line_cards",  "power_zones",    "switching",    "nics_per_node"};

/// "key: value" for each line of the file.
std::vector<std::pair<std::string, std::string>> lines_of(const FabricShape& shape) {
  const std::string text = to_yaml(shape);
  std::vector<std::pair<std::string, std::string>> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const size_t colon = text.find(": ", at);
    lines.emplace_back(text.substr(at, colon - at), text.substr(colon + 2, end - colon - 2));
    at = end + 1;
  }
  return lines;
}

std::string label_of(std::string_view key) {
  std::string label = std::string(kPrefix) + std::string(key);
  std::replace(label.begin(), label.end(), '_', '-');
  return label;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> fabric_labels(const FabricShape& shape) {
  FabricShape usual;
  usual.name = shape.name;
  usual.graph = shape.graph;
  const auto as_usual = lines_of(usual);
  // Without `fabric_rate` a file means that it is `host_rate`.
  const bool own_rates =
      shape.host_rate != usual.host_rate || shape.fabric_rate != usual.fabric_rate;
  std::vector<std::pair<std::string, std::string>> labels;
  for (const auto& line : lines_of(shape)) {
    if (std::find(kKeys.begin(), kKeys.end(), line.first) == kKeys.end()) continue;
    const bool is_rate = line.first == "host_rate" || line.first == "fabric_rate";
    const bool same = std::find(as_usual.begin(), as_usual.end(), line) != as_usual.end();
    if (is_rate ? own_rates : !same) labels.emplace_back(label_of(line.first), line.second);
  }
  return labels;
}

std::string fabric_key(std::string_view label) {
  for (const std::string_view key : kKeys) {
    if (label_of(key) == label) return std::string(key);
  }
  return "";
}

}  // namespace mrclab::lab
