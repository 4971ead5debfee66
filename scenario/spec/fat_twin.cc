#include "scenario/spec/fat_twin.h"

#include <algorithm>
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

FabricShape with_planes(FabricShape shape, const PlaneNames& names) {
  const auto renamed = [&](const std::string& text) { return lab::with_planes(text, names); };
  for (LinkRate& rate : shape.link_rates) rate.links = renamed(rate.links);
  for (ZoneShape& zone : shape.power_zones) {
    for (std::string& node : zone.nodes) node = renamed(node);
  }
  for (std::string& part : shape.denylist.fixed) part = renamed(part);
  for (DenylistPolicy::Drain& drain : shape.denylist.drains) {
    drain.part = renamed(drain.part);
  }
  for (auto& [one, other] : shape.miscabled) {
    one = renamed(one);
    other = renamed(other);
  }
  for (auto& exception : shape.forwarding.exceptions) {
    exception.pattern = renamed(exception.pattern);
  }
  for (auto& exception : shape.speaker.exceptions) {
    exception.pattern = renamed(exception.pattern);
  }
  return shape;
}

}  // namespace

std::string with_planes(const std::string& text, const PlaneNames& names) {
  constexpr std::string_view kPlaneKey = "plane: ";
  constexpr std::string_view kMeasureKey = "by: p";  // a percentile, as p99.9
  std::string made;
  for (size_t i = 0; i < text.size();) {
    if (text.compare(i, kPlaneKey.size(), kPlaneKey) == 0) {
      const size_t number = i + kPlaneKey.size(), end = digits_end(text, number);
      made += kPlaneKey;
      if (end > number) made += names(std::string_view(text).substr(number, end - number));
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
      made += "p" + names(std::string_view(text).substr(i + 1, end - i - 1));
      i = end;
    } else {
      made += text[i++];
    }
  }
  return made;
}

std::string in_one_plane(const std::string& text) {
  return with_planes(text, [](std::string_view) { return "0"; });
}

PlaneNames among_planes(uint32_t from, uint32_t planes) {
  return [=](std::string_view plane) -> std::string {
    if (planes == 1) return "0";
    if (plane == "*") return "*";
    if (plane.find_first_not_of("0123456789") != std::string_view::npos) {
      throw InputError("found the planes " + in_quotes(plane) +
                       ": expected numbers or all, where planes are joined");
    }
    return std::to_string(std::stoull(std::string(plane)) * planes / from);
  };
}

FabricShape on_planes(const FabricShape& shape, uint32_t planes) {
  if (!shape.graph.empty()) {
    throw InputError("found " + shape.name +
                     ", a listed fabric, which has no fat twin: expected regular planes");
  }
  if (planes == 0 || shape.planes % planes != 0) {
    throw InputError("found " + std::to_string(planes) +
                     " planes: expected a number that divides " + std::to_string(shape.planes));
  }
  FabricShape joined = with_planes(shape, among_planes(shape.planes, planes));
  joined.planes = planes;
  const uint32_t times = shape.planes / planes;
  joined.host_rate.bps *= times;
  joined.fabric_rate.bps *= times;
  for (LinkRate& rate : joined.link_rates) rate.rate.bps *= times;
  for (uint32_t FabricShape::*links :
       {&FabricShape::links_per_optic, &FabricShape::uplinks_per_optic,
        &FabricShape::t1_uplinks_per_optic}) {
    if (joined.*links > 0) joined.*links = std::max(joined.*links / times, 1u);
  }
  return joined;
}

FabricShape fat_twin(const FabricShape& shape) {
  if (shape.graph.empty() && shape.planes == 1) return shape;
  FabricShape fat = on_planes(shape, 1);
  fat.name += "-fat";
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
