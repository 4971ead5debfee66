#include "lab/twin/twin_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <regex>

#include "endpoint/workload/job_plan.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/build_topology.h"
#include "faults/fault.h"
#include "faults/fault_kind.h"
#include "faults/schedule.h"
#include "job/plan/plan_job.h"
#include "lab/twin/twin_report.h"
#include "scenario/spec/contrast.h"
#include "scenario/spec/fat_twin.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {
namespace {

constexpr std::array kTransports{"one-path", "roce16-fat", "roce-ar-fat"};
constexpr std::array kRoutings{"mrc-ecmp", "mrc-fare", "mrc-reroute"};
constexpr std::array kNumbers{"1", "2", "4", "8"};
constexpr std::array kRanks{"2", "4", "8", "16", "32", "64", "128", "256", "512", "1024"};

struct Axis {
  std::string_view name;
  std::span<const char* const> values;  ///< where none are given
};
constexpr std::array kAxes{Axis{kTransportAxis, kTransports}, Axis{kRoutingAxis, kRoutings},
                           Axis{kPlanesAxis, kNumbers}, Axis{kOpticsAxis, kNumbers},
                           Axis{kRanksAxis, kRanks}};

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  for (size_t from = 0; from <= text.size();) {
    const size_t to = std::min(text.find(at, from), text.size());
    parts.emplace_back(text.substr(from, to - from));
    from = to + 1;
  }
  return parts;
}

uint32_t number_of(const Axis& axis, const std::string& value) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || number == 0) {
    throw InputError(fmt::format("--over {}: found {}: expected a number from 1 on", axis.name,
                                 in_quotes(value)));
  }
  return number;
}

std::vector<uint32_t FabricShape::*> sharing_links(const FabricShape& shape) {
  std::vector<uint32_t FabricShape::*> sharing;
  for (uint32_t FabricShape::*links :
       {&FabricShape::links_per_optic, &FabricShape::uplinks_per_optic,
        &FabricShape::t1_uplinks_per_optic}) {
    if (shape.*links > 0) sharing.push_back(links);
  }
  if (sharing.empty()) sharing.push_back(&FabricShape::links_per_optic);
  return sharing;
}

const job::JobSpec& first_job(const Scenario& scenario) {
  for (const endpoint::WorkloadSpec& spec : scenario.workload) {
    if (const auto* work = std::get_if<endpoint::JobWorkload>(&spec)) return work->spec;
  }
  throw InputError(scenario.name + ": found no job: expected one, of ranks at some scale");
}

/// Ranks of all dimensions but the outermost.
uint32_t inner_ranks(const job::JobSpec& spec) {
  uint32_t product = 1, outermost = 1;
  for (const job::GroupKind& kind : spec.groups) {
    if (kind.size == 0) continue;
    outermost = kind.size;
    product *= kind.size;
  }
  return product / outermost;
}

void plan_again(endpoint::JobWorkload& work, uint64_t seed) {
  work.plan = std::make_shared<const endpoint::JobPlan>(job::plan_job(work.spec, seed));
}

/// The scenario on another fabric, with its faults, as their text there is.
Scenario on_fabric(const Scenario& scenario, FabricShape shape, const PlaneNames& planes) {
  Scenario other = scenario;
  other.fabric = std::move(shape);
  other.topology = build_topology(other.fabric);
  check_lookahead(other.topology);
  other.contrasts.clear();
  other.expect.clear();
  other.fails_without.clear();
  NameResolver names(other.topology, scenario.seed);
  // A transceiver is that of its first link.
  const auto optic_there = [&](const std::string& name) {
    NameResolver here(scenario.topology, scenario.seed);
    const Optic& optic = scenario.topology.optic(here.optics(name).front());
    const std::string link = with_planes(scenario.topology.link_name(optic.links.front()), planes);
    const LinkId there = names.links(link).front();
    for (const Optic& each : other.topology.optics) {
      if (std::count(each.links.begin(), each.links.end(), there) > 0) return each.name;
    }
    throw InputError(scenario.name + ": found a fault of " + name +
                     ", and no transceiver with its first link: expected one");
  };
  static const std::regex kOptic(R"(p\d+\.t\d+-\d+:u?o\d+)");
  std::string list;
  for (const faults::Fault& fault : scenario.faults) {
    const std::string text = faults::to_yaml(fault, scenario.topology);
    std::string made;
    auto from = text.cbegin();
    for (std::sregex_iterator match(text.begin(), text.end(), kOptic), end; match != end; ++match) {
      made += with_planes(std::string(from, (*match)[0].first), planes) + optic_there(match->str());
      from = (*match)[0].second;
    }
    list += "- " + made + with_planes(std::string(from, text.cend()), planes) + "\n";
  }
  const YamlValue document =
      read_yaml_text(list.empty() ? "[]" : list, scenario.name).with_rtt(other.topology.base_rtt);
  other.faults = faults::parse_faults(document, names, other.end);
  other.schedule = faults::compile(other.faults, other.topology);
  return other;
}

bool has_already(const Scenario& scenario, const Axis& axis, const std::string& value) {
  if (axis.name == kPlanesAxis) return number_of(axis, value) == scenario.fabric.planes;
  if (axis.name == kRanksAxis) return number_of(axis, value) == first_job(scenario).ranks();
  if (axis.name != kOpticsAxis) return value == "mrc";
  const auto sharing = sharing_links(scenario.fabric);
  return std::all_of(sharing.begin(), sharing.end(), [&](const auto links) {
    return scenario.fabric.*links == number_of(axis, value);
  });
}

/// Of values that nobody asked for: can the fabric have it?
bool fits(const Scenario& scenario, const Axis& axis, const std::string& value) {
  if (axis.name == kPlanesAxis) return scenario.fabric.planes % number_of(axis, value) == 0;
  if (axis.name == kOpticsAxis) return number_of(axis, value) <= scenario.fabric.hosts_per_t0;
  if (axis.name != kRanksAxis) return true;
  const uint32_t ranks = number_of(axis, value), inner = inner_ranks(first_job(scenario));
  return ranks < first_job(scenario).ranks() && ranks % inner == 0 && ranks > inner;
}

Scenario varied(const Scenario& scenario, const Axis& axis, const std::string& value) {
  if (axis.name == kPlanesAxis) return on_planes(scenario, number_of(axis, value));
  if (axis.name == kOpticsAxis) return with_links_per_optic(scenario, number_of(axis, value));
  if (axis.name == kRanksAxis) return with_ranks(scenario, number_of(axis, value));
  return under_transport(scenario, find_contrast(scenario, value));
}

const Axis& axis_called(const std::string& name) {
  for (const Axis& axis : kAxes) {
    if (axis.name == name) return axis;
  }
  std::vector<std::string> names;
  for (const Axis& axis : kAxes) names.emplace_back(axis.name);
  throw InputError(
      fmt::format("--over: found {}: expected {}", in_quotes(name), one_of(name, names)));
}

/// Times that are as long as what breaks stays broken; how long a switch loads or a link trains is a reaction.
constexpr std::array kOutages{faults::Parameter::kFor, faults::Parameter::kDown,
                              faults::Parameter::kUp, faults::Parameter::kStagger};

FabricTime scaled(FabricTime t, uint32_t from, uint32_t to) {
  if (t == FabricTime::never()) return t;
  return FabricTime::from_ps(static_cast<int64_t>(static_cast<__int128>(t.ps()) * from / to));
}

}  // namespace

std::vector<TwinVariant> variants_of(const Scenario& scenario,
                                     const std::vector<std::string>& over) {
  std::vector<TwinVariant> variants{{"", "", scenario}};
  for (const std::string& word : over) {
    const std::vector<std::string> parts = split(word, '=');
    const Axis& axis = axis_called(parts.front());
    const bool asked = parts.size() > 1;
    std::vector<std::string> values(axis.values.begin(), axis.values.end());
    if (asked) values = split(std::string_view(word).substr(parts.front().size() + 1), ':');
    for (const std::string& value : values) {
      if (has_already(scenario, axis, value)) continue;
      if (!asked && !fits(scenario, axis, value)) continue;
      if (variants.size() == kMaxTwinVariants) {
        throw InputError(
            fmt::format("--over: found more: expected at most {} variants", kMaxTwinVariants));
      }
      variants.push_back({std::string(axis.name), value, varied(scenario, axis, value)});
    }
  }
  return variants;
}

Scenario on_planes(const Scenario& scenario, uint32_t planes) {
  return on_fabric(scenario, on_planes(scenario.fabric, planes),
                   among_planes(scenario.fabric.planes, planes));
}

Scenario with_links_per_optic(const Scenario& scenario, uint32_t links) {
  FabricShape shape = scenario.fabric;
  for (uint32_t FabricShape::*sharing : sharing_links(shape)) shape.*sharing = links;
  return on_fabric(scenario, std::move(shape),
                   [](std::string_view plane) { return std::string(plane); });
}

Scenario with_ranks(const Scenario& scenario, uint32_t ranks) {
  first_job(scenario);
  Scenario other = scenario;
  for (endpoint::WorkloadSpec& each : other.workload) {
    auto* work = std::get_if<endpoint::JobWorkload>(&each);
    if (work == nullptr) continue;
    job::JobSpec& spec = work->spec;
    const uint32_t inner = inner_ranks(spec);
    const std::string found = fmt::format("--over ranks: found {} of the job {}", ranks, spec.name);
    if (ranks < 2 || ranks > spec.ranks() || ranks % inner != 0) {
      throw InputError(
          fmt::format("{}: expected 2 to {}, a multiple of {}", found, spec.ranks(), inner));
    }
    job::GroupKind* outermost = nullptr;
    for (job::GroupKind& kind : spec.groups) {
      if (!kind.lists.empty()) throw InputError(found + ", whose groups are lists: expected sizes");
      outermost = &kind;
    }
    if (outermost != nullptr) outermost->size = ranks / inner;
    spec.hosts.resize(ranks);
    std::erase_if(spec.slow, [&](const job::SlowRank& slow) { return slow.rank >= ranks; });
    plan_again(*work, scenario.seed);
  }
  return other;
}

Scenario at_scale(const Scenario& scenario, uint32_t scale) {
  if (scale == 0 || scale > job::kMaxScale) {
    throw InputError(fmt::format("--scale: expected 1 to {}", job::kMaxScale));
  }
  Scenario other = scenario;
  uint32_t own = 0;
  for (endpoint::WorkloadSpec& spec : other.workload) {
    auto* work = std::get_if<endpoint::JobWorkload>(&spec);
    if (work == nullptr) continue;
    if (own != 0 && own != work->spec.scale) {
      throw InputError(scenario.name + ": found jobs of several scales: expected one");
    }
    own = work->spec.scale;
    work->spec.scale = scale;
    plan_again(*work, scenario.seed);
  }
  first_job(scenario);
  for (faults::Fault& fault : other.faults) {
    fault.at = scaled(fault.at, own, scale);
    fault.healed = scaled(fault.healed, own, scale);
    for (const faults::Parameter parameter : kOutages) {
      const auto time = fault.settings.get(parameter);
      if (!time) continue;
      const FabricTime other_time = scaled(FabricTime::from_ps(*time), own, scale);
      fault.settings.set(parameter, std::max<int64_t>(other_time.ps(), 1));
    }
  }
  other.end = scaled(other.end, own, scale);
  other.until.reset();
  other.schedule = faults::compile(other.faults, other.topology);
  return other;
}

}  // namespace mrclab::lab
