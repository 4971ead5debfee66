#include "scenario/spec/fat_twin.h"

#include <cctype>

#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "fabric/topology/pattern.h"
#include "faults/fault_form.h"
#include "faults/schedule.h"
#include "scenario/spec/expectation_list.h"

namespace mrclab::lab {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

size_t digits_end(const std::string& text, size_t from) {
  while (from < text.size() && std::isdigit(static_cast<unsigned char>(text[from])) != 0) ++from;
  return from;
}

/// Where "3", "*", "[0-3]" or "{0..3}" ends that begins at `from`; there, if nothing does.
size_t plane_end(const std::string& text, size_t from) {
  if (from >= text.size()) return from;
  const char first = text[from];
  if (first == '*' || first == '?') return from + 1;
  if (first == '[' || first == '{') {
    const size_t close = text.find(first == '[' ? ']' : '}', from);
    return close == std::string::npos ? from : close + 1;
  }
  return digits_end(text, from);
}

/// Is a 'p' at `at`, with the number of a plane up to `end`, the part of a name that is its plane? In names it stands
/// before the rest of a switch ("p2.t0-1") or of a path ("p2/u1"), behind a host ("h3:p2"), or alone. "p99:" is a key.
bool names_plane(const std::string& text, size_t at, size_t end) {
  const char before = at == 0 ? ' ' : text[at - 1];
  const char behind = end == text.size() ? ' ' : text[end];
  if (is_word(before) || is_word(behind) || (before == '-' && at >= 2 && is_word(text[at - 2]))) {
    return false;
  }
  return behind == '.' || behind == '/' || (behind != ':' && end > at + 1);
}

FabricShape in_one_plane(FabricShape shape) {
  for (LinkRate& rate : shape.link_rates) rate.links = lab::in_one_plane(rate.links);
  for (ZoneShape& zone : shape.power_zones) {
    for (std::string& node : zone.nodes) node = lab::in_one_plane(node);
  }
  for (std::string& part : shape.denylist.fixed) part = lab::in_one_plane(part);
  for (DenylistPolicy::Drain& drain : shape.denylist.drains) {
    drain.part = lab::in_one_plane(drain.part);
  }
  for (auto& [one, other] : shape.miscabled) {
    one = lab::in_one_plane(one);
    other = lab::in_one_plane(other);
  }
  for (auto& exception : shape.forwarding.exceptions) {
    exception.pattern = lab::in_one_plane(exception.pattern);
  }
  for (auto& exception : shape.speaker.exceptions) {
    exception.pattern = lab::in_one_plane(exception.pattern);
  }
  return shape;
}

}  // namespace

std::string in_one_plane(const std::string& text) {
  constexpr std::string_view kPlaneKey = "plane: ";
  constexpr std::string_view kMeasureKey = "by: p";  // a percentile, as p99.9
  std::string made;
  for (size_t i = 0; i < text.size();) {
    if (text.compare(i, kPlaneKey.size(), kPlaneKey) == 0) {
      const size_t number = i + kPlaneKey.size(), end = digits_end(text, number);
      made += kPlaneKey;
      if (end > number) made += '0';
      i = end;
      continue;
    }
    if (text.compare(i, kMeasureKey.size(), kMeasureKey) == 0 &&
        (i == 0 || !is_word(text[i - 1]))) {
      made += kMeasureKey;
      i += kMeasureKey.size();
      continue;
    }
    const size_t end = text[i] == 'p' ? plane_end(text, i + 1) : i;
    if (end > i + 1 && names_plane(text, i, end)) {
      made += "p0";
      i = end;
    } else {
      made += text[i++];
    }
  }
  return made;
}

FabricShape fat_twin(const FabricShape& shape) {
  if (!shape.graph.empty()) {
    throw InputError("found " + shape.name +
                     ", a listed fabric, which has no fat twin: expected regular planes");
  }
  if (shape.planes == 1) return shape;
  FabricShape fat = in_one_plane(shape);
  fat.name += "-fat";
  fat.planes = 1;
  const uint64_t times = shape.planes;
  fat.host_rate.bps *= times;
  fat.fabric_rate.bps *= times;
  for (LinkRate& rate : fat.link_rates) rate.rate.bps *= times;
  if (fat.links_per_optic > 0) fat.links_per_optic = 1;
  if (fat.uplinks_per_optic > 0) fat.uplinks_per_optic = 1;
  if (fat.t1_uplinks_per_optic > 0) fat.t1_uplinks_per_optic = 1;
  return fat;
}

Scenario fat_twin(const Scenario& scenario) {
  Scenario fat = scenario;
  fat.contrasts.clear();
  fat.fabric = fat_twin(scenario.fabric);
  if (scenario.fabric.planes == 1) return fat;
  fat.topology = build_topology(fat.fabric);
  check_lookahead(fat.topology);
  std::string faults, expected;
  for (const faults::Fault& fault : scenario.faults) {
    faults += "- " + in_one_plane(faults::to_yaml(fault, scenario.topology)) + "\n";
  }
  for (const analysis::Expectation& each : scenario.expect) {
    expected += "- " + in_one_plane(analysis::to_yaml(each)) + "\n";
  }
  const std::string name = "the fat twin of " + scenario.name;
  NameResolver names(fat.topology, scenario.seed);
  const auto list_of = [&](const std::string& text) {
    return read_yaml_text(text.empty() ? "[]" : text, name).with_rtt(fat.topology.base_rtt);
  };
  fat.faults = faults::parse_faults(list_of(faults), names, fat.end);
  fat.schedule = faults::compile(fat.faults, fat.topology);
  fat.expect = read_expectations(list_of(expected), fat, false);
  return fat;
}

}  // namespace mrclab::lab
